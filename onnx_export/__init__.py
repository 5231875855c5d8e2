"""Export of fitted ensembles to ONNX files, verification of the files, and prediction from them."""

from .comparison import Report
from .conversion import convert_term, rounding_error
from .describe import Description, describe_onnx
from .export import save_onnx, to_onnx
from .graph import ConversionError, Graph
from .links import convert_link
from .predictor import OnnxPredictor
from .skl2onnx_converters import register_skl2onnx
from .verify import MismatchError, verify_onnx

__all__ = [
    "ConversionError",
    "Description",
    "Graph",
    "MismatchError",
    "OnnxPredictor",
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
