"""Our losses in XGBoost's loop and estimators."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

from benchmarks.data import SMALL
from onnx_export import to_onnx, verify_onnx
from rffboost_ext import LOSSES, Loss, Tree, boost
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import IdentityLink, LabelRegression, SquaredError

from ..experiments.papers_data import papers_set
from .interop_cases import (
    BINARY,
    CASES,
    CLASSES,
    PARAMS,
    SIGNAL,
    TWO,
    WEIGHT,
    Multinomial,
    X,
    cases_of_xgboost,
    mean_value,
    response,
    scored,
    shown,
)


def shell(loss, **params):
    made = rxgb.XGBClassifier if loss.task == "classification" else rxgb.XGBRegressor
    return made(loss=loss, max_depth=3, n_jobs=1, **params)


@cases_of_xgboost
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_estimators_start_from_the_baseline_and_apply_the_link(case, weight):
    y, (loss, wanted) = case.y, case.fitted(weight)
    model = shell(case.loss, n_estimators=5).fit(X, y, sample_weight=weight)
    assert repr(model.loss_) == repr(loss)
    np.testing.assert_allclose(model.baseline_, wanted)
    start = shell(case.loss, n_estimators=1, learning_rate=1e-12).fit(X, y, sample_weight=weight)
    margin = start.predict(X, output_margin=True).reshape(len(X), -1)
    np.testing.assert_allclose(margin, np.tile(wanted, (len(X), 1)), rtol=1e-5, atol=1e-5)
    raw = model.predict(X, output_margin=True).reshape(len(X), -1)
    np.testing.assert_allclose(response(model, X), loss.link.inverse(raw.astype(float)), rtol=1e-6)
    assert mean_value(loss, y, raw.astype(float), weight) < mean_value(loss, y, margin.astype(float), weight)


@cases_of_xgboost
def test_estimators_grow_the_trees_of_our_own_loop(case):
    theirs = shell(case.loss, n_estimators=10, learning_rate=0.3, max_bin=256, tree_method="hist").fit(X, case.y)
    # In log-odds, hessians of the exponential loss are a quarter of those by its raw scores.
    learner = Tree(3, reg_lambda=4.0, min_child_weight=4.0) if case.name == "exponential" else Tree(3)
    ours = boost(X, case.targets(), loss=case.loss, learner=learner, step=shrunk(0.3), n_estimators=10)
    raw = theirs.predict(X, output_margin=True).reshape(len(X), -1)
    np.testing.assert_allclose(raw, ours.raw(X), rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["exponential", "log_loss"])
def test_the_booster_inside_is_one_of_log_odds(name):
    model = rxgb.XGBClassifier(loss=name, n_estimators=8, max_depth=3, n_jobs=1, eval_metric="logloss")
    model.fit(X, BINARY, eval_set=[(X, BINARY)], verbose=False)
    wanted = model.predict_proba(X)
    own = xgb.Booster(model_file=model.get_booster().save_raw("json"))
    np.testing.assert_allclose(own.predict(xgb.DMatrix(X)), wanted[:, 1], rtol=1e-5)
    (history,) = model.evals_result()["validation_0"].values()
    assert history[-1] == pytest.approx(log_loss(BINARY, wanted), rel=1e-5)
    np.testing.assert_array_equal(model.predict(X), wanted[:, 1] > 0.5)
    raw = rxgb.to_ensemble(model).raw(X)
    np.testing.assert_allclose(raw[:, 0], model.predict(X, output_margin=True), atol=1e-5)
    np.testing.assert_allclose(model.loss_.link.inverse(raw), wanted, rtol=1e-4)


def shrunk(rate):
    from rffboost_ext import STEPS, Shrunk

    return Shrunk(STEPS.create("unit"), rate)


@cases_of_xgboost
def test_estimators_survive_pickle_clone_and_files(case, tmp_path):
    loss = case.loss
    model = shell(loss, n_estimators=4).fit(X, case.y)
    wanted = response(model, X)
    np.testing.assert_array_equal(response(pickle.loads(pickle.dumps(model)), X), wanted)
    again = clone(model)
    assert again.get_params()["loss"] is not None
    np.testing.assert_array_equal(response(again.fit(X, case.y), X), wanted)
    for name in ("m.json", "m.ubj"):
        model.save_model(tmp_path / name)
        loaded = type(model)(loss=model.loss_)
        loaded.load_model(tmp_path / name)
        np.testing.assert_array_equal(response(loaded, X), wanted)


def test_a_file_tells_its_loss(tmp_path):
    made = LabelRegression(LOSSES.create("squared_error"))
    for loss in (LOSSES.create("exponential"), made):
        shell(loss, n_estimators=2).fit(X, BINARY).save_model(tmp_path / "m.json")
        loaded = rxgb.XGBClassifier()
        loaded.load_model(tmp_path / "m.json")
        assert repr(loaded.loss_) == repr(loss)
    shell(Multinomial(), n_estimators=2).fit(X, CLASSES).save_model(tmp_path / "m.json")
    with pytest.raises(ValueError, match="not registered here"):
        rxgb.XGBClassifier().load_model(tmp_path / "m.json")
    xgb.XGBClassifier(n_estimators=2).fit(X, BINARY).save_model(tmp_path / "theirs.json")
    with pytest.raises(ValueError, match="does not record a loss"):
        rxgb.XGBClassifier().load_model(tmp_path / "theirs.json")


def test_early_stopping_and_grid_search_see_the_loss():
    model = rxgb.XGBClassifier(loss="exponential", n_estimators=100, early_stopping_rounds=3, n_jobs=1)
    model.fit(X[:200], BINARY[:200], eval_set=[(X[200:], BINARY[200:])], verbose=False)
    history = model.evals_result()["validation_0"]
    assert list(history) == ["exponential"]
    assert model.best_iteration == int(np.argmin(history["exponential"])) < 99
    raw = model.predict(X[200:], output_margin=True)[:, None].astype(float)
    assert mean_value(model.loss_, BINARY[200:], raw) == pytest.approx(min(history["exponential"]), rel=1e-4)
    assert cross_val_score(rxgb.XGBClassifier(loss="exponential", n_estimators=20), X, BINARY).mean() > 0.7


@cases_of_xgboost
@pytest.mark.parametrize("weight", [None, WEIGHT[300:]], ids=["even", "weighted"])
def test_functions_of_the_users_see_predictions(case, weight):
    weights = None if weight is None else [weight]
    model = shell(case.loss, n_estimators=200, early_stopping_rounds=3, learning_rate=0.5, eval_metric=scored)
    held = {"eval_set": [(X[300:], case.y[300:])], "sample_weight_eval_set": weights, "verbose": False}
    for fitted in (clone(model), pickle.loads(pickle.dumps(model))):
        fitted.fit(X[:300], case.y[:300], **held)
        assert fitted.get_params()["eval_metric"] is scored
        assert list(fitted.evals_result()["validation_0"]) == ["scored"]
        found = scored(case.y[300:].astype(np.float32), shown(fitted, X[300:]), sample_weight=weight)
        assert fitted.best_score == pytest.approx(found, rel=1e-5)
    assert model.fit(X[:300], case.y[:300], **held).best_score == fitted.best_score


def test_functions_of_the_users_see_what_xgboost_shows():
    seen = {}
    for host in (rxgb, xgb):
        model = host.XGBClassifier(n_estimators=10, n_jobs=1, eval_metric=["logloss", scored])
        model.fit(X[:300], BINARY[:300], eval_set=[(X[300:], BINARY[300:])], verbose=False)
        seen[host] = model.evals_result()["validation_0"]
    for name in ("logloss", "scored"):
        np.testing.assert_allclose(seen[rxgb][name], seen[xgb][name], rtol=1e-4)


def test_metrics_without_a_name_are_called_by_their_kind():
    model = rxgb.XGBRegressor(loss="poisson", n_estimators=2, eval_metric=partial(scored, sample_weight=None))
    model.fit(X, np.abs(SIGNAL), eval_set=[(X, np.abs(SIGNAL))], verbose=False)
    assert list(model.evals_result()["validation_0"]) == ["partial"]


@pytest.mark.parametrize(
    ("params", "y", "words"),
    [
        ({"loss": "squared_error"}, BINARY, "is for regression"),
        ({"loss": "exponentail"}, BINARY, "exponential"),
        ({"loss": "exponential"}, CLASSES, "Only binary classification is supported by loss Exp.*got 3"),
        ({"objective": "binary:hinge"}, BINARY, "objective must be unset"),
        ({"objective": "reg:squarederror"}, BINARY, "objective must be unset"),
        ({"base_score": 1.3}, BINARY, "base_score must be what objective 'binary:logistic' can predict, got 1.3"),
        ({"scale_pos_weight": -3.0}, BINARY, "scale_pos_weight must be a number > 0, got -3"),
        ({"scale_pos_weight": 3.0}, CLASSES, "scale_pos_weight weights the second of two classes"),
        ({}, np.where(BINARY, np.nan, 0.0), "y must be real numbers, got .*nan"),
        ({}, np.where(BINARY, "a", "b"), "XGBClassifier: y must be class indices 0 .. K-1, got 'b'"),
        ({}, None, "XGBClassifier requires y to be passed"),
        ({}, 1, r"XGBClassifier: y must have shape .*, got \(\)"),
        ({}, np.array([]), r"XGBClassifier: y must have shape .*, got \(0,\)"),
        ({}, 2 * BINARY - 1, "class indices"),
        ({}, 2 * BINARY, "got no row of class 1"),
    ],
)
def test_bad_input_is_named(params, y, words):
    with pytest.raises(ValueError, match=words):
        rxgb.XGBClassifier(**params).fit(X, y)


def test_a_target_of_one_column_is_taken():
    one, two = (rxgb.XGBClassifier(n_estimators=3).fit(X, y).predict_proba(X) for y in (BINARY, BINARY[:, None]))
    np.testing.assert_array_equal(one, two)


@cases_of_xgboost
def test_native_loop(case):
    y, given, (loss, wanted) = case.y, case.loss, case.fitted(WEIGHT.astype(np.float32).astype(float))
    matrix, history = xgb.DMatrix(X, y, weight=WEIGHT), {}
    params = PARAMS | rxgb.intercept(given, matrix)
    parts = {"obj": rxgb.objective(given), "custom_metric": rxgb.metric(given), "evals": [(matrix, "t")]}
    booster = xgb.train(params, matrix, 8, **parts, evals_result=history, verbose_eval=False)
    model = rxgb.bind(booster, given)
    np.testing.assert_allclose(model.ensemble_.baseline, wanted, rtol=1e-5)
    (values,) = history["t"].values()
    raw = model.ensemble_.raw(X)
    # XGBoost hands back what it would print, six decimals.
    assert values[-1] == pytest.approx(mean_value(loss, y, raw, WEIGHT), rel=1e-3, abs=1e-6)
    assert values[-1] < values[0]


def test_an_intercept_that_was_forgotten_is_told():
    matrix = xgb.DMatrix(X, SIGNAL + 100.0)
    with pytest.warns(UserWarning, match=r"starts from 0\.5"):
        xgb.train(PARAMS, matrix, 1, obj=rxgb.objective("squared_error"))


def test_labels_that_do_not_suit_are_named():
    for loss, y, words in (("poisson", SIGNAL, "at least 0"), ("huber", TWO, "one column for loss .*, got 2")):
        with pytest.raises(ValueError, match=words):
            rxgb.XGBRegressor(loss=loss, n_estimators=1).fit(X, y)
        with pytest.raises(ValueError, match=words):
            xgb.train(PARAMS, xgb.DMatrix(X, y), 1, obj=rxgb.objective(loss))
    with pytest.raises(ValueError, match="set num_class"):
        xgb.train(PARAMS, xgb.DMatrix(X, CLASSES), 1, obj=rxgb.objective("log_loss"))


def test_an_objective_goes_by_the_labels_of_the_moment():
    matrix, objective = xgb.DMatrix(X, SIGNAL), rxgb.objective("huber")
    scores = np.zeros(len(X), dtype=np.float32)
    before = objective(scores, matrix)[0]
    matrix.set_label(10.0 * SIGNAL)
    np.testing.assert_allclose(objective(scores, matrix)[0], 10.0 * before, rtol=1e-5)
    np.testing.assert_array_equal(objective(scores, matrix), rxgb.objective("huber")(scores, matrix))


def test_the_scikit_learn_interface_is_pointed_to():
    with pytest.raises(TypeError, match="XGBClassifier"):
        xgb.XGBRegressor(n_estimators=1, objective=rxgb.objective("squared_error")).fit(X, SIGNAL)


@pytest.mark.parametrize("case", [case for case in CASES if type(case.loss) is not Multinomial], ids=str)
def test_estimators_are_exported_with_their_link(case):
    model = shell(case.loss, n_estimators=5).fit(X, case.y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


# Where neither loss overfits. With XGBoost's defaults, 100 rounds of depth 6 without early stopping, both do, and
# the exponential one by 0.08 more: rows that are right already weigh more in it.
SHALLOW = {"learning_rate": 0.1, "max_depth": 3}
SETTINGS = {
    "50 rounds of depth 3": SHALLOW | {"n_estimators": 50},
    "10 rounds of the defaults": {"n_estimators": 10},
    "depth 3, stopped early": SHALLOW | {"n_estimators": 300, "early_stopping_rounds": 10},
}
settings = [pytest.param(name, marks=pytest.mark.slow if "early" in name else ()) for name in SETTINGS]


def fit_and_test(model, data, split):
    """Fit to 55 or, without early stopping, 70 % of the rows; the other 30 %, and their labels."""
    draw = np.random.default_rng(split).uniform(size=len(data.y))
    watch = {}
    if model.early_stopping_rounds:
        held = (draw >= 0.55) & (draw < 0.7)
        watch = {"eval_set": [(data.X[held], data.y[held])], "verbose": False}
    rows = draw < (0.55 if watch else 0.7)
    return model.fit(data.X[rows], data.y[rows], **watch), data.X[draw >= 0.7], data.y[draw >= 0.7]


@pytest.mark.parametrize("setting", settings)
def test_exponential_loss_is_no_worse_than_logistic(setting):
    params = SETTINGS[setting] | {"n_jobs": 1}
    right, wrong = [], []
    for data in map(papers_set, SMALL):
        theirs, X_test, y_test = fit_and_test(xgb.XGBClassifier(**params), data, split=0)
        model, *_ = fit_and_test(rxgb.XGBClassifier(loss="exponential", **params), data, split=0)
        misread = 1.0 / (1.0 + np.exp(-model.predict(X_test, output_margin=True)))
        logistic = log_loss(y_test, theirs.predict_proba(X_test))
        right.append(log_loss(y_test, model.predict_proba(X_test)) - logistic)
        wrong.append(log_loss(y_test, misread) - logistic)
    assert np.mean(right) <= 0.02
    assert np.mean(wrong) > np.mean(right)


class Cauchy(Loss):
    """A loss whose second derivative changes sign."""

    link = IdentityLink()

    def value(self, y, raw):
        return np.log1p((raw - y) ** 2)[:, 0]

    def derivatives(self, y, raw):
        r = raw - y
        return 2.0 * r / (1.0 + r**2), 2.0 * (1.0 - r**2) / (1.0 + r**2) ** 2

    def baseline(self, y, weight):
        return np.median(y, axis=0)


class Flat(SquaredError):
    """Its hessian is 0 for half of the rows."""

    def derivatives(self, y, raw):
        return raw - y, (y > 0.0).astype(float)


def test_hessians_are_positive():
    y = 10.0 * np.random.default_rng(0).standard_normal(50)
    scores, matrix = np.zeros(50, dtype=np.float32), xgb.DMatrix(X[:50], y)
    with pytest.raises(ValueError, match=r"hessian must be positive, got -0"):
        rxgb.objective(Cauchy())(scores, matrix)
    _, hessian = rxgb.objective(Flat())(scores, matrix)
    assert (hessian > 0.0).all()


@pytest.mark.parametrize("loss", ["huber", "squared_error"])
def test_a_loaded_model_is_fitted_again(loss, tmp_path):
    model = rxgb.XGBRegressor(loss=loss, n_estimators=3).fit(X, SIGNAL)
    model.save_model(tmp_path / "model.json")
    loaded = rxgb.XGBRegressor()
    loaded.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    again = clone(loaded).set_params(n_estimators=3).fit(X, 7.0 * SIGNAL)
    assert repr(again.loss_) == repr(clone(model).fit(X, 7.0 * SIGNAL).loss_)


def test_metrics_that_would_see_raw_scores_are_refused():
    with pytest.raises(ValueError, match="eval_metric must be unset, a function, or one of"):
        rxgb.XGBRegressor(loss="gamma", eval_metric="rmse").fit(X, 1e-60 * np.abs(SIGNAL))
    rxgb.XGBRegressor(eval_metric="rmse", n_estimators=2).fit(X, SIGNAL)


def test_weights_that_are_all_0_are_named():
    with pytest.raises(ValueError, match="the weights of the matrix must not all be 0"):
        xgb.train({}, xgb.DMatrix(X, SIGNAL, weight=np.zeros(len(X))), 2, obj=rxgb.objective("squared_error"))
