"""``score`` asks the loss, and targets may be infinite where the loss says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss, mean_pinball_loss, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from rffboost_ext import LOSSES, Loss, RFFBoostClassifier, RFFBoostRegressor, boost
from rffboost_ext.interop.xgboost import XGBRegressor
from rffboost_ext.losses import (
    FunctionLink,
    IdentityLink,
    MultinomialLogitLink,
    MultinomialLogLoss,
    Quantile,
    SquaredError,
)

from ..cases import LOSS_CASES
from ..coupled_losses import PairwiseLogistic, coupled_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
WEIGHT = RNG.integers(0, 3, 240)


class Interval(Loss):
    """The logistic distribution of a number that is known to lie between two bounds: log F(high) - F(low)."""

    infinite = True
    link = IdentityLink()

    def n_scores(self, y, n_classes=None):
        return 1

    def value(self, y, raw):
        return -np.log(np.maximum(expit(y[:, 1] - raw[:, 0]) - expit(y[:, 0] - raw[:, 0]), 1e-300))

    def derivatives(self, y, raw):
        low, high = expit(y[:, :1] - raw), expit(y[:, 1:] - raw)
        return 1.0 - low - high, low * (1.0 - low) + high * (1.0 - high) + 1e-9

    def baseline(self, y, weight):
        return np.zeros(1)


class Ordered(Interval):
    """The same for an ordered class, (n, 1), whose response has a column for each of three classes."""

    infinite = False
    link = FunctionLink(lambda raw: np.diff(expit(np.array([-1.0, 1.0]) - raw), axis=1, prepend=0.0, append=1.0))

    def bounds(self, y):
        return np.array([-np.inf, -1.0, 1.0, np.inf])[np.hstack([y, y + 1]).astype(int)]

    def value(self, y, raw):
        return super().value(self.bounds(y), raw)

    def derivatives(self, y, raw):
        return super().derivatives(self.bounds(y), raw)


class OrderedClasses(Ordered):
    """The same as a classification."""

    task = "classification"


class TwoScores(MultinomialLogLoss):
    """A score for each of two classes."""

    link = MultinomialLogitLink()

    def __init__(self):
        super().__init__(2)

    def prepared(self, y, weight, n_classes=None):
        return self

    def n_scores(self, y, n_classes=None):
        return 2


class Parts(Loss):
    """The squared error of two columns, a target and a number beside it, which are no targets for a score."""

    link = IdentityLink()

    def n_scores(self, y, n_classes=None):
        return 2

    def value(self, y, raw):
        return 0.5 * np.square(raw - y).sum(axis=1)

    def derivatives(self, y, raw):
        return raw - y, np.ones_like(raw)

    def baseline(self, y, weight):
        return np.average(y, axis=0, weights=weight)


latent = 2.0 * X[:, 0] + RNG.logistic(size=240)
BOUNDS = np.column_stack([np.where(latent > -1.0, latent, -np.inf), np.where(latent < 1.5, latent + 0.5, np.inf)])
CLASSES = np.digitize(latent, [-1.0, 1.0])


@pytest.fixture(scope="module")
def intervals() -> Any:
    sets = {"train": (X[:200], BOUNDS[:200]), "other": (X[200:], BOUNDS[200:], WEIGHT[200:])}
    model = RFFBoostRegressor(Interval(), "rff_1", n_estimators=30, random_state=0)
    return model.fit(X[:200], BOUNDS[:200], WEIGHT[:200], eval_set=sets)


def test_infinite_bounds_are_fitted_and_evaluated(intervals: Any) -> None:
    value = intervals.loss_.value(BOUNDS[200:], intervals.raw_scores(X[200:]))
    expected = np.average(value, weights=WEIGHT[200:])
    assert intervals.score(X[200:], BOUNDS[200:], WEIGHT[200:]) == pytest.approx(-expected, rel=1e-12)
    assert intervals.score(X[200:], pd.DataFrame(BOUNDS[200:])) == pytest.approx(-value.mean(), rel=1e-12)
    ((curve,),) = [list(metrics.values()) for name, metrics in intervals.evals_result_.items() if name == "other"]
    assert intervals.best_score_ == pytest.approx(min(curve))
    assert np.corrcoef(intervals.predict(X), X[:, 0])[0, 1] > 0.9


@pytest.mark.parametrize("groups", [None, np.arange(240) // 3])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_infinite_targets_are_divided_and_stacked(groups: Any, n_folds: int) -> None:
    model = RFFBoostRegressor(Interval(), n_estimators=8, n_folds=n_folds, early_stopping=True, random_state=0)
    model.fit(X, BOUNDS, WEIGHT, groups=groups)
    assert model.score(X, BOUNDS) > -Interval().value(BOUNDS, np.zeros((240, 1))).mean()


@pytest.mark.parametrize(
    ("loss", "bad"), [(Interval(), np.nan), ("squared_error", np.nan), ("squared_error", np.inf)], ids=repr
)
def test_missing_targets_are_refused_and_infinite_ones_by_other_losses(
    intervals: Any, loss: Any, bad: float
) -> None:
    known = BOUNDS if isinstance(loss, Loss) else np.zeros((240, 2))
    y = np.where(np.arange(480).reshape(240, 2) == 7, bad, known)
    model = RFFBoostRegressor(loss, "tree", n_estimators=2)
    for call in (
        lambda: model.fit(X, y),
        lambda: model.fit(X, known, eval_set=(X, y)),
        lambda: (intervals if known is BOUNDS else model.fit(X, known)).score(X, y),
        lambda: boost(X, y, loss=loss, learner="tree", n_estimators=1),
    ):
        with pytest.raises(ValueError, match=r"(?i)y.*(NaN|missing|inf)"):
            call()


def test_a_score_is_minus_the_mean_loss_unless_the_response_predicts_the_target() -> None:
    model = RFFBoostRegressor(Ordered(), "rff_1", n_estimators=10, random_state=0).fit(X, CLASSES)
    value = model.loss_.value(CLASSES[:, None], model.raw_scores(X))
    assert model.predict(X).shape == (240, 3)
    assert model.score(X, CLASSES) == pytest.approx(-value.mean(), rel=1e-12)
    assert (cross_val_score(model, X, CLASSES, cv=2) < 0.0).all()
    several = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, :2])
    expected = r2_score(X[:, :2], several.predict(X), sample_weight=WEIGHT)
    assert several.score(X, X[:, :2], WEIGHT) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"y must have the columns of the fit"):
        several.score(X, X[:, 0])


def test_columns_of_a_loss_and_coupled_rows_have_no_r2() -> None:
    model = RFFBoostRegressor(Parts(), "tree", n_estimators=5).fit(X, X[:, :2])
    value = Parts().value(X[:, :2], model.raw_scores(X))
    assert model.score(X, X[:, :2]) == pytest.approx(-value.mean(), rel=1e-12)
    rows, y, weight = coupled_rows(PairwiseLogistic)
    ranker = RFFBoostRegressor(PairwiseLogistic(), "tree", n_estimators=5).fit(rows, y, weight)
    value = PairwiseLogistic().value(y, ranker.raw_scores(rows), weight)
    assert ranker.score(rows, y, weight) == pytest.approx(-np.average(value, weights=weight), rel=1e-12)


@pytest.mark.parametrize(("loss", "n_classes"), [(OrderedClasses(), 3), (TwoScores(), 2)], ids=["one", "two"])
def test_the_decision_function_is_that_of_the_classes_for_any_number_of_scores(loss: Loss, n_classes: int) -> None:
    y = np.minimum(CLASSES, n_classes - 1)
    model = RFFBoostClassifier(loss, "tree", n_estimators=10, random_state=0).fit(X, y)
    p, decision = model.predict_proba(X), model.decision_function(X)
    logs = np.log(p)
    np.testing.assert_allclose(decision, logs[:, 1] - logs[:, 0] if n_classes == 2 else logs, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], decision, rtol=1e-9)
    plain = RFFBoostClassifier(learner="tree", n_estimators=10, random_state=0)
    losses = [
        log_loss(y[200:], CalibratedClassifierCV(one, cv=2).fit(X[:200], y[:200]).predict_proba(X[200:]))
        for one in (clone(model), plain)
    ]
    assert losses[0] < 1.2 * losses[1]
    model.set_params(eval_metric="roc_auc_ovr" if n_classes > 2 else "roc_auc").fit(X, y, eval_set=(X, y))


MEANS = {"squared_error", "absolute_error", "huber", "poisson", "gamma", "tweedie"}


@pytest.mark.parametrize("case", [case for case in LOSS_CASES if case.make().task == "regression"], ids=str)
def test_losses_of_centers_are_scored_by_r2_and_others_by_themselves(case):
    rng = np.random.default_rng(0)
    y, rows, weight = case.targets(rng, 80), rng.standard_normal((80, 2)), rng.uniform(0.5, 2.0, 80)
    for host, params in ((RFFBoostRegressor, {"learner": "tree"}), (XGBRegressor, {"n_jobs": 1})):
        model = host(loss=case.make(), n_estimators=3, **params).fit(rows, y if y.shape[1] > 1 else y[:, 0])
        predicted = model.predict(rows).reshape(y.shape)
        found = model.score(rows, y if y.shape[1] > 1 else y[:, 0], sample_weight=weight)
        if LOSSES.name_of(case.make()) in MEANS:
            assert found == pytest.approx(r2_score(y, predicted, sample_weight=weight), abs=1e-5)
        else:
            losses = model.loss_.value(y, predicted)
            assert found == pytest.approx(-np.average(losses, weights=weight), rel=1e-5)


def test_searches_minimise_a_loss_that_predicts_no_mean():
    class Upper(Quantile):
        pass

    assert Upper.scored_by == Loss.scored_by == "loss"
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 2))
    y = np.sin(2.0 * rows[:, 0]) + np.exp(0.4 * rows[:, 1]) * rng.standard_normal(300)
    model = RFFBoostRegressor(Upper(0.95), learner="tree", learning_rate=0.5, early_stopping=False)
    found = GridSearchCV(model, {"n_estimators": [1, 8]}, cv=3).fit(rows, y).cv_results_["mean_test_score"]
    wanted = cross_val_score(model.set_params(n_estimators=8), rows, y, scoring=pinball, cv=3).mean()
    assert found[1] == pytest.approx(wanted)
    broken = type("Broken", (SquaredError,), {"scored_by": "mse"})()
    with pytest.raises(ValueError, match=r"scored_by must be .* got 'mse'"):
        RFFBoostRegressor(broken).fit(rows, y)


def pinball(model, X, y):
    """Minus the pinball loss of the 95 % quantile."""
    return -mean_pinball_loss(y, model.predict(X), alpha=0.95)
