"""Imputation of missing values and one-hot encoding of categories."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..utils.arrays import require_n_features
from ..utils.pickling import PickledByFields
from ..utils.sparse import Rows, is_finite
from ..utils.typing import Array
from .category_sets import Recoding
from .stored_fields import require_field, require_range


@dataclass(frozen=True, eq=False)
class ImputeAndEncode(PickledByFields):
    """Imputation of missing values (NaN) and one-hot encoding of category codes.

    The result has three blocks of columns: numeric columns, imputed; a missing indicator, 1 for missing values and
    0 otherwise, for some columns; and the one-hot columns of each categorical column.

    Missing numbers are imputed by `means` first. Each matrix B of `regressions` then replaces these by a linear
    prediction from all numbers x of the row: ``x <- means + (x - means) B`` for missing values, all at once.

    Parameters
    ----------
    n_features : int
        Columns of X, d.
    numeric : ndarray of shape (p,), int64
        Indices of the numeric columns.
    means : ndarray of shape (p,), float64
        Imputed values of the numeric columns; NaN leaves missing values as they are.
    indicators : ndarray of shape (g,), int64
        Indices of the columns with a missing indicator.
    categorical : ndarray of shape (c,), int64
        Indices of the columns of category codes 0 .. K-1.
    one_hot : tuple of ndarray of shape (K + 1, k), float64
        For each categorical column the encoding of each code; the last row is that of a missing or unknown code.
    regressions : tuple of ndarray of shape (p, p), float64, default=()
        Column j of each matrix predicts number j from all numbers, relative to `means`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.terms import ImputeAndEncode
    >>> none = np.array([], dtype=np.int64)
    >>> expansion = ImputeAndEncode(2, np.array([0, 1]), np.array([5.0, 6.0]), np.array([1]), none, ())
    >>> expansion(np.array([[1.0, np.nan]]))
    array([[1., 6., 1.]])
    """

    n_features: int
    numeric: Array
    means: Array
    indicators: Array
    categorical: Array
    one_hot: tuple[Array, ...]
    regressions: tuple[Array, ...] = ()

    def __call__(self, X: Rows) -> Array:
        """X (n, d), an array or sparse rows, imputed and encoded, (n, e), in its own precision."""
        require_n_features(X, self.n_features)
        if self.only_imputes_means and is_finite(X):
            return np.asarray(X)
        out = np.empty((len(X), self.n_expanded), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        p, g = len(self.numeric), len(self.indicators)
        out[:, :p] = self.impute(X[:, self.numeric])
        out[:, p : p + g] = np.isnan(X[:, self.indicators])
        start = p + g
        for column, table in zip(self.categorical, self.one_hot, strict=True):
            stop = start + table.shape[1]
            out[:, start:stop] = table[one_hot_rows(X[:, column], len(table) - 1)]
            start = stop
        return out

    def impute(self, numbers: Array) -> Array:
        """The numeric columns (n, p), imputed."""
        missing = np.isnan(numbers)
        out = np.where(missing, self.means, numbers)
        if missing.any():
            for regression in self.regressions:
                out = np.where(missing, self.means + (out - self.means) @ regression, out)
        return out

    @cached_property
    def source(self) -> Array:
        """The column of X that each column of the result is computed from, (e,)."""
        widths = [table.shape[1] for table in self.one_hot]
        columns = self.numeric, self.indicators, np.repeat(self.categorical, widths)
        return np.concatenate(columns).astype(np.int64)

    @cached_property
    def n_levels(self) -> dict[int, int]:
        """The number of levels of each categorical column; some may have no rows."""
        # The last row of a table is that of a missing level.
        tables = zip(self.categorical.tolist(), self.one_hot, strict=True)
        return {column: len(table) - 1 for column, table in tables}

    @property
    def n_expanded(self) -> int:
        """Columns of the result, e."""
        return len(self.source)

    @property
    def is_sketch(self) -> bool:
        """Whether columns of X are left out."""
        return len(np.unique(self.source)) < self.n_features

    @cached_property
    def only_imputes_means(self) -> bool:
        """Whether the result is X, with missing values replaced by means: no other columns, no regressions."""
        every = np.arange(self.n_features)
        return np.array_equal(self.numeric, every) and self.n_expanded == len(every) and not self.regressions

    @cached_property
    def key(self) -> Hashable:
        """Equal for expansions that are the same function."""
        columns = self.numeric, self.means, self.indicators, self.categorical
        arrays = *columns, *self.one_hot, *self.regressions
        return self.n_features, tuple((array.shape, array.tobytes()) for array in arrays)

    def sum_by_source(self, values: Array) -> Array:
        """Sums of `values` (..., e) over the result's columns of each column of X: (..., d)."""
        flat = values.reshape(-1, self.n_expanded)
        out = np.zeros((self.n_features, len(flat)))
        np.add.at(out, self.source, flat.T)
        return np.ascontiguousarray(out.T).reshape(*values.shape[:-1], self.n_features)

    def chain(self, slopes: Array, X: Array) -> Array:
        """Derivatives for the columns of X (n, d) from those for the result (n, C, e), (n, C, d).

        They are 0 for missing values and categories. Imputed values depend on the other columns: chain rule.
        """
        slopes = slopes[:, :, : len(self.numeric)]
        missing = np.isnan(X[:, None, self.numeric])
        for regression in reversed(self.regressions):
            slopes = np.where(missing, 0.0, slopes) + np.where(missing, slopes, 0.0) @ regression.T
        out = np.zeros((*slopes.shape[:2], X.shape[1]))
        out[:, :, self.numeric] = np.where(missing, 0.0, slopes)
        return out

    def recoded(self, recoding: Recoding) -> ImputeAndEncode:
        """The expansion of new codes; additional categories have the encoding of missing values."""
        tables = []
        for column, table in zip(self.categorical.tolist(), self.one_hot, strict=True):
            wide = np.tile(table[-1], (recoding.sizes[column] + 1, 1))
            # A table has rows up to the largest code in training.
            wide[recoding.codes[column][: len(table) - 1]] = table[:-1]
            tables.append(wide)
        return replace(self, one_hot=tuple(tables))

    def check(self) -> None:
        """Raise a ValueError unless the arrays are consistent."""
        if type(self.n_features) is not int:
            raise ValueError(f"n_features must be an integer, got {self.n_features!r}")
        for name in ("numeric", "indicators", "categorical"):
            require_field(name, getattr(self, name), (None,), "i")
            require_range(name, getattr(self, name), 0, self.n_features)
        require_field("means", self.means, self.numeric.shape)
        tables, regressions = self.one_hot, self.regressions
        if not isinstance(tables, tuple) or len(tables) != len(self.categorical):
            raise ValueError(f"one_hot must have {len(self.categorical)} arrays, one per categorical column")
        if not isinstance(regressions, tuple):
            raise ValueError(f"regressions must be a tuple, got {regressions!r}")
        for table in tables:
            require_field("one_hot", table, (None, None))
            if not len(table):
                raise ValueError("one_hot must have a row for missing codes, got none")
        for regression in regressions:
            require_field("regressions", regression, 2 * self.numeric.shape)


def one_hot_rows(codes: Array, size: int) -> Array:
    """Row of each code in a table of `size` codes; the last row is that of missing and unknown codes."""
    return np.where((codes >= 0) & (codes < size), codes, size).astype(np.intp)
