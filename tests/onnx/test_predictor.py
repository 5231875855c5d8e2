"""OnnxPredictor and the command line."""

from __future__ import annotations

import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from onnx_export import OnnxPredictor, save_onnx, to_onnx
from onnx_export.cli import main
from onnx_export.inputs import column_input
from onnx_export.predictor import CHUNK_ELEMENTS
from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRegressor

from ..cases import PAIR_NAMES, PAIRS
from .oracle import classifier, ensemble_of, fitted, posed, random_cosines

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("index", range(len(PAIRS)), ids=PAIR_NAMES)
def test_the_methods_of_sklearn(index: int) -> None:
    estimator, X = fitted(index)
    predictor = OnnxPredictor(to_onnx(estimator, dtype="float64"))
    if isinstance(estimator, RFFBoostClassifier):
        assert np.array_equal(predictor.predict(X), estimator.predict(X))
        assert np.allclose(predictor.predict_proba(X), estimator.predict_proba(X), rtol=1e-9, atol=1e-12)
        assert np.allclose(predictor.decision_function(X), estimator.decision_function(X), rtol=1e-9, atol=1e-12)
        with pytest.raises(AttributeError, match=r"the model is of a classifier: .*no 'interval'"):
            predictor.predict_interval(X)
    else:
        assert np.allclose(predictor.predict(X), estimator.predict(X), rtol=1e-9, atol=1e-12)
        with pytest.raises(AttributeError, match="the model is of a regressor"):
            predictor.predict_proba(X)


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


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_chunks_and_threads_change_nothing(n_jobs: int | None, n_outputs: int) -> None:
    estimator = posed(ensemble_of(random_cosines(0, 1000, 3, n_outputs), baseline=np.zeros(n_outputs)), 3)
    X = np.random.default_rng(0).standard_normal((5 * CHUNK_ELEMENTS // 1000 + 7, 3))
    model = to_onnx(estimator, dtype="float64")
    whole = OnnxPredictor(model, n_jobs=n_jobs).predict(X)
    parts = np.concatenate([OnnxPredictor(model, n_jobs=1).predict(X[i : i + 50]) for i in range(0, len(X), 50)])
    assert whole.shape == ((len(X),) if n_outputs == 1 else (len(X), n_outputs))
    assert np.allclose(whole, parts, rtol=1e-12, atol=1e-12)


def test_no_rows_and_one_row() -> None:
    predictor = OnnxPredictor(to_onnx(classifier(ensemble_of(random_cosines(0, 5, 3)), 3)))
    assert predictor.predict(np.empty((0, 3))).shape == (0,)
    assert predictor.predict_proba(np.empty((0, 3))).shape == (0, 2)
    assert predictor.decision_function(np.zeros((1, 3))).shape == (1,)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.zeros((2, 4)), ValueError, "X must have 3 columns, as at the fit, got 4"),
        (np.zeros(3), ValueError, "X must be two-dimensional"),
        ([["a", "b", "c"]], ValueError, "column 0 of X must hold numbers"),
        ([[0.0, np.inf, 1.0]], ValueError, "X contains infinity: values must be finite"),
        (np.array([[0.0, -np.inf, 1.0]], dtype=object), ValueError, "X contains infinity"),
        (
            np.array([[np.datetime64("2020-01-01"), 0.0, 1.0]], dtype=object),
            ValueError,
            "X must hold .*2020",
        ),
        (np.array([[np.timedelta64(3, "D"), 0.0, 1.0]], dtype=object), ValueError, "X must hold numbers"),
    ],
)
def test_bad_features(X: Any, error: type[Exception], words: str) -> None:
    predictor = OnnxPredictor(to_onnx(classifier(ensemble_of(random_cosines(0, 5, 3)), 3)))
    with pytest.raises(error, match=words):
        predictor.predict(X)


def test_bad_threads() -> None:
    with pytest.raises(ValueError, match=r"n_jobs must be an integer >= 1 or .* or None, got 0"):
        OnnxPredictor(to_onnx(fitted(0)[0]), n_jobs=0)


def table() -> pd.DataFrame:
    """Features with names."""
    return pd.DataFrame(np.random.default_rng(0).standard_normal((30, 3)), columns=["a", "b", "c"])


def test_columns_must_come_in_order() -> None:
    X = table()
    predictor = OnnxPredictor(to_onnx(RFFBoostRegressor(n_estimators=3, random_state=0).fit(X, X["a"])))
    assert list(predictor.feature_names_in_) == ["a", "b", "c"]
    predictor.predict(X)
    with pytest.raises(ValueError, match=r"columns \['a', 'b', 'c'\] in this order"):
        predictor.predict(X[["b", "a", "c"]])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with an estimator, its export and data."""
    X = table()
    y = np.where(X["a"] > 0, "yes", "no")
    estimator = RFFBoostClassifier(learner="rff_1", n_estimators=5, random_state=0).fit(X, y)
    joblib.dump(estimator, tmp_path / "estimator.joblib")
    # One column more, in another order: columns are found by name.
    X.assign(more=1.0)[["more", "c", "b", "a"]].to_csv(tmp_path / "data.csv", index=False)
    save_onnx(estimator, tmp_path / "model.onnx")
    return tmp_path


def call(folder: Path, command: str, *arguments: str) -> int:
    """Run a command on files of a folder."""
    return main([command, *(str(folder / a) if "." in a and not a.startswith("-") else a for a in arguments)])


def test_export_and_verify_by_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(files, "export", "estimator.joblib", "other.onnx", "--dtype", "float64") == 0
    assert "float64" in capsys.readouterr().out
    assert call(files, "verify", "estimator.joblib", "other.onnx", "data.csv") == 0
    assert capsys.readouterr().out.startswith("equal on 30 rows, float64, by onnxruntime")
    assert call(files, "verify", "estimator.joblib", "other.onnx", "data.csv", "--runtime", "reference") == 0


def test_a_mismatch_is_status_1(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = table()
    other = RFFBoostClassifier(n_estimators=6, random_state=1).fit(X, np.where(X["b"] > 0, "yes", "no"))
    joblib.dump(other, files / "other.joblib")
    assert call(files, "verify", "other.joblib", "model.onnx", "data.csv") == 1
    assert "MISMATCH" in capsys.readouterr().out


def test_info_and_predict_by_command(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(files, "info", "model.onnx") == 0
    assert "5 cosines" in capsys.readouterr().out
    assert call(files, "predict", "model.onnx", "data.csv", "--output", "found.csv") == 0
    estimator = joblib.load(files / "estimator.joblib")
    found = pd.read_csv(files / "found.csv")["prediction"]
    assert np.array_equal(found, estimator.predict(table()))
    assert call(files, "predict", "model.onnx", "data.csv", "--proba", "--output", "proba.csv") == 0
    proba = pd.read_csv(files / "proba.csv")
    assert list(proba.columns) == ["no", "yes"]
    assert np.abs(proba.to_numpy() - estimator.predict_proba(table())).max() < 1e-6


def test_a_model_file_is_exported_as_its_pickle_is(files: Path) -> None:
    joblib.load(files / "estimator.joblib").save_model(files / "estimator.rffboost")
    assert call(files, "export", "estimator.rffboost", "own.onnx") == 0
    assert (files / "own.onnx").read_bytes() == (files / "model.onnx").read_bytes()
    assert call(files, "verify", "estimator.rffboost", "model.onnx", "data.csv") == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "data.csv"], "cannot be read as an ONNX model"),
        (["info", "nothing.onnx"], "No such file"),
        (["export", "data.csv", "new.onnx"], "is not a pickled estimator"),
        (
            ["export", "xgboost.json", "new.onnx"],
            "xgboost.json is not a pickled estimator nor a file of save_model",
        ),
        (["export", "xgboost.ubj", "new.onnx"], "load a model that XGBoost or LightGBM wrote"),
        (["verify", "model.onnx", "model.onnx", "data.csv"], "model.onnx is not a pickled estimator"),
        (["info", "xgboost.json"], "xgboost.json cannot be read as an ONNX model"),
        (["export", "df.csv", "new.onnx"], "df.csv is not a pickled estimator"),
        (
            ["export", "gone.pickle", "new.onnx"],
            "gone.pickle is not a pickled estimator, or needs a missing package: ",
        ),
        (["export", "estimator.joblib", "no/where.onnx"], "MODEL: there is no folder"),
        (["export", "estimator.joblib"], "Missing argument 'model'"),
        (["predict", "regressor.onnx", "data.csv", "--proba"], "--proba needs a classifier"),
        (["inform", "model.onnx"], "No such command 'inform'"),
        (["info", "model.onnx", "--frobnicate"], "--frobnicate"),
        (["export", "estimator.joblib", "new.onnx", "--dtype", "int8"], "dtype must be"),
    ],
)
def test_errors_are_one_sentence_and_status_2(
    files: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # Read as a pickle, this text asks for a module.
    (files / "df.csv").write_text("c0,c1,c2\n0,1,2\n")
    (files / "gone.pickle").write_bytes(b"cabsent_package.models\nModel\n.")
    (files / "xgboost.json").write_text('{"learner": {}, "version": [3, 0, 0]}')
    (files / "xgboost.ubj").write_bytes(b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{}}")
    save_onnx(fitted_regressor(), files / "regressor.onnx")
    assert call(files, *arguments) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.startswith("onnx_export: error: ")
    assert err.count("\n") == 1
    assert not (files / "new.onnx").exists()


def fitted_regressor() -> RFFBoostRegressor:
    """A regressor of the columns of `table`."""
    X = table()
    return RFFBoostRegressor(n_estimators=3, random_state=0).fit(X, X["a"])


def test_without_a_command_the_choices_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    for word in ("Missing command", "export", "info", "predict", "verify"):
        assert word in err


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
    pipeline = make_pipeline(ColumnTransformer([*steps, codes]), RFFBoostRegressor(n_estimators=3))
    return OnnxPredictor(to_onnx(pipeline.fit(X, X["a"]), X))


@pytest.mark.parametrize(
    ("column", "value", "error", "words"),
    [
        ("count", np.nan, ValueError, "'count' of X must be of type int64.*got nan"),
        ("count", 1.5, ValueError, "'count' of X must be of type int64.*got 1.5"),
        ("count", np.inf, ValueError, "'count' of X must be of type int64.*got inf"),
        ("count", 2.0**63, ValueError, "'count' of X must be of type int64.*got 9.2"),
        ("count", pd.NA, TypeError, "'count' of X must be of type int64"),
        ("count", "x", TypeError, "'count' of X must be of type int64"),
        ("count", "7", ValueError, "'count' of X must be of type int64.*got 7"),
        ("a", "x", TypeError, "'a' of X must be of type float32"),
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
    kind = onnx.TensorProto.BOOL
    column = np.array([True, value], dtype=object)
    with pytest.raises(ValueError, match="'flag' of X must be of type bool"):
        column_input(column, "flag", kind)
    assert column_input([1, 0], "flag", kind).tolist() == [[True], [False]]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_predictor_can_be_pickled(n_jobs: int | None) -> None:
    estimator, X = fitted(0)
    predictor = OnnxPredictor(to_onnx(estimator), n_jobs=n_jobs)
    back = pickle.loads(pickle.dumps(predictor))
    assert np.array_equal(back.predict_proba(X), predictor.predict_proba(X))
    assert np.array_equal(back.classes_, predictor.classes_)
    assert back.n_jobs == predictor.n_jobs
    assert pickle.dumps(back) == pickle.dumps(predictor)


def test_as_a_module(files: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "onnx_export", "info", str(files / "model.onnx")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "RFFBoostClassifier" in done.stdout


def test_text_is_read_as_it_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Text that looks like numbers or like a gap to a reader of CSV.
    rng = np.random.default_rng(0)
    words = rng.choice(["01", "02", "None"], 300)
    X = pd.DataFrame({"zip": words, "a": rng.standard_normal(300)}).astype({"zip": "category"})
    y = 2.0 * (words == "01") + 1.0 * (words == "None") + 0.3 * X["a"].to_numpy()
    model = RFFBoostRegressor(learner="tree", n_estimators=20, random_state=0).fit(X, y)
    model.save_model(tmp_path / "m.rffboost")
    X.to_csv(tmp_path / "data.csv", index=False)
    assert call(tmp_path, "export", "m.rffboost", "m.onnx") == 0
    assert call(tmp_path, "verify", "m.rffboost", "m.onnx", "data.csv") == 0
    assert call(tmp_path, "predict", "m.onnx", "data.csv", "--output", "p.csv") == 0
    found = pd.read_csv(tmp_path / "p.csv")["prediction"]
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-4, atol=1e-4)
    with pytest.raises(TypeError, match="column 'zip' of X must be text, as at the fit, got 1"):
        OnnxPredictor(tmp_path / "m.onnx").predict(X.assign(zip=1))


def test_predictions_are_a_column_for_each_output(tmp_path: Path) -> None:
    X = table()
    several = RFFBoostRegressor(n_estimators=5, early_stopping=False, random_state=0).fit(X, X[["a", "b"]])
    save_onnx(several, tmp_path / "m.onnx")
    X.to_csv(tmp_path / "data.csv", index=False)
    assert call(tmp_path, "predict", "m.onnx", "data.csv", "--output", "p.csv") == 0
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found.columns) == ["prediction_0", "prediction_1"]
    np.testing.assert_allclose(found, several.predict(X), rtol=1e-4, atol=1e-4)
    ends = ConformalRegressor(RFFBoostRegressor(n_estimators=5, early_stopping=False)).fit(X, X["a"])
    save_onnx(ends, tmp_path / "m.onnx")
    assert call(tmp_path, "predict", "m.onnx", "data.csv", "--output", "p.csv") == 0
    found = pd.read_csv(tmp_path / "p.csv")
    assert (found["low"] < found["prediction"]).all()
    assert (found["prediction"] < found["high"]).all()
