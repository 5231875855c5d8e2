"""Linear functions of few features."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from ..core import Term
from ..utils.arrays import require_used_columns
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array
from .clipping import ClipAndLog
from .mapped import FeatureMap, around_clipped
from .stored_fields import require_field, require_instance, require_range
from .total_effects import divided_variance, variance


@final
@dataclass(frozen=True, eq=False)
class Linear(Term):
    """A linear function of k features, ``x -> sum_j slope[j] * (x - center)[columns[j]] + intercept``.

    Parameters
    ----------
    columns : ndarray of shape (k,), int64
        Indices of the features, ascending.
    slope : ndarray of shape (k, C)
        Slopes, per unit of each feature.
    intercept : ndarray of shape (C,)
        The value at the center.
    center : ndarray of shape (d,), optional
        Subtracted from x; the origin by default. Near the data it keeps the rounding error small.
    clipping : ClipAndLog, optional
        Applied to x first; by default x is neither imputed, nor clipped, nor log-transformed.
    on_original : bool, default=False
        Whether a learner has fitted it to the original columns, and not to ``design.X``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.terms import Linear
    >>> term = Linear(columns=np.array([1]), slope=np.array([[2.0]]), intercept=np.array([1.0]))
    >>> term(np.array([[9.0, 0.0], [9.0, 3.0]])).ravel()
    array([1., 7.])
    """

    columns: Array
    slope: Array
    intercept: Array
    center: Array | None = None
    clipping: ClipAndLog | None = None
    on_original: bool = False

    def __call__(self, X: Rows) -> Array:
        return np.asarray(self.factors(X) @ self.slope + self.intercept)

    def at_sparse(self, X: SparseRows) -> Array:
        if not self.on_original or self.clipping is None:
            return self(X)
        entries, zero = clipped_entries(X, self.clipping)
        slope = np.zeros((X.shape[1], self.slope.shape[1]))
        slope[self.columns] = self.slope
        return np.asarray(entries.matrix @ slope + (zero @ slope + self.intercept))

    def factors(self, X: Rows) -> Array:
        """What the slopes multiply: the used columns of X (n, d), clipped and centred, (n, k), in float64."""
        require_used_columns(X, self.columns)
        used = X[:, self.columns].astype(np.float64)
        if self.used_clipping is not None:
            used = self.used_clipping(used)
        return used if self.center is None else used - self.center[self.columns]

    @cached_property
    def used_clipping(self) -> ClipAndLog | None:
        """The clipping of the used columns."""
        return None if self.clipping is None else self.clipping.take(self.columns)

    @property
    def family(self) -> Hashable:
        """Linear functions with the same clipping can be stacked."""
        return Linear, self.clipping and self.clipping.key

    def scaled(self, factor: float | Array) -> Linear:
        """The same function times a number, or a number for each output (C,)."""
        return replace(self, slope=factor * self.slope, intercept=factor * self.intercept)

    @classmethod
    def stack(cls, terms: Sequence[Linear]) -> Linear:
        first = terms[0]
        columns = np.unique(np.concatenate([term.columns for term in terms]))
        slope, intercept = np.zeros((len(columns), len(first.intercept))), np.zeros(len(first.intercept))
        for term in terms:
            slope[np.searchsorted(columns, term.columns)] += term.slope
            intercept += term.intercept
            if term.center is not first.center:
                intercept += term.slope.T @ term.shift_from(first.center)
        return replace(first, columns=columns, slope=slope, intercept=intercept)

    def shift_from(self, center: Array | None) -> Array:
        """Another center less the own one, of the used columns, (k,)."""
        other, own = (np.zeros(len(self.columns)) if c is None else c[self.columns] for c in (center, self.center))
        return np.asarray(other - own)

    def standardized(self, center: Array, scale: Array) -> Linear:
        """This function of ``(x - center) / scale`` as a function of x."""
        intercept = self.intercept + self.slope.T @ self.shift_from(None)
        clipping = None if self.clipping is None else self.clipping.translate(center, scale)
        return Linear(self.columns, self.slope / scale[self.columns, None], intercept, center, clipping)

    def on_features(self, features: FeatureMap) -> Term:
        return self if self.on_original else around_clipped(self, features)

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        require_field("columns", self.columns, (None,), "i")
        require_range("columns", self.columns, 0, n_features)
        require_field("slope", self.slope, (len(self.columns), n_outputs))
        require_field("intercept", self.intercept, (self.slope.shape[1],))
        if self.center is not None:
            n_features = len(self.center) if n_features is None else n_features
            require_field("center", self.center, (n_features,))
        if self.clipping is not None:
            require_instance("clipping", self.clipping, ClipAndLog)
            self.clipping.check(len(self.clipping.low) if n_features is None else n_features)

    def gradient(self, X: Array) -> Array:
        out = np.zeros((len(X), len(self.intercept), X.shape[1]))
        factors = 1.0 if self.used_clipping is None else self.used_clipping.derivative(X[:, self.columns])[:, None]
        out[:, :, self.columns] = factors * self.slope.T
        return out

    def variances(self, X: Array, weight: Array) -> Array:
        effects = np.zeros(X.shape[1])
        effects[self.columns] = np.square(self.slope).sum(axis=1) * variance(self.factors(X), weight)
        return divided_variance(self, effects, X, weight)

    def grouped_shapley(self, X: Array, background: Array, source: Array, n_features: int) -> Array:
        moved = self.factors(X) - self.factors(background).mean(axis=0)
        out = np.zeros((n_features, len(X), len(self.intercept)))
        # The columns of a feature, such as its one-hot columns, add up.
        np.add.at(out, source[self.columns], moved.T[:, :, None] * self.slope[:, None, :])
        return out.transpose(1, 2, 0)


def clipped_entries(X: SparseRows, clipping: ClipAndLog) -> tuple[SparseRows, Array]:
    """Clipped rows less a clipped row of zeros, which clipping may move, and that row (1, d)."""
    zero, columns = clipping(np.zeros((1, X.shape[1]))), X.matrix.indices
    return X.with_entries(clipping.entries(X.matrix.data, columns) - zero[0, columns]), zero
