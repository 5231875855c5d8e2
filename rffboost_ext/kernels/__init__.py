"""Compiled inner loops: arrays in, arrays out. Numba is imported when the first of them is used."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def compiled(name: str) -> Any:
    """A module of kernels, imported when first asked for.

    For what is called in every round, where an import statement costs as much as a pass over few rows.
    """
    return import_module(f".{name}", __name__)
