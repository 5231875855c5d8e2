"""Damaged and foreign ONNX files: refused in one sentence, whatever the damage, within little memory."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from onnx_export import OnnxPredictor, describe_onnx, to_onnx, verify_onnx
from onnx_export.metadata import KEYS, checksum
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.terms import FeatureMap

from .oracle import ensemble_of, fitted, posed, random_cosines, random_trees
from .test_tools import model_of, table

ROWS = np.random.default_rng(0).normal(size=(20, 2))
SECONDS, MEGABYTES = 40, 300
READERS: dict[str, Callable[[Any, Any], Any]] = {
    "describe_onnx": lambda content, X: str(describe_onnx(content)),
    "OnnxPredictor": lambda content, X: OnnxPredictor(content, n_jobs=1).predict(X),
}
readers = pytest.mark.parametrize("reader", [OnnxPredictor, describe_onnx])


def sums(dtype: str) -> onnx.ModelProto:
    """A model of cosines, trees and standardized trees."""
    trees = random_trees(1, 6, 2, depth=3)
    center, scale = np.array([0.3, 1e4]), np.array([2.0, 30.0])
    terms = random_cosines(0, 4, 2, center=center), trees, FeatureMap(center=center, scale=scale).around(trees)
    return to_onnx(posed(ensemble_of(*terms, baseline=0.5), 2), dtype=dtype)


def copied(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def foreign() -> bytes:
    """A valid model of another program."""
    node = onnx.helper.make_node("Relu", ["X"], ["Y"])
    values = [onnx.helper.make_tensor_value_info(name, 1, ["N", 2]) for name in "XY"]
    return onnx.helper.make_model(onnx.helper.make_graph([node], "g", values[:1], values[1:])).SerializeToString()


def changed(change: Callable[[onnx.ModelProto], Any]) -> bytes:
    """One of ours after a change."""
    model = copied(to_onnx(fitted(0)[0]))
    change(model)
    return model.SerializeToString()


def with_metadata(key: str, text: str) -> bytes:
    """One of ours with another entry in its metadata, or without it if the text is empty."""

    def change(model: onnx.ModelProto) -> None:
        props = {prop.key: prop.value for prop in model.metadata_props} | {key: text}
        onnx.helper.set_model_props(model, {name: value for name, value in props.items() if value})

    return changed(change)


def with_width(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 4


BAD_FILES = {
    "text": (b"this is no model", "cannot be read as an ONNX model"),
    "empty": (b"", "cannot be read as an ONNX model"),
    "cut": (sums("float32").SerializeToString()[:-90], "cannot be read"),
    "foreign": (foreign(), "was not written by onnx_export"),
    "an entry less": (with_metadata("n_features", ""), "has damaged metadata"),
    "another entry": (with_metadata("labels", '"<U200000000"'), "has damaged metadata"),
    "no JSON": (with_metadata("versions", "[" * 100_000), "has damaged metadata"),
    "width": (changed(with_width), "is damaged: its input 'X' must have 3 columns, got 4"),
    "shape": (
        changed(lambda model: model.graph.initializer[0].dims.extend([0, 10**9])),
        r"cannot be read as an ONNX model: .* has the shape \[.*, 1000000000\]",
    ),
}


def forged(model: onnx.ModelProto, key: str, value: Any) -> onnx.ModelProto:
    """A model with another entry in its metadata and a right checksum."""
    model, props = (
        copied(model),
        {prop.key: prop.value for prop in model.metadata_props} | {key: json.dumps(value)},
    )
    props["checksum"] = checksum({name: text for name, text in props.items() if name in KEYS})
    onnx.helper.set_model_props(model, props)
    return model


ODD = [None, True, -1, 10**9, 1.5, "", "x", "<U200000000", [], [[]], ["a"], [[["a"]]], [-1], {}, {"a": 1}]


@pytest.mark.parametrize("key", KEYS)
def test_forged_metadata_has_no_other_errors(key: str, tmp_path: Path) -> None:
    for number, (model, X) in enumerate(models()[2:4]):
        path = tmp_path / f"{number}.onnx"
        for value in ODD:
            path.write_bytes(forged(model, key, value).SerializeToString())
            for read in READERS.values():
                refusal(read, path, X)
            with pytest.raises(ValueError, match=path.name) if value == [[["a"]]] else suppress(ValueError):
                describe_onnx(path)


@pytest.mark.parametrize("name", BAD_FILES)
@readers
def test_damaged_and_foreign_files(reader: Any, name: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        reader(path)
    assert "model.onnx" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parts_of_a_graph_that_are_missing() -> None:
    model = to_onnx(fitted(0)[0])
    del model.graph.output[1]
    with pytest.raises(ValueError, match=r"the model has no output 'probabilities', but \['label', 'score'\]"):
        OnnxPredictor(model).predict_proba(np.zeros((1, 3)))
    for k in range(len(model.graph.initializer)):
        with pytest.raises(ValueError, match="cannot load the model"):
            OnnxPredictor(changed(lambda model, k=k: model.graph.initializer.pop(k)))
    content = to_onnx(fitted(0)[0]).SerializeToString().replace(b"\x12\x01N", b"\x12\x01\xff")
    with pytest.raises(ValueError, match="the model is damaged"):
        describe_onnx(content)


@readers
def test_other_files_are_not_read_whole(reader: Any, tmp_path: Path) -> None:
    with (tmp_path / "big.csv").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(ValueError, match=r"big\.csv cannot be read as an ONNX model"):
        reader(tmp_path / "big.csv")
    for path, words in (("/dev/zero", "got the device"), ("", "got ''")):
        with pytest.raises(ValueError, match=f"path must be a file, {words}"):
            reader(path)


def saved(model: onnx.ModelProto, path: Path, **options: Any) -> Path:
    """The path of a model with all of its weights beside it."""
    onnx.save(copied(model), path, save_as_external_data=True, size_threshold=0, **options)
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
        np.testing.assert_array_equal(OnnxPredictor(place).predict(ROWS), OnnxPredictor(model).predict(ROWS))


def test_a_file_with_weights_beside_it_is_verified(tmp_path: Path) -> None:
    estimator = model_of("default")
    verify_onnx(estimator, saved(to_onnx(estimator), tmp_path / "m.onnx"), table()[0], raise_on_mismatch=True)


@readers
def test_weights_without_their_folder(reader: Any, tmp_path: Path) -> None:
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
    with pytest.raises(ValueError, match=r"model\.onnx"):
        OnnxPredictor(path)


@cache
def models() -> list[tuple[onnx.ModelProto, Any]]:
    """Models of all kinds of terms and inputs, and rows."""
    X, y = table()
    brief: dict[str, Any] = {"learner": "tree", "n_estimators": 3, "early_stopping": False}
    text = RFFBoostClassifier(**brief).fit(X, np.where(y, "yes", "no"))
    steps = make_pipeline(MinMaxScaler(), RFFBoostRegressor(**brief)).fit(ROWS, ROWS[:, 0])
    pairs = [(sums("float32"), ROWS), (sums("float64"), ROWS), (to_onnx(text), X), (to_onnx(steps), ROWS)]
    return [*pairs, (to_onnx(model_of("default")), X)]


def flipped(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    content = bytearray(model.SerializeToString())
    for at in rng.integers(len(content), size=int(rng.integers(1, 4))):
        content[at] ^= 1 << int(rng.integers(8))
    return bytes(content)


def cut(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    content = model.SerializeToString()
    start, stop = sorted(rng.integers(len(content), size=2).tolist())
    return content[:start] + content[stop:]


def with_another_tensor(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    tensor = model.graph.initializer[int(rng.integers(len(model.graph.initializer)))]
    tensor.dims[:] = rng.choice([0, 1, 2, 3, 40, 1000, 10**9, -1], size=int(rng.integers(4))).tolist()
    tensor.data_type = int(rng.choice([tensor.data_type, *range(20)]))
    if rng.random() < 0.3:
        tensor.raw_data = b""
    return model.SerializeToString()


def without_a_part(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    graph = model.graph
    parts: list[Any] = [graph.input, graph.output, graph.node, graph.initializer, model.metadata_props]
    part = parts[int(rng.integers(len(parts)))]
    del part[int(rng.integers(len(part)))]
    return model.SerializeToString()


def peak() -> float:
    """The largest memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def refusal(read: Callable[[Any, Any], Any], content: bytes, X: Any) -> str:
    """The words with which a file is refused; empty if it is not."""
    try:
        with np.errstate(all="ignore"):
            read(content, X)
    except (TypeError, ValueError) as error:
        # A column of another type.
        if isinstance(error, ValueError) or "of X must be" in str(error):
            return str(error)
        raise
    return ""


@pytest.mark.slow
def test_random_damage_is_refused_in_one_sentence() -> None:
    rng, known, refused, number = np.random.default_rng(0), models(), 0, 0
    damages = flipped, cut, with_another_tensor, without_a_part
    for model, X in known:
        OnnxPredictor(model).predict(X)
    before, end = peak(), time.monotonic() + SECONDS
    while time.monotonic() < end:
        model, X = known[number % len(known)]
        content = damages[int(rng.integers(len(damages)))](copied(model), rng)
        for name, read in READERS.items():
            words = refusal(read, content, X)
            refused += words != ""
            assert "\n" not in words.strip(), name
        number += 1
        assert peak() - before < MEGABYTES, (number, content[:200])
    assert refused > number / 4
