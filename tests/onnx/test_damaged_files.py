"""Damaged and foreign ONNX files: refused in one sentence, whatever the damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnx_export import OnnxPredictor, describe_onnx, to_onnx
from rffboost_ext.terms import FeatureMap

from .oracle import classifier, ensemble_of, fitted, posed, random_cosines, random_trees


def foreign() -> bytes:
    """A valid model of another program."""
    node = onnx.helper.make_node("Relu", ["X"], ["Y"])
    values = [onnx.helper.make_tensor_value_info(name, 1, ["N", 2]) for name in "XY"]
    return onnx.helper.make_model(onnx.helper.make_graph([node], "g", values[:1], values[1:])).SerializeToString()


def damaged_metadata() -> bytes:
    """One of ours whose metadata lacks an entry."""
    model = to_onnx(fitted(0)[0])
    kept = {prop.key: prop.value for prop in model.metadata_props if prop.key != "n_features"}
    onnx.helper.set_model_props(model, kept)
    return model.SerializeToString()


def with_metadata(key: str, text: str, **more: str) -> bytes:
    """One of ours with other entries in its metadata."""
    model = to_onnx(fitted(0)[0])
    kept = {prop.key: prop.value for prop in model.metadata_props}
    onnx.helper.set_model_props(model, kept | {key: text} | more)
    return model.SerializeToString()


def with_shape(*dims: int) -> bytes:
    """One of ours with an array of another shape."""
    model = to_onnx(fitted(0)[0])
    model.graph.initializer[0].dims[:] = dims
    return model.SerializeToString()


BAD_FILES = {
    "text": (b"this is no model", "cannot be read as an ONNX model"),
    "empty": (b"", "cannot be read as an ONNX model"),
    "cut": (
        to_onnx(classifier(ensemble_of(random_cosines(0, 9, 3)), 3)).SerializeToString()[:-90],
        "cannot be read",
    ),
    "foreign": (foreign(), "was not written by onnx_export"),
    "metadata": (damaged_metadata(), "has damaged metadata"),
    "width": (with_metadata("n_features", '"3"'), "has damaged metadata: n_features"),
    "steps": (with_metadata("steps", "5"), "has damaged metadata: steps must be the name of an output, got 5"),
    "gaps": (with_metadata("gaps", "[9]"), "has damaged metadata: gaps must be some of 3 columns"),
    "gaps behind steps": (
        with_metadata("gaps", "[-1]", steps='"x"'),
        "has damaged metadata: gaps must be columns by number",
    ),
    "columns of categories": (
        with_metadata("categories", '[["u"]]'),
        "has damaged metadata: categories must be a list for each column",
    ),
    "categories": (
        with_metadata("categories", '["u", null, null]'),
        "has damaged metadata: categories must be a list for each column",
    ),
    "versions": (with_metadata("versions", '["1.0"]'), "has damaged metadata: versions must be text by package"),
    "dtype": (with_metadata("dtype", '"float16"'), "has damaged metadata: dtype must be 'float32', 'float64' or"),
    "names": (
        with_metadata("feature_names", '["a"]'),
        "has damaged metadata: feature_names must be 3 names",
    ),
    "nested": (with_metadata("versions", "[" * 100_000), "has damaged metadata: maximum recursion depth"),
    "huge": (with_metadata("n_trees", "9" * 100), "has damaged metadata: n_trees must be a number"),
    "no classes": (with_metadata("classes", "[]"), "has damaged metadata: classes must be different"),
    "equal classes": (
        with_metadata("classes", "[1, 1]"),
        "has damaged metadata: classes must be different",
    ),
    "more classes": (
        with_metadata("classes", "[0, 1, 2]"),
        "has damaged metadata: classes must be 2 labels",
    ),
    "classes of text": (
        with_metadata("classes", '["a", "b"]', labels='"<U1"'),
        "has damaged metadata: classes must be numbers, as in the graph",
    ),
    "type of labels": (
        with_metadata("labels", '"<U200000000"'),
        r"has damaged metadata: labels must be the type of the classes \[0, 1\], got '<U200000000'",
    ),
    "shape": (with_shape(0, 10**9), r"cannot be read as an ONNX model: .* has the shape \[0, 1000000000\]"),
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("reader", [OnnxPredictor, describe_onnx])
def test_damaged_and_foreign_files(reader: Any, name: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        reader(path)
    assert "model.onnx" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("reader", [OnnxPredictor, describe_onnx])
def test_an_empty_path_is_not_that_of_the_current_folder(reader: Any) -> None:
    with pytest.raises(ValueError, match="path must be a file, got ''"):
        reader("")


@pytest.mark.parametrize("width", [1, 200_000_000])
def test_labels_of_a_file_claim_no_memory(width: int) -> None:
    model = to_onnx(classifier(ensemble_of(random_cosines(0, 3, 2)), 2, ["no", "maybe"]))
    (entry,) = (prop for prop in model.metadata_props if prop.key == "labels")
    entry.value = f'"<U{width}"'
    assert OnnxPredictor(model).predict(np.zeros((1, 2))).dtype == np.dtype("U5")


def test_an_output_that_is_missing() -> None:
    model = to_onnx(fitted(0)[0])
    del model.graph.output[1]
    with pytest.raises(ValueError, match=r"the model has no output 'probabilities', but \['label', 'score'\]"):
        OnnxPredictor(model).predict_proba(np.zeros((1, 3)))


@pytest.mark.parametrize("reader", [OnnxPredictor, describe_onnx])
def test_other_files_are_not_read_whole(reader: Any, tmp_path: Path) -> None:
    with (tmp_path / "big.csv").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ValueError, match=r"big\.csv cannot be read as an ONNX model"):
        reader(tmp_path / "big.csv")
    with pytest.raises(ValueError, match="path must be a file, got the device"):
        reader("/dev/zero")


def test_a_dimension_whose_name_is_no_text() -> None:
    content = to_onnx(fitted(0)[0]).SerializeToString().replace(b"\x12\x01N", b"\x12\x01\xff")
    with pytest.raises(ValueError, match="damaged"):
        describe_onnx(content)


def test_metadata_of_another_width_is_damage() -> None:
    with pytest.raises(ValueError, match="damaged metadata: n_features must be 3, as in the graph, got 4"):
        describe_onnx(with_metadata("n_features", "4"))


def test_a_graph_without_a_constant_is_damaged() -> None:
    names = [entry.name for entry in to_onnx(fitted(0)[0]).graph.initializer]
    for name in names:
        model = to_onnx(fitted(0)[0])
        del model.graph.initializer[names.index(name)]
        with pytest.raises(ValueError, match="cannot load the model"):
            OnnxPredictor(model)


def sums(dtype: str) -> onnx.ModelProto:
    """A model of cosines, trees and standardized trees."""
    trees = random_trees(1, 6, 2, depth=3)
    scaler = FeatureMap(center=np.array([0.3, 1e4]), scale=np.array([2.0, 30.0]))
    terms = random_cosines(0, 4, 2, center=scaler.center), trees, scaler.around(trees)
    return to_onnx(posed(ensemble_of(*terms, baseline=0.5), 2), dtype=dtype)
