"""Rows of arrays, sparse matrices and tables of any package: selection and concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from ..utils.sparse import MOST_ENTRIES
from ..utils.typing import Array
from .tables import is_table, native_table, read_table

# Bytes of a number in the matrix that a table becomes, and of an entry of a sparse matrix with its column.
NUMBER, ENTRY = 8, 12


def row_bytes(X: Any) -> int:
    """The bytes of a row of an array or a table as a matrix of numbers, of sparse rows on average."""
    if issparse(X) and X.nnz < MOST_ENTRIES * X.shape[0] * X.shape[1]:
        return max(1, ENTRY * X.nnz // X.shape[0])
    itemsize = X.dtype.itemsize if isinstance(X, np.ndarray) and X.dtype.kind == "f" else NUMBER
    return max(1, np.shape(X)[1]) * itemsize


def take_rows(X: Any, index: Array) -> Any:
    """The rows of an index (k,) of an array, a sparse matrix or a table, copied."""
    if issparse(X):
        return csr_array(X)[index]
    table = read_table(X)
    return native_table(table[index]) if is_table(table) else np.asarray(X)[index]


def gather_rows(pieces: Sequence[Any], indices: Sequence[Array]) -> Any:
    """Rows of several pieces of an array or a table, one below the other, in the type of their package.

    If one piece is sparse, all rows are.
    Categorical columns stay categorical, whatever categories each piece has.

    Parameters
    ----------
    pieces : sequence of ndarray, sparse matrix or table
    indices : sequence of ndarray
        The rows of each piece.
    """
    if any(map(issparse, pieces)):
        rows = [csr_array(piece)[index] for piece, index in zip(pieces, indices, strict=True)]
        return vstack(rows, format="csr")
    if isinstance(pieces[0], np.ndarray):
        return gather_array(pieces, indices)
    tables = [read_table(piece)[index] for piece, index in zip(pieces, indices, strict=True)]
    if not is_table(tables[0]):
        return gather_array([np.asarray(piece) for piece in pieces], indices)
    native, package = [table.to_native() for table in tables], tables[0].implementation
    if package.is_pandas():
        return concatenate_pandas(native)
    if package.is_polars():
        polars = nw.dependencies.get_polars()
        if any(one.schema != native[0].schema for one in native):
            native = [one.cast({polars.Enum: polars.Categorical}) for one in native]
        return polars.concat(native, how="vertical_relaxed")
    if package.is_pyarrow():
        arrow = nw.dependencies.get_pyarrow()
        schema = arrow.unify_schemas([one.schema for one in native], promote_options="permissive")
        return arrow.concat_tables([cast_columns("X", one, schema) for one in native]).combine_chunks()
    return nw.concat(tables).to_native()


def cast_columns(owner: str, table: Any, schema: Any) -> Any:
    """A table of Arrow in the types of a schema; a ValueError that names the column if a value does not fit."""
    from pyarrow import types

    columns = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        coded = types.is_dictionary(kind) and not types.is_dictionary(table[name].type)
        try:
            columns.append((table[name].dictionary_encode() if coded else table[name]).cast(kind))
        except (ValueError, TypeError, NotImplementedError) as error:
            raise ValueError(f"{owner}: column {name!r} must hold values of type {kind}: {error}") from error
    return type(table).from_arrays(columns, schema=schema)


def gather_array(pieces: Sequence[Array], indices: Sequence[Array]) -> Array:
    """Rows of several arrays, without a copy of each before they are joined."""
    out = np.empty((sum(map(len, indices)), *pieces[0].shape[1:]), dtype=np.result_type(*pieces))
    start = 0
    for piece, index in zip(pieces, indices, strict=True):
        rows = out[start : start + len(index)]
        if piece.dtype == out.dtype:
            # The mode "raise" would copy them first.
            np.take(piece, index, axis=0, out=rows, mode="clip")
        else:
            rows[:] = piece[index]
        start += len(index)
    return out


def concatenate_pandas(pieces: Sequence[Any]) -> Any:
    """Data frames one below the other; pandas itself makes text of columns with several sets of categories."""
    pandas = nw.dependencies.get_pandas()
    joint = pandas.concat(pieces, ignore_index=True)
    kinds = [(name, kind) for piece in pieces for name, kind in piece.dtypes.items()]
    for name in {name for name, kind in kinds if isinstance(kind, pandas.CategoricalDtype)}:
        typed = [piece[name].astype("category") for piece in pieces]
        joint[name] = pandas.Series(pandas.api.types.union_categoricals(typed, ignore_order=True))
    return joint
