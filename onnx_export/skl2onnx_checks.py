"""Models with our estimators inside that skl2onnx would convert into something else: refused before it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.model_selection import TunedThresholdClassifierCV

from rffboost_ext.exporting import BaseRFFBoost


def require_no_threshold(tuned: TunedThresholdClassifierCV) -> None:
    """Raise a ValueError for a tuned threshold of our classifiers, which skl2onnx leaves out."""
    if any(isinstance(part, BaseRFFBoost) for part in tuned.get_params().values()):
        raise ValueError(
            f"a TunedThresholdClassifierCV cannot be converted: skl2onnx leaves its threshold out, here "
            f"{tuned.best_threshold_:.6g}; export its estimator_, and compare the output with best_threshold_"
        )


def add_checks_to_parsers() -> None:
    """Make skl2onnx check models before it takes them apart; to be called after our converters are registered."""
    from skl2onnx._parse import _parse_sklearn_simple_model, sklearn_parsers_map, update_registered_parser

    parser = sklearn_parsers_map.get(TunedThresholdClassifierCV, _parse_sklearn_simple_model)
    if not hasattr(parser, "check"):
        update_registered_parser(TunedThresholdClassifierCV, with_check(parser, require_no_threshold))


def with_check(parser: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """A parser of models that are checked first."""

    # The names of the parameters are prescribed by skl2onnx.
    def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        check(model)
        return parser(scope, model, inputs, custom_parsers=custom_parsers)

    parse.check = check  # type: ignore[attr-defined]
    return parse
