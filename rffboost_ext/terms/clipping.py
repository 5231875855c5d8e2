"""Impute missing values, clip features to their training range and log-transform skewed ones, before cosines."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..utils.pickling import PickledByFields
from ..utils.typing import Array
from .stored_fields import require_field


@dataclass(frozen=True, eq=False)
class ClipAndLog(PickledByFields):
    r"""Impute and clip each feature, ``x -> min(max(x, low), high)``, then log-transform those with a log scale s:

    .. math:: x \mapsto a + s \log\left(1 + \frac{x - a}{s}\right)

    The anchor a is `low` if s > 0 and `high` if s < 0. The slope is 1 at the anchor and 1/2 at the distance
    ``|s|``. A missing value (NaN) is replaced by the feature's mean first; without means NaN stays NaN.

    A cosine keeps oscillating beyond the range on which it was fitted, without support in the data. With clipped
    features it is constant there, as a tree is. In a skewed feature, frequencies that suit the dense region are
    too high for the sparse one; after the log transform one frequency suits both.

    Parameters
    ----------
    low, high : ndarray of shape (d,), float64
        Range of each feature; infinite for an unbounded end.
    log_scale : ndarray of shape (d,), float64, optional
        Scale s of each feature, in its units, 0 for features that are not transformed; the anchor must be finite
        elsewhere. None if no feature is transformed.
    means : ndarray of shape (d,), float64, optional
        Imputed value of each feature. None leaves missing values as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.terms import ClipAndLog
    >>> clip = ClipAndLog(low=np.array([0.0]), high=np.array([10.0]), means=np.array([3.0]))
    >>> clip(np.array([[-1.0], [20.0], [np.nan]])).ravel()
    array([ 0., 10.,  3.])
    """

    low: Array
    high: Array
    log_scale: Array | None = None
    means: Array | None = None

    @classmethod
    def only_imputing(cls, means: Array) -> ClipAndLog:
        """Imputation by `means` (d,), without a range and log transforms."""
        return cls(np.full(len(means), -np.inf), np.full(len(means), np.inf), means=means)

    @property
    def is_bounded(self) -> bool:
        """Whether any feature has a range."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def __call__(self, X: Array) -> Array:
        """Impute, clip and log-transform X (n, d), in its own precision or, with a log transform, in float64.

        Integers become float64.
        """
        if self.log_scale is None:
            return self.clip_values(X)
        X = self.clip_values(X.astype(np.float64, copy=False))
        columns, anchor, scale = self.log_columns
        X[:, columns] = anchor + scale * np.log1p(self._scaled_distance(X))
        return X

    def clip_values(self, X: Array) -> Array:
        """A copy of X (n, d), imputed and clipped to the range."""
        X = X if X.dtype.kind == "f" else X.astype(np.float64)
        # Bounds beyond the range of float32 become infinite.
        with np.errstate(over="ignore"):
            low, high = (end.astype(X.dtype) for end in (self.low, self.high))
        if self.means is not None:
            X = np.where(np.isnan(X), self.means.astype(X.dtype), X)
        return np.clip(X, low, high)

    def entries(self, values: Array, columns: Array) -> Array:
        """Values (m,) of some columns (m,), one each, imputed and clipped, in float64."""
        own = self.take(columns)
        return own.clip_values(values.astype(np.float64)[None])[0]

    @cached_property
    def log_columns(self) -> tuple[Array, Array, Array]:
        """The log-transformed columns, their anchors and their scales, (k,) each."""
        scale = np.zeros(len(self.low)) if self.log_scale is None else self.log_scale
        columns = np.flatnonzero(scale)
        return columns, np.where(scale > 0.0, self.low, self.high)[columns], scale[columns]

    def _scaled_distance(self, X: Array) -> Array:
        """``(x - a) / s`` for each log-transformed column of clipped X (n, d): (n, k)."""
        columns, anchor, scale = self.log_columns
        # In single precision an end may be rounded outwards.
        return np.maximum((X[:, columns].astype(np.float64) - anchor) / scale, 0.0)

    def derivative(self, X: Array) -> Array:
        """The derivative of each feature at X (n, d), (n, d).

        It is 0 outside the range and for missing values, and one-sided at the ends of the range.
        """
        clipped = self.clip_values(X)
        slopes = np.asarray(clipped == X, dtype=np.float64)
        slopes[:, self.log_columns[0]] /= 1.0 + self._scaled_distance(clipped)
        return slopes

    def translate(self, shift: Array | float, factor: Array | float = 1.0) -> ClipAndLog:
        """The same for features times a positive `factor` (d,) plus `shift` (d,)."""
        means = None if self.means is None else self.means * factor + shift
        log_scale = None if self.log_scale is None else self.log_scale * factor
        return ClipAndLog(self.low * factor + shift, self.high * factor + shift, log_scale, means)

    def take(self, columns: slice | Array) -> ClipAndLog:
        """The same for some of the features."""
        log_scale, means = (None if part is None else part[columns] for part in (self.log_scale, self.means))
        return ClipAndLog(self.low[columns], self.high[columns], log_scale, means)

    def after(self, other: ClipAndLog) -> ClipAndLog:
        """The range that is equivalent to clipping to `other`, then to this one; without log transforms."""
        if self.log_scale is not None or other.log_scale is not None:
            raise ValueError("ranges with a log transform cannot be combined")
        means = self.means if other.means is None else other.means
        return ClipAndLog(self(other.low[None])[0], self(other.high[None])[0], means=means)

    def check(self, n_features: int) -> None:
        """Raise a ValueError unless the arrays have the right shapes, and log scales have finite anchors."""
        optional = {"log_scale": self.log_scale, "means": self.means}
        arrays = {"low": self.low, "high": self.high, **{k: v for k, v in optional.items() if v is not None}}
        for name, array in arrays.items():
            require_field(name, array, (n_features,))
        if self.log_scale is None:
            return
        if not np.isfinite(self.log_scale).all() or not np.isfinite(self.log_columns[1]).all():
            raise ValueError("log_scale must be finite, and 0 for features without a finite anchor")

    @cached_property
    def key(self) -> Hashable:
        """Equal for equal ranges, log scales and means."""
        parts = self.low, self.high, self.log_scale, self.means
        return tuple(None if part is None else part.tobytes() for part in parts)
