"""Rows of arrays and of tables of any package: selection and concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ..utils.typing import Array
from .tables import is_table, native_table, read_table

# Bytes of a number in the matrix that a table becomes.
NUMBER = 8


def row_bytes(X: Any) -> int:
    """The bytes of a row of an array or a table as a matrix of numbers."""
    itemsize = X.dtype.itemsize if isinstance(X, np.ndarray) and X.dtype.kind == "f" else NUMBER
    return max(1, np.shape(X)[1]) * itemsize


def take_rows(X: Any, index: Array) -> Any:
    """The rows of an index (k,) of an array or a table, copied."""
    table = read_table(X)
    return native_table(table[index]) if is_table(table) else np.asarray(X)[index]


def concatenate(pieces: Sequence[Any]) -> Any:
    """Pieces of an array or of a table, one below the other, in the type of their package.

    Categorical columns stay categorical, whatever categories each piece has.
    """
    tables = [read_table(piece) for piece in pieces]
    if not is_table(tables[0]):
        return np.concatenate([np.asarray(piece) for piece in pieces])
    if len(tables) == 1:
        return pieces[0]
    native, package = [table.to_native() for table in tables], tables[0].implementation
    if package.is_pandas():
        return concatenate_pandas(native)
    if package.is_polars():
        return nw.dependencies.get_polars().concat(native, how="vertical_relaxed")
    if package.is_pyarrow():
        joint = nw.dependencies.get_pyarrow().concat_tables(native, promote_options="permissive")
        return joint.combine_chunks()
    return nw.concat(tables).to_native()


def concatenate_pandas(pieces: Sequence[Any]) -> Any:
    """Data frames one below the other; pandas itself makes text of columns with several sets of categories."""
    pandas = nw.dependencies.get_pandas()
    columns = {}
    for name in pieces[0].columns:
        column = [piece[name] for piece in pieces]
        if any(isinstance(one.dtype, pandas.CategoricalDtype) for one in column):
            typed = [one.astype("category") for one in column]
            columns[name] = pandas.Series(pandas.api.types.union_categoricals(typed, ignore_order=True))
        else:
            columns[name] = pandas.concat(column, ignore_index=True)
    return pandas.DataFrame(columns)
