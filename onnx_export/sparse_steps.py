"""Steps that output sparse matrices: XGBoost takes entries that are absent from them for missing values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from rffboost_ext.exporting import Array

ALWAYS_SPARSE = CountVectorizer, HashingVectorizer, TfidfTransformer, FeatureHasher
"""Steps whose output is always sparse."""
OF_NUMBERS = Binarizer, MaxAbsScaler, Normalizer, PolynomialFeatures, RobustScaler, StandardScaler
ZERO_TO_ABSENT = *OF_NUMBERS, SelectorMixin
"""Steps whose output is sparse if their input is, with zeros absent."""


def outputs_sparse(step: Any, is_sparse: bool = False) -> bool:
    """Whether the output of a fitted step is a sparse matrix, which depends on whether its input is one.

    A ValueError if zeros may be stored in it, so that nobody can tell from the values what is absent.
    """
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            is_sparse = outputs_sparse(inner, is_sparse)
        return is_sparse
    if isinstance(step, ColumnTransformer):
        return bool(step.sparse_output_)
    if isinstance(step, FeatureUnion):
        return any(outputs_sparse(inner, is_sparse) for _, inner in step.transformer_list)
    if step is None or isinstance(step, str):
        return is_sparse and step != "drop"
    if isinstance(step, KBinsDiscretizer):
        return bool(step.encode == "onehot")
    if isinstance(step, DictVectorizer):
        return bool(step.sparse)
    if isinstance(step, ALWAYS_SPARSE) or getattr(step, "sparse_output", False) is True:
        return True
    keeps_sparse = isinstance(step, ZERO_TO_ABSENT) or (
        isinstance(step, FunctionTransformer) and step.func is None
    )
    # Of other kinds, decompositions output arrays.
    stores_zeros = type(step).__module__.startswith(("sklearn.impute", "sklearn.preprocessing"))
    if is_sparse and not keeps_sparse and stores_zeros:
        raise ValueError(
            f"{type(step).__name__} gets a sparse matrix here and may store zeros in it, which XGBoost tells from "
            f"absent entries and a graph cannot: give the step before it sparse_output=False or sparse_threshold=0"
        )
    return is_sparse and keeps_sparse


def parts(step: Any) -> Iterator[Any]:
    """A fitted step and, where it consists of several, all of them."""
    yield step
    for entry in (
        *getattr(step, "steps", ()),
        *getattr(step, "transformer_list", ()),
        *getattr(step, "transformers_", ()),
    ):
        yield from parts(entry[1])


def divides_by_norm(step: Any) -> bool:
    """Whether a step divides rows by their norm, so that its output in float32 has rounding errors."""
    return isinstance(step, Normalizer | TfidfTransformer | TfidfVectorizer) and step.norm is not None


def dense(X: Any, absent: Array | None) -> Array:
    """The output of steps as an array (n, p), with NaN for numbers equal to those of `absent` (p,)."""
    values = np.asarray(X.toarray() if issparse(X) else X)
    if absent is None:
        return values
    return np.where(values.astype(np.float32) == absent.astype(np.float32), np.nan, values)
