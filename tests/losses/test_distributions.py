"""Distributions as losses: scipy's densities, Fisher information, extreme scores and other units."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from mpmath import mp
from scipy import stats
from scipy.special import beta

from rffboost_ext import DISTRIBUTIONS, RFFBoostDistribution, Scales
from rffboost_ext.losses import Normal
from rffboost_ext.losses.distributions.counts import size_information
from rffboost_ext.losses.distributions.frozen import negative_binomial, zero_inflated_poisson
from rffboost_ext.losses.distributions.special import (
    df_information,
    log_minus_digamma,
    log_rising_factorial,
    scaled_trigamma,
    stirling_remainder,
)

from ..cases import DISTRIBUTION_CASES, SAMPLES

N = 40
cases = pytest.mark.parametrize("case", DISTRIBUTION_CASES, ids=str)
RNG = np.random.default_rng(0)
# Families that are closed under a change of the unit of the target.
SCALED = "normal", "laplace", "student_t", "lognormal", "gamma"


def near_baseline(case, n=N):
    """A loss, a target, and scores about the baseline."""
    loss, y = case.make(), case.targets(np.random.default_rng(1), n)
    baseline = loss.baseline(y, np.ones(n))
    return loss, y, baseline + 0.5 * np.random.default_rng(2).standard_normal((n, len(baseline)))


def log_density(frozen, y):
    """The log density, or probability, of scipy."""
    return frozen.logpmf(y) if hasattr(frozen.dist, "pmf") else frozen.logpdf(y)


@cases
def test_value_is_scipys_log_density_and_mean_is_scipys_mean(case):
    loss, y, raw = near_baseline(case)
    response = loss.link.inverse(raw)
    assert response.shape == (N, len(loss.link.names))
    frozen = loss.frozen(response)
    np.testing.assert_allclose(-loss.value(y, raw), log_density(frozen, y[:, 0]), atol=1e-10)
    has_mean = np.isfinite(frozen.mean())
    np.testing.assert_allclose(loss.mean(response)[has_mean], frozen.mean()[has_mean])
    assert frozen.std().shape == (N,)
    assert frozen.ppf([[0.1], [0.9]]).shape == (2, N)
    assert pickle.loads(pickle.dumps(frozen)).cdf(y[:, 0]).shape == (N,)


LIMITS = {
    "normal": [(0.0, -13.0), (1e3, -20.0)],
    "laplace": [(0.0, -13.0), (5.0, 5.0)],
    "student_t": [(0.0, -13.0, 8.0), (0.0, 0.0, 30.0)],
    "lognormal": [(0.0, -13.0), (3.0, 2.0)],
    "gamma": [(2.0, 20.0), (2.0, 28.0), (0.0, -5.0)],
    "beta": [(0.0, 20.0), (1.0, 27.0), (-12.0, 3.0)],
    "poisson": [(-30.0,), (12.0,)],
    "negative_binomial": [(2.0, 40.0), (-5.0, 60.0), (3.0, 400.0), (10.0, 20.0), (10.0, -8.0), (-30.0, -30.0)],
    "zero_inflated_poisson": [(3.0, 40.0), (0.0, -40.0), (12.0, 0.0), (-30.0, 0.0)],
}


@pytest.mark.parametrize("name", DISTRIBUTIONS.names())
def test_frozen_distributions_are_the_models_at_limits(name):
    """Shapes and sizes grow without limit where a target has less spread than a family expects."""
    loss = DISTRIBUTIONS.create(name)
    for raw in map(np.atleast_2d, LIMITS[name]):
        frozen = loss.frozen(loss.link.inverse(raw))
        y = frozen.ppf([[0.05], [0.3], [0.5], [0.9]])
        densities = -loss.value(y, np.tile(raw, (4, 1)))
        assert np.isfinite(densities).all()
        np.testing.assert_allclose(log_density(frozen, y)[:, 0], densities, atol=1e-4)
        np.testing.assert_allclose(frozen.mean(), loss.mean(loss.link.inverse(raw)), rtol=1e-9)
        assert (frozen.cdf(y)[:, 0] >= np.array([0.05, 0.3, 0.5, 0.9]) - 1e-6).all()
        assert np.isfinite(frozen.rvs(size=(1,), random_state=0)).all()


def test_the_negative_binomial_distribution_is_scipys():
    mean, size, k = 3.0, np.array([0.5, 4.0, 1e3]), np.arange(40)[:, None]
    frozen, expected = negative_binomial(mu=mean, n=size), stats.nbinom(size, size / (size + mean))
    for name in ("pmf", "logpmf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(frozen, name)(k), getattr(expected, name)(k), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(frozen.ppf(k / 40.0), expected.ppf(k / 40.0))
    np.testing.assert_allclose([frozen.mean(), frozen.var()], [expected.mean(), expected.var()])


@cases
def test_information_is_the_mean_squared_gradient(case):
    loss, _, raw = near_baseline(case, 3)
    frozen, m = loss.frozen(loss.link.inverse(raw)), 8_000
    draws = frozen.ppf((np.arange(m)[:, None] + 0.5) / m)
    for k in range(3):
        gradient, hessian = loss.derivatives(draws[:, [k]], np.tile(raw[k], (m, 1)))
        information = np.hstack(loss.information(raw[[k]]))[0]
        np.testing.assert_allclose(np.square(gradient).mean(axis=0), information, rtol=0.03, atol=2e-5)
        # Steps of logs of parameters are natural gradients up to a length of 1, and longer by its log only.
        logs = slice(int(loss.has_location), None)
        step, natural = (np.abs(gradient / scale)[:, logs] for scale in (hessian, information))
        np.testing.assert_allclose(step, np.where(natural > 1.0, 1.0 + np.log(np.maximum(natural, 1.0)), natural))


@cases
@pytest.mark.filterwarnings("error")
def test_extreme_scores_have_numbers(case):
    loss, y, raw = near_baseline(case)
    loss = loss.prepared(y, np.ones(N))
    corners = np.stack(np.meshgrid(*[[-500.0, 0.0, 500.0]] * raw.shape[1]), axis=-1).reshape(-1, raw.shape[1])
    for corner in corners:
        at = np.tile(corner, (N, 1))
        gradient, hessian = loss.derivatives(y, at)
        response = loss.link.inverse(at)
        for values in (loss.value(y, at), gradient, hessian, response, loss.mean(response)):
            assert np.isfinite(values).all()
        assert (hessian > 0.0).all()


@cases
def test_units_make_hessians_of_the_baseline_about_1(case):
    loss, y, _ = near_baseline(case, 300)
    prepared = loss.prepared(y, np.ones(300))
    information = np.hstack(loss.information(loss.baseline(y, np.ones(300))[None]))
    np.testing.assert_allclose(information * prepared.unit, 1.0, rtol=1e-6)
    assert prepared.prepared(y, np.ones(300)) is prepared


@pytest.mark.parametrize("learner", ["tree", "symmetric_tree", "rff_newton"])
@pytest.mark.parametrize("name", SCALED)
def test_predictions_follow_the_unit_of_the_target(name, learner):
    X, y = RNG.standard_normal((200, 2)), SAMPLES[name](np.random.default_rng(0), 200)[:, 0]
    shift = 3.0 if name in ("normal", "laplace", "student_t") else 0.0
    params = {"learner": learner, "n_estimators": 8, "early_stopping": False, "random_state": 0}
    one = RFFBoostDistribution(name, **params).fit(X, y).predict_dist(X).ppf([[0.3], [0.8]])
    for factor in (1e-6, 1.4, 1e6, 2.0**-430):
        model = RFFBoostDistribution(name, **params).fit(X, factor * (y + shift))
        other = model.predict_dist(X).ppf([[0.3], [0.8]]) / factor - shift
        np.testing.assert_allclose(other, one, rtol=1e-3, atol=1e-3 * np.abs(one).max())


@pytest.mark.parametrize("name", ["normal", "laplace", "student_t"])
def test_targets_whose_squares_are_no_numbers_are_refused(name):
    with pytest.raises(ValueError, match="y must be given in other units, got numbers of up to"):
        DISTRIBUTIONS.create(name).prepared(np.array([[1e-170], [3e-170], [2e-170]]), np.ones(3))


RARE = {
    "rare events": lambda rng, x: rng.poisson(0.02 * np.exp(x)),
    "outliers": lambda rng, x: np.append(rng.poisson(3.0 * np.exp(0.3 * x[4:])), [3000.0] * 4),
}


@pytest.mark.parametrize("target", RARE)
@pytest.mark.parametrize("name", DISTRIBUTIONS.names())
def test_no_mean_is_far_beyond_the_targets(name, target):
    """Natural steps at a rare event are as long as the ratio of the event to its mean."""
    rng = np.random.default_rng(1)
    X, new = rng.standard_normal((400, 3)), rng.standard_normal((1000, 3))
    y, noise = RARE[target](rng, X[:, 0]).astype(float), np.exp(0.1 * rng.standard_normal(400))
    y = {"beta": (y + 1.0) / (y.max() + 2.0), "gamma": (y + 0.01) * noise, "lognormal": (y + 0.01) * noise}.get(
        name, y
    )
    # Kernel machines extrapolate; trees do not.
    learner = "tree" if name in ("beta", "student_t", "laplace", "normal", "lognormal") else "auto"
    model = RFFBoostDistribution(name, learner, n_estimators=25, random_state=0).fit(X, y)
    assert np.abs(model.predict(X)).max() < 5.0 * y.max()
    assert np.abs(model.predict(new)).max() < 50.0 * y.max()


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("lognormal", 0.0, "positive"),
        ("gamma", -1.0, "positive"),
        ("beta", 1.0, "above 0 and below 1"),
        ("poisson", 0.5, "whole numbers of at least 0"),
        ("negative_binomial", -1.0, "whole numbers of at least 0"),
        ("zero_inflated_poisson", 1.5, "whole numbers of at least 0"),
    ],
)
def test_targets_are_checked(name, wrong, words):
    y = np.array([[1.0], [wrong]]) if name != "beta" else np.array([[0.5], [wrong]])
    with pytest.raises(ValueError, match=f"y must be {words}, got {wrong:g}"):
        DISTRIBUTIONS.create(name).prepared(y, np.ones(2))
    with pytest.raises(ValueError, match=r"y must have one column .*got 2"):
        DISTRIBUTIONS.create(name).n_scores(np.ones((3, 2)))


EDGES = {
    "constant": np.full(30, 0.5),
    "zeros": np.zeros(30),
    "ones": np.ones(30),
    "a single one": np.eye(30)[0],
    "a single large number": 1e6 * np.eye(30)[0],
    "large": np.full(30, 1e6),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS.names())
def test_targets_without_spread_have_a_baseline(name):
    for y in EDGES.values():
        loss = DISTRIBUTIONS.create(name)
        try:
            loss.check_target(y[:, None])
        except ValueError:
            continue
        assert np.isfinite(loss.baseline(y[:, None], np.ones(30))).all()
        assert np.isfinite(loss.prepared(y[:, None], np.ones(30)).unit).all()


@pytest.mark.parametrize("value", [0.4, 3.0, 0.0, 1e12])
@pytest.mark.parametrize("name", [*SCALED, "beta"])
def test_the_best_scale_of_equal_targets_is_the_resolution(name, value):
    """Else the likelihood would grow without limit."""
    y, weight = np.full((30, 1), value), np.ones(30)
    try:
        loss = DISTRIBUTIONS.create(name).prepared(y, weight)
    except ValueError:
        assert name in ("lognormal", "gamma", "beta")
        return
    at = loss.baseline(y, weight)[None]
    mean, std = loss.mean(loss.link.inverse(at)), loss.frozen(loss.link.inverse(at)).std()
    np.testing.assert_allclose(mean, value, rtol=1e-9)
    assert 0.0 < std <= 1e-5 * (value or 1.0)
    # Degrees of freedom have no best value.
    here, (gradient, hessian) = loss.value(y[:1], at), loss.derivatives(y[:1], at)
    assert (np.abs(gradient / hessian)[0, :2] < 1e-3).all()
    for change in (-1.0, 1.0):
        assert loss.value(y[:1], at + change * (np.arange(at.shape[1]) == 1)) > here


BY_DEFINITION = {
    stirling_remainder: lambda x: mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2,
    log_minus_digamma: lambda x: mp.log(x) - mp.digamma(x),
    scaled_trigamma: lambda x: x**2 * mp.psi(1, x) - x,
    partial(log_rising_factorial, count=7.0): lambda x: mp.loggamma(x + 7) - mp.loggamma(x),
    df_information: lambda x: (
        (x / 2) ** 2 * (mp.psi(1, x / 2) - mp.psi(1, (x + 1) / 2))
        - x * (x + 5) / (2 * (x + 1) * (x + 3))
        - 2 * x / ((x + 1) ** 2 * (x + 3))
    ),
}


@pytest.mark.parametrize("function", BY_DEFINITION, ids=["stirling", "digamma", "trigamma", "rising", "df"])
@pytest.mark.parametrize(
    ("x", "rtol"), [(1e-3, 1e-13), (5.0, 1e-12), (31.9, 1e-11), (32.1, 2e-13), (201.0, 1e-10)]
)
def test_special_functions_agree_with_their_definitions(function, x, rtol):
    with mp.workdps(40):
        expected = float(BY_DEFINITION[function](mp.mpf(x)))
    np.testing.assert_allclose(function(np.array([x])), expected, rtol=rtol)


@pytest.mark.parametrize(("size", "mean"), [(0.1, 1.0), (1.0, 100.0), (10.0, 1.0), (1e6, 1e4)])
def test_information_of_the_size_is_its_series(size, mean):
    j, q = np.arange(2.0, 20_000.0), mean / (mean + size)
    series = size**2 * (q**j / j * beta(j, size)).sum()
    information = size_information(np.array([[size]]), np.array([[np.log(mean / size)]]))
    np.testing.assert_allclose(information, series, rtol=5e-3)


def test_the_zero_inflated_distribution_is_a_mixture():
    frozen, k = zero_inflated_poisson(rate=3.0, extra_zero=0.3), np.arange(40)
    pmf = 0.7 * stats.poisson(3.0).pmf(k) + 0.3 * (k == 0)
    np.testing.assert_allclose(frozen.pmf(k), pmf)
    np.testing.assert_allclose(frozen.cdf(k), np.cumsum(pmf))
    np.testing.assert_allclose([frozen.mean(), frozen.var()], [k @ pmf, k**2 @ pmf - (k @ pmf) ** 2])
    np.testing.assert_array_equal(frozen.ppf(frozen.cdf(k[:10])), k[:10])
    assert frozen.rvs(4_000, random_state=0).mean() == pytest.approx(2.1, abs=0.1)


def test_rates_and_least_hessians_apply_to_fits():
    y, raw = np.zeros((2, 1)), np.array([[0.3, 0.0], [0.3, 3.0]])
    gradient, hessian = Scales((2.0, 1.0), (1.0, 0.25), 0.5).apply(Normal().derivatives(y, raw))
    np.testing.assert_allclose(gradient[0], [0.6, 0.91])
    np.testing.assert_allclose(hessian, [[2.0, 8.0], [0.5, 8.0]])
