"""Converters for skl2onnx, so that our estimators can be exported inside scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import TunedThresholdClassifierCV

from rffboost_ext import (
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
)
from rffboost_ext.exporting import BaseRFFBoost

from .check import check_conversion
from .conversion import convert_ensemble
from .export import class_tensor, label
from .graph import Graph
from .links import class_scores, response_nodes
from .skl2onnx_graphs import graph_at, hand_over
from .source import ExportSource, export_source

CLASSIFIER_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "raw_scores": [True, False],
    "output_class_labels": [False, True],
}
REGRESSORS = RFFBoostRegressor, RFFBoostDistribution, RFFBoostQuantileRegressor, RFFBoostRanker, RFFBoostSurvival
ESTIMATORS = RFFBoostClassifier, *REGRESSORS


def register_skl2onnx() -> None:
    """Register our classifier and regressors with skl2onnx; to be called once, before ``skl2onnx.to_onnx``.

    Then Pipeline, ColumnTransformer, CalibratedClassifierCV with sigmoid, OneVsRestClassifier, VotingClassifier
    with ``flatten_transform=False``, stacking, bagging and searches that hold our estimators can be exported.
    skl2onnx itself is wrong for CalibratedClassifierCV around a Pipeline, for isotonic and temperature calibration
    and for FrozenEstimator. It cannot convert, or ONNX Runtime 1.31 cannot run, StackingClassifier with a
    `stack_method` of "predict" or, for two classes, "decision_function", VotingClassifier whose `weights` are a
    list rather than an array, and AdaBoostClassifier and SimpleImputer in float64.

    TunedThresholdClassifierCV, whose threshold skl2onnx leaves out, raises a ValueError. skl2onnx is also wrong
    for BaggingRegressor of several targets, and for OneVsOneClassifier whose labels are not the numbers 0 .. K-1.

    skl2onnx's words of CountVectorizer and TfidfVectorizer are not those of Python. :func:`to_onnx` exports
    pipelines with the right words.

    Examples
    --------
    >>> import numpy as np, skl2onnx
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from onnx_export import register_skl2onnx
    >>> register_skl2onnx()
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> pipeline = make_pipeline(SimpleImputer(), RFFBoostRegressor(n_estimators=5)).fit(X, np.sin(X[:, 0]))
    >>> skl2onnx.to_onnx(pipeline, X).graph.output[0].name
    'variable'
    """
    from skl2onnx import update_registered_converter

    for estimator in ESTIMATORS:
        options = CLASSIFIER_OPTIONS if estimator is RFFBoostClassifier else None
        update_registered_converter(
            estimator, estimator.__name__, declare_shapes, convert_estimator, options=options
        )
    refuse_thresholds()


def declare_shapes(operator: Any) -> None:
    """Declare the shapes of the outputs of an estimator, with a column for each of several labels or targets."""
    from skl2onnx.common import shape_calculator as rules

    source = export_source(operator.raw_operator)
    if source.classes is None:
        rules.calculate_linear_regressor_output_shapes(operator)
    else:
        rules.calculate_linear_classifier_output_shapes(operator)
    if source.classes is None or source.multilabel:
        # The rules of skl2onnx look for linear coefficients.
        operator.outputs[0].type.shape = [operator.inputs[0].get_first_dimension(), source.width]


# The names of the parameters are prescribed by skl2onnx.
def convert_estimator(scope: Any, operator: Any, container: Any) -> None:
    """A regressor's response; a classifier's labels and probabilities, or raw scores, one column per class."""
    from skl2onnx.common.utils_classifier import get_label_classes

    model = operator.raw_operator
    source = export_source(model)
    if source.encoding is not None or source.n_offsets:
        kind = "with categorical columns" if source.encoding is not None else "that was fitted with base_margin"
        raise ValueError(
            f"an estimator {kind} cannot be converted by skl2onnx, whose graphs have no such inputs: export it by "
            f"itself, by onnx_export.to_onnx"
        )
    graph, x = graph_at(scope, operator, container)
    raw = convert_ensemble(source.ensemble, graph, x)
    if source.classes is not None and container.get_options(model, {"raw_scores": False})["raw_scores"]:
        outputs = [scores_of_classes(source, graph, raw)]
    else:
        outputs = [response_nodes(source.link, graph, raw)]
    if source.classes is not None:
        classes = class_tensor(np.asarray(get_label_classes(scope, model)))
        outputs.insert(0, label(source, graph, raw, classes))
    check_conversion(source, graph, x)
    hand_over(graph, outputs, operator, container)


def scores_of_classes(source: ExportSource, graph: Graph, raw: str) -> str:
    """Raw scores with a column for each class, as skl2onnx has them."""
    n_outputs = source.ensemble.n_outputs
    if n_outputs != source.width and (n_outputs, source.width) != (1, 2):
        raise ValueError(
            f"loss {source.loss} has {n_outputs} scores for {source.width} classes: skl2onnx's raw_scores are a "
            f"score for each class"
        )
    return class_scores(graph, raw) if n_outputs == 1 else raw


def refuse_thresholds() -> None:
    """Make skl2onnx refuse a tuned threshold of our classifiers, which it would leave out.

    It is to be called after our converters are registered.
    """
    from skl2onnx._parse import _parse_sklearn_simple_model, sklearn_parsers_map, update_registered_parser

    parser = sklearn_parsers_map.get(TunedThresholdClassifierCV, _parse_sklearn_simple_model)
    if parser.__module__ == __name__:
        return

    # The names of the parameters are prescribed by skl2onnx.
    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        if any(isinstance(part, BaseRFFBoost) for part in model.get_params().values()):
            raise ValueError(
                f"a TunedThresholdClassifierCV cannot be converted: skl2onnx leaves its threshold out, here "
                f"{model.best_threshold_:.6g}; export its estimator_, and compare the output with best_threshold_"
            )
        return parser(scope, model, inputs, custom_parsers=custom_parsers)

    update_registered_parser(TunedThresholdClassifierCV, parse)
