"""OnnxPredictor: methods, types, chunks and columns."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from onnx_export import OnnxPredictor, to_onnx
from onnx_export.predictor import CHUNK_ELEMENTS
from rffboost_ext import RFFBoostRegressor

from .oracle import classifier, ensemble_of, fitted, posed, random_cosines


@pytest.mark.parametrize(
    "classes",
    [
        np.array([False, True]),
        np.array([3, 9], dtype=np.int8),
        np.array(["a", "bcd"]),
        np.array(["a", "b"], dtype=object),
        np.array([0.0, 1.0]),
    ],
)
def test_labels_keep_their_type(classes: np.ndarray) -> None:
    estimator, X = fitted(0)
    relabelled = posed(estimator.ensemble_, X.shape[1], estimator.loss_, classes)
    found = OnnxPredictor(to_onnx(relabelled)).predict(X)
    assert found.dtype == classes.dtype
    assert np.array_equal(found, relabelled.predict(X))


@pytest.mark.parametrize(("n_jobs", "n_outputs"), [(1, 2), (2, 1), (2, 2), (-1, 1), (None, 1)])
def test_chunks_and_threads_change_nothing(n_jobs: int | None, n_outputs: int) -> None:
    estimator = posed(ensemble_of(random_cosines(0, 1000, 3, n_outputs), baseline=np.zeros(n_outputs)), 3)
    X = np.random.default_rng(0).standard_normal((5 * CHUNK_ELEMENTS // 1000 + 7, 3))
    model = to_onnx(estimator, dtype="float64")
    whole = OnnxPredictor(model, n_jobs=n_jobs).predict(X)
    parts = np.concatenate([OnnxPredictor(model, n_jobs=1).predict(X[i : i + 50]) for i in range(0, len(X), 50)])
    assert whole.shape == ((len(X),) if n_outputs == 1 else (len(X), n_outputs))
    assert np.allclose(whole, parts, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("X", [np.zeros((2, 4)), np.zeros(3)], ids=["columns", "row"])
def test_bad_features(X: Any) -> None:
    predictor = OnnxPredictor(to_onnx(classifier(ensemble_of(random_cosines(0, 5, 3)), 3)))
    with pytest.raises(ValueError, match=r"X must have shape \(n, 3\), as at the fit, got"):
        predictor.predict(X)


def test_bad_threads() -> None:
    with pytest.raises(ValueError, match=r"n_jobs must be an integer >= 1 or .* or None, got 0"):
        OnnxPredictor(to_onnx(fitted(0)[0]), n_jobs=0)


def regressor() -> RFFBoostRegressor:
    return RFFBoostRegressor("squared_error", "tree", n_estimators=3)


def mixed_table() -> pd.DataFrame:
    """Real and whole numbers, truth values and text."""
    a = np.linspace(-1, 1, 30)
    text = np.where(a > 0, "x", "y").astype(object)
    return pd.DataFrame({"a": a, "count": np.arange(30), "flag": a > 0.5, "text": text})


@cache
def table_predictor() -> OnnxPredictor:
    """A predictor whose inputs are the columns of `mixed_table`."""
    X = mixed_table()
    steps = [("numbers", "passthrough", ["a"]), ("count", MinMaxScaler(), ["count"])]
    codes = ("codes", OneHotEncoder(), ["text"])
    pipeline = make_pipeline(ColumnTransformer([*steps, codes]), regressor())
    return OnnxPredictor(to_onnx(pipeline.fit(X, X["a"]), X))


@pytest.mark.parametrize(
    ("column", "value", "error", "words"),
    [
        ("count", np.nan, ValueError, "'count' of X must be of type int64.*got nan"),
        ("count", 1.5, ValueError, "'count' of X must be of type int64.*got 1.5"),
        ("count", np.inf, ValueError, "'count' of X must be of type int64.*got inf"),
        ("count", 2.0**63, ValueError, "'count' of X must be of type int64.*got 9.2"),
        ("count", pd.NA, ValueError, "'count' of X must be of type int64.*got nan"),
        ("count", "x", ValueError, "'count' of X must hold numbers, as in fit, got 'x'"),
        ("a", "x", ValueError, "'a' of X must hold numbers, as in fit, got 'x'"),
    ],
)
def test_a_table_is_not_repaired(column: str, value: Any, error: type[Exception], words: str) -> None:
    bad = mixed_table()
    values = list(bad[column])
    values[3] = value
    bad[column] = values if isinstance(value, float) else np.array(values, dtype=object)
    with pytest.raises(error, match=words):
        table_predictor().predict(bad)


def test_whole_numbers_may_come_as_floats() -> None:
    X = mixed_table()
    wanted = table_predictor().predict(X)
    assert np.array_equal(table_predictor().predict(X.assign(count=X["count"].astype(float))), wanted)


@pytest.mark.parametrize("value", [2, np.nan, "x"])
def test_a_truth_value_is_one_of_two(value: Any) -> None:
    X = mixed_table()
    flags = ColumnTransformer([("flags", MinMaxScaler(), ["flag"]), ("a", "passthrough", ["a"])])
    predictor = OnnxPredictor(to_onnx(make_pipeline(flags, regressor()).fit(X, X["a"]), X))
    wanted = predictor.predict(X)
    assert np.array_equal(predictor.predict(X.assign(flag=X["flag"].astype(int))), wanted)
    bad = X.assign(flag=[value, *X["flag"].astype(object)[1:]])
    with pytest.raises(ValueError, match=r"'flag' of X must (be of type bool|hold numbers)"):
        predictor.predict(bad)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_predictor_can_be_pickled(n_jobs: int | None) -> None:
    estimator, X = fitted(0)
    predictor = OnnxPredictor(to_onnx(estimator), n_jobs=n_jobs)
    back = pickle.loads(pickle.dumps(predictor))
    assert np.array_equal(back.predict_proba(X), predictor.predict_proba(X))
    assert np.array_equal(back.classes_, predictor.classes_)
    assert back.n_jobs == predictor.n_jobs
    assert pickle.dumps(back) == pickle.dumps(predictor)
