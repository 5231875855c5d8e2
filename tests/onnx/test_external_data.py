"""Weights in files beside the model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnx_export import OnnxPredictor, describe_onnx, to_onnx, verify_onnx
from onnx_export.cli import main

from .test_damaged_files import sums

X = np.random.default_rng(0).normal(size=(20, 2))


def saved(model: onnx.ModelProto, path: Path, **options: Any) -> Path:
    """The path of a model with all of its weights beside it."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    onnx.save(copy, path, save_as_external_data=True, size_threshold=0, **options)
    return path


@pytest.mark.parametrize("options", [{}, {"all_tensors_to_one_file": False}, {"convert_attribute": True}])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_path_says_where_the_weights_are(
    dtype: str, options: dict[str, Any], tmp_path: Path, monkeypatch
) -> None:
    model = sums(dtype)
    path = saved(model, tmp_path / "model.onnx", **options)
    assert len(os.listdir(tmp_path)) > 1
    monkeypatch.chdir(tmp_path)
    for place in (path, str(path), path.name):
        assert describe_onnx(place) == describe_onnx(model)
        np.testing.assert_array_equal(OnnxPredictor(place).predict(X), OnnxPredictor(model).predict(X))
    assert main(["info", path.name]) == 0


def test_a_file_is_verified(tmp_path: Path) -> None:
    from .test_tools import model_of, table

    estimator = model_of("default")
    verify_onnx(estimator, saved(to_onnx(estimator), tmp_path / "m.onnx"), table()[0], raise_on_mismatch=True)


@pytest.mark.parametrize("reader", [OnnxPredictor, describe_onnx])
def test_without_its_folder(reader: Any, tmp_path: Path) -> None:
    path = saved(sums("float32"), tmp_path / "model.onnx", location="weights.bin")
    for model in (path.read_bytes(), onnx.load(path, load_external_data=False)):
        with pytest.raises(ValueError, match=r"the model has weights in the file weights\.bin beside it"):
            reader(model)
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ValueError, match=r"model\.onnx has weights beside it that cannot be read: .*weights\.bin"):
        reader(path)


@pytest.mark.parametrize(
    "change", [{"length": "7"}, {"length": "x"}, {"offset": "1000000"}, {"offset": "-1"}, {"location": "../other"}]
)
def test_weights_elsewhere(change: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(bytes(10**6))
    os.mkdir(tmp_path / "inner")
    path = saved(sums("float32"), tmp_path / "inner" / "model.onnx", location="weights.bin")
    model = onnx.load(path, load_external_data=False)
    for entry in model.graph.initializer[0].external_data:
        entry.value = change.get(entry.key, entry.value)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ValueError, match=r"model\.onnx has weights beside it that cannot be read"):
        describe_onnx(path)
