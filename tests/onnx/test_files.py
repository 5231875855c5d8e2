"""Files: saved at once or not at all, read back as an ensemble, described; and errors in one sentence."""

from __future__ import annotations

import os
import pickle
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import OnnxPredictor, describe_onnx, from_onnx, save_onnx, to_onnx, verify_onnx
from onnx_export.describe import minimum_onnxruntime
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.terms import Standardized

from ..cases import PAIR_NAMES, PAIRS
from .oracle import DTYPES, classifier, ensemble_of, exact, fitted, posed, random_cosines, random_trees

INDICES = pytest.mark.parametrize("index", range(len(PAIRS)), ids=PAIR_NAMES)


@INDICES
def test_an_ensemble_comes_back(index: int, tmp_path: Path) -> None:
    estimator, X = fitted(index)
    save_onnx(estimator, tmp_path / "model.onnx", dtype="float64")
    back = from_onnx(tmp_path / "model.onnx")
    wanted = estimator.ensemble_.raw(X)
    assert np.abs(back.raw(X) - wanted).max() <= 1e-12 * max(1.0, np.abs(wanted).max())
    rough = from_onnx(to_onnx(estimator)).raw(X)
    assert np.abs(rough - wanted).max() <= 1e-4 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_any_mixture_comes_back_and_can_be_exported_again(n_outputs: int) -> None:
    rng = np.random.default_rng(0)
    scaler = np.array([0.3, 1e4]), np.array([2.0, 30.0])
    trees = random_trees(1, 50, 2, n_outputs)
    terms = random_cosines(0, 30, 2, n_outputs, center=scaler[0]), trees, Standardized(trees, *scaler)
    estimator = posed(ensemble_of(*terms, baseline=rng.standard_normal(n_outputs)), 2)
    X = scaler[0] + scaler[1] * rng.standard_normal((40, 2))
    back = from_onnx(to_onnx(estimator, dtype="float64"))
    assert np.abs(back.raw(X) - exact(estimator.ensemble_, X)).max() < 1e-11
    again = to_onnx(posed(back, 2), dtype="float64")
    verify_onnx(estimator, again, X, raise_on_mismatch=True)
    assert pickle.loads(pickle.dumps(back)).raw(X).tolist() == back.raw(X).tolist()


@pytest.mark.parametrize("terms", [(), (random_trees(0, 2, 3, depth=0),)])
def test_a_constant_comes_back(terms: Any) -> None:
    estimator = classifier(ensemble_of(*terms, baseline=0.7), 3)
    X = np.zeros((2, 3))
    assert np.allclose(
        from_onnx(to_onnx(estimator, dtype="float64")).raw(X), estimator.ensemble_.raw(X), rtol=1e-15
    )


def test_the_description() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).standard_normal((40, 2)), columns=["höhe", "b c"])
    y = np.where(X["höhe"] > 0, "yes", "no")
    estimator = RFFBoostClassifier("exponential", "rff_1", n_estimators=7, random_state=0).fit(X, y)
    description = describe_onnx(to_onnx(estimator))
    known = description.metadata
    assert known.estimator == "RFFBoostClassifier"
    assert (known.loss, known.link, known.dtype) == ("Exponential()", "Sigmoid(slope=2.0)", "float32")
    assert known.feature_names == ("höhe", "b c")
    assert list(known.classes) == ["no", "yes"]
    assert (known.n_features, known.n_outputs, known.n_cosines, known.n_trees) == (2, 1, 7, 0)
    assert set(known.versions) == {"rffboost_ext", "onnx"}
    norm = np.linalg.norm(estimator.ensemble_.compact().terms[0].weight)
    assert float(known.tolerance.split()[0]) == pytest.approx(4 * np.finfo(np.float32).eps * norm, rel=0.01)
    assert description.minimum_onnxruntime == "1.15"
    for word in ("Exponential()", "höhe, b c", "7 cosines", "ONNX Runtime 1.15", "probabilities (N, 2)"):
        assert word in str(description)


@pytest.mark.parametrize(
    ("versions", "runtime"),
    [
        ((8, 13, 0), "1.15"),
        ((8, 13, 3), "1.15"),
        ((9, 20, 0), "1.17"),
        ((10, 21, 5), "1.18"),
        ((8, 26, 0), "1.25"),
        ((14, 28, 5), "newer than 1.25"),
    ],
)
def test_the_oldest_runtime(versions: tuple[int, int, int], runtime: str) -> None:
    assert minimum_onnxruntime(*versions) == runtime


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"dtype": "float16"}, ValueError, "dtype must be 'float32' or 'float64' or 'mixed', got 'float16'"),
        ({"dtype": np.float32}, TypeError, "dtype must be"),
        ({"opset": 6}, ValueError, "opset must be an integer >= 7, got 6"),
        ({"opset": 27}, ValueError, "opset must be at most 26"),
        ({"opset": "13"}, TypeError, "opset must be an integer"),
    ],
)
def test_bad_parameters(params: dict[str, Any], error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        save_onnx(fitted(0)[0], tmp_path / "model.onnx", **params)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (RFFBoostClassifier(), NotFittedError, "not fitted yet"),
        (make_pipeline(StandardScaler(), RFFBoostClassifier()), NotFittedError, "not fitted yet"),
        (RFFBoostClassifier, TypeError, "pass an instance"),
        (LogisticRegression(), TypeError, r"register_skl2onnx\(\)"),
        (None, TypeError, "estimator must be a fitted RFFBoostClassifier"),
    ],
)
def test_bad_estimators(estimator: Any, error: type[Exception], words: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"what was there")
    with pytest.raises(error, match=words):
        save_onnx(estimator, path)
    assert path.read_bytes() == b"what was there"
    assert os.listdir(tmp_path) == ["model.onnx"]


def test_labels_that_onnx_cannot_hold() -> None:
    estimator = posed(fitted(0)[0].ensemble_, 3, fitted(0)[0].loss_, np.array([1.5, 2.5]))
    with pytest.raises(TypeError, match="class labels must be text, whole numbers or truth values"):
        to_onnx(estimator)


def test_a_save_replaces_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, estimator = tmp_path / "model.onnx", fitted(0)[0]
    save_onnx(estimator, path)
    before = path.read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", lambda file: (_ for _ in ()).throw(OSError("no space left")))
        with pytest.raises(OSError, match="no space left"):
            save_onnx(estimator, path, dtype="float64")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.onnx"]
    save_onnx(estimator, path, dtype="float64")
    assert path.read_bytes() == to_onnx(estimator, dtype="float64").SerializeToString()


def test_an_impossible_target_is_named(tmp_path: Path) -> None:
    estimator = fitted(0)[0]
    (tmp_path / "file").write_bytes(b"")
    for target, error in (
        (tmp_path / "missing" / "model.onnx", FileNotFoundError),
        (tmp_path / "file" / "model.onnx", FileNotFoundError),
        (tmp_path, IsADirectoryError),
        (tmp_path / ("x" * 300), OSError),
    ):
        with pytest.raises(error, match=re.escape(repr(str(target)))):
            save_onnx(estimator, target)
        # Before any work: what is to be exported does not matter yet.
        if error is not OSError:
            with pytest.raises(error):
                save_onnx(None, target)
    assert os.listdir(tmp_path) == ["file"]


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


def with_metadata(key: str, text: str) -> bytes:
    """One of ours with another entry in its metadata."""
    model = to_onnx(fitted(0)[0])
    kept = {prop.key: prop.value for prop in model.metadata_props}
    onnx.helper.set_model_props(model, kept | {key: text})
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
    "terms": (with_metadata("terms", '["t0"]'), "has damaged metadata: terms"),
    "kinds": (with_metadata("terms", '{"t0": ["Cosines"]}'), "has damaged metadata: terms"),
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("reader", [from_onnx, OnnxPredictor, describe_onnx])
def test_damaged_and_foreign_files(reader: Any, name: str, tmp_path: Path) -> None:
    content, words = BAD_FILES[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        reader(path)
    assert "model.onnx" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_dimension_whose_name_is_no_text() -> None:
    content = to_onnx(fitted(0)[0]).SerializeToString().replace(b"\x12\x01N", b"\x12\x01\xff")
    with pytest.raises(ValueError, match="damaged"):
        describe_onnx(content)


def test_metadata_of_another_width_is_damage() -> None:
    with pytest.raises(ValueError, match="the model is damaged: the input has 3 columns, the metadata says 4"):
        from_onnx(with_metadata("n_features", "4"))
    with pytest.raises(ValueError, match=r"the model is damaged: baseline must have shape \(2,\)"):
        from_onnx(with_metadata("n_outputs", "2"))


def test_a_missing_file_and_a_wrong_argument() -> None:
    with pytest.raises(FileNotFoundError):
        from_onnx("no_such_file.onnx")
    with pytest.raises(TypeError, match="model must be a path, bytes or a ModelProto"):
        from_onnx(3)  # type: ignore[arg-type]


def test_a_graph_without_a_constant_is_damaged() -> None:
    names = [entry.name for entry in to_onnx(fitted(0)[0]).graph.initializer]
    for name in names:
        model = to_onnx(fitted(0)[0])
        del model.graph.initializer[names.index(name)]
        with pytest.raises(ValueError, match=f"is damaged.*{name}"):
            from_onnx(model)
        with pytest.raises(ValueError, match="cannot load the model"):
            OnnxPredictor(model)


def sums(dtype: str) -> onnx.ModelProto:
    """A model of cosines, trees and standardized trees."""
    trees = random_trees(1, 6, 2, depth=3)
    scaler = np.array([0.3, 1e4]), np.array([2.0, 30.0])
    terms = random_cosines(0, 4, 2, center=scaler[0]), trees, Standardized(trees, *scaler)
    return to_onnx(posed(ensemble_of(*terms, baseline=0.5), 2), dtype=dtype)


def is_refused(content: bytes) -> bool:
    """Whether a file is found damaged, in one line; if not, what it holds is evaluated."""
    try:
        ensemble = from_onnx(content)
    except (ValueError, TypeError) as error:
        return str(error).count("\n") == 0
    # Where the damage hit the number of features, features of the old number are refused here.
    with np.errstate(all="ignore"), suppress(ValueError):
        assert ensemble.raw(np.random.default_rng(0).standard_normal((20, 2))).shape[0] == 20
    return False


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_damage_gets_past_reading(dtype: str) -> None:
    content = sums(dtype).SerializeToString()
    rng = np.random.default_rng(0)
    refused = 0
    for at in rng.choice(len(content), 400, replace=False):
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(rng.integers(8))
        refused += is_refused(bytes(damaged))
    # Damage to a threshold or a weight makes another, valid model; to names, numbers and lengths it does not.
    assert refused > 40


def tree_node(model: onnx.ModelProto) -> dict[str, onnx.AttributeProto]:
    """The attributes of the first trees of a model."""
    node = next(node for node in model.graph.node if node.op_type == "TreeEnsembleRegressor")
    return {entry.name: entry for entry in node.attribute}


@pytest.mark.parametrize("value", [-(10**6), -1, 10**6, 2**32, 2**40])
@pytest.mark.parametrize(
    "name",
    [
        "nodes_truenodeids",
        "nodes_falsenodeids",
        "nodes_featureids",
        "nodes_treeids",
        "nodes_nodeids",
        "target_treeids",
        "target_nodeids",
        "target_ids",
    ],
)
def test_trees_that_leave_their_arrays(name: str, value: int) -> None:
    model = sums("float32")
    numbers = tree_node(model)[name].ints
    modes = tree_node(model)["nodes_modes"].strings
    numbers[modes[:].index(b"BRANCH_LT") if name.startswith("nodes") else 0] = value
    with pytest.raises(ValueError, match="the model is damaged"):
        from_onnx(model)


def test_trees_with_a_cycle() -> None:
    for name in ("nodes_truenodeids", "nodes_falsenodeids"):
        model = sums("float32")
        found = tree_node(model)
        inner = found["nodes_modes"].strings[:].index(b"BRANCH_LT")
        found[name].ints[inner] = found["nodes_nodeids"].ints[inner]
        with pytest.raises(ValueError, match="is damaged: node ids of children are out of range"):
            from_onnx(model)


@pytest.mark.parametrize("name", ["nodes_values", "nodes_modes", "nodes_falsenodeids", "target_weights"])
def test_trees_whose_arrays_differ_in_length(name: str) -> None:
    model = sums("float32")
    entry = tree_node(model)[name]
    del next(values for values in (entry.floats, entry.ints, entry.strings) if len(values))[1]
    with pytest.raises(ValueError, match="the model is damaged"):
        from_onnx(model)


def test_a_huge_number_of_targets_claims_no_memory() -> None:
    model = sums("float32")
    tree_node(model)["n_targets"].i = 10**15
    with pytest.raises(ValueError, match="n_targets must be 1, got 1000000000000000"):
        from_onnx(model)


def test_outputs_without_a_leaf_of_their_own_come_back() -> None:
    trees = random_trees(1, 6, 2, n_outputs=3)
    trees.value[:, 2] = 0.0
    estimator = posed(ensemble_of(trees, baseline=np.zeros(3)), 2)
    X = np.random.default_rng(0).standard_normal((20, 2))
    for dtype in ("float32", "float64"):
        back = from_onnx(to_onnx(estimator, dtype=dtype)).raw(X)
        assert np.allclose(back, estimator.ensemble_.raw(X), atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_verify_without_onnxruntime(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    estimator, X = fitted(0)
    model = to_onnx(estimator, dtype=dtype)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"rffboost-ext\[onnx\]"):
        verify_onnx(estimator, model, X)
    with pytest.raises(ImportError, match=r"rffboost-ext\[onnx\]"):
        OnnxPredictor(model)
    report = verify_onnx(estimator, model, X, runtime="auto")
    assert report.passed
    assert report.runtime == "reference"
    with pytest.raises(ValueError, match="runtime must be"):
        verify_onnx(estimator, model, X, runtime="tensorrt")
