"""Export of fitted ensembles to ONNX files, verification of the files, and prediction from them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison import Report
    from .conversion import convert_term, rounding_error
    from .describe import Description, describe_onnx
    from .export import save_onnx, to_onnx
    from .graph import ConversionError, Graph
    from .links import convert_link
    from .output_projection import OutputProjection
    from .predictor import OnnxPredictor
    from .skl2onnx_converters import register_skl2onnx
    from .verify import MismatchError, verify_onnx

__all__ = [
    "ConversionError",
    "Description",
    "Graph",
    "MismatchError",
    "OnnxPredictor",
    "OutputProjection",
    "Report",
    "convert_link",
    "convert_term",
    "describe_onnx",
    "register_skl2onnx",
    "rounding_error",
    "save_onnx",
    "to_onnx",
    "verify_onnx",
]

MODULES = (
    "conversion",
    "describe",
    "export",
    "graph",
    "output_projection",
    "links",
    "predictor",
    "comparison",
    "skl2onnx_converters",
    "verify",
)


def __getattr__(name: str) -> Any:
    """Import the public names at first use: ``python -m onnx_export`` catches an interrupt during the import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in [import_module(f".{module}", __name__) for module in MODULES]:
        globals().update({public: vars(module)[public] for public in __all__ if public in vars(module)})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
