"""Hyperparameters of a part of a booster."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from ..utils.param_validation import Check, allows_auto, require_all
from ..utils.registry import Registry, resolve_names

S = TypeVar("S", bound="Spec")


class Spec(BaseEstimator):
    """Hyperparameters of a part of a booster, without data.

    ``get_params``, ``clone``, ``repr`` and nested names such as ``learner__gamma`` work as in scikit-learn. A fit
    does not change a spec, so several fits may share one instance.
    """

    constraints: ClassVar[Mapping[str, Check]] = {}
    """Allowed values of each hyperparameter, checked at the start of a fit."""

    needs: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Attributes that other parts must have, by role, such as ``{"loss": ["bounded_ratio"]}``."""

    roles: ClassVar[Mapping[str, Registry[Any]]] = {}
    """Hyperparameters that are parts themselves, as an instance or a registered name."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As in scikit-learn, with arrays of more than 10 entries shortened: error messages name parts by it."""
        with np.printoptions(threshold=10, edgeitems=2):
            return super().__repr__(N_CHAR_MAX)

    def validate(self) -> None:
        """Raise a TypeError or ValueError for the first invalid hyperparameter."""
        require_all(self, self.constraints)
        for role, registry in self.roles.items():
            part = getattr(self, role)
            if not (isinstance(part, str) and part == "auto" and allows_auto(type(self), role)):
                registry.create(part)

    def set_params(self: S, **params: Any) -> S:
        """Set hyperparameters, also nested ones of a part that is set by its registered name."""
        return super().set_params(**resolve_names(self, params, self.roles))


def full_repr(spec: Spec) -> str:
    """The class and all parameters, every entry of arrays included: the same text for equal parts only."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = BaseEstimator.__repr__(spec, sys.maxsize)
        # scikit-learn omits items of long sequences.
        return f"{text} {spec.get_params()!r}" if "..." in text else text
