"""Programs that change ONNX files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from onnx_export import to_onnx
from onnx_export.inputs import graph_inputs
from onnx_export.metadata import read_metadata
from rffboost_ext import RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor

from .jobs import classes, classifier, job, numbers

INT8 = "[8 bits](deployment.md#smaller-numbers) suit trees, not kernel machines"
HALF = "features are rounded: see [smaller numbers](deployment.md#smaller-numbers)"


@cache
def exported() -> dict[str, tuple[onnx.ModelProto, dict[str, Any]]]:
    """Files by kind of model, with inputs."""
    X, X_test, y, _ = classes()
    D, D_test, t, _ = numbers()
    table = X.assign(kind=pd.Categorical(np.where(X["mean area"] > 600, "large", "small")))
    table.loc[::7, ["mean area", "kind"]] = np.nan
    trees = classifier(learner="tree", n_estimators=20)
    quantiles = RFFBoostQuantileRegressor([0.1, 0.9], "rff_newton", quality="fast", random_state=0)
    models = {
        "classifier": (RFFBoostClassifier(random_state=0).fit(X, y), X_test),
        "regressor": (RFFBoostRegressor(random_state=0).fit(D, t), D_test),
        "trees": (trees.fit(X, y), X_test),
        "tree table": (classifier(learner="tree", n_estimators=20).fit(table, y), table),
        "default table": (classifier().fit(table, y), table),
        "scaler": (make_pipeline(StandardScaler(), classifier()).fit(X.to_numpy(), y), X_test.to_numpy()),
        "steps": (make_pipeline(MinMaxScaler(), classifier()).fit(X.to_numpy(), y), X_test.to_numpy()),
        "quantile": (quantiles.fit(D, t), D_test),
    }
    return {name: with_feed(to_onnx(model), rows) for name, (model, rows) in models.items()}


def with_feed(model: onnx.ModelProto, X: Any) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """A model and its inputs."""
    kinds = {entry.name: entry.type.tensor_type.elem_type for entry in model.graph.input}
    return model, graph_inputs(X, kinds, read_metadata(model))


def run(model: onnx.ModelProto, feed: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a model by name."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return dict(zip((entry.name for entry in session.get_outputs()), session.run(None, feed), strict=True))


def moved_rows(change: Callable[[onnx.ModelProto], onnx.ModelProto], name: str, tolerance: float) -> float:
    """The fraction of rows whose scores a change of a file moves by more than a fraction of their deviation."""
    model, feed = exported()[name]
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    wanted, found = run(model, feed), run(change(copy), feed)
    assert {*wanted} == {*found}
    output = "score" if "score" in wanted else "variable"
    off = np.abs(found[output] - wanted[output]) > tolerance * np.std(wanted[output])
    return float(np.mean(off.any(axis=1)))


def require_same(change: Callable[[onnx.ModelProto], onnx.ModelProto]) -> None:
    """A change keeps the scores of all files."""
    for name in exported():
        assert moved_rows(change, name, 1e-5) == 0.0, name


@job("ONNX files", "onnxsim")
def simplify(folder):
    """Exported files, simplified"""
    import onnxsim

    require_same(lambda model: onnxsim.simplify(model)[0])


@job("ONNX files", "onnxslim")
def slim(folder):
    """Exported files, simplified"""
    import onnxslim

    require_same(onnxslim.slim)


@job("ONNX files", "onnxoptimizer")
def optimize(folder):
    """Exported files, optimized"""
    import onnxoptimizer

    require_same(onnxoptimizer.optimize)


@job("ONNX files", "onnx")
def convert_version(folder):
    """Exported files, converted to operator sets 18 and 21"""
    from onnx.version_converter import convert_version

    for opset in (18, 21):
        require_same(lambda model, opset=opset: convert_version(model, opset))


@job("ONNX files", "onnxconverter-common", HALF)
def convert_to_float16(folder):
    """Exported files in float16, without steps before the model"""
    from onnxconverter_common.float16 import convert_float_to_float16

    for name in {*exported()} - {"scaler", "steps"}:
        moved = moved_rows(lambda model: convert_float_to_float16(model, keep_io_types=True), name, 0.1)
        assert moved < 0.02, name


@job("ONNX files", "onnxruntime", INT8)
def quantize(folder):
    """Exported files of trees by `quantize_dynamic`"""
    from onnxruntime.quantization import quantize_dynamic

    def quantized(model: onnx.ModelProto) -> onnx.ModelProto:
        onnx.save(model, folder / "model.onnx")
        quantize_dynamic(folder / "model.onnx", folder / "small.onnx")
        return onnx.load(folder / "small.onnx")

    for name in exported():
        moved = moved_rows(quantized, name, 1e-5)
        assert moved == 0.0 or "tree" not in name, name
