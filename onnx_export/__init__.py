"""Export of fitted ensembles to ONNX files, verification of the files, and prediction from them."""

from .conversion import convert_term
from .describe import Description, describe_onnx
from .export import save_onnx, to_onnx
from .graph import Graph
from .links import convert_link
from .predictor import OnnxPredictor
from .reading import READERS, StoredTerm, from_onnx
from .skl2onnx_converters import register_skl2onnx
from .tolerance import rounding_error
from .uncertainty import OutputProjection
from .verify import MismatchError, Report, verify_onnx

__all__ = [
    "READERS",
    "Description",
    "Graph",
    "MismatchError",
    "OnnxPredictor",
    "OutputProjection",
    "Report",
    "StoredTerm",
    "convert_link",
    "convert_term",
    "describe_onnx",
    "from_onnx",
    "register_skl2onnx",
    "rounding_error",
    "save_onnx",
    "to_onnx",
    "verify_onnx",
]
