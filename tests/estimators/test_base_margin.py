"""Offsets of scores: ``base_margin`` in fits and predictions."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.metrics import mean_poisson_deviance

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, Tree, boost

N = 240
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
OFFSET = 1.5 * RNG.standard_normal(N)
SIGNAL = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
LABELS = (RNG.uniform(size=N) < expit(SIGNAL + OFFSET)).astype(int)
COUNTS = RNG.poisson(np.exp(SIGNAL + OFFSET))
PLAIN = {"n_estimators": 12, "random_state": 0}
KINDS = {
    "log_loss": (RFFBoostClassifier, LABELS),
    "exponential": (RFFBoostClassifier, LABELS),
    "poisson": (RFFBoostRegressor, COUNTS),
    "squared_error": (RFFBoostRegressor, SIGNAL + OFFSET),
}


def fitted(loss, base_margin=None, *, learner="rff_newton", rows=slice(None), **params):
    """A model of the rows."""
    cls, y = KINDS[loss]
    params |= {"n_folds": 2} if learner == "auto" else {}
    given = {} if base_margin is None else {"base_margin": base_margin[rows]}
    return cls(loss, learner, **PLAIN | params).fit(X[rows], y[rows], **given)


@pytest.mark.parametrize(
    ("loss", "learner"),
    [("log_loss", "auto"), ("poisson", "tree"), ("exponential", "rff_ridge"), ("squared_error", "rff_newton")],
)
def test_a_constant_offset_moves_the_baseline_only(loss, learner):
    for one, other, shift in ((None, np.zeros(N), 0.0), (OFFSET, OFFSET + 5.0, 5.0)):
        wanted, found = (fitted(loss, offset, learner=learner).ensemble_.raw(X) for offset in (one, other))
        np.testing.assert_allclose(found + shift, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", ["tree", "rff_newton", "rff_1"])
def test_the_log_of_an_exposure_is_a_weight_of_the_rate(learner):
    exposure = np.exp(OFFSET) / np.exp(OFFSET).mean()
    params = {"standardize": False, "extrapolation": "continue", "early_stopping": False, "precision": "float64"}
    model = RFFBoostRegressor("poisson", learner, **PLAIN | params)
    scores = clone(model).fit(X, COUNTS, base_margin=np.log(exposure)).ensemble_.raw(X)
    wanted = clone(model).fit(X, COUNTS / exposure, sample_weight=exposure).raw_scores(X)
    np.testing.assert_allclose(scores, wanted, rtol=0, atol=1e-9)


def test_trees_are_those_of_xgboost_from_the_same_scores():
    params = {"max_depth": 3, "reg_lambda": 1.0, "min_child_weight": 1.0}
    shared = {"n_estimators": 10, "learning_rate": 0.3, "early_stopping": False}
    model = RFFBoostClassifier(learner=Tree(**params), **shared).fit(X, LABELS, base_margin=OFFSET)
    start = OFFSET + model.ensemble_.baseline[0]
    matrix = xgb.DMatrix(X, LABELS, base_margin=start)
    wanted = xgb.train(params | {"objective": "binary:logistic", "eta": 0.3, "nthread": 1}, matrix, 10)
    np.testing.assert_allclose(
        model.raw_scores(X, OFFSET)[:, 0], wanted.predict(matrix, output_margin=True), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("learner", ["tree", "rff_newton", "rff_ridge"])
def test_a_weight_is_as_many_rows_without_early_stopping(learner):
    times = np.arange(N) % 3
    rows = np.repeat(np.arange(N), times)
    model = RFFBoostRegressor("poisson", learner, **PLAIN, early_stopping=False)
    weighted = clone(model).fit(X, COUNTS, base_margin=OFFSET, sample_weight=times).ensemble_.raw(X)
    repeated = clone(model).fit(X[rows], COUNTS[rows], base_margin=OFFSET[rows]).ensemble_.raw(X)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-7)


def test_metrics_and_scores_are_at_the_sum():
    train, test = slice(0, 160), slice(160, None)
    sets = {"eval_set": {"new": (X[test], COUNTS[test])}, "base_margin_eval_set": {"new": OFFSET[test]}}
    metrics = ["poisson", "r2", mean_poisson_deviance]
    model = RFFBoostRegressor("poisson", eval_metric=metrics, **PLAIN)
    model.fit(X[train], COUNTS[train], base_margin=OFFSET[train], **sets)
    curves, predicted = model.evals_result_["new"], model.predict(X[test], OFFSET[test])
    deviance = mean_poisson_deviance(COUNTS[test], predicted)
    assert curves["mean_poisson_deviance"][-1] == pytest.approx(deviance)
    assert curves["poisson"][-1] == pytest.approx(0.5 * deviance)
    assert curves["r2"][-1] == pytest.approx(model.score(X[test], COUNTS[test], base_margin=OFFSET[test]))
    *_, last = model.staged_predict(X[test], OFFSET[test])
    np.testing.assert_allclose(last, predicted)


def test_classes_and_their_weights():
    three, offset = np.digitize(SIGNAL + OFFSET, [-1.0, 1.0]), RNG.standard_normal((N, 3))
    params = PLAIN | {"class_weight": "balanced", "eval_metric": "balanced_accuracy", "n_folds": 2}
    model = RFFBoostClassifier(learner="rff_newton", **params)
    model.fit(X, np.array(list("abc"))[three], base_margin=offset)
    raw = model.ensemble_.raw(X) + offset
    np.testing.assert_allclose(model.decision_function(X, offset), raw)
    np.testing.assert_allclose(model.predict_proba(X, offset), softmax(raw, axis=1))
    assert (model.predict(X, offset) == model.classes_[raw.argmax(axis=1)]).all()


def test_boost_takes_an_offset():
    found = boost(X, SIGNAL[:, None], loss="squared_error", learner="rff_1", base_margin=OFFSET, random_state=0)
    wanted = boost(X, (SIGNAL - OFFSET)[:, None], loss="squared_error", learner="rff_1", random_state=0)
    np.testing.assert_allclose(found.raw(X), wanted.raw(X), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="base_margin must have shape"):
        boost(X, SIGNAL[:, None], loss="squared_error", learner="rff_1", base_margin=OFFSET[:-1])


WRONG = {
    "a shorter one": (
        OFFSET[:-1],
        ValueError,
        r"base_margin must have shape \(240,\) or \(240, 1\).* got \(239,\)",
    ),
    "two columns": (np.ones((N, 2)), ValueError, r"must have shape .* got \(240, 2\)"),
    "a number": (1.0, ValueError, r"must have shape .* got \(\)"),
    "infinity": (np.where(OFFSET > 2.0, np.inf, OFFSET), ValueError, "base_margin must be finite, got inf in row"),
    "NaN": (np.where(OFFSET > 2.0, np.nan, OFFSET), ValueError, "base_margin must be real numbers, got .*nan"),
    "text": (["a"] * N, ValueError, "base_margin must be real numbers, got .*'a'"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_offset_is_refused_by_name(wrong):
    given, kind, words = WRONG[wrong]
    model = fitted("poisson", OFFSET)
    for call in (
        lambda: fitted("poisson").fit(X, COUNTS, base_margin=given),
        lambda: model.predict(X, base_margin=given),
        lambda: next(model.staged_predict(X, base_margin=given)),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_predictions_need_the_offset_and_no_other_model_takes_one():
    with_one, without = fitted("log_loss", OFFSET), fitted("log_loss")
    for method in ("predict", "predict_proba", "decision_function", "raw_scores"):
        with pytest.raises(ValueError, match="RFFBoostClassifier: base_margin must be given"):
            getattr(with_one, method)(X)
        with pytest.raises(ValueError, match="RFFBoostClassifier: base_margin must be None"):
            getattr(without, method)(X, base_margin=OFFSET)
    with pytest.raises(ValueError, match="base_margin must be given"):
        with_one.score(X, LABELS)
    assert not with_one.fit(X, LABELS).uses_base_margin_
