"""XGBoost's own tree models: every objective with a link, and clear words for what cannot be read."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from onnx_export.runtimes import open_session
from onnx_export.xgboost_models import OBJECTIVES
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.learners.trees.xgboost_model import parse_base_score

from .oracle import DTYPES

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 4))
SIGNAL = X[:, 0] + np.sin(X[:, 1])
TARGETS = {
    "binary": (SIGNAL > 0.5).astype(int),
    "multi": np.digitize(SIGNAL, [-0.5, 0.5]),
    "count": np.round(np.exp(SIGNAL)),
    "reg:logistic": 1.0 / (1.0 + np.exp(-SIGNAL)),
    "reg:gamma": np.exp(SIGNAL),
    "reg:squaredlogerror": np.exp(SIGNAL),
    "reg:tweedie": np.exp(SIGNAL),
    "rank": (SIGNAL > 0.5).astype(int),
}


def trained(objective: str, **params: Any) -> xgboost.Booster:
    """A booster of few trees."""
    target = TARGETS.get(objective, TARGETS.get(objective.partition(":")[0], SIGNAL))
    settings = {"objective": objective, "max_depth": 3, "nthread": 1} | params
    if objective.startswith("multi"):
        settings["num_class"] = 3
    if objective == "reg:quantileerror":
        settings["quantile_alpha"] = [0.3, 0.7]
    data = xgboost.DMatrix(X, target)
    if objective.startswith("rank"):
        data.set_group([50] * 4)
    if objective == "survival:aft":
        for bound in ("label_lower_bound", "label_upper_bound"):
            data.set_float_info(bound, 1.0 + np.abs(target))
    return xgboost.train(settings, data, 5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
def test_every_objective(objective: str, dtype: str) -> None:
    booster = trained(objective)
    model = to_onnx(booster, dtype=dtype)
    rows = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    verify_onnx(booster, model, rows, raise_on_mismatch=True)
    wanted = booster.predict(xgboost.DMatrix(X, missing=np.nan))
    outputs = open_session(model.SerializeToString()).run(
        None, {"X": X.astype(np.float64 if dtype == "float64" else np.float32)}
    )
    found = outputs[1] if len(outputs) == 3 else outputs[0]
    if objective in ("multi:softmax", "binary:logitraw"):
        found = outputs[0] if objective == "multi:softmax" else outputs[2]
    columns = found[:, 1] if objective in ("binary:logistic", "binary:hinge") else found.reshape(wanted.shape)
    # The share of rows near a threshold that rounding to float32 could move is nil: XGBoost rounds too.
    assert np.abs(columns - wanted).max() <= 1e-5 * max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("score", [None, 0.5, 0.2])
def test_base_score(score: float | None) -> None:
    booster = trained("binary:logistic", **({} if score is None else {"base_score": score}))
    verify_onnx(booster, to_onnx(booster), X, raise_on_mismatch=True)


def test_spellings_of_base_score() -> None:
    for text, wanted in (("5E-1", [0.5]), ("[5E-1]", [0.5]), ("[1E0,-2E0]", [1.0, -2.0]), ("0.5", [0.5])):
        assert parse_base_score(text).tolist() == wanted


@pytest.mark.parametrize("shell", [xgboost.XGBClassifier, xgboost.XGBRFClassifier])
def test_classifiers(shell: Any) -> None:
    model = shell(n_estimators=5, max_depth=3, n_jobs=1).fit(X, TARGETS["multi"])
    onnx_model = to_onnx(model)
    verify_onnx(model, onnx_model, X, raise_on_mismatch=True)
    label = open_session(onnx_model.SerializeToString()).run(["label"], {"X": X.astype(np.float32)})[0]
    assert np.array_equal(label, model.predict(X.astype(np.float32)))
    raw = OnnxPredictor(to_onnx(model, dtype="float64")).decision_function(X)
    assert np.abs(raw - model.predict(X, output_margin=True)).max() < 1e-5


def test_early_stopping_uses_the_best_iteration() -> None:
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=2, n_jobs=1)
    model.fit(X[:100], RNG.integers(0, 2, 100), eval_set=[(X[100:], RNG.integers(0, 2, 100))], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    found = open_session(to_onnx(model).SerializeToString()).run(["probabilities"], {"X": X.astype(np.float32)})[0]
    assert np.abs(found - model.predict_proba(X.astype(np.float32))).max() < 1e-5


def test_behind_a_scaler() -> None:
    pipeline = make_pipeline(StandardScaler(), xgboost.XGBRegressor(n_estimators=5, n_jobs=1)).fit(X, SIGNAL)
    verify_onnx(pipeline, to_onnx(pipeline), X, raise_on_mismatch=True)


def own_objective(y: Any, score: Any) -> Any:
    return score - y, np.ones_like(score)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (xgboost.XGBRegressor(n_estimators=2, objective=own_objective), "objective must be one of XGBoost's own"),
        (xgboost.XGBRegressor(n_estimators=2, missing=-1.0), "missing must be NaN"),
        (
            xgboost.XGBRegressor(n_estimators=2, objective="binary:hinge"),
            "'binary:hinge' of a XGBRegressor has no",
        ),
    ],
)
def test_what_cannot_be_read(model: Any, words: str) -> None:
    model.fit(X, (SIGNAL > 0).astype(int))
    with pytest.raises(ValueError, match=words):
        to_onnx(model)


@pytest.mark.parametrize("dtype", DTYPES)
def test_categories_are_read_as_codes(dtype: str) -> None:
    codes = np.column_stack([RNG.integers(0, 30, 200).astype(float), SIGNAL])
    codes[RNG.random(codes.shape) < 0.1] = np.nan
    target = np.isin(codes[:, 0], [1, 4, 9, 16]) + 0.1 * SIGNAL
    data = xgboost.DMatrix(codes, target, feature_types=["c", "q"], enable_categorical=True)
    booster = xgboost.train({"max_depth": 3, "nthread": 1, "eta": 0.5}, data, 6)
    model = to_onnx(booster, dtype=dtype)
    rows = np.vstack([codes, [[99.0, 0.0], [-1.0, 0.0]]])
    for runtime in ("onnxruntime", "reference"):
        verify_onnx(booster, model, rows, runtime=runtime, raise_on_mismatch=True)
    wanted = booster.predict(xgboost.DMatrix(codes, feature_types=["c", "q"], enable_categorical=True))
    np.testing.assert_allclose(OnnxPredictor(model).predict(codes), wanted, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("objective", ["binary", "multiclass", "regression", "poisson", "quantile"])
def test_lightgbm(objective: str, dtype: str) -> None:
    target = {"binary": TARGETS["binary"], "multiclass": TARGETS["multi"], "poisson": np.exp(SIGNAL)}
    shell = lightgbm.LGBMClassifier if objective in ("binary", "multiclass") else lightgbm.LGBMRegressor
    model = shell(objective=objective, n_estimators=5, num_leaves=8, verbose=-1)
    model.fit(np.where(RNG.random(X.shape) < 0.1, np.nan, X), target.get(objective, SIGNAL))
    rows = np.where(RNG.random(X.shape) < 0.1, np.nan, X).astype(np.float64 if dtype == "float64" else np.float32)
    for exported in (model, model.booster_):
        graph = to_onnx(exported, dtype=dtype)
        verify_onnx(exported, graph, rows, raise_on_mismatch=True)
        outputs = open_session(graph.SerializeToString()).run(None, {"X": rows})
        found = outputs[1] if len(outputs) == 3 else outputs[0]
        found = found[:, 1] if objective == "binary" else found.squeeze()
        wanted = model.booster_.predict(rows.astype(np.float64))
        assert np.abs(found - wanted).max() <= 1e-5 * max(1.0, np.abs(wanted).max())


def test_lightgbm_thresholds_keep_float64() -> None:
    # Features that float32 cannot tell apart are on both sides of a split.
    x = np.repeat([1.0, 1.0 + 1e-12], 50)[:, None]
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1).fit(x, x[:, 0] > 1.0)
    graph = to_onnx(model, dtype="float64")
    verify_onnx(model, graph, x, raise_on_mismatch=True)
    assert np.ptp(OnnxPredictor(graph).predict(x)) > 0.1


def test_what_lightgbm_cannot_give() -> None:
    custom = lightgbm.LGBMRegressor(n_estimators=2, objective=own_objective, verbose=-1).fit(X, SIGNAL)
    with pytest.raises(ValueError, match="objective must be one of LightGBM's own, got a callable"):
        to_onnx(custom)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4])
@pytest.mark.parametrize("make", [xgboost.XGBRegressor, rxgb.XGBRegressor])
def test_rounding_beside_a_large_mean_is_explained(make, mean, dtype):
    model = make(n_estimators=60, max_depth=3, n_jobs=1).fit(X, SIGNAL + mean)
    verify_onnx(model, to_onnx(model, dtype=dtype), X, raise_on_mismatch=True)


def test_several_labels_per_row_are_refused():
    labels = np.column_stack([SIGNAL > 0, SIGNAL < 1]).astype(int)
    with pytest.raises(ValueError, match="'binary:logistic' of 2 labels per row has no ONNX form"):
        to_onnx(xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(X, labels))


def test_labels_by_another_boundary_are_refused():
    model = xgboost.XGBClassifier(n_estimators=3, objective="binary:logitraw", n_jobs=1).fit(X, SIGNAL > 0)
    with pytest.raises(ValueError, match="'binary:logitraw' has no ONNX form here"):
        to_onnx(model)
    verify_onnx(model.get_booster(), to_onnx(model.get_booster()), X, raise_on_mismatch=True)


def test_a_classifier_of_one_class_is_refused():
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="must have at least 2 classes"):
        to_onnx(model)


def test_lightgbms_underscores_stand_for_blanks():
    table = pd.DataFrame(X, columns=["a b", "a_c", "d", "e"])
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(table, SIGNAL > 0)
    for one in (model, model.booster_):
        verify_onnx(one, to_onnx(one), table, raise_on_mismatch=True)
    np.testing.assert_array_equal(OnnxPredictor(to_onnx(model)).predict(table), model.predict(table).astype(float))
    with pytest.raises(ValueError, match="in this order"):
        OnnxPredictor(to_onnx(model)).predict(table[["a_c", "a b", "d", "e"]])
