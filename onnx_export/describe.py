"""A readable summary of a model file."""

from __future__ import annotations

import os
from dataclasses import dataclass

from onnx import ModelProto, TensorProto, ValueInfoProto

from .graph import ML
from .metadata import Metadata, read_metadata
from .model import load, name_of

RUNTIMES = (
    ("1.15", 9, 19, 3),
    ("1.17", 9, 20, 4),
    ("1.18", 10, 21, 5),
    ("1.21", 10, 22, 5),
    ("1.23", 11, 23, 5),
    ("1.24", 13, 25, 5),
    ("1.25", 13, 26, 5),
)
"""Versions of ONNX Runtime and the newest IR, ai.onnx and ai.onnx.ml that each loads, found by testing."""


@dataclass(frozen=True)
class Description:
    """Summary of a model file; ``print`` shows it.

    Attributes
    ----------
    metadata : Metadata
        The file's metadata.
    inputs, outputs : dict of str to str
        Names and shapes.
    nodes : int
        Nodes of the graph.
    size : int
        Bytes.
    ir_version, opset, ml_opset : int
        Versions of the IR and of the operator sets; 0 for one that is not used.
    minimum_onnxruntime : str
        The oldest ONNX Runtime, from 1.15 on, that loads the file.
    text_inputs : tuple of str
        Names of the inputs that are text.
    """

    metadata: Metadata
    inputs: dict[str, str]
    outputs: dict[str, str]
    nodes: int
    size: int
    ir_version: int
    opset: int
    ml_opset: int
    minimum_onnxruntime: str
    text_inputs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(f"{name:<14}{value}" for name, value in self._lines().items())

    @property
    def missing_text(self) -> str:
        """How a missing text is written in each input of text; empty if no input is text."""
        texts = self.metadata.missing_text
        if texts is None:
            return "unknown" if self.text_inputs else ""
        other = " or any other text that is no category" if self.metadata.categories else ""
        words = [f"{texts[name]!r}{other} in {name}" for name in self.text_inputs if name in texts]
        return ", ".join([*words, *(f"not allowed in {name}" for name in self.text_inputs if name not in texts)])

    def _lines(self) -> dict[str, str]:
        metadata = self.metadata
        names = f": {', '.join(metadata.feature_names)}" if metadata.feature_names else ""
        return {
            "estimator": metadata.estimator,
            "loss": f"{metadata.loss}, link {metadata.link}",
            "ensemble": f"{metadata.n_cosines} cosines, {metadata.n_trees} trees, {metadata.n_outputs} raw scores",
            "classes": "none" if metadata.classes is None else ", ".join(map(str, metadata.classes)),
            "features": f"{metadata.n_features}{names}",
            "inputs": ", ".join(f"{name} {shape}" for name, shape in self.inputs.items()),
            "outputs": ", ".join(f"{name} {shape}" for name, shape in self.outputs.items()),
            **({"missing text": self.missing_text} if self.text_inputs else {}),
            "numbers": metadata.dtype,
            "file": f"{self.size} bytes, {self.nodes} nodes",
            "format": f"IR {self.ir_version}, opset {self.opset}"
            + f", {ML} {self.ml_opset}" * bool(self.ml_opset),
            "runs on": f"ONNX Runtime {self.minimum_onnxruntime} and newer",
            "written by": ", ".join(f"{name} {version}" for name, version in metadata.versions.items()),
            **({"version": f"{metadata.model_version}"} if metadata.model_version else {}),
            **({"metadata": f"{metadata.user_metadata}"} if metadata.user_metadata else {}),
        }


def describe_onnx(model: str | os.PathLike[str] | bytes | ModelProto) -> Description:
    """Read the metadata and requirements of a model file.

    Parameters
    ----------
    model : path-like, bytes or ModelProto
        A model written by this package.

    Returns
    -------
    Description

    Raises
    ------
    ValueError
        If the file is damaged or was written by another program.

    Examples
    --------
    >>> import numpy as np
    >>> from onnx_export import describe_onnx, to_onnx
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X = np.arange(50.0)[:, None]
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, 0])
    >>> describe_onnx(to_onnx(model, metadata={"commit": "4f2a"})).metadata.user_metadata
    {'commit': '4f2a'}
    """
    proto = load(model)
    name = name_of(model)
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    opset, ml_opset = versions.get("", 0), versions.get(ML, 0)
    return Description(
        metadata=read_metadata(proto, name),
        inputs={entry.name: shape_of(entry, name) for entry in proto.graph.input},
        outputs={entry.name: shape_of(entry, name) for entry in proto.graph.output},
        nodes=len(proto.graph.node),
        size=proto.ByteSize(),
        ir_version=proto.ir_version,
        opset=opset,
        ml_opset=ml_opset,
        minimum_onnxruntime=minimum_onnxruntime(proto.ir_version, opset, ml_opset),
        text_inputs=tuple(e.name for e in proto.graph.input if e.type.tensor_type.elem_type == TensorProto.STRING),
    )


def shape_of(value: ValueInfoProto, model: str) -> str:
    """The shape of a declared value of a model, as ``(N, 3)``."""
    dims = value.type.tensor_type.shape.dim
    if any(isinstance(dim.dim_param, bytes) for dim in dims):
        raise ValueError(f"{model} is damaged: the name of a dimension of {value.name!r} is no text")
    sizes = [dim.dim_param or (str(dim.dim_value) if dim.HasField("dim_value") else "N") for dim in dims]
    return f"({', '.join(sizes)})"


def minimum_onnxruntime(ir_version: int, opset: int, ml_opset: int) -> str:
    """The oldest ONNX Runtime that loads these versions; "newer than ..." if none of those tested does."""
    needed = (ir_version, opset, ml_opset)
    for runtime, *loads in RUNTIMES:
        if all(need <= most for need, most in zip(needed, loads, strict=True)):
            return runtime
    return f"newer than {RUNTIMES[-1][0]}"
