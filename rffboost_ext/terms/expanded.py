"""Imputation of missing values and one-hot encoding of categories, and terms of the result."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch
from typing import final

import numpy as np

from ..core import Term
from ..utils.arrays import require_columns
from ..utils.pickling import PickledByFields
from ..utils.typing import Array
from .cosines import Cosines
from .symmetric_trees import SymmetricTrees


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
    """

    n_features: int
    numeric: Array
    means: Array
    indicators: Array
    categorical: Array
    one_hot: tuple[Array, ...]
    regressions: tuple[Array, ...] = ()

    def __call__(self, X: Array) -> Array:
        """X (n, d) imputed and encoded, (n, e), in its own precision."""
        require_columns(X, self.n_features)
        if self.only_imputes_means and not has_missing(X):
            return X
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

    @property
    def n_expanded(self) -> int:
        """Columns of the result, e."""
        return len(self.source)

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


def has_missing(X: Array) -> bool:
    """Whether X (n, d) has missing values; also true if a sum of its values overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum()))


def one_hot_rows(codes: Array, size: int) -> Array:
    """Row of each code in a table of `size` codes; the last row is that of missing and unknown codes."""
    return np.where((codes >= 0) & (codes < size), codes, size).astype(np.intp)


@final
@dataclass(frozen=True, eq=False)
class Expanded(Term):
    """``x -> term(expansion(x))``.

    Parameters
    ----------
    term : Term
        A function of the imputed and encoded columns.
    expansion : ImputeAndEncode
        Imputation and encoding of X.
    """

    term: Term
    expansion: ImputeAndEncode

    def __call__(self, X: Array) -> Array:
        return self.term(self.expansion(X))

    def features(self, X: Array) -> Array:
        return self.term.features(self.expansion(X))

    def scaled(self, factor: float) -> Expanded:
        return replace(self, term=self.term.scaled(factor))

    @classmethod
    def stack(cls, terms: Sequence[Expanded]) -> Expanded:
        return replace(terms[0], term=type(terms[0].term).stack([t.term for t in terms]))

    @property
    def family(self) -> Hashable:
        return Expanded, self.term.family, self.expansion.key

    def merged(self) -> Expanded:
        return replace(self, term=self.term.merged())

    def materialized(self) -> Expanded:
        return replace(self, term=self.term.materialized())


@singledispatch
def expand(term: Term, expansion: ImputeAndEncode) -> Term:
    """The function ``x -> term(expansion(x))`` as a term of the original columns.

    Types of terms that handle missing values and categories themselves, such as the trees that XGBoost grows,
    register a rule here. Cosines that impute their features remain as they are if means are all that is imputed.
    Any other term is wrapped in :class:`Expanded`.

    Parameters
    ----------
    term : Term
        A function of the expanded features, (n, e).
    expansion : ImputeAndEncode
        The imputation and the one-hot encoding, from (n, d) to (n, e).

    Returns
    -------
    Term
        A function of the original columns, (n, d).
    """
    return Expanded(term, expansion)


@expand.register
def _(term: Cosines, expansion: ImputeAndEncode) -> Term:
    imputes = term.clipping is not None and term.clipping.means is not None
    return term if imputes and expansion.only_imputes_means else Expanded(term, expansion)


@expand.register
def _(term: SymmetricTrees, expansion: ImputeAndEncode) -> Term:
    # They handle missing values and codes themselves.
    return term
