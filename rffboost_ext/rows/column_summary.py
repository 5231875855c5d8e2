"""Categories and missing values of the columns of a table that is read piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..utils.param_validation import told
from ..utils.sparse import SparseRows, is_finite
from ..utils.typing import Array
from .category_encoding import CategoryEncoding, category_array, resolve_categorical_features
from .columns import is_missing
from .tables import (
    MAX_TEXTS,
    allowed_in_fit,
    categorical_columns,
    column_values,
    describe_column,
    is_number,
    is_numeric,
    is_sparse_table,
    is_table,
    mixed_array,
    number_columns,
    read_table,
)


@dataclass(frozen=True)
class ColumnSummary:
    """What a fit on a sample has to know of the columns of all rows.

    Parameters
    ----------
    missing : frozenset of int
        The columns with missing values.
    categories : mapping of int to frozenset
        The distinct values of each categorical column.
    texts : mapping of int to frozenset
        The same for columns that are categorical if they have few values: at most one more than these may have.
    odd : mapping of int to (int, str, str)
        Of these columns, the number of the first row whose text is no number, its name, and the text.
    """

    missing: frozenset[int] = frozenset()
    categories: Mapping[int, frozenset[Any]] = field(default_factory=dict)
    texts: Mapping[int, frozenset[Any]] = field(default_factory=dict)
    odd: Mapping[int, tuple[int, str, str]] = field(default_factory=dict)

    def merge(self, other: ColumnSummary) -> ColumnSummary:
        """The summary of the rows of two."""
        texts = union(self.texts, other.texts)
        return ColumnSummary(
            self.missing | other.missing,
            union(self.categories, other.categories),
            {j: frozenset(islice(values, MAX_TEXTS + 1)) for j, values in texts.items()},
            {j: min(one.odd[j] for one in (self, other) if j in one.odd) for j in {*self.odd, *other.odd}},
        )

    def of_rows(self, row: Array, name_of: Callable[[int], str]) -> ColumnSummary:
        """The same with the numbers of rows (m,) and their names, instead of places in a batch."""
        odd = {j: (int(row[k]), name_of(int(row[k])), text) for j, (k, _, text) in self.odd.items()}
        return replace(self, odd=odd)

    def require_numbers(self, of_sample: CategoryEncoding | None, X: Any) -> None:
        """Raise a ValueError that names the first text of a column of numbers of a sample X."""
        for j, (_, name, text) in self.odd.items():
            if of_sample is None or of_sample.categories[j] is None:
                must = f"column {describe_column(X, j)} of X must hold numbers{allowed_in_fit(X, j, np.empty(0))}"
                raise ValueError(f"{must}, got {told(text)} as {name}")

    def encoding(self, of_sample: CategoryEncoding | None) -> CategoryEncoding | None:
        """The categories of all rows in the columns that are categorical in a sample; the others are numbers."""
        if of_sample is None:
            return None
        values_of = {
            **self.categories,
            **{j: values for j, values in self.texts.items() if len(values) <= MAX_TEXTS},
        }
        columns = enumerate(of_sample.categories)
        return CategoryEncoding(
            tuple(
                category_array(sorted(values_of[j])) if one is not None and j in values_of else None
                for j, one in columns
            )
        )


def union(one: Mapping[int, frozenset[Any]], other: Mapping[int, frozenset[Any]]) -> dict[int, frozenset[Any]]:
    """The union of two sets for each column."""
    return {j: one.get(j, frozenset()) | other.get(j, frozenset()) for j in {*one, *other}}


def summarize_columns(owner: str, categorical_features: Any, X: Any) -> ColumnSummary:
    """The summary of some rows (m, d); parameters are those of ``fit_category_encoding``.

    A ValueError or TypeError names a column that is neither of numbers nor categorical, or has infinite values.
    """
    X = SparseRows.of(X) if issparse(X) else read_table(X)
    X = X if is_table(X) or is_numeric(X) else mixed_array(X)
    by_type = ("from_dtype", "auto") if is_table(X) else ("auto",)
    is_auto = isinstance(categorical_features, str) and categorical_features in by_type
    coded = categorical_columns(X) if is_auto else resolve_categorical_features(owner, categorical_features, X)
    may_hold_text = range(X.shape[1]) if is_auto and not is_numeric(X) else ()
    texts = [j for j in may_hold_text if j not in coded and holds_text(X, j)]
    distinct = {j: frozenset(distinct_entries(X, j)) for j in (*coded, *texts)}
    present = {j: frozenset(v for v in values if not is_missing(v)) for j, values in distinct.items()}
    missing = {j for j, values in distinct.items() if len(present[j]) < len(values)}
    numeric = [j for j in range(X.shape[1]) if j not in distinct]
    if not (is_numeric(X) and is_finite(X)):
        for j, column in zip(numeric, nonzero_entries(X, numeric), strict=True):
            if np.isinf(column).any():
                raise ValueError(
                    f"{owner}: X must be finite numbers or NaN, got infinity in column {describe_column(X, j)}"
                )
            if np.isnan(column).any():
                missing.add(j)
    odd = {j: cell for j in texts if (cell := first_text(X, j)) is not None}
    categories, levels = ({j: present[j] for j in some} for some in (coded, texts))
    columns = ColumnSummary(frozenset(missing), categories, levels, odd)
    return columns.merge(ColumnSummary())


def nonzero_entries(X: Any, columns: Iterable[int]) -> list[Array]:
    """The entries of columns of numbers; of sparse rows and sparse columns those that are not 0."""
    if is_table(X) and is_sparse_table(X.to_native()):
        X = SparseRows.of(X.to_native().sparse.to_coo())
    if not isinstance(X, SparseRows):
        return number_columns(X, columns, in_fit=True)
    stored = np.split(X.columns.data, X.columns.indptr[1:-1])
    return [stored[j] for j in columns]


def holds_text(X: Any, column: int) -> bool:
    """Whether a column is of text."""
    values = column_values(X[:1000], column)
    return values.dtype.kind == "U" or any(isinstance(value, str) for value in values.tolist())


def first_text(X: Any, column: int) -> tuple[int, str, str] | None:
    """The place of the first text in a column that is no number, twice, and the text; None without any."""
    cells = enumerate(column_values(X, column).tolist())
    return next(((k, str(k), cell) for k, cell in cells if isinstance(cell, str) and not is_number(cell)), None)


def distinct_entries(X: Any, column: int) -> list[Any]:
    """The distinct values of a column, with missing ones."""
    if is_table(X):
        return column_values(X[:, [column]].unique(), 0).tolist()
    return list(set(column_values(X, column).tolist()))
