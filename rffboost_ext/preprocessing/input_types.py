"""Errors for data that are neither arrays nor tables, which say what to pass instead."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .tables import require_unmasked

# What to pass instead of objects of other packages; {name} stands for the argument.
INSTEAD = {
    "duckdb.DuckDBPyRelation": "{name}.df(), {name}.pl() or {name}.to_arrow_table()",
    "pyspark.DataFrame": "{name}.toPandas(), if need be of {name}.sample(...)",
    "polars.LazyFrame": "{name}.collect()",
    "ibis.Table": "{name}.to_pandas()",
    "datasets.Dataset": "{name}.to_pandas()",
    "h2o.H2OFrame": "{name}.as_data_frame()",
    "pyarrow.RecordBatchReader": "{name}.read_all()",
    "xgboost.DMatrix": "the array or table that it was made of",
    "lightgbm.Dataset": "the array or table that it was made of",
    "catboost.Pool": "the array or table that it was made of",
}
# The same for arrays that NumPy converts if they are in main memory and need no gradient.
ON_DEVICES = {
    "torch.Tensor": "{name}.detach().cpu().numpy()",
    "cupy.ndarray": "{name}.get()",
    "cudf.DataFrame": "{name}.to_pandas()",
    "cudf.Series": "{name}.to_pandas()",
}


def require_arrays(**arrays: Any) -> None:
    """Raise a TypeError for an argument that is no array or table, and a ValueError for one with masked entries.

    Messages name the argument and say what to pass instead.
    """
    for name, values in arrays.items():
        require_unmasked(**{name: values})
        structured = isinstance(values, np.ndarray) and values.dtype.names
        if values is None or (isinstance(values, np.ndarray | list | tuple | numbers.Number) and not structured):
            continue
        advice = replacement(values)
        if advice is not None:
            kind = f"{type(values).__module__.partition('.')[0]}.{type(values).__name__}".removeprefix("builtins.")
            raise TypeError(
                f"{name} must be a dense array or a table, got {kind}: pass {advice.format(name=name)}"
            )


def replacement(values: Any) -> str | None:
    """What to pass instead of an object that is no array or table; None for one that is."""
    from scipy.sparse import issparse

    names = [f"{cls.__module__.partition('.')[0].lstrip('_')}.{cls.__name__}" for cls in type(values).__mro__]
    known = next((INSTEAD[name] for name in names if name in INSTEAD), None)
    on_device = next((ON_DEVICES[name] for name in names if name in ON_DEVICES), None)
    if issparse(values):
        return sparse_replacement(values.shape)
    if known is not None or (on_device is not None and not is_convertible(values)):
        return known or on_device
    if isinstance(values, str | bytes | os.PathLike):
        return "the table of a file, such as pandas.read_csv(path)"
    if isinstance(values, Mapping):
        return "pandas.DataFrame({name})"
    if isinstance(values, Iterator):
        return "list({name})"
    kinds = getattr(values, "dtypes", ()) if hasattr(type(values), "columns") else ()
    if any(str(kind).startswith("Sparse") for kind in kinds):
        return "{name}.sparse.to_dense()"
    if isinstance(values, np.ndarray) and values.dtype.names:
        return "pandas.DataFrame({name})"
    known_as_array = any(hasattr(values, name) for name in ("__array__", "__array_interface__", "__len__"))
    return None if known_as_array else "numpy.asarray of its values"


def sparse_replacement(shape: tuple[int, ...]) -> str:
    """What to pass instead of a sparse matrix."""
    if np.prod(shape, dtype=np.float64) <= max(shape):
        return "{name}.toarray().ravel() instead of a sparse vector"
    megabytes = np.prod(shape, dtype=np.float64) * 8 / 1e6
    return (
        f"{{name}}.toarray(), which takes {megabytes:,.1f} MB, or a few columns of "
        f"sklearn.decomposition.TruncatedSVD; XGBoost and LightGBM take a sparse matrix as it is"
    )


def is_convertible(values: Any) -> bool:
    """Whether NumPy can convert an array of another package."""
    try:
        np.asarray(values)
    except (TypeError, RuntimeError):
        return False
    return True
