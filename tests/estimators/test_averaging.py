"""Models of several seeds or folds as one, in one line: it predicts their mean, and is a model in every way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import (
    Link,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    RFFBoostSurvival,
    average,
    load_model,
)
from rffboost_ext.losses import SquaredError

from ..cases import make_data, make_estimator
from ..tables import of_each_kind

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((90, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * RANDOM.standard_normal(90)
BOOSTER = RFFBoostRegressor(learner="rff_newton", n_estimators=6, early_stopping=False)
QUANTILES = RFFBoostQuantileRegressor((0.2, 0.8), "rff_newton", n_estimators=6, early_stopping=False)


@of_each_kind
def test_seeds_of_every_learner(loss, learner, tmp_path):
    features, target = make_data(loss)
    model = make_estimator(loss, learner, n_estimators=3)
    models = [clone(model).set_params(random_state=seed).fit(features, target) for seed in range(3)]
    averaged = average(models)
    wanted = np.mean([one.ensemble_.raw(features) for one in models], axis=0)
    np.testing.assert_allclose(averaged.ensemble_.raw(features), wanted, atol=1e-9)
    *_, last = averaged.ensemble_.staged(features)
    np.testing.assert_allclose(last, wanted, atol=1e-9)
    averaged.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(features), averaged.predict(features))
    verify_onnx(averaged, to_onnx(averaged), features, raise_on_mismatch=True)


def test_folds_in_one_line():
    features, target = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RFFBoostClassifier(learner="rff_newton", n_estimators=40, early_stopping=False, random_state=0)
    averaged = average(cross_validate(model, features, target, cv=3, return_estimator=True)["estimator"])
    assert averaged.score(features, target) > 0.95
    assert list(averaged.feature_names_in_) == list(features.columns)
    assert averaged.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("order", [1, -1])
def test_a_gap_is_for_averages_whose_models_all_fill_it(order):
    models = [clone(BOOSTER).set_params(missing=missing).fit(X, Y) for missing in ("auto", "error")]
    holes = np.where(np.arange(3) == 1, np.nan, X)
    with pytest.raises(ValueError, match="X contains NaN in column 1"):
        average(models[::order]).predict(holes)
    filling = average([models[0]] * 2)
    np.testing.assert_allclose(filling.predict(holes), models[0].predict(holes))


@pytest.mark.parametrize("order", [1, -1])
def test_a_gap_is_for_averages_whose_models_all_know_it(order):
    holes = [
        np.where((np.arange(3) == column) & (np.arange(90) % 7 == 0)[:, None], np.nan, X) for column in (0, 1)
    ]
    both = np.where(np.isnan(holes[0]), np.nan, holes[1])
    models = [clone(BOOSTER).set_params(missing="error").fit(rows, Y) for rows in (holes[0], both)]
    averaged = average(models[::order])
    expected = np.mean([one.predict(holes[0]) for one in models], axis=0)
    np.testing.assert_allclose(averaged.predict(holes[0]), expected, atol=1e-9)
    with pytest.raises(ValueError, match="X contains NaN in column 1"):
        averaged.predict(holes[1])
    models[1].encoder_.missing_columns = None
    with pytest.raises(ValueError, match="X contains NaN in column 0"):
        average(models[::order]).predict(holes[0])


@pytest.mark.parametrize("order", [1, -1])
def test_an_average_has_importances_where_all_its_models_have(order):
    models = [clone(BOOSTER).set_params(random_state=seed).fit(X, Y) for seed in range(2)]
    both = [model.feature_importances_ for model in models]
    np.testing.assert_allclose(average(models).feature_importances_, np.mean(both, axis=0))
    models[0]._importances = models[0]._sample = None
    assert not hasattr(average(models[::order]), "feature_importances_")


def test_an_average_has_nothing_of_a_single_fit():
    models = [
        RFFBoostRegressor(learner="rff_newton", n_estimators=9, random_state=seed).fit(X, Y, eval_set=[(X, Y)])
        for seed in range(2)
    ]
    averaged = average(models)
    assert not hasattr(averaged, "evals_result_")
    assert not hasattr(averaged, "validation_scores_")
    assert all(model.evals_result_ for model in models)
    kept = [clone(BOOSTER).set_params(warm_start=True, random_state=seed).fit(X, Y) for seed in range(2)]
    assert kept[0]._start.learner_state
    assert not average(kept)._start.learner_state


def test_what_does_not_go_together_is_named():
    quantiles = clone(QUANTILES).fit(X, Y)
    with pytest.raises(TypeError, match="models must be an iterable of fitted estimators, got RFFBoostQ"):
        average(quantiles)
    with pytest.raises(TypeError, match=r"models must be fitted estimators of one kind"):
        average([quantiles, clone(BOOSTER).fit(X, Y)])
    with pytest.raises(TypeError, match=r"models must be fitted estimators of one kind"):
        average([clone(BOOSTER).fit(X, Y), quantiles])
    with pytest.raises(ValueError, match="the losses of models must agree"):
        average([quantiles, clone(QUANTILES).set_params(quantiles=(0.1, 0.8)).fit(X, Y)])
    with pytest.raises(ValueError, match="not fitted"):
        average([quantiles, clone(QUANTILES)])
    one, two = (clone(BOOSTER).set_params(learner="tree").fit(X, y) for y in (Y, np.column_stack([Y, Y])))
    with pytest.raises(ValueError, match="the numbers of outputs of models must agree, got 1 and 2"):
        average([one, two])


class Stretched(SquaredError):
    """A user's loss with a fitted parameter."""

    def __init__(self, stretch=None):
        self.stretch = stretch

    output_weights = None
    constraints = {}

    def prepared(self, y, weight, n_classes=None):
        return self if self.stretch else Stretched(float(np.ptp(y)))


def test_what_losses_estimate_is_averaged_in_any_order():
    rng = np.random.default_rng(0)
    estimated = {"huber": ["delta"], "quantile": ["unit"], "poisson": ["unit"], "normal": ["unit", "resolution"]}
    for name, parameters in estimated.items():
        model = RFFBoostRegressor(name, "tree", n_estimators=3, early_stopping=False)
        models = [clone(model).fit(X, rng.poisson(size, 90)) for size in (1.0, 5.0, 30.0)]
        averages = [average(models[::order]).loss_ for order in (1, -1)]
        for parameter in parameters:
            values = [getattr(one.loss_, parameter) for one in models]
            np.testing.assert_allclose(getattr(averages[0], parameter), np.mean(values, axis=0), rtol=1e-12)
        assert repr(averages[0]) == repr(averages[1])
    own = RFFBoostRegressor(Stretched(), "tree", n_estimators=3, early_stopping=False)
    assert average([clone(own).fit(X, Y)] * 2).loss_.stretch == np.ptp(Y)
    first = clone(own).fit(X, Y)
    with pytest.raises(ValueError, match=r"fitted parameters of losses must agree.*loss=model.loss_"):
        average([first, clone(own).fit(X, 2.0 * Y)])
    second = clone(own).set_params(loss=first.loss_).fit(X, 2.0 * Y)
    np.testing.assert_allclose(average([first, second]).predict(X), 0.5 * (first.predict(X) + second.predict(X)))


class StretchedLink(Stretched):
    """The same with the parameter in its link."""

    @property
    def link(self):
        return Scaled(self.stretch or 1.0)

    def prepared(self, y, weight, n_classes=None):
        return self if self.stretch else StretchedLink(float(np.ptp(y)))


@dataclass(frozen=True)
class Scaled(Link):
    """A multiple of the score, for messages only."""

    factor: float

    def inverse(self, raw):
        return raw


def test_a_link_that_is_prepared_from_targets_continues_with_the_fitted_loss():
    own = RFFBoostRegressor(StretchedLink(), "tree", n_estimators=3, early_stopping=False)
    first = clone(own).fit(X, Y)
    with pytest.raises(ValueError, match=r"same link, which loss StretchedLink prepares.*loss=init_model.loss_"):
        clone(own).fit(X, 2.0 * Y, init_model=first)
    assert clone(own).set_params(loss=first.loss_).fit(X, 2.0 * Y, init_model=first).n_estimators_ == 6


@pytest.mark.parametrize("loss", ["cox", "aft_normal", "aft_logistic", "aft_extreme"])
def test_survival_functions_of_averages_do_not_depend_on_the_order(loss):
    model = RFFBoostSurvival(loss, "tree", n_estimators=5, early_stopping=False, random_state=0)
    models = [clone(model).fit(X, np.exp(noise * Y)) for noise in (0.2, 1.0, 3.0)]
    one, other = (average(models[::order]) for order in (1, -1))
    found = one.predict_survival_function(X, return_array=True)
    np.testing.assert_allclose(found, other.predict_survival_function(X, return_array=True), atol=1e-12)
    np.testing.assert_allclose(one.cum_baseline_hazard_.y, other.cum_baseline_hazard_.y, rtol=1e-12)
    if loss != "cox":
        assert one.loss_.sigma == pytest.approx(np.mean([model.loss_.sigma for model in models]))
        raw = np.zeros((1, 1))
        wanted = one.loss_.cumulative_hazard(raw, one.unique_times_, raw)[0]
        np.testing.assert_allclose(one.cum_baseline_hazard_.y, wanted)
