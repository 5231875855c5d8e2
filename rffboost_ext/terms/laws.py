"""Whether terms that derive from ours, and compute something else, can still be scaled and stacked as ours are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .dispatch import base_of
from .validation import check_sound

# Far from 1, so that a function that is clipped, or saturates, does not seem to be proportional.
FACTOR = -1000.0
# Relative to the largest output: terms may compute in float32.
PRECISION = 1e-4


def check_laws(term: Term, rows: Callable[[], Array]) -> None:
    """Raise a TypeError if a term that overrides the ``__call__`` of one of ours breaks the laws of terms.

    Rounds are scaled and stacked for predictions: without the laws these differ from the scores of the fit.

    Parameters
    ----------
    term : Term
        Of any type; only those that derive from ours are looked at, the others define all their functions.
    rows : callable
        Returns X, (n, d), on which to compare; called for such terms only, since it may take memory.
    """
    kind = type(term)
    base = base_of(check_sound, kind)
    if base is object or base.__call__ is kind.__call__:
        return
    X = rows()
    one = term(X)
    laws = {
        "scaled(a)(X) must be a * t(X)": (term.scaled(FACTOR)(X), FACTOR * one),
        "stack([t, t])(X) must be 2 * t(X)": (kind.stack([term, term])(X), 2.0 * one),
    }
    for law, (found, wanted) in laws.items():
        if not np.allclose(found, wanted, rtol=0.0, atol=PRECISION * np.abs(wanted).max(initial=0.0)):
            raise TypeError(
                f"it overrides __call__ of {base.__name__}, with which {law.partition('(')[0]} does not go: for a "
                f"term t, t.{law}, and differs by up to {np.abs(found - wanted).max():.3g}; override scaled and "
                f"stack too, or derive from Term"
            )
