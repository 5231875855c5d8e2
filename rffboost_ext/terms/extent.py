"""The range of the features within which a function was fitted, beyond which it is held constant."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from functools import cached_property, singledispatch

import numpy as np

from ..core import Array, Term


@dataclass(frozen=True, eq=False)
class Extent:
    """``x -> min(max(x, low), high)``, feature by feature; NaN stays NaN.

    A cosine that was fitted on some range of a feature keeps oscillating beyond it, without support in the data.
    With the feature clipped to the range it is constant there, as a tree is.

    Parameters
    ----------
    low, high : ndarray of shape (d,), float64
        The least and the largest value of each feature; infinite where there is no end.
    """

    low: Array
    high: Array

    def __call__(self, X: Array) -> Array:
        """X (n, d) clipped to the range, in its own precision; whole numbers as float64."""
        X = X if X.dtype.kind == "f" else X.astype(np.float64)
        # Bounds beyond the range of float32 become infinite.
        with np.errstate(over="ignore"):
            low, high = (end.astype(X.dtype) for end in (self.low, self.high))
        return np.clip(X, low, high)

    def inside(self, X: Array) -> Array:
        """Where X (n, d) is within the range, ends included: (n, d)."""
        return np.asarray(self(X) == X)

    def moved(self, shift: Array | float) -> Extent:
        """The range of the features plus `shift` (d,)."""
        return Extent(self.low + shift, self.high + shift)

    def within(self, other: Extent) -> Extent:
        """What clipping to `other` and then to this range amounts to."""
        return Extent(self(other.low[None])[0], self(other.high[None])[0])

    def union(self, other: Extent) -> Extent:
        """The least range that holds this one and another."""
        return Extent(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    @cached_property
    def key(self) -> Hashable:
        """Equal for equal ranges."""
        return self.low.tobytes(), self.high.tobytes()

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@singledispatch
def hold(term: Term, extent: Extent) -> Term:
    """The term held constant beyond a range of the features on which it acts.

    Types of terms that are not constant beyond their training range register here, as
    :class:`~rffboost_ext.Cosines` do; any other, such as trees, stays as it is.
    """
    return term
