"""Losses derived from ours, and put around them: they stay what they are through a whole fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from rffboost_ext import LOSSES, Loss, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.losses import (
    AbsoluteError,
    BinaryLogitLink,
    Cox,
    FunctionLink,
    Gamma,
    Huber,
    IdentityLink,
    LabelRegression,
    LambdaRank,
    LogLoss,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)
from rffboost_ext.losses.target_statistics import is_multioutput
from rffboost_ext.losses.wrapper import LossWrapper

from ..cases import LOSS_CASES, LossCase
from ..own_parts import FromZero

PLAIN = {"learner": "rff_newton", "n_estimators": 5, "early_stopping": False, "random_state": 0}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 2))
Y = np.exp(X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize("base", [AbsoluteError, Gamma, Huber, Poisson, Quantile, SquaredError, Tweedie])
@pytest.mark.parametrize("targets", [1, 2])
def test_a_derived_loss_is_what_is_minimised(base, targets):
    if targets > 1 and not is_multioutput(base()):
        pytest.skip("of one target")

    class Doubled(base):
        exact_gradient = False

        def derivatives(self, y, raw):
            gradient, hessian = super().derivatives(y, raw)
            return 2.0 * gradient, hessian

    y = Y if targets == 1 else np.column_stack([Y, 9.0 * X[:, 0]])
    derived, plain = (RFFBoostRegressor(make(), **PLAIN).fit(X, y) for make in (Doubled, base))
    assert type(derived.loss_) is Doubled
    assert np.abs(derived.predict(X) - plain.predict(X)).max() > 1e-3


def fits_signs(name, y):
    """Whether a regressor of one score can be fitted to targets -1 and 1."""
    try:
        return RFFBoostRegressor(name, "tree", n_estimators=5).fit(X, y).raw_scores(X).shape[1] == 1
    except ValueError:
        return False


@pytest.mark.parametrize("name", LOSSES.names())
def test_a_classifier_fits_labels_by_a_loss_or_says_which_it_takes(name):
    loss, y = LOSSES.make(name), np.sign(X[:, 0])
    if loss.task == "classification" or fits_signs(name, y):
        assert RFFBoostClassifier(name, "tree", n_estimators=5).fit(X, y).predict_proba(X).shape == (len(X), 2)
        return
    # Before the data are read.
    with pytest.raises(
        ValueError, match="RFFBoostClassifier: loss must be for classification, or a regr"
    ) as error:
        RFFBoostClassifier(name).fit(None, None)
    assert f"{error.value}".endswith(f", got {loss!r}")
    with pytest.raises((ValueError, TypeError), match="LabelRegression: loss must be"):
        LabelRegression(loss).validate()


def test_a_derived_loss_of_two_classes_is_not_put_to_three():
    class Mine(LogLoss):
        pass

    assert type(RFFBoostClassifier(Mine(), **PLAIN).fit(X, Y > 1.0).loss_) is Mine
    with pytest.raises(
        ValueError, match=r"loss Mine\(\): y must have 2 classes, got 3; for more, derive .*MultinomialLogLoss"
    ):
        RFFBoostClassifier(Mine(), **PLAIN).fit(X, np.digitize(Y, [1.0, 2.0]))


FACTS = "task", "fit_criterion", "exact_gradient", "exact_hessian", "bounded_ratio", "positive", "scales"


@pytest.mark.parametrize("wrapper", [LossWrapper, FromZero])
@pytest.mark.parametrize("loss", LOSS_CASES, ids=str)
def test_a_loss_around_another_is_that_one(loss: LossCase, wrapper):
    rng, n = np.random.default_rng(1), 40
    y, weight, raw = loss.targets(rng, n), rng.uniform(0.5, 2.0, n), rng.standard_normal((n, loss.n_outputs))
    around, plain = (made.prepared(y, weight) for made in (wrapper(loss.make()), loss.make()))
    assert repr(around.loss) == repr(plain)
    assert repr(clone(around)) == repr(around)
    for method in ("value", "derivatives"):
        np.testing.assert_array_equal(getattr(around, method)(y, raw), getattr(plain, method)(y, raw))
    np.testing.assert_array_equal(around.link.inverse(raw), plain.link.inverse(raw))
    assert [getattr(around, name) for name in FACTS] == [getattr(plain, name) for name in FACTS]
    baseline = plain.baseline(y, weight) * (wrapper is LossWrapper)
    np.testing.assert_array_equal(around.baseline(y, weight), baseline)


def test_what_a_loss_refuses_one_around_it_refuses():
    with pytest.raises(ValueError, match=r"y must be at least 0"):
        RFFBoostRegressor(FromZero(Poisson()), **PLAIN).fit(X, -Y)


class Mean(Loss):
    """Half the squared error of targets that are not negative."""

    link = IdentityLink()

    def check_target(self, y):
        if (y < 0.0).any():
            raise ValueError("y must not be negative")

    def value(self, y, raw):
        return 0.5 * np.square(raw - y)[:, 0]

    def derivatives(self, y, raw):
        return raw - y, np.ones_like(raw)

    def baseline(self, y, weight):
        return np.average(y, axis=0, weights=weight)


def test_a_loss_may_refuse_targets_in_a_fit():
    RFFBoostRegressor(Mean(), **PLAIN).fit(X, Y)
    with pytest.raises(ValueError, match="y must not be negative"):
        RFFBoostRegressor(Mean(), **PLAIN).fit(X, Y - 5.0)


class Untold(Loss):
    """The logistic loss without its task."""

    link = BinaryLogitLink()

    def value(self, y, raw):
        return np.logaddexp(0.0, raw)[:, 0] - y[:, 0] * raw[:, 0]

    def derivatives(self, y, raw):
        p = 1.0 / (1.0 + np.exp(-raw))
        return p - y, p * (1.0 - p)

    def baseline(self, y, weight):
        p = weight @ y[:, 0] / weight.sum()
        return np.array([np.log(p / (1.0 - p))])


class Told(Untold):
    """The same with it."""

    task = "classification"


@pytest.mark.filterwarnings("error")
def test_a_loss_of_classes_says_so():
    with pytest.raises(
        ValueError, match=r"loss Untold\(\): .* got shape \(3, 2\) .*; set task = 'classification'"
    ):
        RFFBoostClassifier(Untold(), **PLAIN).fit(X, Y > 1.0)
    probability = RFFBoostClassifier(Told(), **PLAIN).fit(X, Y > 1.0).predict_proba(X)
    ours = RFFBoostClassifier("log_loss", **PLAIN).fit(X, Y > 1.0).predict_proba(X)
    np.testing.assert_allclose(probability, ours, atol=1e-5)


@pytest.mark.parametrize("inner", [Cox(), LambdaRank(), LogLoss, "squared_error"], ids=repr)
def test_coupled_rows_and_what_is_no_loss_are_not_wrapped(inner):
    with pytest.raises(TypeError, match="LabelRegression: loss must be a Loss of rows that are not coupled, got"):
        RFFBoostClassifier(LabelRegression(inner), **PLAIN).fit(X, Y > 1.0)


@pytest.mark.parametrize("link", [np.exp, np.negative, np.zeros_like], ids=["positive", "falling", "flat"])
def test_a_loss_of_targets_takes_labels_if_its_link_is_centred(link):
    loss = type("Other", (SquaredError,), {"link": FunctionLink(link)})()
    RFFBoostClassifier(SquaredError(), **PLAIN).fit(X, Y > 1.0)
    with pytest.raises(ValueError, match=r"loss Other\(.*\): .* be 0 at a score of 0 and increase, got \["):
        RFFBoostClassifier(loss, **PLAIN).fit(X, Y > 1.0)


@pytest.mark.parametrize(
    "second", [lambda raw: expit(-raw), lambda raw: 1.0 - np.exp(-np.exp(raw))], ids=["falls", "cloglog"]
)
def test_a_link_by_which_the_less_probable_class_would_be_predicted_is_refused(second):
    link = FunctionLink(lambda raw: np.hstack([1.0 - second(raw), second(raw)]))
    loss = type("Linked", (Mean,), {"task": "classification", "link": link})()
    with pytest.raises(ValueError, match=r"link.inverse must give the second class a probability of 1/2 at"):
        RFFBoostClassifier(loss, **PLAIN).fit(X, Y > 1.0)
