"""What a file says and leaves out: outputs of both sides, text as it stands, and steps that nobody can convert."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import lightgbm
import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler

from onnx_export import (
    OnnxPredictor,
    Report,
    cli,
    register_skl2onnx,
    save_onnx,
    to_onnx,
    verify_onnx,
)
from rffboost_ext import ConformalRegressor, Loss, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.losses import IdentityLink

skl2onnx = pytest.importorskip("skl2onnx")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3)).astype(np.float32)
Y = X[:, 0] + 0.1 * X[:, 1]
CLASSES = np.digitize(Y, [-0.5, 0.5])
BRIEF: dict[str, Any] = {"n_estimators": 5, "early_stopping": False, "random_state": 0}


class Brier(Loss):
    """The squared distance to the indicators of K classes."""

    task, multiclass = "classification", True

    def value(self, y: Any, raw: Any) -> Any:
        return np.square(raw - (y == np.arange(raw.shape[1]))).sum(axis=1)

    def derivatives(self, y: Any, raw: Any) -> Any:
        return 2.0 * (raw - (y == np.arange(raw.shape[1]))), np.full(raw.shape, 2.0)

    def baseline(self, y: Any, weight: Any) -> Any:
        return np.bincount(y[:, 0].astype(int), weights=weight) / weight.sum()

    link = IdentityLink()


@pytest.mark.parametrize("dtype", ["float32", "float64", "mixed"])
def test_one_value_is_two_outputs(dtype: str) -> None:
    model = RFFBoostClassifier(loss=Brier(), learner="tree", **BRIEF).fit(X, CLASSES)
    graph = to_onnx(model, dtype=dtype)
    verify_onnx(model, graph, X, raise_on_mismatch=True)
    np.testing.assert_allclose(OnnxPredictor(graph).predict_proba(X), model.predict_proba(X), atol=1e-5)


def test_outputs_that_one_side_has_alone_are_named() -> None:
    inner = RFFBoostRegressor(**BRIEF)
    whole = ConformalRegressor(inner, random_state=0).fit(X, Y)
    plain = whole.estimator_
    assert verify_onnx(plain, to_onnx(plain), X).passed
    less, more = verify_onnx(whole, to_onnx(plain), X), verify_onnx(plain, to_onnx(whole), X)
    for report, words in ((less, "MISSING in the file"), (more, "NOT of the estimator")):
        assert not report.passed
        (line,) = [line for line in str(report).splitlines() if "interval" in line]
        assert line.endswith(words)
    poisson = RFFBoostRegressor(loss="poisson", **BRIEF).fit(X, np.exp(Y))
    graph = to_onnx(poisson)
    del graph.graph.output[-1]
    assert [entry.name for entry in graph.graph.output] == ["variable"]
    assert not verify_onnx(poisson, graph, X).passed


@pytest.mark.parametrize("dtype", ["float64", "mixed"])
def test_what_the_reference_cannot_run_is_said(dtype: str) -> None:
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"the reference evaluator of onnx .* cannot run this file"):
        verify_onnx(model, to_onnx(model, dtype=dtype), X, runtime="reference")


def test_reports_speak_of_their_own_type() -> None:
    assert "to float32 moves scores by up to 1: see dtype" in str(Report(3, "onnxruntime", "float32", (), 1.0))
    text = str(Report(3, "onnxruntime", "float64", (), 1.0))
    assert "to float64" in text
    assert "dtype=" not in text


WORDS = np.array(["NA", "None", "nan", "01", "1"], dtype=object)


@pytest.mark.parametrize("name", ["label", "score", "variable", "interval", "probabilities", "X", "a b"])
def test_text_is_read_as_it_stands(name: str, tmp_path: Path) -> None:
    table = pd.DataFrame({name: pd.Categorical(RNG.choice(WORDS, 300)), "x": X[:, 0].astype(float)})
    model = RFFBoostRegressor(**BRIEF, learner="tree").fit(
        table, np.where(table[name] == "01", 1.0, 0.0) + 0.01 * Y
    )
    rows = pd.DataFrame({name: WORDS, "x": np.zeros(5)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    save_onnx(model, tmp_path / "m.onnx")
    joblib.dump(model, tmp_path / "m.joblib")
    where = [str(tmp_path / part) for part in ("m.onnx", "rows.csv", "out.csv", "m.joblib")]
    assert cli.main(["predict", where[0], where[1], "--output", where[2]]) == 0
    wanted = model.predict(rows.astype({name: "category"}))
    np.testing.assert_allclose(pd.read_csv(where[2])["prediction"], wanted, atol=1e-5)
    assert wanted[3] - wanted[4] > 0.1
    assert cli.main(["verify", where[3], where[0], where[1]]) == 0


def test_text_without_names_is_read_by_its_place(tmp_path: Path) -> None:
    table = np.column_stack([RNG.choice(WORDS, 300), X[:, 0].astype(object)])
    model = RFFBoostRegressor(categorical_features=[0], learner="tree", **BRIEF)
    model.fit(table, np.where(table[:, 0] == "01", 1.0, 0.0) + 0.01 * Y)
    rows = pd.DataFrame({"any": WORDS, "other": np.zeros(5)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    save_onnx(model, tmp_path / "m.onnx")
    where = [str(tmp_path / part) for part in ("m.onnx", "rows.csv", "out.csv")]
    assert cli.main(["predict", *where[:2], "--output", where[2]]) == 0
    np.testing.assert_allclose(pd.read_csv(where[2])["prediction"], model.predict(rows.to_numpy()), atol=1e-5)


def test_double_thresholds_declare_the_version_that_has_them() -> None:
    register_skl2onnx()
    start = rlgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(X, Y)
    model = RFFBoostRegressor(learner="tree", **BRIEF | {"n_estimators": 8})
    pipeline = make_pipeline(MinMaxScaler((0.0, 1.0)), model).fit(X.astype(float), Y)
    model.fit(X.astype(float), Y, init_model=start)
    for estimator in (model, pipeline):
        graph = skl2onnx.to_onnx(estimator, X[:1].astype(float))
        onnx.checker.check_model(graph, full_check=True)
        double = any("_as_tensor" in entry.name for node in graph.graph.node for entry in node.attribute)
        version = max(entry.version for entry in graph.opset_import if entry.domain == "ai.onnx.ml")
        assert version >= (3 if double else 1)
        found = OnnxSession(graph).run(X.astype(float))
        np.testing.assert_allclose(found[:, 0], estimator.predict(X.astype(float)), atol=1e-9)


class OnnxSession:
    """A file that skl2onnx has written, in ONNX Runtime."""

    def __init__(self, graph: Any) -> None:
        import onnxruntime

        self.session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])

    def run(self, rows: Any) -> Any:
        return self.session.run(None, {self.session.get_inputs()[0].name: rows})[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda ours: make_pipeline(ours, LinearRegression()),
        lambda ours: make_pipeline(make_pipeline(StandardScaler(), ours), LinearRegression()),
        lambda ours: make_pipeline(FeatureUnion([("a", ours), ("b", StandardScaler())]), LinearRegression()),
        lambda ours: make_pipeline(ColumnTransformer([("a", ours, [0, 1])]), LinearRegression()),
    ],
)
def test_terms_that_feed_another_step_are_refused(make: Any) -> None:
    register_skl2onnx()
    register_skl2onnx()
    pipeline = make(RFFBoostRegressor(learner="rff_1", **BRIEF)).fit(X, Y)
    with pytest.raises(ValueError, match="RFFBoostRegressor is a transformer among other steps"):
        skl2onnx.to_onnx(pipeline, X[:1])


def test_terms_that_feed_one_of_ours_are_refused(tmp_path: Path) -> None:
    for registered in (False, True):
        if registered:
            register_skl2onnx()
        pipeline = make_pipeline(*[RFFBoostRegressor(learner="rff_1", **BRIEF) for _ in range(2)]).fit(X, Y)
        with pytest.raises(ValueError, match="RFFBoostRegressor is a transformer among other steps"):
            save_onnx(pipeline, tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_predictions_of_ours_at_the_end_are_converted() -> None:
    register_skl2onnx()
    pipeline = make_pipeline(MinMaxScaler(), RFFBoostRegressor(learner="rff_1", **BRIEF)).fit(X, Y)
    found = OnnxSession(skl2onnx.to_onnx(pipeline, X[:1])).run(X)
    np.testing.assert_allclose(found[:, 0], pipeline.predict(X), atol=1e-4)


def test_searches_without_a_refit_are_named() -> None:
    search = GridSearchCV(RFFBoostRegressor(**BRIEF), {"learner": ["tree"]}, refit=False, cv=2).fit(X, Y)
    with pytest.raises(ValueError, match="GridSearchCV: refit must be true to be exported, got False"):
        to_onnx(search)


def test_rows_are_asked_for_where_they_help() -> None:
    ours = RFFBoostClassifier(**BRIEF)
    odd = make_pipeline(FunctionTransformer(np.sinh), ours).fit(X, Y > 0)
    with pytest.raises(ValueError, match="skl2onnx cannot convert a step") as caught:
        to_onnx(odd)
    assert "pass X" not in str(caught.value)
    table = pd.DataFrame({"a": RNG.choice(["u", "v"], 300), "b": X[:, 0]})
    encoder = ColumnTransformer([("text", OneHotEncoder(), ["a"])], remainder="passthrough")
    named = make_pipeline(encoder, LogisticRegression()).set_params(logisticregression=ours).fit(table, Y > 0)
    with pytest.raises(ValueError, match="pass X, a few rows"):
        to_onnx(named)
    verify_onnx(named, to_onnx(named, table), table, raise_on_mismatch=True)
