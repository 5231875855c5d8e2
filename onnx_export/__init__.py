"""ONNX export: every trained ensemble as one small file that computes the same."""

from .converters import register_skl2onnx
from .describe import Description, describe_onnx
from .export import save_onnx, to_onnx
from .graph import Graph
from .lifting import LIFTS, Parts, from_onnx
from .links import convert_link
from .lowering import lower
from .predictor import OnnxPredictor
from .tolerance import rounding
from .uncertainty import OutputProjection
from .verify import MismatchError, Report, verify_onnx

__all__ = [
    "LIFTS",
    "Description",
    "Graph",
    "MismatchError",
    "OnnxPredictor",
    "OutputProjection",
    "Parts",
    "Report",
    "convert_link",
    "describe_onnx",
    "from_onnx",
    "lower",
    "register_skl2onnx",
    "rounding",
    "save_onnx",
    "to_onnx",
    "verify_onnx",
]
