"""Imputation and encoding: from missing values and categories to the numbers that cosines see."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, singledispatch
from typing import final

import numpy as np

from ..core import Term
from ..utils.arrays import require_columns
from ..utils.typing import Array


@dataclass(frozen=True, eq=False)
class ImputeAndEncode:
    """Imputation and encoding of columns with missing values (NaN) or category codes, for learners.

    Its result has three parts, side by side: numeric columns, imputed; for some columns a missing indicator, 1
    where a value is missing and 0 elsewhere; and for each column of codes a row of a table.

    A missing number is imputed by `fill` first. Each matrix B of `sweeps` then replaces that by a linear
    prediction from the row's numbers x: ``x <- fill + (x - fill) B`` where values are missing, all of them at
    once.

    Parameters
    ----------
    n_features : int
        Columns of X, d.
    numbers : ndarray of shape (p,), int64
        The columns that are numbers, by index.
    fill : ndarray of shape (p,), float64
        Their values for imputation; NaN leaves missing values as they are.
    gaps : ndarray of shape (g,), int64
        The columns that have an indicator.
    coded : ndarray of shape (c,), int64
        The columns of codes 0 .. K-1.
    tables : tuple of ndarray of shape (K + 1, k), float64
        For each of these the encoding of each code, and in the last row of a missing or unknown one.
    fills_trees : bool, default=False
        Whether missing numbers are imputed for trees too, in columns without an indicator. Else trees see NaN.
    sweeps : tuple of ndarray of shape (p, p), float64, default=()
        Column j of each matrix predicts number j from all numbers, measured from `fill`.
    """

    n_features: int
    numbers: Array
    fill: Array
    gaps: Array
    coded: Array
    tables: tuple[Array, ...]
    fills_trees: bool = False
    sweeps: tuple[Array, ...] = ()

    def __call__(self, X: Array) -> Array:
        """X (n, d) expanded, (n, e), in its own precision."""
        require_columns(X, self.n_features)
        out = np.empty((len(X), self.n_expanded), dtype=np.float32 if X.dtype == np.float32 else np.float64)
        p, g = len(self.numbers), len(self.gaps)
        out[:, :p] = self.imputed(X[:, self.numbers])
        out[:, p : p + g] = np.isnan(X[:, self.gaps])
        start = p + g
        for column, table in zip(self.coded, self.tables, strict=True):
            stop = start + table.shape[1]
            out[:, start:stop] = table[positions(X[:, column], len(table) - 1)]
            start = stop
        return out

    def imputed(self, numbers: Array) -> Array:
        """Numbers (n, p), imputed."""
        gap = np.isnan(numbers)
        out = np.where(gap, self.fill, numbers)
        if gap.any():
            for sweep in self.sweeps:
                out = np.where(gap, self.fill + (out - self.fill) @ sweep, out)
        return out

    @cached_property
    def source(self) -> Array:
        """The column of X that each column of the result comes from, (e,)."""
        widths = [table.shape[1] for table in self.tables]
        return np.concatenate([self.numbers, self.gaps, np.repeat(self.coded, widths)]).astype(np.int64)

    @property
    def n_expanded(self) -> int:
        """Columns of the result, e."""
        return len(self.source)

    @cached_property
    def of_trees(self) -> ImputeAndEncode | None:
        """The expansion for trees, None if they see X itself: the same columns, some of them imputed."""
        if not self.fills_trees:
            return None
        fill = np.full(self.n_features, np.nan)
        fill[self.numbers] = self.fill
        fill[self.gaps] = np.nan
        every, none = np.arange(self.n_features), np.empty(0, dtype=np.int64)
        return ImputeAndEncode(self.n_features, every, fill, none, none, ())

    @cached_property
    def key(self) -> Hashable:
        """Equal for expansions that are the same function."""
        arrays = self.numbers, self.fill, self.gaps, self.coded, *self.tables, *self.sweeps
        return self.n_features, tuple((array.shape, array.tobytes()) for array in arrays)

    def to_source(self, values: Array) -> Array:
        """Sums of `values` (..., e) over the columns that come from the same column of X: (..., d)."""
        flat = values.reshape(-1, self.n_expanded)
        out = np.zeros((self.n_features, len(flat)))
        np.add.at(out, self.source, flat.T)
        return np.ascontiguousarray(out.T).reshape(*values.shape[:-1], self.n_features)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def positions(codes: Array, size: int) -> Array:
    """Row of each code in a table of `size` codes and a last row for missing and unknown ones."""
    return np.where((codes >= 0) & (codes < size), codes, size).astype(np.intp)


@final
@dataclass(frozen=True, eq=False)
class Expanded(Term):
    """``x -> term(expansion(x))``.

    Parameters
    ----------
    term : Term
        A function of the expanded columns.
    expansion : ImputeAndEncode
        From the columns of X to those.
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

    def settled(self) -> Expanded:
        return replace(self, term=self.term.settled())


@singledispatch
def expand(term: Term, expansion: ImputeAndEncode) -> Term:
    """The function ``x -> term(expansion(x))`` as a term in the user's own columns.

    A type of term that handles these itself, as the trees that XGBoost grows do, registers its own rule here; any
    other is wrapped in :class:`Expanded`.
    """
    return Expanded(term, expansion)
