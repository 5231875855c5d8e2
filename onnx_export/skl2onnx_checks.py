"""A model with our estimators inside that skl2onnx would convert into something else: refused before it begins."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import TunedThresholdClassifierCV

from rffboost_ext.exporting import BaseRFFBoost


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
