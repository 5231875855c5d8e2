"""What is registered for a type of term, where terms derive from other terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import Term


def served(generic: Callable[..., Any], term: Term) -> type:
    """The type whose registered implementation fits a term; its own type where none does.

    A type that overrides ``__call__`` computes something else than the type that it derives from, for which alone
    a closed form is right.
    """
    registry = generic.registry  # type: ignore[attr-defined]
    kind = type(term)
    base: type = next((base for base in kind.__mro__ if base in registry and base is not object), kind)
    return base if base.__call__ is kind.__call__ else kind


def by_type(generic: Callable[..., Any], term: Term, *given: Any) -> Any:
    """``generic(term, *given)``, as for any term where what is registered for a base does not fit."""
    kind = served(generic, term)
    implementation = generic.dispatch(kind if kind in generic.registry else object)  # type: ignore[attr-defined]
    return implementation(term, *given)
