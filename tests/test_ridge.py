"""Ridge regressions on random Fourier features: the closed form, the scales and the shared frequencies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import chisquare

from rffboost_ext import Cosines, Decay, RFFBoostClassifier, RFFBoostRegressor, RFFRidge
from rffboost_ext.kernels.ridge import ridge_pass
from rffboost_ext.learners.newton import cosines_of
from rffboost_ext.learners.ridge import EVEN, drawn_scale

from .cases import LOSS_CASES, make_round

X = np.random.default_rng(0).uniform(-2.0, 2.0, (150, 3))
SMOOTH = np.sin(2.0 * X[:, 0]) * X[:, 1]
PLAIN = {"early_stopping": False, "random_state": 0}


def least_squares(round, omega, weight, l2):
    """The amplitudes (C, 2K) by NumPy."""
    z = round.design.X @ omega.T
    basis = np.hstack([np.cos(z), np.sin(z)])
    found = []
    for c in range(round.raw.shape[1]):
        curvature = basis.T @ ((weight * round.hessian[:, c])[:, None] * basis) + l2 * np.eye(basis.shape[1])
        found.append(-np.linalg.solve(curvature, basis.T @ (weight * round.gradient[:, c])))
    return basis, np.array(found)


@pytest.mark.parametrize("max_samples", [5_000, 60])
@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_amplitudes_minimise_the_penalised_expansion(case, max_samples) -> None:
    round = make_round(case, n=120, d=4)
    learner = RFFRidge(n_components=6, l2=0.4, max_samples=max_samples)
    omega = learner._frequencies(round)[1]
    # Rows of weight 0 are not seen, wherever the sample is taken.
    weight = np.where(np.arange(120) % 2, round.weight, 0.0)
    amplitudes, output = learner._fitted(replace(round, weight=weight), omega)
    basis, expected = least_squares(round, omega, weight, 0.4 * 6)
    np.testing.assert_allclose(amplitudes, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(output, basis @ amplitudes.T, rtol=0, atol=1e-9 * np.abs(output).max() + 1e-12)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_amplitudes_are_a_term(n_outputs) -> None:
    rng = np.random.default_rng(1)
    omega, amplitudes = rng.normal(size=(5, 3)), rng.normal(size=(n_outputs, 10))
    z = X @ omega.T
    expected = np.hstack([np.cos(z), np.sin(z)]) @ amplitudes.T
    np.testing.assert_allclose(cosines_of(omega, amplitudes)(X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("penalty", [0.0, 1e-3])
def test_features_that_say_the_same_are_used_once(dtype, penalty) -> None:
    rng = np.random.default_rng(2)
    one = rng.normal(size=(1, 50)).astype(dtype)
    features, g = np.repeat(one, 4, axis=0), one.copy()
    amplitudes = np.empty((1, 4))
    ridge_pass(features, g, np.ones((1, 50), dtype), penalty, amplitudes)
    assert amplitudes.sum() == pytest.approx(-1.0, rel=1e-3)


def test_many_features_are_the_kernel_machine() -> None:
    """One full step from 0 is kernel ridge regression with the Gaussian kernel of the scale."""
    y = SMOOTH - SMOOTH.mean()
    learner = RFFRidge(n_components=4_000, gamma=(0.6, 0.6), n_scales=1, l2=0.5, subsample=1.0 - 1e-12)
    model = RFFBoostRegressor(learner=learner, n_estimators=1, learning_rate=1.0, standardize=False, **PLAIN)
    kernel = np.exp(-0.6 / 3.0 * cdist(X, X, "sqeuclidean"))
    expected = kernel @ np.linalg.solve(kernel + 0.5 * np.eye(len(X)), y)
    assert np.abs(model.fit(X, y).predict(X) - expected).max() < 0.05 * np.abs(expected).max()


@pytest.mark.parametrize("learner", [RFFRidge(), RFFRidge(n_components=8, n_scales=2)])
def test_rounds_share_their_frequencies(learner) -> None:
    model = RFFBoostRegressor(learner=learner, n_estimators=40, **PLAIN).fit(X, SMOOTH)
    (block,) = model.ensemble_.compact().terms
    assert isinstance(block, Cosines)
    assert len(block.omega) <= learner.n_components * learner.n_scales
    assert model.transform(X).shape == (len(X), len(block.omega))
    np.testing.assert_allclose(model.predict(X), list(model.staged_predict(X))[-1], rtol=0, atol=1e-12)


def test_joined_cosines_are_those_of_the_fitted_function() -> None:
    rate = Decay(0.5, 0.9)
    model = RFFBoostRegressor(learner="rff_ridge", learning_rate=rate, n_estimators=40, **PLAIN).fit(X, SMOOTH)
    (block,) = model.ensemble_.compact().terms
    raw = model.ensemble_.baseline + model.transform(X) @ block.weight
    np.testing.assert_allclose(raw[:, 0], model.predict(X), rtol=0, atol=1e-12)


def test_cosines_of_equal_frequency_are_joined() -> None:
    rng = np.random.default_rng(3)
    for n_outputs in (1, 2):
        omega = np.repeat(rng.normal(size=(4, 3)), 5, axis=0)
        term = Cosines(omega, rng.uniform(-3.0, 3.0, 20), rng.normal(size=(20, n_outputs)), center=np.ones(3))
        joined = term.merged()
        assert len(joined.omega) == 4 * n_outputs
        np.testing.assert_allclose(joined(X), term(X), rtol=0, atol=1e-12)
        assert joined.merged() is joined


def test_scales_are_drawn_by_what_they_have_earned() -> None:
    round = make_round(LOSS_CASES[0])
    gains = np.array([0.0, 0.1, 0.2, np.nan, np.nan])
    assert drawn_scale(round, gains) == 3
    gains = np.array([0.0, 0.1, 0.3])
    counts = np.bincount([drawn_scale(round, gains) for _ in range(4_000)], minlength=3)
    odds = (1.0 - EVEN) * gains**2 / (gains**2).sum() + EVEN / 3.0
    assert chisquare(counts, 4_000 * odds).pvalue > 1e-3
    for nothing in (np.zeros(3), np.full(3, np.inf)):
        assert {drawn_scale(round, nothing) for _ in range(60)} == {0, 1, 2}


def test_the_scale_that_suits_is_found() -> None:
    """A target of a high frequency is left to the narrow kernels, until it is learned."""
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(600, 2))
    learner, shares = RFFRidge(gamma=(0.01, 10.0), n_scales=2), []
    for frequency in (0.3, 3.0):
        y = np.sin(frequency * Z.sum(axis=1)) + 0.1 * rng.normal(size=600)
        model = RFFBoostRegressor(learner=learner, n_estimators=30, learning_rate=0.05, **PLAIN).fit(Z, y)
        shares.append(np.mean([np.square(term.omega).mean() > 1.0 for term in model.ensemble_.terms]))
    assert shares[0] + 0.2 < shares[1] > 0.8


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"subsample": 1.0}, "subsample must be a number > 0 and < 1, got 1.0"),
        ({"l2": -1.0}, "l2 must be a number >= 0, got -1.0"),
        ({"gamma": (3.0, 1.0)}, r"gamma must be a pair of positive numbers.*got \(3.0, 1.0\)"),
    ],
)
def test_bad_parameters_are_named(params, message) -> None:
    with pytest.raises(ValueError, match=message):
        RFFBoostClassifier(learner=RFFRidge(**params)).fit(X, SMOOTH > 0.0)
