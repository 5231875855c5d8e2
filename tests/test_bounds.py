"""PAC-Bayesian bounds: their shape, their truth on simulated data, and the reports for fitted models."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rffboost_ext.baselines import (
    ChiSquare,
    GreedyKernel,
    PBLandmarks,
    alignment_bound,
    chi_square_bound,
    chi_square_divergence,
    kl_divergence,
    landmark_bound,
    report_landmarks,
    report_posterior,
    second_order_bound,
    second_order_loss,
)
from rffboost_ext.learners.weighting import PosteriorWeighting

BOUNDS = [landmark_bound, alignment_bound, second_order_bound, chi_square_bound]
bounds = pytest.mark.parametrize("bound", BOUNDS)
LOSS, DIVERGENCE, N, EPSILON = 0.3, 0.8, 200, 0.05


@bounds
def test_monotone(bound):
    at = bound(LOSS, DIVERGENCE, N, EPSILON)
    assert at > LOSS
    assert bound(LOSS + 0.1, DIVERGENCE, N, EPSILON) == pytest.approx(at + 0.1)
    assert bound(LOSS, DIVERGENCE + 0.1, N, EPSILON) > at
    assert bound(LOSS, DIVERGENCE, 4 * N, EPSILON) < at
    assert bound(LOSS, DIVERGENCE, N, EPSILON / 2) > at
    assert bound(LOSS, DIVERGENCE, N, EPSILON, proxy=1.0) > at


@bounds
def test_tends_to_the_empirical_loss(bound):
    assert bound(LOSS, DIVERGENCE, 10**12, EPSILON) == pytest.approx(LOSS, abs=1e-4)


def test_second_order_is_tighter_than_a_union_over_landmarks():
    for n in (10, 100, 10_000):
        for kl in (0.0, 1.0, 10.0):
            assert second_order_bound(LOSS, kl, n) < alignment_bound(LOSS, kl, n)


def test_the_best_temperature_of_a_landmark_is_in_closed_form():
    kl, n = 0.7, 500
    best = math.sqrt(2.0 * (n - 1) * (kl - math.log(EPSILON)) / 0.25)
    at_best = landmark_bound(LOSS, kl, n, EPSILON, best)
    assert at_best == pytest.approx(LOSS + math.sqrt(0.5 * (kl - math.log(EPSILON)) / (n - 1)))
    assert all(landmark_bound(LOSS, kl, n, EPSILON, t * best) > at_best for t in (0.5, 0.9, 1.1, 2.0))


def test_divergences_from_the_uniform_distribution():
    from scipy.stats import entropy

    q = np.random.default_rng(0).dirichlet(np.ones(30), size=4)
    q[0] = np.eye(30)[3]
    uniform = np.full(30, 1.0 / 30)
    np.testing.assert_allclose(kl_divergence(q), [entropy(row, uniform) for row in q])
    np.testing.assert_allclose(chi_square_divergence(q), ((q - uniform) ** 2 / uniform).sum(axis=1))
    assert kl_divergence(uniform) == pytest.approx(0.0)
    assert chi_square_divergence(uniform) == pytest.approx(0.0, abs=1e-12)


def population(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a world in which labels follow the first feature, with noise."""
    X = rng.standard_normal((n, 2))
    return X, (X[:, 0] + 0.7 * rng.standard_normal(n) > 0.0).astype(int)


OMEGA = np.random.default_rng(5).standard_normal((20, 2))


@pytest.fixture(scope="module")
def true_loss():
    """Alignment loss of each frequency, from so many rows that its error is about a thousandth."""
    return second_order_loss(*population(np.random.default_rng(1), 100_000), OMEGA)


def violations(bound, divergence, weigh, true_loss, epsilon: float, runs: int, **params) -> float:
    """How often a bound fails on 12 rows, for the distribution that `weigh` learns from them."""
    failed = 0
    for seed in range(runs):
        X, y = population(np.random.default_rng(100 + seed), 12)
        risk = second_order_loss(X, y, OMEGA)
        q = weigh(risk)
        failed += float(q @ true_loss) > bound(
            min(1.0, max(0.0, float(q @ risk))), float(divergence(q)), 12, epsilon, **params
        )
    return failed / runs


def gibbs(risk: np.ndarray) -> np.ndarray:
    weight = np.exp(-math.sqrt(12) * (risk - risk.min()))
    return weight / weight.sum()


SECOND_ORDER = [
    (alignment_bound, kl_divergence, gibbs),
    (second_order_bound, kl_divergence, gibbs),
    (chi_square_bound, chi_square_divergence, lambda risk: ChiSquare().weigh(risk, 0.05, 12)),
]


@pytest.mark.parametrize(
    ("bound", "divergence", "weigh"), SECOND_ORDER, ids=["alignment", "second_order", "chi_square"]
)
def test_holds_on_simulated_data(bound, divergence, weigh, true_loss):
    epsilon = 0.3
    assert violations(bound, divergence, weigh, true_loss, epsilon, 400) <= epsilon


def test_the_simulation_can_fail(true_loss):
    """With a proxy far too small, and no divergence, the bound is broken more often than epsilon."""
    broken = violations(second_order_bound, lambda q: 0.0, gibbs, true_loss, 1.0, 400, proxy=1e-3)
    assert broken > 0.2


def test_landmark_bound_holds_on_simulated_data():
    rng, epsilon, failed = np.random.default_rng(3), 0.3, 0
    X, y = population(rng, 50_000)
    for _ in range(300):
        A, a = population(rng, 12)
        sign = np.where(a == a[0], 1.0, -1.0)
        risk = 0.5 * (1.0 - sign[1:] @ np.cos((A[1:] - A[0]) @ OMEGA.T) / 11)
        q = gibbs(risk)
        # The loss that new examples have around this landmark.
        rows = slice(0, 4_000)
        true = 0.5 * (
            1.0 - np.mean(np.where(y[rows] == a[0], 1.0, -1.0) * (np.cos((X[rows] - A[0]) @ OMEGA.T) @ q))
        )
        failed += true > landmark_bound(float(q @ risk), float(kl_divergence(q)), 12, epsilon)
    assert failed / 300 <= epsilon


@pytest.fixture(scope="module")
def data():
    return population(np.random.default_rng(8), 60)


@pytest.mark.parametrize("beta", [0.0, 1.0, 20.0])
def test_report_of_landmarks(data, beta):
    X, y = data
    model = PBLandmarks(6, beta=beta, random_state=0).fit(X, y)
    report = report_landmarks(model, X, y, 0.1)
    t = (beta or 1.0) * math.sqrt(60)
    expected = [
        landmark_bound(float(a), float(b), 60, 0.1, t) for a, b in zip(report.loss, report.kl, strict=True)
    ]
    np.testing.assert_allclose(report.bound, expected)
    # The loss of the mean similarity is the mean loss, so it can be read off the map.
    for landmark, label, row, loss in zip(
        model.landmarks_, model.landmark_classes_, model.transform(X).T, report.loss, strict=True
    ):
        others = ~np.isclose(X, landmark).all(axis=1)
        sign = np.where(y == label, 1.0, -1.0)
        assert loss == pytest.approx(np.mean(0.5 * (1.0 - sign[others] * row[others])))
    assert (report.kl < 1e-12).all() == (beta == 0.0)


def test_report_of_a_posterior(data):
    X, y = data
    model = GreedyKernel(10, 300, beta=2.0, random_state=0).fit(X, y)
    report = report_posterior(model, 0.1)
    assert report.loss == pytest.approx(model.probabilities_ @ model.losses_)
    t = 2.0 * math.sqrt(60)
    assert report.alignment == alignment_bound(report.loss, report.kl, 60, 0.1, t)
    assert report.second_order == second_order_bound(report.loss, report.kl, 60, 0.1, t)
    assert report.chi_square_bound == chi_square_bound(report.loss, report.chi_square, 60, 0.1)
    assert report_posterior(model.reweighted(weighting=PosteriorWeighting()), 0.1) == report
    flat = report_posterior(model.reweighted(beta=0.0), 0.1)
    assert flat.kl == pytest.approx(0.0, abs=1e-12)
    assert flat.loss > report.loss


def test_centroids_are_outside_the_theory(data):
    model = PBLandmarks(4, selection="centroids", random_state=0).fit(*data)
    with pytest.raises(ValueError, match="centroids"):
        report_landmarks(model, *data)
