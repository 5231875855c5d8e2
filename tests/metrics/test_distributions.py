"""CRPS and negative log-likelihood: scoringrules, the definition, and what early stopping monitors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from rffboost_ext import RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.losses.distributions.frozen import negative_binomial, zero_inflated_poisson
from rffboost_ext.metrics import crps, nll
from rffboost_ext.metrics.distributions import CLOSED_FORMS, crps_by_quadrature, crps_by_sums, crps_of_rows

N = 30
RNG = np.random.default_rng(0)
SHIFT, SPREAD = RNG.normal(size=N), RNG.uniform(0.1, 3.0, N)
A, B = RNG.uniform(0.3, 5.0, (2, N))
REAL, POSITIVE, COUNT = 2.0 * RNG.normal(size=N), RNG.gamma(2.0, size=N), RNG.poisson(4, N).astype(float)
# Distribution, targets, and the arguments of scoringrules' function.
CASES = {
    "normal": (stats.norm(SHIFT, SPREAD), REAL, (SHIFT, SPREAD)),
    "laplace": (stats.laplace(loc=SHIFT, scale=SPREAD), REAL, (SHIFT, SPREAD)),
    "t": (stats.t(A + 1.2, SHIFT, scale=SPREAD), REAL, (A + 1.2, SHIFT, SPREAD)),
    "lognormal": (stats.lognorm(s=SPREAD, scale=np.exp(SHIFT)), POSITIVE, (SHIFT, SPREAD)),
    "gamma": (stats.gamma(A, scale=SPREAD), POSITIVE, (A, 1.0 / SPREAD)),
    "beta": (stats.beta(A, B), RNG.uniform(size=N), (A, B)),
    "poisson": (stats.poisson(A), COUNT, (A,)),
    "negbinom": (stats.nbinom(A, 0.4), COUNT, (A, 0.4)),
}


# Importing scoringrules takes long.
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_crps_is_that_of_scoringrules(name):
    rules = pytest.importorskip("scoringrules")
    frozen, y, arguments = CASES[name]
    np.testing.assert_allclose(crps_of_rows(frozen, y), getattr(rules, f"crps_{name}")(y, *arguments), rtol=1e-7)


OWN = {
    "negative binomial": (negative_binomial(mu=20.0 * A, n=B), 10.0 * COUNT, ()),
    "rare": (negative_binomial(mu=0.01 * A, n=0.1 * B), 1.0 * (COUNT > 6), ()),
    "near its limit": (negative_binomial(mu=A, n=10.0 ** (5.0 * B)), COUNT, ()),
    "zeros": (zero_inflated_poisson(rate=A, extra_zero=0.2), COUNT, ()),
}


@pytest.mark.parametrize("name", [*CASES, *OWN])
def test_sums_and_quadrature_agree_with_closed_forms(name):
    frozen, y, _ = (CASES | OWN)[name]
    general = crps_by_sums if hasattr(frozen.dist, "pmf") else crps_by_quadrature
    assert frozen.dist.name in CLOSED_FORMS
    np.testing.assert_allclose(general(frozen, y), crps_of_rows(frozen, y), rtol=1e-4)


def test_crps_of_other_distributions_is_its_definition():
    frozen, x = stats.gumbel_r(0.3, 2.0), np.linspace(-15.0, 60.0, 300_001)
    for y in (-3.0, 0.5, 9.0):
        integral = np.square(frozen.cdf(x) - (x >= y)).sum() * (x[1] - x[0])
        assert crps_of_rows(frozen, np.array([y])) == pytest.approx(integral, abs=2e-3)
    inflated, k = zero_inflated_poisson(rate=np.array([3.0, 1e4]), extra_zero=0.2), np.arange(40)
    scores = crps_of_rows(inflated, np.array([2.0, 9e3]))
    assert scores[0] == pytest.approx(np.square(inflated.cdf(k[:, None])[:, 0] - (k >= 2)).sum())
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("mean", [1e3, 1e6, 1e9])
def test_crps_of_counts_takes_a_bounded_number_of_terms(mean, monkeypatch):
    frozen, y, numbers = negative_binomial(mu=np.full(5, mean), n=2.0), mean * np.array([0.0, 0.5, 1, 2, 5]), []
    cdf, expected = frozen.cdf, crps(y / mean, stats.gamma(2.0, scale=0.5))
    monkeypatch.setattr(frozen, "cdf", lambda k: numbers.append(np.size(k)) or cdf(k))
    np.testing.assert_allclose(crps_by_sums(frozen, y).mean() / mean, expected, rtol=1e-3)
    assert sum(numbers) <= 4 * 5 * 1_000
    np.testing.assert_allclose(crps(y, frozen) / mean, expected, rtol=1e-3)


def test_means_are_weighted_and_arguments_checked():
    y, weight = REAL[:3], [1.0, 2.0, 0.0]
    one = stats.norm()
    assert nll(y, one, sample_weight=weight) == pytest.approx(-np.average(one.logpdf(y), weights=weight))
    assert crps(y, one, sample_weight=weight) == pytest.approx(np.average(crps_of_rows(one, y), weights=weight))
    with pytest.raises(TypeError, match=r"nll: y_dist must be a frozen distribution of scipy.stats, got 3"):
        nll(y, 3)
    with pytest.raises(ValueError, match=r"crps: y_true must have shape \(n,\).* got \(3,\) and 2"):
        crps(y, stats.norm([0.0, 1.0], 1.0))


def test_fits_monitor_them():
    X, y = RNG.standard_normal((120, 2)), RNG.gamma(2.0, size=120)
    rows = {"new": (X[80:], y[80:], RNG.uniform(0.5, 2.0, 40))}
    params = {"n_estimators": 5, "random_state": 0, "eval_metric": ["nll", "crps", "r2"]}
    model = RFFBoostDistribution("gamma", "tree", **params).fit(X[:80], y[:80], eval_set=rows)
    predicted, weight = model.predict_dist(X[80:]), rows["new"][2]
    curves = model.evals_result_["new"]
    assert curves["nll"][-1] == pytest.approx(nll(y[80:], predicted, sample_weight=weight))
    assert curves["crps"][-1] == pytest.approx(crps(y[80:], predicted, sample_weight=weight))
    assert curves["nll"][-1] == pytest.approx(-model.score(X[80:], y[80:], weight))
    assert curves["r2"][-1] == pytest.approx(r2_score(y[80:], model.predict(X[80:]), sample_weight=weight))
    with pytest.raises(
        ValueError, match="the loss must be a distribution for the metric 'crps', got SquaredError"
    ):
        RFFBoostRegressor(learner="tree", eval_metric="crps").fit(X[:80], y[:80], eval_set=rows)
