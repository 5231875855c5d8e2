"""Signatures of estimators."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ..utils.param_validation import R


def with_own_init(cls: R) -> R:
    """A class with its own copy of the ``__init__`` that it inherits, so that errors of a call name this class."""
    init = cls.__init__
    own = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    own.__kwdefaults__, own.__annotations__ = init.__kwdefaults__, init.__annotations__
    own.__qualname__ = f"{cls.__qualname__}.{init.__name__}"
    cls.__init__ = own
    return cls


def parameters_of(scope: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an ``__init__``, from its ``locals()``."""
    return {name: value for name, value in scope.items() if name not in ("self", "__class__")}
