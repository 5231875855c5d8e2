"""Steps that come before an ensemble, converted by skl2onnx."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, ValueInfoProto, helper
from onnx.checker import ValidationError, check_model
from onnx.compose import add_prefix
from onnx.shape_inference import InferenceError

from .graph import ML, Graph
from .input_names import input_names, rename_inputs
from .model import ML_OPSET
from .precision import single_precision
from .skl2onnx_checks import require_no_terms
from .source import ExportSource


@dataclass(frozen=True)
class PreprocessingSteps:
    """The steps before an ensemble as a separate model that a graph can continue."""

    model: ModelProto

    @property
    def inputs(self) -> list[ValueInfoProto]:
        """The declared inputs."""
        return list(self.model.graph.input)

    def opset(self, asked: int) -> int:
        """The opset that skl2onnx chose: its nodes are valid for this one only."""
        return next((entry.version for entry in self.model.opset_import if entry.domain == ""), asked)

    def open(self, graph: Graph) -> str:
        """Begin `graph` with these steps and return the name of their output."""
        graph.nodes.extend(self.model.graph.node)
        graph.constants.update((tensor.name, tensor) for tensor in self.model.graph.initializer)
        end = self.model.graph.output[0]
        taken = [entry.name for entry in self.inputs]
        names = [*taken, *graph.constants, *(name for node in graph.nodes for name in node.output)]
        graph.types.update(dict.fromkeys(names, np.dtype(object)))
        return graph.input(end.name, helper.tensor_dtype_to_np_dtype(end.type.tensor_type.elem_type))

    def merge_opsets(self, model: ModelProto) -> None:
        """Add to `model` the operator sets that only these steps use, and their functions."""
        known = {entry.domain for entry in model.opset_import}
        model.functions.extend(self.model.functions)
        model.opset_import.extend(entry for entry in self.model.opset_import if entry.domain not in known)


def convert_steps(source: ExportSource, X: Any, dtype: str, opset: int) -> PreprocessingSteps:
    """Convert the steps before the ensemble.

    Raises
    ------
    ValueError
        If `dtype` is "mixed", skl2onnx cannot convert a step, or it can in float32 only.
    """
    import skl2onnx
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

    if dtype == "mixed":
        raise ValueError(
            "to_onnx: dtype must be 'float32' or 'float64' where steps other than StandardScaler come before the "
            "ensemble, got 'mixed'"
        )
    if source.steps is not None:
        require_no_terms([step for _, step in source.steps.steps])
    X = columns_of_fit(source, X)
    types = initial_types(source, X, dtype)
    try:
        model = skl2onnx.to_onnx(source.steps, initial_types=types, target_opset={"": opset, ML: ML_OPSET})
    # skl2onnx's errors have no common base class.
    except Exception as error:
        known = not isinstance(error, MissingConverter | MissingShapeCalculator)
        needed = X is None and source.feature_names and known
        advice = "; pass X, a few rows, where steps take columns by name" if needed else ""
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"to_onnx: skl2onnx cannot convert a step before the ensemble: {reason}{advice}"
        ) from error
    check_steps(model, dtype)
    check_width(model, source)
    # Names of steps may equal ours.
    model = add_prefix(model, "front.", rename_inputs=hasattr(X, "columns"), rename_functions=False)
    if hasattr(X, "columns"):
        name_inputs(model.graph, [str(name) for name in X.columns])
    return PreprocessingSteps(model)


def columns_of_fit(source: ExportSource, X: Any) -> Any:
    """The columns of a table in the order of the fit; anything else unchanged."""
    if not hasattr(X, "columns"):
        return X
    given, wanted = [str(name) for name in X.columns], list(source.feature_names)
    missing = [name for name in wanted if name not in given]
    if missing:
        raise ValueError(f"to_onnx: X must have the columns {wanted} of the fit, got {given} without {missing}")
    if not wanted and len(given) != source.n_features:
        raise ValueError(f"to_onnx: X must have {source.n_features} columns, as at the fit, got {given}")
    return X[wanted] if wanted else X


def name_inputs(graph: GraphProto, columns: Sequence[str]) -> None:
    """Name the inputs after the columns: skl2onnx changes names with spaces."""
    inner = {name for node in graph.node for name in node.output} | {entry.name for entry in graph.initializer}
    names = zip((entry.name for entry in graph.input), input_names(columns, inner), strict=True)
    rename_inputs(graph, dict(names))


def check_steps(model: ModelProto, dtype: str) -> None:
    """Raise a ValueError unless the converted steps are valid, and compute in float64 if requested."""
    advice = "; export with dtype='float32'" if dtype == "float64" else ""
    try:
        check_model(model, full_check=True)
    except (ValidationError, InferenceError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"to_onnx: skl2onnx converts a step before the ensemble into a graph that is not valid in {dtype}: "
            f"{reason}{advice}"
        ) from error
    node = single_precision(model) if dtype == "float64" else None
    if node is not None:
        raise ValueError(
            f"to_onnx: dtype 'float64' cannot be kept: skl2onnx converts a step before the ensemble into "
            f"{node.op_type} (node {node.name!r}), which computes in float32{advice}, or pass integer columns of "
            f"X as float64 if they are the cause"
        )


def check_width(model: ModelProto, source: ExportSource) -> None:
    """Raise a ValueError if the converted steps output a different number of columns than the ensemble takes."""
    dims = model.graph.output[0].type.tensor_type.shape.dim
    found, wanted = dims[1].dim_value if len(dims) == 2 else 0, source.n_step_columns
    if found and wanted and found != wanted:
        raise ValueError(
            f"to_onnx: skl2onnx converts the steps before the ensemble into a graph of {found} columns, and the "
            f"ensemble was fitted to {wanted}: it does not support a step or one of its parameters"
        )


def initial_types(source: ExportSource, X: Any, dtype: str) -> list[tuple[str, Any]]:
    """Names and types of the inputs: one matrix, or one column each where X is a table."""
    from skl2onnx.common import data_types as types

    real = types.DoubleTensorType if dtype == "float64" else types.FloatTensorType
    if not hasattr(X, "columns"):
        return [("X", real([None, source.n_features]))]
    kinds = {"f": real, "i": types.Int64TensorType, "u": types.Int64TensorType, "b": types.BooleanTensorType}
    return [
        (str(name), kinds.get(np.dtype(column_dtype(X[name])).kind, types.StringTensorType)([None, 1]))
        for name in X.columns
    ]


def column_dtype(column: Any) -> Any:
    """The NumPy type of a table's column; object for text and other types that NumPy lacks."""
    return column.dtype if isinstance(column.dtype, np.dtype) else object
