"""Our losses and cosines in LightGBM's loop and estimators, and its models as ensembles."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import LOSSES, Tree

from .interop_cases import BINARY, CLASSES, SIGNAL, TWO, WEIGHT, X, cases, mean_value, response, scored, shown

lgb = pytest.importorskip("lightgbm")
from rffboost_ext.interop import lightgbm as rlgb  # noqa: E402

SMALL = {"num_leaves": 7, "verbose": -1, "num_threads": 1}


def shell(loss, **params):
    made = rlgb.LGBMClassifier if loss.task == "classification" else rlgb.LGBMRegressor
    return made(loss=loss, num_leaves=7, verbose=-1, n_jobs=1, **params)


@cases
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_estimators_start_from_the_baseline_and_apply_the_link(case, weight):
    y, (loss, wanted) = case.y, case.fitted(weight)
    model = shell(case.loss, n_estimators=8).fit(X, y, sample_weight=weight)
    start = shell(case.loss, n_estimators=1, learning_rate=1e-12).fit(X, y, sample_weight=weight)
    margin = start.predict(X, raw_score=True).reshape(len(X), -1)
    np.testing.assert_allclose(margin, np.tile(wanted, (len(X), 1)), rtol=1e-6, atol=1e-6)
    raw = model.predict(X, raw_score=True).reshape(len(X), -1)
    np.testing.assert_allclose(response(model, X), loss.link.inverse(raw))
    np.testing.assert_allclose(rlgb.to_ensemble(model).raw(X), raw, rtol=1e-12, atol=1e-9)
    assert mean_value(loss, y, raw, weight) < mean_value(loss, y, margin, weight)


@cases
def test_estimators_survive_pickle_and_clone(case):
    model = shell(case.loss, n_estimators=4).fit(X, case.y)
    np.testing.assert_array_equal(response(pickle.loads(pickle.dumps(model)), X), response(model, X))
    again = clone(model).fit(X, case.y)
    np.testing.assert_array_equal(response(again, X), response(model, X))
    assert again.get_params()["num_leaves"] == 7


def test_log_loss_is_lightgbms_own():
    ours = rlgb.LGBMClassifier(n_estimators=20, **SMALL).fit(X, BINARY)
    theirs = lgb.LGBMClassifier(n_estimators=20, **SMALL).fit(X, BINARY)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("name", ["exponential", "log_loss"])
def test_the_booster_inside_is_one_of_log_odds(name):
    model = shell(LOSSES.create(name), n_estimators=8).fit(X, BINARY)
    start = np.log(BINARY.mean() / (1.0 - BINARY.mean()))
    odds = start + model.booster_.predict(X, raw_score=True)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-odds)), rtol=1e-9)


def test_labels_early_stopping_and_search():
    names = np.array(["no", "yes"])[BINARY]
    model = shell(LOSSES.create("exponential"), n_estimators=200)
    model.fit(
        X[:200], names[:200], eval_set=[(X[200:], names[200:])], callbacks=[lgb.early_stopping(3, verbose=False)]
    )
    history = model.evals_result_["valid_0"]
    assert list(history) == ["exponential"]
    raw = model.predict(X[200:], raw_score=True)[:, None]
    assert mean_value(model.loss_, BINARY[200:], raw) == pytest.approx(min(history["exponential"]), rel=1e-6)
    assert set(model.predict(X)) == {"no", "yes"}
    again = shell(LOSSES.create("log_loss"), n_estimators=20).set_params(loss="exponential")
    assert cross_val_score(again, X, names).mean() > 0.7


METRICS = {
    "y, p": lambda y, p: ("mine", scored(y, p), False),
    "weight": lambda y, p, w: ("mine", scored(y, p, w), False),
    "group": lambda y, p, w, group: ("mine", scored(y, p, w), False),
}


@cases
@pytest.mark.parametrize(("arguments", "many"), [("y, p", True), ("weight", False), ("group", False)])
def test_functions_of_the_users_see_predictions(case, arguments, many):
    model, metric = shell(case.loss, n_estimators=100, learning_rate=0.3), METRICS[arguments]
    watch = {
        "eval_set": [(X[300:], case.y[300:])],
        "eval_sample_weight": [WEIGHT[300:]],
        "eval_metric": [metric] if many else metric,
        "callbacks": [lgb.early_stopping(3, verbose=False)],
    }
    model.fit(X[:300], case.y[:300], **watch)
    weight = None if arguments == "y, p" else WEIGHT[300:]
    found = scored(case.y[300:].astype(np.float32), shown(model, X[300:]), weight)
    assert model.best_score_["valid_0"] == {"mine": pytest.approx(found, rel=1e-5)}


def test_functions_of_the_users_see_what_lightgbm_shows():
    seen = []
    for host in (rlgb, lgb):
        model = host.LGBMClassifier(n_estimators=10, **SMALL)
        model.fit(X, BINARY, eval_set=[(X[::2], BINARY[::2])], eval_metric=METRICS["y, p"])
        seen.append(model.evals_result_["valid_0"]["mine"])
    np.testing.assert_allclose(*seen, rtol=1e-3)


@pytest.mark.parametrize(
    ("params", "y", "words"),
    [
        ({"loss": "squared_error"}, BINARY, "is for regression"),
        ({"loss": "exponential"}, CLASSES, "Only binary classification is supported by loss Exp.*got 3"),
        ({"objective": "binary"}, BINARY, "objective must be unset"),
        ({"app": "poisson"}, BINARY, "app must be unset, the loss replaces it"),
        ({"objective_type": "l2"}, BINARY, "objective_type must be unset"),
        ({"metrics": "l2"}, BINARY, "metrics must be unset"),
        ({"class_weight": {7: 2.0}}, BINARY, "are not in class_weight"),
        ({"scale_pos_weight": 3.0}, CLASSES, "scale_pos_weight weights the second of two classes"),
        ({"scale_pos_weight": 0}, BINARY, "scale_pos_weight must be a number > 0, got 0"),
        ({"is_unbalance": True, "scale_pos_weight": 3.0}, BINARY, "only one of .* may be set"),
        ({"loss": "exponential"}, TWO > 0.0, "y must have one column for loss Exponential.* got 2"),
    ],
)
def test_bad_input_is_named(params, y, words):
    with pytest.raises(ValueError, match=words):
        rlgb.LGBMClassifier(**params).fit(X, y)


@cases
def test_native_loop(case):
    y, history, (prepared, wanted) = case.y, {}, case.fitted(WEIGHT.astype(np.float32).astype(float))
    loss = case.loss
    data = lgb.Dataset(X, y, weight=WEIGHT)
    baseline = rlgb.intercept(loss, data)
    np.testing.assert_allclose(baseline, wanted, rtol=1e-5)
    params = SMALL | {"objective": rlgb.objective(loss), "metric": "None"} | case.many
    watch = {"valid_sets": [data], "callbacks": [lgb.record_evaluation(history)], "feval": rlgb.metric(loss)}
    model = rlgb.bind(lgb.train(params, data, 8, **watch), loss, baseline)
    (values,) = history["training"].values()
    assert values[-1] == pytest.approx(mean_value(prepared, y, model.ensemble_.raw(X), WEIGHT), rel=1e-5)
    assert values[-1] < values[0]


def test_an_intercept_that_was_forgotten_is_told():
    with pytest.warns(UserWarning, match="starts from 0"):
        lgb.train(SMALL | {"objective": rlgb.objective("squared_error")}, lgb.Dataset(X, SIGNAL + 9.0), 1)


@pytest.mark.parametrize("boosting", ["gbdt", "dart", "rf"])
@pytest.mark.parametrize("objective", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_models_are_read(boosting, objective, missing):
    rng = np.random.default_rng(3)
    data = np.where(rng.uniform(size=X.shape) < missing, np.nan, np.round(X, 1))
    bagging = {"bagging_fraction": 0.5, "bagging_freq": 1}
    many = {"num_class": 3} if objective == "multiclass" else {}
    params = SMALL | {"objective": objective, "boosting": boosting} | bagging | many
    y = {"binary": BINARY, "multiclass": CLASSES}.get(objective, SIGNAL)
    booster = lgb.train(params, lgb.Dataset(data, y), 9)
    ensemble = rlgb.to_ensemble(booster)
    rows = np.vstack([data, np.full((1, 4), np.nan), np.zeros((1, 4))])
    # The scores of a forest are a sum in LightGBM, its prediction is of their mean.
    wanted = booster.predict(rows, raw_score=True).reshape(len(rows), -1) / (9 if boosting == "rf" else 1)
    np.testing.assert_allclose(ensemble.raw(rows), wanted, rtol=1e-12, atol=1e-12)
    assert len(ensemble) == 9
    if boosting == "gbdt":
        first = booster.predict(rows, raw_score=True, num_iteration=4).reshape(len(rows), -1)
        np.testing.assert_allclose(ensemble[:4].raw(rows), first, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rlgb.to_ensemble(booster, n_rounds=4).raw(rows), first, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "data", "words"),
    [
        ({"zero_as_missing": True}, {}, "zero_as_missing"),
    ],
)
def test_what_cannot_be_read_is_named(params, data, words):
    rows = np.column_stack([np.random.default_rng(0).integers(0, 5, 400), np.round(X[:, 1:])])
    y = (rows[:, 0] % 2 == 0) + (rows[:, 1] == 0)
    booster = lgb.train(SMALL | params, lgb.Dataset(rows, y, **data), 5)
    with pytest.raises(ValueError, match=words):
        rlgb.to_ensemble(booster)


@cases
def test_cosines_in_the_loop(case):
    y, history, (loss, _) = case.y, {}, case.fitted(rows=slice(300))
    # Trees fit several outputs at once; a cosine of one output cannot.
    hybrid = rlgb.CosineObjective(case.loss, Tree(2) if case.n_outputs > 1 else "rff_1")
    train = lgb.Dataset(X[:300], y[:300], free_raw_data=False)
    held = lgb.Dataset(X[300:], y[300:], reference=train)
    hybrid.attach(held, X[300:])
    params = SMALL | {"objective": hybrid, "metric": "None"} | case.many
    watch = {"valid_sets": [train, held], "valid_names": ["train", "held"], "feval": hybrid.metric}
    booster = lgb.train(params, train, 8, **watch, callbacks=[lgb.record_evaluation(history)])
    model = hybrid.bind(booster)
    for name, rows in (("train", slice(300)), ("held", slice(300, None))):
        stages = list(model.ensemble_.staged(X[rows]))[2::2]
        (seen,) = history[name].values()
        np.testing.assert_allclose(seen, [mean_value(loss, y[rows], raw) for raw in stages], rtol=1e-6)
    assert len(model.ensemble_) == 16
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.ensemble_.raw(X), model.ensemble_.raw(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_hybrid_is_exported():
    hybrid = rlgb.CosineObjective("log_loss")
    data = lgb.Dataset(X, BINARY, free_raw_data=False)
    model = hybrid.bind(lgb.train(SMALL | {"objective": hybrid}, data, 5))
    for dtype in ("float32", "float64"):
        rows = X.astype(dtype)
        verify_onnx(model, to_onnx(model, dtype=dtype), rows, raise_on_mismatch=True)


def test_features_that_were_freed_are_asked_for():
    with pytest.raises(ValueError, match="free_raw_data"):
        lgb.train(SMALL | {"objective": rlgb.CosineObjective()}, lgb.Dataset(X, BINARY), 2)


def test_without_lightgbm_the_extra_is_named():
    script = (
        "import sys; sys.modules['lightgbm'] = None\n"
        "from rffboost_ext import RFFBoostClassifier\n"
        "import rffboost_ext.interop.xgboost\n"
        "from rffboost_ext.interop import lightgbm\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    last = run.stderr.splitlines()[-1]
    assert run.returncode == 1
    assert last.startswith("ImportError")
    assert "rffboost-ext[peers]" in last


@pytest.mark.parametrize("where", ["metric", "eval_metric"])
def test_metrics_that_would_miss_the_baseline_are_refused(where):
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
def test_contributions_sum_to_raw_scores_and_leaves_are_lightgbms(case):
    model = shell(case.loss, n_estimators=4).fit(X, case.y)
    raw = model.predict(X, raw_score=True).reshape(len(X), -1)
    for rows in (X, csr_matrix(X)):
        shares = model.predict(rows, pred_contrib=True).reshape(*raw.shape, -1)
        assert shares.shape[2] == X.shape[1] + 1
        np.testing.assert_allclose(shares.sum(axis=2), raw, rtol=1e-6, atol=1e-9)
    leaves = model.predict(X, pred_leaf=True)
    np.testing.assert_array_equal(leaves, model.booster_.predict(X, pred_leaf=True))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X, pred_leaf=True), leaves)
