"""The estimators of both hosts with our losses: where they start, their link, files, metrics and refusals."""

from __future__ import annotations

import pickle
from functools import partial

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import STEPS, Shrunk, Tree, boost
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import Exponential, Huber, LabelRegression, LogLoss, Quantile, SquaredError

from .interop_cases import (
    BINARY,
    CASES,
    CLASSES,
    LIGHTGBM,
    SIGNAL,
    TWO,
    WEIGHT,
    XGBOOST,
    Halved,
    X,
    cases,
    cases_of_xgboost,
    hosts,
    mean_value,
    response,
    scored,
    shown,
)


@hosts
@cases_of_xgboost
def test_estimators_start_from_the_baseline_and_apply_the_link(host, case):
    y, weight, (loss, wanted) = case.y, WEIGHT, case.fitted(WEIGHT)
    model = host.estimator(case.loss).fit(X, y, sample_weight=weight)
    assert repr(model.loss_) == repr(loss)
    np.testing.assert_allclose(model.baseline_, wanted)
    still = host.estimator(case.loss, n_estimators=1, learning_rate=1e-12).fit(X, y, sample_weight=weight)
    margin, raw = host.scores(still, X), host.scores(model, X)
    np.testing.assert_allclose(margin, np.tile(wanted, (len(X), 1)), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(response(model, X), loss.link.inverse(raw), rtol=1e-6)
    np.testing.assert_allclose(host.ours.to_ensemble(model).raw(X), raw, rtol=1e-5, atol=2e-5)
    assert mean_value(loss, y, raw, weight) < mean_value(loss, y, margin, weight)


@cases_of_xgboost
def test_xgboost_grows_the_trees_of_our_own_loop(case):
    params = {"n_estimators": 10, "learning_rate": 0.3, "max_bin": 256, "tree_method": "hist"}
    theirs = XGBOOST.estimator(case.loss, **params).fit(X, case.y)
    # In log-odds, hessians of the exponential loss are a quarter of those by its raw scores.
    learner = Tree(3, reg_lambda=4.0, min_child_weight=4.0) if case.name == "exponential" else Tree(3)
    step = Shrunk(STEPS.create("unit"), 0.3)
    ours = boost(X, case.targets(), loss=case.loss, learner=learner, step=step, n_estimators=10)
    np.testing.assert_allclose(XGBOOST.scores(theirs, X), ours.raw(X), rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["exponential", "log_loss"])
def test_the_booster_inside_is_one_of_log_odds(name):
    model = XGBOOST.estimator(name, eval_metric="logloss").fit(X, BINARY, **XGBOOST.watch(X, BINARY))
    wanted = model.predict_proba(X)
    own = xgb.Booster(model_file=model.get_booster().save_raw("json"))
    np.testing.assert_allclose(own.predict(xgb.DMatrix(X)), wanted[:, 1], rtol=1e-5)
    assert XGBOOST.curve(model)["logloss"][-1] == pytest.approx(log_loss(BINARY, wanted), rel=1e-5)
    np.testing.assert_array_equal(model.predict(X), wanted[:, 1] > 0.5)
    model = LIGHTGBM.estimator(name).fit(X, BINARY)
    start = np.log(BINARY.mean() / (1.0 - BINARY.mean()))
    odds = start + model.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(odds), rtol=1e-9)


@hosts
@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_estimators_survive_pickle_clone_and_files(host, case, tmp_path):
    model = host.estimator(case.loss, n_estimators=4).fit(X, case.y)
    wanted = response(model, X)
    np.testing.assert_array_equal(response(pickle.loads(pickle.dumps(model)), X), wanted)
    again = clone(model)
    assert again.get_params()["loss"] is not None
    np.testing.assert_array_equal(response(again.fit(X, case.y), X), wanted)
    for name in ("m.json", "m.ubj") if host is XGBOOST else ():
        model.save_model(tmp_path / name)
        loaded = type(model)(loss=model.loss_)
        loaded.load_model(tmp_path / name)
        np.testing.assert_array_equal(response(loaded, X), wanted)


RECORDED = [
    (Exponential(), BINARY),
    (LabelRegression(SquaredError()), BINARY),
    (LogLoss(), CLASSES),
    (Quantile(np.float64(0.3)), SIGNAL),
    (Huber(2.0), SIGNAL),
    (SquaredError((1.0, 2.0)), TWO),
    (SquaredError(np.array([1.0, 2.0])), TWO),
]


@pytest.mark.parametrize(("loss", "y"), RECORDED, ids=lambda value: repr(value)[:40])
def test_a_file_of_xgboost_records_the_loss(loss, y, tmp_path):
    model = XGBOOST.estimator(loss, n_estimators=2).fit(X, y)
    model.save_model(tmp_path / "m.json")
    loaded = (rxgb.XGBClassifier if loss.task == "classification" else rxgb.XGBRegressor)()
    loaded.load_model(tmp_path / "m.json")
    assert repr(loaded.loss_) == repr(model.loss_)
    assert repr(loaded.loss) == repr(model.loss)
    np.testing.assert_allclose(loaded.baseline_, model.baseline_, rtol=1e-5)
    start = np.ravel(model.get_xgb_params()["base_score"])
    np.testing.assert_allclose(np.ravel(loaded.get_xgb_params()["base_score"]), start, rtol=1e-5)


def test_a_file_without_a_loss_that_is_known_is_refused(tmp_path):
    XGBOOST.estimator(Halved(), n_estimators=2).fit(X, CLASSES).save_model(tmp_path / "m.json")
    with pytest.raises(ValueError, match="not registered here"):
        rxgb.XGBClassifier().load_model(tmp_path / "m.json")
    xgb.XGBClassifier(n_estimators=2).fit(X, BINARY).save_model(tmp_path / "theirs.json")
    with pytest.raises(ValueError, match="does not record a loss"):
        rxgb.XGBClassifier().load_model(tmp_path / "theirs.json")


@pytest.mark.parametrize("loss", ["huber", "squared_error"])
def test_a_loaded_model_is_fitted_again(loss, tmp_path):
    model = rxgb.XGBRegressor(loss=loss, n_estimators=3).fit(X, SIGNAL)
    model.save_model(tmp_path / "model.json")
    loaded = rxgb.XGBRegressor()
    loaded.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    again = clone(loaded).set_params(n_estimators=3).fit(X, 7.0 * SIGNAL)
    assert repr(again.loss_) == repr(clone(model).fit(X, 7.0 * SIGNAL).loss_)


@hosts
def test_early_stopping_and_searches_use_the_loss(host):
    names = BINARY if host is XGBOOST else np.array(["no", "yes"])[BINARY]
    stopping = {"early_stopping_rounds": 3} if host is XGBOOST else {}
    callbacks = {} if host is XGBOOST else {"callbacks": [lgb.early_stopping(3, verbose=False)]}
    model = host.estimator("exponential", n_estimators=200, **stopping)
    model.fit(X[:200], names[:200], **host.watch(X[200:], names[200:]), **callbacks)
    (curve,) = host.curve(model).values()
    assert list(host.curve(model)) == ["exponential"]
    assert len(curve) < 200
    value = mean_value(model.loss_, BINARY[200:], host.scores(model, X[200:]))
    assert value == pytest.approx(min(curve), rel=1e-4)
    assert set(model.predict(X)) == set(names)
    again = host.estimator("log_loss", n_estimators=20).set_params(loss="exponential")
    assert cross_val_score(again, X, names).mean() > 0.7


METRICS = {
    "y, p": lambda y, p: ("mine", scored(y, p), False),
    "weight": lambda y, p, w: ("mine", scored(y, p, w), False),
    "group": lambda y, p, w, group: ("mine", scored(y, p, w), False),
}


@pytest.mark.parametrize(
    ("case", "arguments", "many"),
    [*((case, "y, p", True) for case in CASES), (CASES[0], "weight", False), (CASES[0], "group", False)],
    ids=str,
)
def test_functions_of_users_get_predictions_in_lightgbm(case, arguments, many):
    model, metric = LIGHTGBM.estimator(case.loss, n_estimators=20, learning_rate=0.3), METRICS[arguments]
    parts = {"eval_metric": [metric] if many else metric, "callbacks": [lgb.early_stopping(1, verbose=False)]}
    model.fit(X[:300], case.y[:300], **LIGHTGBM.watch(X[300:], case.y[300:], WEIGHT[300:]), **parts)
    weight = None if arguments == "y, p" else WEIGHT[300:]
    found = scored(case.y[300:].astype(np.float32), shown(model, X[300:]), weight)
    assert model.best_score_["valid_0"] == {"mine": pytest.approx(found, rel=1e-5)}


@cases_of_xgboost
def test_functions_of_users_get_predictions_in_xgboost(case):
    params = {"n_estimators": 20, "early_stopping_rounds": 1, "learning_rate": 0.5, "eval_metric": scored}
    model = XGBOOST.estimator(case.loss, **params)
    pairs = ((clone(model), None), (pickle.loads(pickle.dumps(model)), WEIGHT[300:]))
    for fitted, weight in pairs if case is CASES[0] else pairs[1:]:
        fitted.fit(X[:300], case.y[:300], **XGBOOST.watch(X[300:], case.y[300:], weight))
        assert fitted.get_params()["eval_metric"] is scored
        assert list(XGBOOST.curve(fitted)) == ["scored"]
        found = scored(case.y[300:].astype(np.float32), shown(fitted, X[300:]), sample_weight=weight)
        assert fitted.best_score == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize(
    ("host", "metric", "name"), [(XGBOOST, scored, "scored"), (LIGHTGBM, METRICS["y, p"], "mine")]
)
def test_functions_of_users_get_what_the_hosts_pass(host, metric, name):
    in_model, in_fit = ({"eval_metric": metric}, {})[:: 1 if host is XGBOOST else -1]
    seen = []
    for module in (host.ours, host.own):
        model = getattr(module, f"{host.prefix}Classifier")(**host.params | in_model)
        model.fit(X[:300], BINARY[:300], **host.watch(X[300:], BINARY[300:]), **in_fit)
        seen.append(host.curve(model)[name])
    np.testing.assert_allclose(*seen, rtol=1e-3)


def test_metrics_without_a_name_are_called_by_their_kind():
    model = rxgb.XGBRegressor(loss="poisson", n_estimators=2, eval_metric=partial(scored, sample_weight=None))
    model.fit(X, np.abs(SIGNAL), **XGBOOST.watch(X, np.abs(SIGNAL)))
    assert list(XGBOOST.curve(model)) == ["partial"]


BOTH = [
    ({"loss": "squared_error"}, BINARY, "is for regression"),
    ({"loss": "exponential"}, CLASSES, "Only binary classification is supported by loss Exp.*got 3"),
    ({"scale_pos_weight": 3.0}, BINARY, "scale_pos_weight must be unset, got 3"),
    ({}, None, "Classifier requires y to be passed"),
]
OF_XGBOOST = [
    ({"loss": "exponentail"}, BINARY, "exponential"),
    ({"objective": "binary:hinge"}, BINARY, "objective must be unset"),
    ({"objective": "reg:squarederror"}, BINARY, "objective must be unset"),
    ({"base_score": 0.5}, BINARY, "base_score must be unset, got 0.5"),
    ({}, np.where(BINARY, np.nan, 0.0), "y must hold labels, got .*nan"),
    ({}, np.where(BINARY, "a", "b"), r"XGBClassifier: y must hold class indices 0 .. K-1, got labels \['a', 'b']"),
    ({}, 1, r"XGBClassifier: y must have shape .*, got \(\)"),
    ({}, np.array([]), r"XGBClassifier: y must have shape .*, got \(0,\)"),
    ({}, 2 * BINARY - 1, "class indices"),
    ({}, 2 * BINARY, r"class indices 0 .. K-1, got labels \[0, 2\]"),
]
OF_LIGHTGBM = [
    ({"objective": "binary"}, BINARY, "objective must be unset"),
    ({"app": "poisson"}, BINARY, "app must be unset"),
    ({"objective_type": "l2"}, BINARY, "objective_type must be unset"),
    ({"metrics": "l2"}, BINARY, "metrics must be unset"),
    ({"class_weight": {7: 2.0}}, BINARY, "are not in class_weight"),
    ({"loss": "exponential"}, TWO > 0.0, "y must have one column for loss Exponential.* got 2"),
]
REFUSED = [
    (host, *entry) for host, own in ((XGBOOST, OF_XGBOOST), (LIGHTGBM, OF_LIGHTGBM)) for entry in BOTH + own
]


@pytest.mark.parametrize(("host", "params", "y", "words"), REFUSED)
def test_bad_input_is_named(host, params, y, words):
    with pytest.raises(ValueError, match=words):
        host.classifier(**params).fit(X, y)


def test_a_target_of_one_column_is_a_vector():
    one, two = (rxgb.XGBClassifier(n_estimators=3).fit(X, y).predict_proba(X) for y in (BINARY, BINARY[:, None]))
    np.testing.assert_array_equal(one, two)


def test_large_nullable_labels_differ_in_lightgbm_and_missing_ones_are_named():
    rows, labels = np.arange(60.0)[:, None], [2**60, 2**60 + 1] * 30
    model = rlgb.LGBMClassifier(n_estimators=2, verbose=-1).fit(rows, pd.Series(labels, dtype="Int64"))
    assert model.classes_.tolist() == labels[:2]
    with pytest.raises(ValueError, match=r"y must hold labels, got .* as entry 1, a missing value"):
        model.fit(rows, pd.Series([1, None] * 30, dtype="Int64"))
    with pytest.raises(TypeError, match=r"y must hold labels of one type.* got int and str"):
        model.fit(rows, ["a", 1] * 30)


# Conversions of all links are tested with our own estimators.
@pytest.mark.parametrize("case", CASES[:-1:4], ids=str)
def test_estimators_are_exported_with_their_link(case):
    model = XGBOOST.estimator(case.loss, n_estimators=5).fit(X, case.y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


@pytest.mark.parametrize("where", ["metric", "eval_metric"])
def test_metrics_of_lightgbm_that_would_miss_the_baseline_are_refused(where):
    for name, known in (("binary_logloss", False), ("auc", True)):
        model = rlgb.LGBMClassifier(n_estimators=3, verbose=-1, **({where: name} if where == "metric" else {}))
        given = {"eval_metric": name} if where == "eval_metric" else {}
        if known:
            model.fit(X, BINARY, eval_set=[(X[::2], BINARY[::2])], **given)
            assert max(model.evals_result_["valid_0"]["auc"]) > 0.5
        else:
            with pytest.raises(ValueError, match=f"{where} must be unset"):
                model.fit(X, BINARY, **given)


@cases
def test_contributions_of_lightgbm_sum_to_raw_scores(case):
    model = LIGHTGBM.estimator(case.loss, n_estimators=4).fit(X, case.y)
    raw = LIGHTGBM.scores(model, X)
    shares = model.predict(X, pred_contrib=True).reshape(*raw.shape, -1)
    assert shares.shape[2] == X.shape[1] + 1
    np.testing.assert_allclose(shares.sum(axis=2), raw, rtol=1e-6, atol=1e-9)
    leaves = model.predict(X, pred_leaf=True)
    np.testing.assert_array_equal(leaves, model.booster_.predict(X, pred_leaf=True))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X, pred_leaf=True), leaves)
