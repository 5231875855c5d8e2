"""Outputs of both sides, reports, and steps that nobody can convert."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from onnx_export import OnnxPredictor, Report, to_onnx, verify_onnx
from rffboost_ext import ConformalRegressor, Loss, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.losses import IdentityLink

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3)).astype(np.float32)
Y = X[:, 0] + 0.1 * X[:, 1]
CLASSES = np.digitize(Y, [-0.5, 0.5])
BRIEF: dict[str, Any] = {"n_estimators": 5, "early_stopping": False, "random_state": 0}


class Brier(Loss):
    """The squared distance to the indicators of K classes."""

    task = "classification"

    def n_scores(self, y: Any, n_classes: Any = None) -> int:
        return int(y.max()) + 1 if n_classes is None else n_classes

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
    inner = RFFBoostRegressor(learner="tree", **BRIEF)
    whole = ConformalRegressor(inner, random_state=0).fit(X, Y)
    plain = whole.estimator_
    assert verify_onnx(plain, to_onnx(plain), X).passed
    less, more = verify_onnx(whole, to_onnx(plain), X), verify_onnx(plain, to_onnx(whole), X)
    for report, words in ((less, "MISSING in the file"), (more, "NOT of the estimator")):
        assert not report.passed
        (line,) = [line for line in str(report).splitlines() if "interval" in line]
        assert line.endswith(words)
    poisson = RFFBoostRegressor(loss="poisson", learner="tree", **BRIEF).fit(X, np.exp(Y))
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
