"""CRPS and negative log-likelihood: their definitions, and what early stopping monitors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score

from rffboost_ext import RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.losses.distributions.frozen import negative_binomial, zero_inflated_poisson
from rffboost_ext.metrics import crps, nll
from rffboost_ext.metrics.distributions import crps_of_rows

N = 30
RNG = np.random.default_rng(0)
SHIFT, SPREAD = RNG.normal(size=N), RNG.uniform(0.1, 3.0, N)
A, B = RNG.uniform(0.3, 5.0, (2, N))
REAL, POSITIVE, COUNT = 2.0 * RNG.normal(size=N), RNG.gamma(2.0, size=N), RNG.poisson(4, N).astype(float)
CASES = {
    "normal": (stats.norm(SHIFT, SPREAD), REAL),
    "laplace": (stats.laplace(loc=SHIFT, scale=SPREAD), REAL),
    "t": (stats.t(A + 1.2, SHIFT, scale=SPREAD), REAL),
    "lognormal": (stats.lognorm(s=SPREAD, scale=np.exp(SHIFT)), POSITIVE),
    "gamma": (stats.gamma(A, scale=SPREAD), POSITIVE),
    "beta": (stats.beta(A, B), RNG.uniform(size=N)),
    "gumbel": (stats.gumbel_r(SHIFT, SPREAD), REAL),
    "poisson": (stats.poisson(A), COUNT),
    "negative binomial": (negative_binomial(mu=20.0 * A, n=B), 10.0 * COUNT),
    "zeros": (zero_inflated_poisson(rate=A, extra_zero=0.2), COUNT),
}


@pytest.mark.parametrize("name", CASES)
def test_crps_is_the_integral_of_its_definition(name):
    frozen, y = CASES[name]
    tail = np.geomspace(1e-9, 0.5, 400)[:, None]
    x = np.sort(np.vstack([y, frozen.ppf(tail), frozen.isf(tail)]), axis=0)
    if hasattr(frozen.dist, "pmf"):
        x = np.arange(x.max() + 1.0)[:, None]
    # The distribution is constant between counts, and linear between near quantiles.
    left = np.square(frozen.cdf(x[:-1]) - (x[:-1] >= y))
    right = np.square(frozen.cdf(np.nextafter(x[1:], -np.inf)) - (x[:-1] >= y))
    expected = (np.diff(x, axis=0) * 0.5 * (left + right)).sum(axis=0)
    assert crps(y, frozen) == pytest.approx(expected.mean(), rel=5e-3)
    assert crps_of_rows(frozen, y) == pytest.approx(expected, rel=0.1, abs=0.01 * expected.mean())


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
