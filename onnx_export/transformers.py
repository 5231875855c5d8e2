"""Estimators of ours whose terms feed another step, in place of predictions: skl2onnx converts the latter only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from rffboost_ext.estimators.base import BaseRFFBoost


def require_no_terms(steps: Iterable[Any]) -> None:
    """Raise a ValueError if a step whose ``transform`` is used is an estimator of ours, or ends in one."""
    for step in steps:
        last = step
        while isinstance(last, Pipeline):
            last = last[-1]
        if isinstance(last, BaseRFFBoost):
            raise ValueError(
                f"{type(last).__name__} is a transformer among other steps here: its predictions have a graph, "
                f"its transform(X) has none; export the estimators one by one"
            )


def before_last(pipeline: Pipeline) -> list[Any]:
    """The steps of a pipeline that transform."""
    return [step for _, step in pipeline.steps[:-1]]


def all_of_union(union: FeatureUnion) -> list[Any]:
    """The parts of a union."""
    return [step for _, step in union.transformer_list]


def all_of_columns(columns: ColumnTransformer) -> list[Any]:
    """The parts of a transformer of columns."""
    return [step for _, step, _ in columns.transformers_]
