"""What is registered for a type of term, where terms derive from other terms."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..core import Term


def by_type(generic: Callable[..., Any], term: Term, *given: Any) -> Any:
    """``generic(term, *given)``, as for any term where what is registered for a base does not fit."""
    return implementation(generic, type(term), len(generic.registry))(term, *given)  # type: ignore[attr-defined]


@cache
def implementation(generic: Any, kind: type, n_registered: int) -> Callable[..., Any]:
    """What is registered for a type of term, with so many registered: in every round the same.

    A type that overrides ``__call__`` computes something else than the type that it derives from, for which alone
    a closed form is right.
    """
    base = base_of(generic, kind)
    found: Callable[..., Any] = generic.dispatch(base if base.__call__ is kind.__call__ else object)
    return found


def base_of(generic: Any, kind: type) -> type:
    """The type that something is registered for: `kind` itself or its nearest base; object where there is none."""
    return next(base for base in kind.__mro__ if base in generic.registry)
