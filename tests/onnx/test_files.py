"""Files: saved at once or not at all, described; and errors in one sentence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import OnnxPredictor, describe_onnx, save_onnx, to_onnx, verify_onnx
from onnx_export.describe import minimum_onnxruntime
from rffboost_ext import RFFBoostClassifier

from .oracle import DTYPES, fitted, posed


def test_the_description() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).standard_normal((40, 2)), columns=["höhe", "b c"])
    y = np.where(X["höhe"] > 0, "yes", "no")
    estimator = RFFBoostClassifier("exponential", "rff_1", n_estimators=7, random_state=0).fit(X, y)
    description = describe_onnx(to_onnx(estimator))
    known = description.metadata
    assert known.estimator == "RFFBoostClassifier"
    assert (known.loss, known.link, known.dtype) == ("Exponential()", "BinaryLogitLink(slope=2.0)", "float32")
    assert known.feature_names == ("höhe", "b c")
    assert list(known.classes) == ["no", "yes"]
    assert (known.n_features, known.n_outputs, known.n_cosines, known.n_trees) == (2, 1, 7, 0)
    assert set(known.versions) == {"rffboost_ext", "onnx"}
    assert description.minimum_onnxruntime == "1.15"
    for word in ("Exponential()", "höhe, b c", "7 cosines", "ONNX Runtime 1.15", "probabilities (N, 2)"):
        assert word in str(description)


def test_metadata_and_a_version_of_the_user(tmp_path: Path) -> None:
    estimator, X = fitted(0)
    given: dict[str, Any] = {"metadata": {"commit": "4f2a", "größe": "1 m"}, "model_version": 3}
    save_onnx(estimator, tmp_path / "m.onnx", **given)
    known = describe_onnx(tmp_path / "m.onnx")
    assert (known.metadata.user_metadata, known.metadata.model_version) == tuple(given.values())
    for word in ("4f2a", "größe", "version       3"):
        assert word in str(known)
    options = onnxruntime.InferenceSession(tmp_path / "m.onnx").get_modelmeta()
    assert (options.version, options.custom_metadata_map["commit"]) == (3, "4f2a")
    verify_onnx(estimator, tmp_path / "m.onnx", X, raise_on_mismatch=True)
    assert describe_onnx(to_onnx(estimator)).metadata.user_metadata is None


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
        ({"opset": 7}, ValueError, "opset must be an integer >= 9, got 7"),
        ({"opset": 27}, ValueError, "opset must be at most"),
        ({"opset": "13"}, TypeError, "opset must be an integer"),
        ({"metadata": {"classes": "a"}}, ValueError, "metadata must have other names than .* got 'classes'"),
        ({"metadata": {"a": 1}}, TypeError, "metadata must be a dict of texts"),
        ({"model_version": -1}, ValueError, "model_version must be an integer >= 0"),
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
        (TransformedTargetRegressor(RFFBoostClassifier()), TypeError, "export its regressor_"),
        (
            LogisticRegression(),
            TypeError,
            r"^to_onnx: got LogisticRegression; for one of ours .*register_skl2onnx\(\)",
        ),
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


@pytest.mark.parametrize(
    ("path", "error"),
    [(None, TypeError), ("", ValueError), ("no/such/folder/m.onnx", FileNotFoundError), (".", IsADirectoryError)],
)
def test_what_is_no_path_is_refused_before_any_work(path: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=rf"path must .* {re.escape(repr(path))}"):
        save_onnx(None, path)


def test_a_missing_file_and_a_wrong_argument() -> None:
    with pytest.raises(FileNotFoundError):
        describe_onnx("no_such_file.onnx")
    with pytest.raises(TypeError, match="model must be a path, bytes or a ModelProto"):
        describe_onnx(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", DTYPES)
def test_verify_without_onnxruntime(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    estimator, X = fitted(0)
    model = to_onnx(estimator, dtype=dtype)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match="needs onnxruntime: pip install onnxruntime"):
        verify_onnx(estimator, model, X)
    with pytest.raises(ImportError, match="needs onnxruntime: pip install onnxruntime"):
        OnnxPredictor(model)
    report = verify_onnx(estimator, model, X, runtime="auto")
    with pytest.raises(KeyError, match="'scores'; there are those of"):
        report["scores"]
    assert report.passed
    assert report.runtime == "reference"
    with pytest.raises(ValueError, match="runtime must be"):
        verify_onnx(estimator, model, X, runtime="tensorrt")
