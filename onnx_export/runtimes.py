"""Runtimes of graphs: ONNX Runtime on one thread, and the reference evaluator of onnx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto
from onnx.helper import make_empty_tensor_value_info
from onnx.reference import ReferenceEvaluator

from rffboost_ext.exporting import Array, require_packages


def runner(model: ModelProto, runtime: str) -> tuple[str, Callable[[dict[str, Array]], dict[str, Array]]]:
    """The runtime that will be used and a function from inputs to outputs, by name."""
    names = [entry.name for entry in model.graph.output]
    if runtime != "reference":
        try:
            session = open_session(model.SerializeToString())
            return "onnxruntime", lambda feed: dict(zip(names, run_session(session, names, feed), strict=True))
        except ImportError:
            if runtime != "auto":
                raise
    evaluator = ReferenceEvaluator(model)

    def run(feed: dict[str, Array]) -> dict[str, Array]:
        try:
            outputs: Any = evaluator.run(names, feed)
        except TypeError as error:
            raise ValueError(
                f"the reference evaluator of onnx {onnx.__version__} cannot run this file, such as "
                f"trees in double precision: give runtime='onnxruntime'"
            ) from error
        return dict(zip(names, outputs, strict=True))

    return "reference", run


def with_output(model: ModelProto, name: str) -> ModelProto:
    """The model with a value of its graph as a further output; the model itself if the name is empty."""
    if not name:
        return model
    more = ModelProto()
    more.CopyFrom(model)
    more.graph.output.append(make_empty_tensor_value_info(name))
    return more


def open_session(content: bytes, name: str = "the model") -> Any:
    """A session of ONNX Runtime on one thread; a ValueError if it rejects the model."""
    require_packages("running an ONNX file", "onnxruntime")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    # ONNX Runtime's errors have no common base of their own.
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"ONNX Runtime {onnxruntime.__version__} cannot load {name}: {reason}") from error


def run_session(session: Any, outputs: list[str], feed: dict[str, Array]) -> list[Array]:
    """The outputs of a session for some rows."""
    rows = {name: values if len(values) else blank_row(values) for name, values in feed.items()}
    try:
        arrays = session.run(outputs, rows)
    # ONNX Runtime's errors have no common base of their own.
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"ONNX Runtime cannot run the model on X: {reason}") from error
    n = len(next(iter(feed.values())))
    return [np.asarray(values)[:n] for values in arrays]


def blank_row(values: Array) -> Array:
    """One row instead of none: some operators of ONNX Runtime crash the process on empty input."""
    row = np.zeros((1, *values.shape[1:]), dtype=values.dtype)
    if values.dtype == object:
        row[:] = ""
    return row
