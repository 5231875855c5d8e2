"""Weights of models that are stacked: the best on the simplex, whatever the unit of the target."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from rffboost_ext import LOSSES, Cosines, Ensemble, Observations, RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.boosting import run
from rffboost_ext.boosting.early_stopping import stacking as stopping
from rffboost_ext.boosting.early_stopping.stacking import MIN_WEIGHT, simplex_weights
from rffboost_ext.losses import Normal
from rffboost_ext.terms.ensemble import weighted_sum

Array = np.ndarray


@pytest.mark.parametrize("name", ["log_loss", "squared_error"])
def test_weights_of_a_stack_are_the_best_on_the_simplex(name: str) -> None:
    rng, loss = np.random.default_rng(0), LOSSES.create(name)
    y, weight = rng.integers(2, size=(80, 1)).astype(float), rng.uniform(0.5, 2.0, 80)
    raw = (2.0 * y - 1.0) * [[[0.8]], [[0.3]], [[-0.2]]] + rng.normal(size=(3, 80, 1))
    start = np.full((80, 1), 0.1)
    size = np.average(np.abs(loss.value(y, raw.mean(axis=0)) - loss.value(y, start)), weights=weight)

    def objective(v: Array) -> float:
        value = np.average(loss.value(y, np.tensordot(v, raw, 1)), weights=weight) / size
        return float(value + 10 / 80 * ((v - 1 / 3) ** 2).sum())

    found = simplex_weights(loss, Observations(y, weight), raw, start)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0.0).all()
    steps = np.linspace(0.0, 1.0, 51)
    grid = [np.array([a, b, 1.0 - a - b]) for a, b in itertools.product(steps, steps) if a + b <= 1.0]
    assert objective(found) <= min(map(objective, grid)) + 1e-6


def test_a_tiny_weight_is_none() -> None:
    rng, loss = np.random.default_rng(0), LOSSES.create("squared_error")
    y, errors = rng.normal(size=(400, 1)), 0.3 * rng.normal(size=(2, 400, 1))
    errors[1] += 0.2 * errors[0]

    def weights(worse: float) -> Array:
        raw = y + errors * [[[1.0]], [[worse]]]
        return simplex_weights(loss, Observations(y, np.ones(400)), raw, np.zeros_like(y))

    # The weight falls to 0 with the size of the errors, slowly: some of these would be tiny.
    found = np.array([weights(k)[1] for k in np.linspace(2.0, 10.0, 200)])
    assert (found[:10] > MIN_WEIGHT).all()
    assert found[-1] == 0.0
    assert ((found == 0.0) | (found >= MIN_WEIGHT)).all()


@pytest.mark.parametrize("error", [0.3, 1e-4])
def test_the_better_of_models_that_are_nearly_right_is_preferred(error: float) -> None:
    """Weights of independent errors are best in inverse proportion to their variances."""
    rng, loss = np.random.default_rng(3), LOSSES.create("squared_error")
    y, errors = rng.normal(size=(2_000, 1)), error * rng.normal(size=(2, 2_000, 1)) * [[[1.0]], [[3.0]]]
    found = simplex_weights(loss, Observations(y, np.ones(2_000)), y + errors, np.zeros_like(y))
    np.testing.assert_allclose(found, [0.9, 0.1], atol=0.06)


def test_each_score_of_a_stack_has_the_weights_that_are_best_for_it() -> None:
    rng, loss = np.random.default_rng(0), Normal()
    center, spread = rng.normal(size=400), np.exp(rng.normal(size=400))
    truth = np.column_stack([center, np.log(spread)])
    y, start = (center + spread * rng.normal(size=400))[:, None], np.zeros((400, 2))
    raw = np.stack([truth * [1.0, 0.0], truth * [0.0, 1.0]])
    found = simplex_weights(loss, Observations(y, np.ones(400)), raw, start, by_score=True)
    np.testing.assert_allclose(found, np.eye(2), atol=0.1)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    one = simplex_weights(loss, Observations(y, np.ones(400)), raw, start)
    mean_loss = [loss.value(y, np.einsum("kc,kic->ic", w, raw)).mean() for w in (found, one[:, None] * [1.0, 1.0])]
    assert mean_loss[0] < mean_loss[1] - 0.1


def test_a_stack_of_distributions_is_the_sum_of_its_weighted_scores() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (150, 2))
    y = X[:, 0] + np.exp(X[:, 1]) * np.random.default_rng(1).standard_normal(150)
    captured: list[tuple[list[Ensemble], Array]] = []

    def keep(ensembles: list[Ensemble], weight: Array) -> Ensemble:
        captured.append((ensembles, weight))
        return weighted_sum(ensembles, weight)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "weighted_sum", keep)
        model = RFFBoostDistribution(n_estimators=20, random_state=0).fit(X, y)
    (ensembles, weight), Z = captured[0], model.encoder_.transform(X)
    assert model.learner_weights_.shape == (len(model.learners_), 2)
    np.testing.assert_allclose(weight.sum(axis=0), 1.0)
    wanted = sum(w * one.raw(Z) for w, one in zip(weight, ensembles, strict=True))
    np.testing.assert_allclose(model.ensemble_.raw(Z), wanted, rtol=1e-9, atol=1e-9)


def test_models_that_say_the_same_weigh_the_same() -> None:
    y, raw = np.ones((5, 1)), np.full((2, 5, 1), 0.3)
    for start in (raw[0], np.zeros((5, 1))):
        weights = simplex_weights(LOSSES.create("squared_error"), Observations(y, np.ones(5)), raw, start)
        np.testing.assert_allclose(weights, 0.5)


@pytest.mark.parametrize("name", ["squared_error", "absolute_error", "huber", "poisson", "gamma"])
def test_the_unit_of_the_target_does_not_matter_to_a_stack(name: str) -> None:
    rng, weight = np.random.default_rng(1), np.ones(60)
    mean = rng.uniform(1.0, 3.0, (60, 1))
    target = mean * rng.uniform(0.8, 1.25, mean.shape)
    guesses = mean * rng.uniform([[[0.7]], [[0.4]]], [[[1.4]], [[2.5]]], (2, *mean.shape))

    def weights(unit: float) -> Array:
        loss = LOSSES.create(name).prepared(unit * target, weight)
        link = np.log if name in ("poisson", "gamma") else np.asarray
        start = np.tile(loss.baseline(unit * target, weight), (60, 1))
        return simplex_weights(loss, Observations(unit * target, weight), link(unit * guesses), start)

    one = weights(1.0)
    assert 0.5 < one[0] < 1.0
    for unit in (1e-9, 0.1, 1e6):
        np.testing.assert_allclose(weights(unit), one, atol=1e-3)


def test_what_weighs_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True)
    monkeypatch.setattr(stopping, "simplex_weights", lambda *given: np.array([0.0, 1.0]))
    for params in ({"n_folds": 3}, {"n_folds": 1, "refit": True}, {"n_folds": 1, "refit": False}):
        model = RFFBoostRegressor(n_estimators=10, random_state=0, **params).fit(X, y)
        assert all(isinstance(term, Cosines) for term in model.ensemble_.terms)
        assert model.n_estimators_ <= 10 * params["n_folds"]
        assert len(model.validation_scores_) > 1
        assert [type(learner).__name__ for learner in model.learners_] == ["RFFRidge"]
