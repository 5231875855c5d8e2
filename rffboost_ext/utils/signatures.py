"""Signatures of estimators, and calls with parameters that are not in them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from .migration_hints import Call
from .param_validation import R

P = ParamSpec("P")
M = TypeVar("M")
A = TypeVar("A")


def explain_unknown(function: Callable[Concatenate[M, P], A]) -> Callable[Concatenate[M, P], A]:
    """A method whose errors for unknown parameters say what the names of other libraries are here.

    ``inspect.signature`` shows the signature of the method itself.
    """
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def checked(owner: M, *args: P.args, **kwargs: P.kwargs) -> A:
        unknown = {name: value for name, value in kwargs.items() if name not in known}
        if unknown:
            raise Call(owner, function.__qualname__, known, unknown).error()
        return function(owner, *args, **kwargs)

    return checked


def with_own_init(cls: R) -> R:
    """A class with its own copy of the ``__init__`` that it inherits, so that errors of a call name this class."""
    init = cls.__init__
    own = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    own.__kwdefaults__, own.__annotations__ = init.__kwdefaults__, init.__annotations__
    own.__qualname__ = f"{cls.__qualname__}.{init.__name__}"
    cls.__init__ = explain_unknown(own)
    return cls


def parameters_of(scope: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an ``__init__``, from its ``locals()``."""
    return {name: value for name, value in scope.items() if name not in ("self", "__class__")}
