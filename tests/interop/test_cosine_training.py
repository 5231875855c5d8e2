"""Cosines inside XGBoost's loop: the sum of both parts is what is trained, watched, bound and exported."""

from __future__ import annotations

import pickle
from typing import ClassVar

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import LEARNERS, LOSSES, RFF1, Learner, RFFBoostClassifier, RFFNewton, Step, Tree
from rffboost_ext.boosting.steps import Zero
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import (
    BINARY,
    CLASSES,
    PARAMS,
    SIGNAL,
    TWO,
    WEIGHT,
    XGBOOST,
    Halved,
    X,
    cases_of_xgboost,
    hosts,
    mean_value,
)

X32 = X.astype(np.float32)


def trained(hybrid, rounds=12, y=BINARY, data=X32, params=(), **kwargs):
    matrix = xgb.DMatrix(data, y, **kwargs)
    return xgb.train(PARAMS | dict(params), matrix, rounds, obj=hybrid), matrix


@hosts
@cases_of_xgboost
def test_bound_model_is_what_the_host_evaluated(host, case):
    if host is not XGBOOST and case.y is TWO:
        pytest.skip("LightGBM has one target")
    # Trees fit several outputs at once; a cosine of one output cannot.
    hybrid = host.ours.CosineObjective(case.loss, Tree(2) if case.n_outputs > 1 else "rff_1")
    single = WEIGHT.astype(np.float32).astype(float)
    y, (made, baseline), (a, b) = case.y, case.fitted(single, slice(300)), (slice(300), slice(300, None))
    train, held = host.matrix(X32[a], y[a], WEIGHT[a]), host.matrix(X32[b], y[b])
    if host is not XGBOOST:
        held.reference = train
    booster, curves = host.train(train, hybrid, 5, hybrid.metric, [held], **case.many)
    model = hybrid.bind(booster)
    assert len(model.ensemble_) == 10
    for curve, rows, given in zip(curves, (a, b), (WEIGHT[a], None), strict=True):
        stages = list(model.ensemble_.staged(X32[rows]))[2::2]
        wanted = [mean_value(made, y[rows], raw, given) for raw in stages]
        # XGBoost returns what it would print, six decimals.
        np.testing.assert_allclose(curve, wanted, rtol=1e-4, atol=1e-6)
    assert curves[0][-1] < curves[0][0] < mean_value(made, y[a], np.tile(baseline, (300, 1)), WEIGHT[a])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.ensemble_.raw(X), model.ensemble_.raw(X))


def test_trees_alone_are_xgboosts_own():
    hybrid = rxgb.CosineObjective("log_loss", step=Zero())
    booster, matrix = trained(hybrid)
    start = {"objective": "binary:logistic", "base_score": BINARY.mean()}
    own = xgb.train(PARAMS | start, matrix, 12).predict(matrix, output_margin=True)
    np.testing.assert_allclose(hybrid.bind(booster).decision_function(X32), own, atol=2e-5)


@pytest.mark.parametrize(("learning_rate", "factor"), [(0.1, 3.0), (0.5, 2.0)])
def test_learners_know_the_share_of_a_step_that_is_taken(learning_rate, factor):
    weights = []
    for relative_rate in (1.0, 3.0):
        learner = RFFNewton(relative_rate=relative_rate)
        hybrid = rxgb.CosineObjective("log_loss", learner, learning_rate=learning_rate, random_state=0)
        booster, _ = trained(hybrid, rounds=1)
        weights.append(hybrid.bind(booster).ensemble_.terms[0].weight)
    np.testing.assert_allclose(weights[1], factor * weights[0])


@pytest.mark.parametrize("n_jobs", [None, 2, -1])
def test_the_same_seed_gives_the_same_bits_by_any_threads(n_jobs):
    def fit(seed, threads):
        hybrid = rxgb.CosineObjective("log_loss", n_jobs=threads, random_state=seed)
        return hybrid.bind(trained(hybrid, rounds=4)[0]).decision_function(X32)

    np.testing.assert_array_equal(fit(0, 1), fit(0, n_jobs))
    assert np.abs(fit(0, 1) - fit(1, 1)).max() > 1e-3


@pytest.mark.parametrize("every", [1, 3, 5])
def test_a_cosine_every_few_rounds(every):
    hybrid = rxgb.CosineObjective("log_loss", every=every)
    booster, _ = trained(hybrid, rounds=11)
    terms = hybrid.bind(booster).ensemble_.terms
    kinds = [type(term).__name__ for term in terms]
    assert kinds.count("Trees") == 11
    assert kinds.count("Cosines") == -(-11 // every)
    assert kinds[0] == "Cosines"


def test_early_stopping_of_the_host_counts():
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=400) < 0.3, 1 - BINARY, BINARY)
    train, held = xgb.DMatrix(X32[:200], y[:200]), xgb.DMatrix(X32[200:], y[200:])
    hybrid = rxgb.CosineObjective("log_loss")
    watch = {"evals": [(held, "held")], "early_stopping_rounds": 4, "verbose_eval": False}
    params = PARAMS | {"disable_default_eval_metric": True}
    booster = xgb.train(params, train, 200, obj=hybrid, custom_metric=hybrid.metric, **watch)
    assert booster.best_iteration < booster.num_boosted_rounds() - 1
    model = hybrid.bind(booster)
    assert len(model.ensemble_) == 2 * (booster.best_iteration + 1)
    raw = model.ensemble_.raw(X32[200:])
    assert mean_value(model.loss_, y[200:], raw) == pytest.approx(booster.best_score, rel=1e-4)


@pytest.mark.parametrize("learner", LEARNERS.names())
def test_an_objective_is_pickled_after_training(learner):
    hybrid = rxgb.CosineObjective("log_loss", learner=learner)
    booster, _ = trained(hybrid, rounds=3)
    again = pickle.loads(pickle.dumps(hybrid))
    np.testing.assert_array_equal(again.bind(booster).predict_proba(X), hybrid.bind(booster).predict_proba(X))


@hosts
def test_the_bound_model_is_exported(host):
    hybrid = host.ours.CosineObjective("log_loss")
    booster, _ = host.train(host.matrix(X, BINARY), hybrid, 5)
    model = hybrid.bind(booster)
    assert isinstance(model, RFFBoostClassifier)
    for dtype in ("float32", "float64"):
        verify_onnx(model, to_onnx(model, dtype=dtype), X.astype(dtype), raise_on_mismatch=True)


def test_features_that_a_matrix_does_not_return_must_be_attached():
    with pytest.raises(ValueError, match="free_raw_data"):
        lgb.train({"objective": rlgb.CosineObjective()}, lgb.Dataset(X, BINARY), 2)
    with pytest.raises(ValueError, match="attach"):
        xgb.train(PARAMS, xgb.QuantileDMatrix(X32, BINARY), 2, obj=rxgb.CosineObjective())


def test_zeros_are_features_and_missing_values_are_not():
    sparse = np.where(np.abs(X32) < 0.5, 0.0, X32).astype(np.float32)
    hybrid = rxgb.CosineObjective("squared_error")
    booster, _ = trained(hybrid, y=SIGNAL, data=sparse)
    model, history = hybrid.bind(booster), mean_value(LOSSES.create("squared_error"), SIGNAL, np.zeros((400, 1)))
    assert mean_value(model.loss_, SIGNAL, model.ensemble_.raw(sparse)) < 0.5 * history
    holes = np.where(np.abs(X32) < 0.1, np.nan, X32)
    with pytest.raises(ValueError, match="119 missing or infinite values"):
        trained(rxgb.CosineObjective(), data=holes)


class Shortening(Step):
    """Keeps half of what there was."""

    def move(self, round, output):
        return 0.5, 1.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rxgb.CosineObjective(every=0), "every"),
        (lambda: rxgb.CosineObjective("log-loss"), "log_loss"),
        (lambda: rxgb.CosineObjective(learning_rate=-1.0), "learning_rate"),
        (lambda: rxgb.CosineObjective("log_loss", step="confidence_rated"), "is incompatible with"),
        (lambda: trained(rxgb.CosineObjective(), weight=np.arange(400)), "weights must be positive"),
        (lambda: trained(rxgb.CosineObjective(), base_margin=SIGNAL), "constant scores"),
        (lambda: trained(rxgb.CosineObjective("exponential"), y=CLASSES), "Only binary"),
        (lambda: trained(rxgb.CosineObjective("log_loss", Tree(2)), y=CLASSES), "num_class=3"),
        (lambda: trained(rxgb.CosineObjective(), y=CLASSES, params={"num_class": 3}), "learner fits one"),
        (lambda: trained(rxgb.CosineObjective("poisson"), y=SIGNAL), "at least 0"),
        (lambda: trained(rxgb.CosineObjective(Halved(), Tree(2)), y=CLASSES), "num_class=3"),
        (lambda: trained(rxgb.CosineObjective(step=Shortening())), "shortens earlier rounds"),
        (lambda: rxgb.CosineObjective().bind(trained(None, y=SIGNAL)[0]), "nothing was trained"),
        (lambda: rxgb.CosineObjective().attach(xgb.DMatrix(X, BINARY), X[:5]), "shape"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_one_object_serves_one_training_of_a_matrix():
    hybrid = rxgb.CosineObjective()
    booster, matrix = trained(hybrid, rounds=3)
    with pytest.raises(ValueError, match="one training of a matrix"):
        xgb.train(PARAMS, matrix, 3, obj=hybrid)
    other, _ = trained(hybrid, rounds=3, y=1 - BINARY)
    wanted = rxgb.CosineObjective()
    found = hybrid.bind(other).decision_function(X32)
    np.testing.assert_array_equal(found, wanted.bind(trained(wanted, 3, 1 - BINARY)[0]).decision_function(X32))
    longer, _ = trained(rxgb.CosineObjective(), rounds=9)
    with pytest.raises(ValueError, match="another training"):
        hybrid.bind(longer)
    assert len(hybrid.bind(booster).ensemble_) == 6


def test_folds_of_a_cross_validation_are_trainings_of_their_own():
    order = np.random.default_rng(0).permutation(400)
    folds = [(order[100:], order[:100]), (order[:300], order[300:])]
    params, shared, wanted = PARAMS | {"disable_default_eval_metric": True}, rxgb.CosineObjective("log_loss"), []
    for rows, held in folds:
        hybrid, history = rxgb.CosineObjective("log_loss"), {}
        train, test = (xgb.DMatrix(X32[part], BINARY[part]) for part in (rows, held))
        watch = {"evals": [(test, "t")], "evals_result": history, "verbose_eval": False}
        xgb.train(params, train, 5, obj=hybrid, custom_metric=hybrid.metric, **watch)
        wanted.append(history["t"]["log_loss"])
    found = xgb.cv(
        params, xgb.DMatrix(X32, BINARY), 5, folds=folds, obj=shared, custom_metric=shared.metric, as_pandas=False
    )
    np.testing.assert_allclose(found["test-log_loss-mean"], np.mean(wanted, axis=0), rtol=1e-6)
    # The same object serves a training on all rows afterwards.
    booster, _ = trained(shared, rounds=3)
    alone = rxgb.CosineObjective("log_loss")
    expected = alone.bind(trained(alone, rounds=3)[0]).decision_function(X32)
    np.testing.assert_array_equal(shared.bind(booster).decision_function(X32), expected)


class Recorder(Learner):
    """Any learner is allowed: this one keeps the rounds."""

    bounded = True
    rounds: ClassVar[list] = []

    def fit(self, round):
        self.rounds.append(round)
        return RFF1(learn_frequency=False).fit(round)


def test_learners_get_derivatives_at_the_sum():
    loss, hybrid = LOSSES.create("log_loss"), rxgb.CosineObjective("log_loss", Recorder())
    Recorder.rounds.clear()
    booster, _ = trained(hybrid, rounds=6)
    seen = [round for round in Recorder.rounds if len(round.y) == len(X32)]
    stages = list(hybrid.bind(booster).ensemble_.staged(X32))[::2]
    for round, raw in zip(seen, stages[:6], strict=True):
        np.testing.assert_allclose(round.raw, raw, atol=1e-5)
        np.testing.assert_allclose(
            round.gradient, loss.derivatives(BINARY[:, None].astype(float), raw)[0], atol=1e-5
        )
