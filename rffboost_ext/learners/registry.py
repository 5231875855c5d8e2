"""The registry of learners."""

from __future__ import annotations

from ..core import Learner
from ..utils.registry import Registry

LEARNERS: Registry[Learner] = Registry("learner", Learner)  # type: ignore[type-abstract]
