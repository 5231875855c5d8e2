"""The command line: files and exit codes, one sentence for each error, and text as it stands."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from onnx_export import save_onnx
from onnx_export.cli import main
from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRegressor

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.standard_normal((60, 3)), columns=["a", "b", "c"])
BRIEF: dict[str, Any] = {"learner": "tree", "n_estimators": 5, "early_stopping": False, "random_state": 0}
WORDS = np.array(["NA", "None", "nan", "01", "1"], dtype=object)
"""Text that looks like numbers or like a missing value to a reader of CSV."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a classifier, its export and data."""
    monkeypatch.chdir(tmp_path)
    estimator = RFFBoostClassifier(learner="rff_1", n_estimators=5, random_state=0)
    estimator.fit(TABLE, np.where(TABLE["a"] > 0, "yes", "no"))
    joblib.dump(estimator, "estimator.joblib")
    estimator.save_model("estimator.rffboost")
    # One column more, in another order: columns are found by name.
    TABLE.assign(more=1.0)[["more", "c", "b", "a"]].to_csv("data.csv", index=False)
    save_onnx(estimator, "model.onnx")
    return tmp_path


def predicted(rows: pd.DataFrame, *arguments: str) -> pd.DataFrame:
    """The predictions of m.onnx for rows."""
    rows.to_csv("rows.csv", index=False)
    assert main(["predict", "m.onnx", "rows.csv", "--output", "p.csv", *arguments]) == 0
    return pd.read_csv("p.csv")


def test_all_commands(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    estimator = joblib.load("estimator.joblib")
    for source in ("estimator.joblib", "estimator.rffboost"):
        assert main(["export", source, "m.onnx", "--dtype", "float64"]) == 0
        assert "float64" in capsys.readouterr().out
        assert main(["verify", source, "m.onnx", "data.csv"]) == 0
        assert capsys.readouterr().out.startswith("equal on 60 rows, float64, by onnxruntime")
    assert main(["verify", source, "m.onnx", "data.csv", "--runtime", "reference"]) == 0
    assert main(["info", "model.onnx"]) == 0
    assert "5 cosines" in capsys.readouterr().out
    np.testing.assert_array_equal(predicted(TABLE)["prediction"], estimator.predict(TABLE))
    proba = predicted(TABLE, "--proba")
    assert list(proba.columns) == ["no", "yes"]
    np.testing.assert_allclose(proba, estimator.predict_proba(TABLE), atol=1e-6)
    joblib.dump(RFFBoostClassifier(**BRIEF).fit(TABLE, np.where(TABLE["b"] > 0, "yes", "no")), "other.joblib")
    capsys.readouterr()
    assert main(["verify", "other.joblib", "model.onnx", "data.csv"]) == 1
    assert "MISMATCH" in capsys.readouterr().out


def test_a_pipeline_that_takes_texts(files: Path) -> None:
    rows = pd.DataFrame({"review": ["good bar", "NA", "None"] * 20})
    rows.to_csv("data.csv", index=False)
    pipeline = make_pipeline(TfidfVectorizer(), RFFBoostClassifier(**BRIEF)).fit(rows["review"], [1, 0, 2] * 20)
    joblib.dump(pipeline, "estimator.joblib")
    assert main(["export", "estimator.joblib", "m.onnx", "--data", "data.csv"]) == 0
    assert main(["verify", "estimator.joblib", "m.onnx", "data.csv"]) == 0
    np.testing.assert_array_equal(predicted(rows)["prediction"], pipeline.predict(rows["review"]))


def test_as_a_module(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["onnx_export", "info", str(files / "model.onnx")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("onnx_export", run_name="__main__")
    assert not ended.value.code
    assert "RFFBoostClassifier" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "Missing command"),
        ("info data.csv", "cannot be read as an ONNX model"),
        ("info nothing.onnx", "No such file"),
        ("export data.csv new.onnx", "is not a pickled estimator"),
        ("export gone.pickle new.onnx", "gone.pickle is not a pickled estimator, or needs a missing package: "),
        ("export estimator.joblib no/where.onnx", "MODEL: there is no folder"),
        ("export estimator.joblib", "Missing argument 'model'"),
        ("export estimator.joblib new.onnx --dtype int8", "dtype must be"),
        ("predict regressor.onnx data.csv --proba", "--proba needs a classifier"),
        ("predict model.onnx data.csv --base-margin weight", "--base-margin must name columns of the data"),
        ("inform model.onnx", "No such command 'inform'"),
        ("export estimator.rffboost estimator.rffboost", "MODEL: "),
        ("export estimator.rffboost ./data.csv --data data.csv", "MODEL: "),
        ("predict model.onnx data.csv --output data.csv", "--output: "),
        ("predict model.onnx data.csv --output ./model.onnx", "--output: "),
        ("predict model.onnx more.csv", "has 2 names in its header and more cells in each row"),
        ("predict model.onnx twice.csv", "has more than one column 'a'"),
    ],
)
def test_errors_are_one_sentence_and_change_no_file(
    files: Path, line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # Read as a pickle, this text asks for a module.
    Path("gone.pickle").write_bytes(b"cabsent_package.models\nModel\n.")
    Path("more.csv").write_text("a,b\n1,2,5\n3,4,6\n")
    Path("twice.csv").write_text("a,a,b\n1,9,2\n")
    save_onnx(RFFBoostRegressor(**BRIEF).fit(TABLE, TABLE["a"]), "regressor.onnx")
    before = {path: path.read_bytes() for path in files.iterdir()}
    assert main(line.split()) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.startswith("onnx_export: error: ")
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in files.iterdir()} == before


def test_predictions_are_a_column_for_each_output(files: Path) -> None:
    several = RFFBoostRegressor(**BRIEF).fit(TABLE, TABLE[["a", "b"]])
    save_onnx(several, "m.onnx")
    found = predicted(TABLE)
    assert list(found.columns) == ["prediction_0", "prediction_1"]
    np.testing.assert_allclose(found, several.predict(TABLE), rtol=1e-4, atol=1e-4)
    save_onnx(ConformalRegressor(RFFBoostRegressor(**BRIEF)).fit(TABLE, TABLE["a"]), "m.onnx")
    found = predicted(TABLE)
    assert (found["low"] < found["prediction"]).all()
    assert (found["prediction"] < found["high"]).all()


@pytest.mark.parametrize("name", ["score", "variable", "X", "a b"])
def test_text_is_read_as_it_stands(name: str, files: Path) -> None:
    table = pd.DataFrame({name: pd.Categorical(RNG.choice(WORDS, 300)), "x": RNG.standard_normal(300)})
    model = RFFBoostRegressor(**BRIEF).fit(table, np.where(table[name] == "01", 1.0, 0.0) + 0.01 * table["x"])
    model.save_model("m.rffboost")
    save_onnx(model, "m.onnx")
    rows = pd.DataFrame({name: WORDS, "x": np.zeros(5)})
    wanted = model.predict(rows.astype({name: "category"}))
    np.testing.assert_allclose(predicted(rows)["prediction"], wanted, atol=1e-5)
    assert wanted[3] - wanted[4] > 0.1
    assert main(["verify", "m.rffboost", "m.onnx", "rows.csv"]) == 0


def test_text_without_names_is_read_by_its_place(files: Path) -> None:
    table = np.column_stack([RNG.choice(WORDS, 300), RNG.standard_normal(300).astype(object)])
    model = RFFBoostRegressor(categorical_features=[0], **BRIEF).fit(table, table[:, 0] == "01")
    save_onnx(model, "m.onnx")
    rows = pd.DataFrame({"any": WORDS, "other": np.zeros(5)})
    np.testing.assert_allclose(predicted(rows)["prediction"], model.predict(rows.to_numpy()), atol=1e-5)


def test_the_offset_is_a_column(files: Path) -> None:
    X, offset = TABLE.to_numpy(), RNG.standard_normal(60)
    model = RFFBoostRegressor("poisson", **BRIEF).fit(X, np.floor(np.exp(X[:, 0] + offset)), base_margin=offset)
    model.save_model("m.rffboost")
    save_onnx(model, "m.onnx")
    found = predicted(pd.DataFrame(X).assign(exposure=offset), "--base-margin", "exposure")
    np.testing.assert_allclose(found["prediction"], model.predict(X, offset), rtol=1e-5)
    assert main(["verify", "m.rffboost", "m.onnx", "rows.csv", "--base-margin", "exposure"]) == 0
