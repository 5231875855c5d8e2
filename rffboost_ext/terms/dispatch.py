"""Single dispatch on types of terms, where types derive from other types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..core import Term


def by_type(generic: Callable[..., Any], term: Term, *given: Any) -> Any:
    """``generic(term, *given)``; the default where the implementation for a base class does not apply."""
    return implementation(generic, type(term), len(generic.registry))(term, *given)  # type: ignore[attr-defined]


@cache
def implementation(generic: Any, kind: type, n_registered: int) -> Callable[..., Any]:
    """The implementation for a type of term, cached until the number of registered types changes.

    A type that overrides ``__call__`` computes something other than its base class, whose closed form does not
    apply to it.
    """
    base = base_of(generic, kind)
    found: Callable[..., Any] = generic.dispatch(base if base.__call__ is kind.__call__ else object)
    return found


def base_of(generic: Any, kind: type) -> type:
    """The nearest registered type: `kind` itself or one of its bases; object if there is none."""
    return next(base for base in kind.__mro__ if base in generic.registry)
