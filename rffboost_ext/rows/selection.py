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


def join_rows(containers: Sequence[Any], indices: Sequence[Array]) -> Any:
    """Rows of several arrays, matrices or tables, one below the other, in the type of their package.

    If one is sparse, all rows are.
    Categorical columns stay categorical, whatever categories each container has.

    Parameters
    ----------
    containers : sequence of ndarray, sparse matrix or table
    indices : sequence of ndarray
        The rows of each container.
    """
    if any(map(issparse, containers)):
        rows = [csr_array(container)[index] for container, index in zip(containers, indices, strict=True)]
        return vstack(rows, format="csr")
    if isinstance(containers[0], np.ndarray):
        return join_arrays(containers, indices)
    tables = [read_table(container)[index] for container, index in zip(containers, indices, strict=True)]
    if not is_table(tables[0]):
        return join_arrays([np.asarray(container) for container in containers], indices)
    native, package = [table.to_native() for table in tables], tables[0].implementation
    if package.is_pandas():
        return join_frames(native)
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


def join_arrays(arrays: Sequence[Array], indices: Sequence[Array]) -> Array:
    """Rows of several arrays, without a copy of each before they are joined."""
    out = np.empty((sum(map(len, indices)), *arrays[0].shape[1:]), dtype=np.result_type(*arrays))
    start = 0
    for array, index in zip(arrays, indices, strict=True):
        rows = out[start : start + len(index)]
        if array.dtype == out.dtype:
            # The mode "raise" would copy them first.
            np.take(array, index, axis=0, out=rows, mode="clip")
        else:
            rows[:] = array[index]
        start += len(index)
    return out


def join_frames(frames: Sequence[Any]) -> Any:
    """Data frames one below the other; pandas itself makes text of columns with several sets of categories."""
    pandas = nw.dependencies.get_pandas()
    joint = pandas.concat(frames, ignore_index=True)
    kinds = [(name, kind) for frame in frames for name, kind in frame.dtypes.items()]
    for name in {name for name, kind in kinds if isinstance(kind, pandas.CategoricalDtype)}:
        typed = [frame[name].astype("category") for frame in frames]
        joint[name] = pandas.Series(pandas.api.types.union_categoricals(typed, ignore_order=True))
    return joint
