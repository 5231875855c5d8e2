"""Boosters that are bound: fitted estimators that know the table that the booster was trained on."""

from __future__ import annotations

import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.metrics import log_loss

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, average, load_model
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from ..cases import LOSS_NAMED, make_data
from .interop_cases import BINARY, CLASSES, LIGHTGBM, PARAMS, SIGNAL, XGBOOST, Halved, X, hosts

SMALL = LIGHTGBM.native
NAMES = ["age", "income", "b c", "d"]


def bound(host, kind, table):
    matrix = host.matrix(table, BINARY)
    if kind == "trees":
        return host.bound(matrix, "log_loss", 5)[0]
    hybrid = host.ours.CosineObjective("log_loss")
    return hybrid.bind(host.train(matrix, hybrid, 5)[0])


kinds = pytest.mark.parametrize("kind", ["trees", "cosines"])


def test_an_objective_that_is_recorded_and_reads_scores_otherwise_is_told():
    booster = xgb.train(PARAMS | {"objective": "binary:logistic"}, xgb.DMatrix(X, BINARY), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = rxgb.bind(booster, "log_loss")
    np.testing.assert_allclose(same.predict_proba(X)[:, 1], booster.predict(xgb.DMatrix(X)), atol=1e-6)
    for loss in ("exponential", "squared_error"):
        with pytest.warns(UserWarning, match="records the objective 'binary:logistic', whose link differs"):
            rxgb.bind(booster, loss)


RECORDED = {
    "binary": ({"objective": "binary"}, BINARY, "log_loss", "exponential"),
    "binary sigmoid:2": ({"objective": "binary", "sigmoid": 2.0}, BINARY, "exponential", "log_loss"),
    "regression": ({}, SIGNAL, "huber", "log_loss"),
    "regression sqrt": ({"reg_sqrt": True}, SIGNAL, None, "squared_error"),
    "poisson": ({"objective": "poisson"}, np.abs(SIGNAL), "gamma", "squared_error"),
    "multiclass num_class:3": ({"objective": "multiclass", "num_class": 3}, CLASSES, "log_loss", Halved()),
    "multiclassova num_class:3": ({"objective": "multiclassova", "num_class": 3}, CLASSES, None, "log_loss"),
}


@pytest.mark.parametrize("recorded", RECORDED)
def test_an_objective_of_lightgbms_that_reads_scores_otherwise_is_told(recorded):
    params, y, same, other = RECORDED[recorded]
    booster = lgb.train(SMALL | params, lgb.Dataset(X, y), 5)
    booster = lgb.Booster(model_str=booster.model_to_string())
    with pytest.warns(UserWarning, match=f"records the objective '{recorded}[^']*', whose link .*; predictions"):
        rlgb.bind(booster, other, 0)
    if same is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rlgb.bind(booster, same, 0)
    found = model.predict(X) if same in ("huber", "gamma") else model.predict_proba(X)
    np.testing.assert_allclose(found[:, 1] if y is BINARY else found, booster.predict(X), rtol=1e-9)


@pytest.mark.parametrize("baseline", [None, np.nan, [np.inf], np.zeros(3), np.zeros((1, 1)), []], ids=str)
def test_baselines_that_cannot_be_are_named(baseline):
    booster = lgb.train(SMALL | {"objective": "binary"}, lgb.Dataset(X, BINARY), 2)
    with pytest.raises(ValueError, match=r"baseline must be the result of intercept\(\), .* \(1,\), or 0, got"):
        rlgb.bind(booster, "log_loss", baseline)
    raw = booster.predict(X, raw_score=True)
    for start in (2, np.float32(2.0), [2.0], np.array([2])):
        np.testing.assert_allclose(rlgb.bind(booster, "log_loss", start).decision_function(X), raw + 2.0)


@hosts
@kinds
@pytest.mark.parametrize(
    ("names", "known"), [(list("abcd"), ["xgboost", "lightgbm"]), (NAMES, ["xgboost"]), (None, [])], ids=str
)
def test_columns_are_known_by_name(host, kind, names, known):
    table = pd.DataFrame(X, columns=names)
    model = bound(host, kind, table)
    assert hasattr(model, "feature_names_in_") == (host.name in known)
    if host.name not in known:
        np.testing.assert_array_equal(model.predict(table), model.predict(table.to_numpy()))
        return
    assert list(model.feature_names_in_) == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(table)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[names[::-1]])


def test_a_file_of_a_hybrid_has_the_names():
    model = bound(XGBOOST, "cosines", pd.DataFrame(X, columns=NAMES))
    assert all(name in to_onnx(model).SerializeToString().decode(errors="ignore") for name in NAMES)


CODES = np.digitize(X[:, 0], [-0.5, 0.0, 0.5])
PLACES = ["sea", "hill", "mill", "lake"]
TABLE = pd.DataFrame({"place": pd.Categorical.from_codes(CODES, PLACES), "x": X[:, 1]})
CODED = np.column_stack([CODES, X[:, 1]]).astype(np.float32)


def on_categories(data, matrix=xgb.DMatrix, **kwargs):
    return matrix(data, label=BINARY, enable_categorical=True, **kwargs)


def test_a_bound_booster_takes_the_table_that_it_was_trained_on(tmp_path):
    matrix = on_categories(TABLE)
    params = PARAMS | rxgb.intercept("log_loss", matrix) | {"max_cat_to_onehot": 1}
    booster = xgb.train(params, matrix, 6, obj=rxgb.objective("log_loss"))
    model, wanted = rxgb.bind(booster, "log_loss"), booster.predict(matrix, output_margin=True)
    model.save_model(tmp_path / "model")
    for bound in (model, load_model(tmp_path / "model")):
        np.testing.assert_allclose(bound.decision_function(TABLE), wanted, atol=1e-5)
        # What a category is called counts, not its place in the type.
        ordered = TABLE.assign(place=pd.Categorical(TABLE["place"].astype(str), sorted(PLACES)))
        np.testing.assert_allclose(bound.decision_function(ordered), wanted, atol=1e-5)
    verify_onnx(model, to_onnx(model), TABLE, raise_on_mismatch=True)


@pytest.mark.parametrize("kind", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_cosines_take_no_categories_for_numbers(kind):
    for matrix in (on_categories(TABLE, kind), on_categories(CODED, kind, feature_types=["c", "q"])):
        with pytest.raises(ValueError, match="categorical columns"):
            xgb.train(PARAMS, matrix, 2, obj=rxgb.CosineObjective())


def test_codes_that_were_attached_are_taken():
    matrix, hybrid = on_categories(CODED, feature_types=["c", "q"]), rxgb.CosineObjective("log_loss")
    hybrid.attach(matrix, CODED)
    seen = {}
    watch = {"evals": [(matrix, "train")], "evals_result": seen, "verbose_eval": False}
    params = PARAMS | {"disable_default_eval_metric": True}
    booster = xgb.train(params, matrix, 6, obj=hybrid, custom_metric=hybrid.metric, **watch)
    model = hybrid.bind(booster)
    wanted = log_loss(BINARY, model.predict_proba(CODED))
    assert seen["train"]["log_loss"][-1] == pytest.approx(wanted, rel=1e-4)


def test_bound_models_of_other_losses_have_no_average():
    X, y = make_data(LOSS_NAMED["log_loss"])
    booster = xgb.train({"max_depth": 2, "base_score": 0.0}, xgb.DMatrix(X, y), 3, obj=rxgb.objective("log_loss"))
    models = [rxgb.bind(booster, loss) for loss in ("log_loss", "exponential")]
    with pytest.raises(ValueError, match="the losses of models must agree"):
        average(models)
    ours = RFFBoostClassifier(learner="tree", n_estimators=3).fit(X, y)
    mean = average([models[0], ours]).decision_function(X)
    np.testing.assert_allclose(mean, (models[0].decision_function(X) + ours.decision_function(X)) / 2, atol=1e-9)


@hosts
@kinds
def test_a_warm_start_goes_on_from_what_is_bound(host, kind):
    model = bound(host, kind, X)
    rounds, before = len(model.ensemble_), model.decision_function(X)
    model.set_params(learner="rff_newton", warm_start=True, n_estimators=rounds + 2).fit(X, BINARY)
    assert len(model.ensemble_) == rounds + 2
    np.testing.assert_allclose(model.ensemble_.truncated(rounds).raw(X)[:, 0], before, atol=1e-6)
