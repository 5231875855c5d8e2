"""Compiled inner loops on arrays. Numba is imported on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def compiled(name: str) -> Any:
    """A module of kernels, imported on first use.

    For calls in every round, where an import statement takes as long as a pass over few rows.
    """
    return import_module(f".{name}", __name__)
