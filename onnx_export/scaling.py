"""Scalers right before an ensemble, which become part of it."""

from __future__ import annotations

from copy import copy
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from rffboost_ext import Term
from rffboost_ext.exporting import Array
from rffboost_ext.terms import FeatureMap

Step = tuple[str, Any]
Scaling = tuple[tuple[np.ufunc, Array], ...]
"""Operations in their order, each with one operand per column: subtract, divide, multiply, add."""

OPERANDS: dict[type, tuple[tuple[np.ufunc, str, str], ...]] = {
    StandardScaler: ((np.subtract, "mean_", "with_mean"), (np.divide, "scale_", "with_std")),
    MinMaxScaler: ((np.multiply, "scale_", ""), (np.add, "min_", "")),
    MaxAbsScaler: ((np.divide, "scale_", ""),),
    RobustScaler: ((np.subtract, "center_", "with_centering"), (np.divide, "scale_", "with_scaling")),
}
"""What each scaler does: an operation, the attribute with its operands, and the parameter that turns it on."""
NEUTRAL: dict[np.ufunc, float] = {np.subtract: 0.0, np.add: 0.0, np.divide: 1.0, np.multiply: 1.0}


def split_scaling(steps: list[Step]) -> tuple[list[Step], Scaling]:
    """The steps without the scalers that act last on each column, and the operations of these scalers.

    A selection of columns after a scaler is a selection of its operations.
    """
    if not steps:
        return [], ()
    *before, (name, last) = steps
    if is_identity(last):
        return split_scaling(before)
    if isinstance(last, Pipeline):
        return split_scaling([*before, *((f"{name}_{inner}", step) for inner, step in last.steps)])
    if type(last) is ColumnTransformer:
        columns, scaling = split_columns(last)
        return [*before, (name, columns)], scaling
    if type(last) in OPERANDS and not getattr(last, "clip", False):
        rest, earlier = split_scaling(before)
        return rest, (*earlier, *operations(last))
    if isinstance(last, SelectorMixin):
        rest, earlier = split_scaling(before)
        kept = last.get_support()
        return [*rest, (name, last)], tuple((operation, values[kept]) for operation, values in earlier)
    return steps, ()


def is_identity(step: Any) -> bool:
    """Whether a step passes on what it gets."""
    is_plain = type(step) is FunctionTransformer and step.func is None
    return step is None or is_plain or (isinstance(step, str) and step == "passthrough")


def operations(scaler: Any) -> Scaling:
    """The operations of a fitted scaler."""
    used = [(f, name) for f, name, switch in OPERANDS[type(scaler)] if not switch or getattr(scaler, switch)]
    return tuple((f, np.asarray(getattr(scaler, name), dtype=np.float64)) for f, name in used)


def split_columns(columns: ColumnTransformer) -> tuple[ColumnTransformer, Scaling]:
    """A fitted ColumnTransformer without the scalers at the ends of its parts, and their operations."""
    width = max(place.stop for place in columns.output_indices_.values())
    parts: list[tuple[str, Any, Any]] = []
    scaling: list[tuple[np.ufunc, Array]] = []
    for name, step, selection in columns.transformers_:
        is_weighted = (columns.transformer_weights or {}).get(name) is not None
        rest, own = ([], ()) if isinstance(step, str) or is_weighted else split_scaling([(name, step)])
        parts.append((name, joined(rest) if own else step, selection))
        for operation, values in own:
            operands = np.full(width, NEUTRAL[operation])
            operands[columns.output_indices_[name]] = values
            scaling.append((operation, operands))
    without = copy(columns)
    without.transformers_ = parts
    return without, tuple(scaling)


def joined(steps: list[Step]) -> Any:
    """Steps as one step."""
    if not steps:
        return FunctionTransformer(accept_sparse=True)
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


def center_and_scale(scaling: Scaling, width: int) -> tuple[Array, Array]:
    """The center c and the scale s, (width,) each, such that the operations compute ``(x - c) / s``."""
    center, scale = np.zeros(width), np.ones(width)
    for operation, values in scaling:
        if operation is np.subtract:
            center = center + scale * values
        elif operation is np.add:
            center = center - scale * values
        else:
            scale = scale * values if operation is np.divide else scale / values
    return center, scale


@singledispatch
def behind_scaling(term: Term, scaling: Scaling, width: int, dtype: str) -> Term:
    """``x -> term(scaled x)`` as exported in `dtype`."""
    center, scale = center_and_scale(scaling, width)
    return FeatureMap(center=center, scale=scale).around(term)


@singledispatch
def with_lower_thresholds(term: Term) -> Term:
    """The same term, with thresholds clear of rounding errors of the features if it has thresholds."""
    return term
