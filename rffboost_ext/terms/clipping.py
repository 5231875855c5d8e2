"""What cosines see of the features: held in the range of the fit, and bent where they are skewed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from functools import cached_property, singledispatch

import numpy as np

from ..core import Term
from ..utils.typing import Array


@dataclass(frozen=True, eq=False)
class ClipAndLog:
    r"""``x -> min(max(x, low), high)``, feature by feature, and then a logarithm where there is a bend b:

    .. math:: x \mapsto a + b \log\left(1 + \frac{x - a}{b}\right)

    from the end a on, which is `low` where b > 0 and `high` where b < 0. There the slope is 1; it falls to a half
    at a distance of |b|. NaN stays NaN.

    A cosine that was fitted on some range of a feature keeps oscillating beyond it, without support in the data.
    With the feature clipped to the range it is constant there, as a tree is. Where a feature is skewed,
    frequencies that suit the many values near one end are too high for the few far from it; bent, one suits all.

    Parameters
    ----------
    low, high : ndarray of shape (d,), float64
        The least and the largest value of each feature; infinite where there is no end.
    bend : ndarray of shape (d,), float64, optional
        In units of the features, 0 where there is none; elsewhere that end is finite. None if there are no bends.
    """

    low: Array
    high: Array
    bend: Array | None = None

    def __call__(self, X: Array) -> Array:
        """X (n, d) clipped, in its own precision, whole numbers as float64, and bent, in float64.

        Values of a bent feature that are apart in single precision may be as near to each other as not to be.
        """
        if self.bend is None:
            return self.clipped(X)
        X = self.clipped(X.astype(np.float64, copy=False))
        columns, anchor, bend = self.bent
        X[:, columns] = anchor + bend * np.log1p(self.past(X))
        return X

    def clipped(self, X: Array) -> Array:
        """A copy of X (n, d) clipped to the range."""
        X = X if X.dtype.kind == "f" else X.astype(np.float64)
        # Bounds beyond the range of float32 become infinite.
        with np.errstate(over="ignore"):
            low, high = (end.astype(X.dtype) for end in (self.low, self.high))
        return np.clip(X, low, high)

    @cached_property
    def bent(self) -> tuple[Array, Array, Array]:
        """The columns that are bent, the ends from which they are, and their bends, (k,) each."""
        bend = np.zeros(len(self.low)) if self.bend is None else self.bend
        columns = np.flatnonzero(bend)
        return columns, np.where(bend > 0.0, self.low, self.high)[columns], bend[columns]

    def past(self, X: Array) -> Array:
        """How far clipped X (n, d) is past the ends of columns that are bent, in units of their bends, (n, k)."""
        columns, anchor, bend = self.bent
        # In single precision an end may be rounded outwards.
        return np.maximum((X[:, columns].astype(np.float64) - anchor) / bend, 0.0)

    def slopes(self, X: Array) -> Array:
        """The derivative of each feature at X (n, d), (n, d): 0 beyond the range, at its ends as within it."""
        clipped = self.clipped(X)
        slopes = np.asarray(clipped == X, dtype=np.float64)
        slopes[:, self.bent[0]] /= 1.0 + self.past(clipped)
        return slopes

    def moved(self, shift: Array | float) -> ClipAndLog:
        """That of the features plus `shift` (d,)."""
        return ClipAndLog(self.low + shift, self.high + shift, self.bend)

    def stretched(self, scale: Array) -> ClipAndLog:
        """That of the features times `scale` (d,), positive."""
        return ClipAndLog(self.low * scale, self.high * scale, None if self.bend is None else self.bend * scale)

    def first(self, size: int) -> ClipAndLog:
        """That of the first features."""
        return ClipAndLog(self.low[:size], self.high[:size], None if self.bend is None else self.bend[:size])

    def within(self, other: ClipAndLog) -> ClipAndLog:
        """What clipping to `other` and then to this range amounts to; neither may have bends."""
        self._require_straight(other)
        return ClipAndLog(self(other.low[None])[0], self(other.high[None])[0])

    def union(self, other: ClipAndLog) -> ClipAndLog:
        """The least range that holds this one and another; neither may have bends."""
        self._require_straight(other)
        return ClipAndLog(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def _require_straight(self, other: ClipAndLog) -> None:
        """Raise a ValueError if this range or another has bends."""
        if self.bend is not None or other.bend is not None:
            raise ValueError("ranges with bends cannot be combined")

    @cached_property
    def key(self) -> Hashable:
        """Equal for equal ranges and bends."""
        return self.low.tobytes(), self.high.tobytes(), None if self.bend is None else self.bend.tobytes()

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


@singledispatch
def clip(term: Term, clipping: ClipAndLog) -> Term:
    """The term held constant beyond a range of the features on which it acts, and of bent features.

    Types of terms that are not constant beyond their training range register here, as
    :class:`~rffboost_ext.Cosines` do; any other, such as trees, stays as it is, and sees no bends.
    """
    return term
