"""PAC-Bayesian bounds: their shape, their truth on simulated data, and the reports for fitted models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom

from benchmarks.papers.baselines import (
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
from benchmarks.papers.baselines.landmarks import count_landmarks
from rffboost_ext.learners.fourier.parts import PosteriorWeighting

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


def test_the_best_temperature_of_a_landmark_is_in_closed_form():
    kl, n = 0.7, 500
    best = math.sqrt(2.0 * (n - 1) * (kl - math.log(EPSILON)) / 0.25)
    at_best = landmark_bound(LOSS, kl, n, EPSILON, best)
    assert at_best == pytest.approx(LOSS + math.sqrt(0.5 * (kl - math.log(EPSILON)) / (n - 1)))
    assert all(landmark_bound(LOSS, kl, n, EPSILON, t * best) > at_best for t in (0.5, 0.9, 1.1, 2.0))


# A world of one frequency, in which a pair's loss is 0 or 1 with even chance: no loss within [0, 1] varies more.
TEMPERATURES = [1e-3, 0.3, 3.0, 30.0]


def log_moment(losses: np.ndarray, chances: np.ndarray, t: float) -> float:
    """The logarithm of the mean of ``exp(t (true loss - empirical loss))``."""
    return float(logsumexp(t * (chances @ losses - losses), b=chances))


def slack(bound, n: int, t: float) -> float:
    """What a bound allows the logarithm of the exponential moment to be, of one frequency."""
    return t * (bound(0.5, 0.0, n, 1.0, t) - 0.5)


@pytest.mark.parametrize("n", [2, 9, 100])
@pytest.mark.parametrize("t", TEMPERATURES)
def test_landmark_bound_covers_the_exponential_moment_and_no_smaller_constant_would(n, t):
    exact = log_moment(np.arange(n) / (n - 1), binom.pmf(np.arange(n), n - 1, 0.5), t)
    assert exact <= slack(landmark_bound, n, t) * (1.0 + 1e-6)
    if t == min(TEMPERATURES):
        assert exact == pytest.approx(slack(landmark_bound, n, t), rel=1e-3)


def pair_losses(n: int, of_pair) -> tuple[np.ndarray, np.ndarray]:
    """The mean loss over all pairs of n fair coins, by the number of heads, and the chance of each number."""
    heads = np.arange(n + 1)
    counts = np.array([heads * (heads - 1), 2 * heads * (n - heads), (n - heads) * (n - heads - 1)])
    return np.tensordot(of_pair, counts, 1) / (n * (n - 1)), binom.pmf(heads, n, 0.5)


WORLDS = {"agreement": np.array([0.0, 1.0, 0.0]), "share of heads": np.array([1.0, 0.5, 0.0])}


@pytest.mark.parametrize("n", [2, 3, 10, 41])
@pytest.mark.parametrize("t", TEMPERATURES)
@pytest.mark.parametrize("world", WORLDS)
def test_bounds_over_pairs_cover_the_exponential_moment(world, n, t):
    exact = log_moment(*pair_losses(n, WORLDS[world]), t)
    assert exact <= slack(second_order_bound, n, t) * (1.0 + 1e-6)
    if n == 2 and world == "agreement" and t == min(TEMPERATURES):
        assert exact == pytest.approx(slack(second_order_bound, n, t), rel=1e-3)


@pytest.mark.parametrize("n", [2, 3, 10, 41])
@pytest.mark.parametrize("world", WORLDS)
def test_chi_square_bound_covers_the_variance(world, n):
    losses, chances = pair_losses(n, WORLDS[world])
    variance = chances @ np.square(losses - chances @ losses)
    allowed = (chi_square_bound(0.5, 0.0, n, 1.0) - 0.5) ** 2
    assert variance <= allowed * (1.0 + 1e-9)
    if n == 2 and world == "agreement":
        assert variance == pytest.approx(allowed)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("n", [5, 40, 300])
def test_landmark_bound_fails_at_most_as_often_as_it_says(n, epsilon):
    """By the exact binomial, at the best temperature; with a proxy that is much too small it fails more often."""

    def failing(proxy: float) -> float:
        best = math.sqrt(-2.0 * (n - 1) * math.log(epsilon) / proxy)
        losses = np.arange(n) / (n - 1)
        low = [landmark_bound(float(loss), 0.0, n, epsilon, best, proxy) < 0.5 for loss in losses]
        return float(binom.pmf(np.arange(n), n - 1, 0.5) @ low)

    assert failing(0.25) <= epsilon
    assert failing(0.01) > epsilon


def test_a_bound_for_all_landmarks_is_a_union_over_them_and_their_mean():
    """n bounds of a landmark and one on the mean over landmarks, each with epsilon / (n + 1)."""
    n, t = 50, 9.0
    one = landmark_bound(LOSS, DIVERGENCE, n, EPSILON / (n + 1), t) - LOSS
    assert alignment_bound(LOSS, DIVERGENCE, n, EPSILON, t) == pytest.approx(LOSS + 2.0 * one)


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


def test_a_report_is_of_the_labels_of_the_fit(data):
    X, y = data
    names = np.array(["no", "yes"])[(y == y.max()).astype(int)]
    model = PBLandmarks(6, random_state=0).fit(X, names)
    report = report_landmarks(model, X, names)
    np.testing.assert_array_equal(report.loss, report_landmarks(model, X.tolist(), names.tolist()).loss)
    with pytest.raises(ValueError, match=r"y must hold labels of the fit, \['no' 'yes'\], got"):
        report_landmarks(model, X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        report_landmarks(model, X, names[:50])
    with pytest.raises(ValueError, match="features"):
        report_landmarks(model, X[:, :1], names)


@pytest.mark.parametrize(("share", "count"), [(0.07, 7), (0.14, 14), (0.55, 55), (0.071, 8), (1e-9, 1)])
def test_a_share_of_landmarks_is_rounded_up(share, count):
    assert count_landmarks(share, 100) == count
