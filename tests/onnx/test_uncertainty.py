"""Quantiles and intervals as one graph: what is exported is what is predicted, for every learner and link."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from onnx_export import OnnxPredictor, describe_onnx, to_onnx, verify_onnx
from onnx_export.export import LOWEST_OPSET
from rffboost_ext import LEARNERS, ConformalRegressor, RFFBoostQuantileRegressor, RFFBoostRegressor, SymmetricTree

from ..cases import LOSS_CASES, make_data
from .oracle import DTYPES, NEWEST_OPSET

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2.0, 2.0, (300, 3))
Y = np.sin(2.0 * X[:, 0]) + (0.1 + np.abs(X[:, 1])) * RANDOM.standard_normal(300)
LEVELS = (0.1, 0.3, 0.6, 0.9)
ONE_TARGET = [case for case in LOSS_CASES if case.make().task == "regression" and case.n_outputs == 1]


BRIEF = {"n_estimators": 8, "learning_rate": 0.5, "early_stopping": False, "random_state": 0}
OF_SEVERAL_OUTPUTS = [name for name in LEARNERS.names() if LEARNERS.make(name).multi_output]


def booster(learner="rff_newton", **params):
    return RFFBoostRegressor(learner=learner, **BRIEF | params)


def quantiles(learner="rff_newton", levels=LEVELS, **params):
    return RFFBoostQuantileRegressor(levels, learner, **BRIEF | params)


def assert_exported(model, X=X, dtypes=DTYPES, **options):
    for dtype in dtypes:
        graph = to_onnx(model, X, dtype=dtype, **options)
        verify_onnx(model, graph, X, raise_on_mismatch=True)
        verify_onnx(model, graph, X[:9], runtime="reference", raise_on_mismatch=True)
        assert len(OnnxPredictor(graph).predict(X[:0])) == 0
    predictor = OnnxPredictor(to_onnx(model, X, dtype="float64", **options))
    np.testing.assert_allclose(predictor.predict(X), model.predict(X), atol=1e-9)
    if hasattr(model, "predict_interval"):
        np.testing.assert_allclose(predictor.predict_interval(X), model.predict_interval(X), atol=1e-9)


@pytest.mark.parametrize("learner", [*OF_SEVERAL_OUTPUTS, SymmetricTree(leaf="linear")], ids=str)
def test_quantiles_of_every_learner(learner):
    model = quantiles(learner, (0.498, 0.499, 0.5, 0.501)).fit(X, Y)
    assert (np.diff(model.raw_scores(X), axis=1) < 0.0).any(), "nothing crosses: the test does not test"
    assert_exported(model, dtypes=["float32"])


@pytest.mark.parametrize(("inner", "learner"), [(quantiles, "tree"), (booster, "tree"), (booster, "mixture")])
def test_intervals_of_learners(inner, learner):
    assert_exported(ConformalRegressor(inner(learner), random_state=0).fit(X, Y), dtypes=["float32"])


@pytest.mark.parametrize("loss", ONE_TARGET, ids=str)
def test_intervals_of_every_loss(loss):
    features, target = make_data(loss, n=90)
    model = ConformalRegressor(booster(loss=loss.make()), alpha=0.2, random_state=0).fit(features, target)
    assert_exported(model, features, ["mixed"])


@pytest.mark.parametrize("opset", [LOWEST_OPSET, 10, 11, NEWEST_OPSET])
def test_every_operator_set(opset):
    assert_exported(ConformalRegressor(quantiles(), random_state=0).fit(X, Y), opset=opset)


@pytest.mark.parametrize("levels", [(0.5,), (0.2, 0.8), (0.1, 0.5, 0.9)])
def test_one_two_and_three_levels(levels):
    model = quantiles(levels=levels).fit(X, Y)
    assert_exported(model)
    assert_exported(ConformalRegressor(model, random_state=0).fit(X, Y))


def test_margins_that_would_turn_an_interval_upside_down():
    model = ConformalRegressor(quantiles(), random_state=0).fit(X, Y)
    model.margin_ -= 0.5 * float(np.median(np.diff(model.predict_interval(X))))
    low, high = model.predict_interval(X).T
    assert (low == high).any()
    assert (low < high).any()
    assert_exported(model)


def test_names_pipelines_and_other_boosters():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = ConformalRegressor(quantiles(), random_state=0).fit(frame, Y)
    assert OnnxPredictor(to_onnx(named)).feature_names_in_.tolist() == ["a", "b", "c"]
    verify_onnx(named, to_onnx(named), frame, raise_on_mismatch=True)
    assert_exported(make_pipeline(StandardScaler(), ConformalRegressor(quantiles(), random_state=0)).fit(X, Y))
    assert_exported(make_pipeline(MinMaxScaler(), quantiles()).fit(X, Y), dtypes=("float32",))
    assert_exported(ConformalRegressor(make_pipeline(StandardScaler(), booster()), random_state=0).fit(X, Y))
    xgboost = pytest.importorskip("xgboost")
    model = ConformalRegressor(xgboost.XGBRegressor(n_estimators=5), random_state=0).fit(X, Y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


def test_what_the_file_says():
    model = ConformalRegressor(quantiles("mixture"), random_state=0).fit(X, Y)
    graph = to_onnx(model, dtype="float64")
    said = describe_onnx(graph)
    assert said.metadata.estimator == "ConformalRegressor(RFFBoostQuantileRegressor)"
    assert {"variable", "interval", "score"} <= set(said.outputs)
    assert said.outputs["interval"] == "(N, 2)"
    raw = model.estimator_.raw_scores(X)
    np.testing.assert_allclose(OnnxPredictor(graph).decision_function(X), raw, atol=1e-9)
    with pytest.raises(AttributeError, match="no 'interval'"):
        OnnxPredictor(to_onnx(booster().fit(X, Y))).predict_interval(X)


def test_what_has_no_form_is_refused_by_name():
    with pytest.raises(TypeError, match="LinearRegression"):
        to_onnx(ConformalRegressor(LinearRegression()).fit(X, Y))
    for model in (ConformalRegressor(), RFFBoostQuantileRegressor()):
        with pytest.raises(ValueError, match="not fitted"):
            to_onnx(model)


def test_another_margin_does_not_pass_for_this_one():
    model = ConformalRegressor(booster(), random_state=0).fit(X, Y)
    graph = to_onnx(model)
    model.margin_ *= 1.01
    report = verify_onnx(model, graph, X)
    assert not report.passed
    assert report["variable"].passed
    assert not report["interval"].passed
