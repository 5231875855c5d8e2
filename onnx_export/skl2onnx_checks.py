"""Models with our estimators inside that skl2onnx would convert into something else: refused before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import FeatureUnion, Pipeline

from rffboost_ext.exporting import BaseRFFBoost


def require_no_terms(steps: Iterable[Any]) -> None:
    """Raise a ValueError if a step whose ``transform`` is used is one of our estimators, or ends in one.

    skl2onnx converts predictions only.
    """
    for step in steps:
        while isinstance(step, Pipeline):
            step = step[-1]
        if isinstance(step, BaseRFFBoost):
            raise ValueError(
                f"{type(step).__name__} is a transformer among other steps here: its predictions have a graph, "
                f"its transform(X) has none; export the estimators one by one"
            )


def require_no_threshold(tuned: TunedThresholdClassifierCV) -> None:
    """Raise a ValueError for a tuned threshold of our classifiers, which skl2onnx leaves out."""
    if any(isinstance(part, BaseRFFBoost) for part in tuned.get_params().values()):
        raise ValueError(
            f"a TunedThresholdClassifierCV cannot be converted: skl2onnx leaves its threshold out, here "
            f"{tuned.best_threshold_:.6g}; export its estimator_, and compare the output with best_threshold_"
        )


CHECKS: dict[type, Callable[[Any], None]] = {
    Pipeline: lambda pipeline: require_no_terms(step for _, step in pipeline.steps[:-1]),
    FeatureUnion: lambda union: require_no_terms(step for _, step in union.transformer_list),
    ColumnTransformer: lambda columns: require_no_terms(step for _, step, _ in columns.transformers_),
    TunedThresholdClassifierCV: require_no_threshold,
}
"""The check of a model of each type."""


def add_checks_to_parsers() -> None:
    """Make skl2onnx check models before it takes them apart; to be called after our converters are registered."""
    from skl2onnx._parse import _parse_sklearn_simple_model, sklearn_parsers_map, update_registered_parser

    for kind, check in CHECKS.items():
        parser = sklearn_parsers_map.get(kind, _parse_sklearn_simple_model)
        if not hasattr(parser, "check"):
            update_registered_parser(kind, with_check(parser, check))


def with_check(parser: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """A parser of models that are checked first."""

    # The names of the parameters are prescribed by skl2onnx.
    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        check(model)
        return parser(scope, model, inputs, custom_parsers=custom_parsers)

    parse.check = check  # type: ignore[attr-defined]
    return parse
