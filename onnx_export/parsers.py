"""Models with estimators of ours that skl2onnx would convert into something else: refused before it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor
from rffboost_ext.estimators.base import BaseRFFBoost

from .source import export_source
from .transformers import all_of_columns, all_of_union, before_last, require_no_terms


def has_ours(model: Any) -> bool:
    """Whether an estimator of ours is inside a model, at any depth."""
    return any(isinstance(part, BaseRFFBoost) for part in model.get_params().values())


def require_one_target(bagging: BaggingRegressor) -> None:
    """Raise a ValueError if ours in a bag predict several columns, which skl2onnx puts into one."""
    first = bagging.estimators_[0]
    while isinstance(first, Pipeline | BaseSearchCV):
        first = first[-1] if isinstance(first, Pipeline) else first.best_estimator_
    if not isinstance(first, BaseRFFBoost | RFFBoostQuantileRegressor):
        return
    size = export_source(first).ensemble.n_outputs
    if size > 1:
        raise ValueError(
            f"a BaggingRegressor must have one target or quantile, got {size}: skl2onnx puts all of them into one "
            f"column; export its estimators_ one by one"
        )


def refuse_threshold(tuned: TunedThresholdClassifierCV) -> None:
    """Raise a ValueError for a tuned threshold of ours, which skl2onnx leaves out."""
    if has_ours(tuned):
        raise ValueError(
            f"a TunedThresholdClassifierCV cannot be converted: skl2onnx leaves its threshold out, here "
            f"{tuned.best_threshold_:.6g}; export its estimator_, and compare the output with best_threshold_"
        )


def require_numbered(pairs: OneVsOneClassifier) -> None:
    """Raise a ValueError unless the labels of pairs of ours are 0 .. K-1, the numbers that skl2onnx puts out."""
    classes = np.asarray(pairs.classes_)
    numbered = classes.dtype.kind in "biuf" and np.array_equal(classes, np.arange(len(classes)))
    if has_ours(pairs) and not numbered:
        raise ValueError(
            f"a OneVsOneClassifier must have the labels 0 .. {len(classes) - 1}, got {classes.tolist()}: skl2onnx "
            f"puts out the number of a class in place of its label; fit to these numbers"
        )


CHECKS: dict[type, Callable[[Any], None]] = {
    RFFBoostClassifier: check_is_fitted,
    RFFBoostRegressor: check_is_fitted,
    RFFBoostQuantileRegressor: check_is_fitted,
    Pipeline: lambda pipeline: require_no_terms(before_last(pipeline)),
    FeatureUnion: lambda union: require_no_terms(all_of_union(union)),
    ColumnTransformer: lambda columns: require_no_terms(all_of_columns(columns)),
    BaggingRegressor: require_one_target,
    TunedThresholdClassifierCV: refuse_threshold,
    OneVsOneClassifier: require_numbered,
}
"""What is checked of a model of each type."""


def watch_parsers() -> None:
    """Make skl2onnx check models before it takes them apart; to be called after our converters are registered."""
    from skl2onnx._parse import _parse_sklearn_simple_model, sklearn_parsers_map, update_registered_parser

    for kind, check in CHECKS.items():
        parser = sklearn_parsers_map.get(kind, _parse_sklearn_simple_model)
        if not hasattr(parser, "watched"):
            update_registered_parser(kind, watched(parser, check))


def watched(parser: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """A parser of models that are checked first."""

    # The names of the parameters are prescribed by skl2onnx.
    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        check(model)
        return parser(scope, model, inputs, custom_parsers=custom_parsers)

    parse.watched = True  # type: ignore[attr-defined]
    return parse
