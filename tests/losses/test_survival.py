"""Losses of survival analysis: Efron's formula by sums over rows, and likelihoods by scipy.stats."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from scipy import stats

from rffboost_ext import LOSSES, Observations
from rffboost_ext.contracts.fit import prepared_loss
from rffboost_ext.losses import Cox
from rffboost_ext.metrics import concordance_index

from ..cases import bounds, event_and_time

DISTRIBUTIONS = {"aft_normal": stats.norm, "aft_logistic": stats.logistic, "aft_extreme": stats.gumbel_l}
of_times = pytest.mark.parametrize("name", DISTRIBUTIONS)
N = 60


def efron(y, raw, weight):
    """The total loss, summed over the events of every time."""
    event, time = y.T
    risk, total = weight * np.exp(raw[:, 0]), -float((weight * event) @ raw[:, 0])
    for t in np.unique(time[event > 0.0]):
        tied = (time == t) & (event > 0.0)
        for gone in np.arange(tied.sum()) / tied.sum():
            total += weight[tied].mean() * np.log(risk[time >= t].sum() - gone * risk[tied].sum())
    return total


def cox_state(seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return event_and_time(rng, N), spread * rng.standard_normal((N, 1)), rng.uniform(0.2, 3.0, N)


def test_cox_is_efrons_partial_likelihood():
    y, raw, weight = cox_state()
    assert weight @ Cox().value(y, raw, weight) == pytest.approx(efron(y, raw, weight), rel=1e-12)


def test_cox_hessian_bounds_the_whole_second_derivative():
    y, raw, weight = cox_state()
    _, hessian = Cox().derivatives(y, raw, weight)
    steps = 1e-5 * np.eye(N)[:, :, None]
    slopes = [
        [weight * Cox().derivatives(y, raw + sign * step, weight)[0][:, 0] for sign in (1, -1)] for step in steps
    ]
    second = np.array([(up - down) / 2e-5 for up, down in slopes])
    assert np.linalg.eigvalsh(np.diag(weight * hessian[:, 0]) - second)[0] > -1e-6


def test_cox_depends_on_differences_of_scores_and_the_order_of_times_only():
    y, raw, weight = cox_state()
    expected = Cox().value(y, raw, weight), *Cox().derivatives(y, raw, weight)
    later = np.column_stack([y[:, 0], np.exp(y[:, 1])])
    moved = Cox().value(later, raw + 300.0, weight), *Cox().derivatives(later, raw + 300.0, weight)
    for one, other in zip(moved, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@of_times
@pytest.mark.parametrize("sigma", [0.3, 1.7])
def test_aft_is_the_likelihood_of_the_bounds(name, sigma):
    rng, law = np.random.default_rng(1), DISTRIBUTIONS[name]
    y, raw = bounds(rng, N), rng.normal(1.0, 0.7, (N, 1))
    with np.errstate(divide="ignore"):
        low, high = (np.log(y) - raw).T / sigma
    observed = low == high
    probability = np.where(low > 0.0, law.sf(low) - law.sf(high), law.cdf(high) - law.cdf(low))
    expected = np.where(
        observed, np.log(sigma * y[:, 0].clip(1e-9)) - law.logpdf(np.where(observed, low, 0.0)), 0.0
    )
    expected[~observed] = -np.log(probability[~observed])
    np.testing.assert_allclose(LOSSES.create(name, sigma=sigma).value(y, raw), expected, rtol=1e-9, atol=1e-12)


@of_times
def test_aft_curvature_is_exact_far_from_the_bounds(name):
    y, loss, step = bounds(np.random.default_rng(2), N), LOSSES.create(name, sigma=0.5), 1e-5
    for shift in (-8.0, -3.0, 3.0, 8.0):
        raw = np.full((N, 1), shift)
        gradient, hessian = loss.derivatives(y, raw)
        numeric = (loss.value(y, raw + step) - loss.value(y, raw - step)) / (2.0 * step)
        np.testing.assert_allclose(gradient[:, 0], numeric, rtol=1e-5, atol=1e-8)
        numeric = (loss.derivatives(y, raw + step)[0] - loss.derivatives(y, raw - step)[0]) / (2.0 * step)
        np.testing.assert_allclose(hessian, numeric.clip(1e-15), rtol=1e-4, atol=1e-7)


@of_times
def test_aft_narrow_intervals_tend_to_exact_times(name):
    loss, raw, time = LOSSES.create(name, sigma=0.5), np.array([[0.0], [1.0], [3.0]]), np.full((3, 1), 2.0)
    exact = loss.derivatives(np.hstack([time, time]), raw)
    for width in (1e-4, 1e-9, 1e-15):
        near = loss.derivatives(np.hstack([time, time * (1.0 + width)]), raw)
        np.testing.assert_allclose(near, exact, rtol=1e-3, atol=1e-3)


@of_times
def test_sigma_is_that_of_the_data(name):
    rng = np.random.default_rng(0)
    time = np.exp(2.0 + 0.4 * DISTRIBUTIONS[name].rvs(size=4_000, random_state=rng))
    censored = 2.0 * time.mean() * rng.random(4_000)
    y = np.column_stack([np.minimum(time, censored), np.where(time <= censored, time, np.inf)])
    loss = LOSSES.create(name).prepared(y, np.ones(4_000))
    assert loss.sigma == pytest.approx(0.4, rel=0.05)
    assert loss.baseline(y, np.ones(4_000))[0] == pytest.approx(2.0, rel=0.02)


FAULTS = [
    ("cox", [[0.5, 1.0]], "y must hold 0 or 1 in its first column.* got 0.5; bounds of times"),
    ("cox", [[1.0, -2.0]], "y must hold times of at least 0, got -2"),
    ("cox", [[0.0, 2.0]], "y must have an event"),
    ("cox", [[1.0, 2.0, 3.0]], "y must have two columns, event and time, got 3"),
    ("aft_normal", [[2.0, 1.0]], r"y must hold bounds of times.* got \[2.0, 1.0\]"),
    ("aft_normal", [[1.0, 5.0], [0.0, 7.0], [1.0, 1.0]], "y must hold bounds of times.* got 0 and 1 in the first"),
    ("aft_normal", [[-2.0, 1.0]], r"y must hold bounds of times.* got \[-2.0, 1.0\]"),
    ("aft_normal", [[np.inf, np.inf]], r"y must hold bounds of times.* got \[inf, inf\]"),
    ("aft_normal", [[0.0, 1.0]], "y must have a time with a positive and finite lower bound"),
    ("aft_normal", [[1.0, np.inf]], "y must have a time with a positive and finite upper bound"),
    ("aft_normal", [[1.0]], "y must have two columns, lower and upper bound of the time, got 1"),
]


@pytest.mark.parametrize("y", [[[1.0, 1.0], [0.0, np.inf]], [[0.0, 1.0], [1.0, 2.0], [2.0, np.inf]]])
def test_bounds_of_0_and_1_are_no_events(y):
    assert prepared_loss(LOSSES.create("aft_normal"), Observations(np.array(y), np.ones(len(y)))).sigma > 0.0


@pytest.mark.parametrize("host", ["xgboost.XGBRegressor", "lightgbm.LGBMRegressor"])
def test_hosts_and_metrics_refuse_events_and_times_for_bounds(host):
    module, name = host.split(".")
    estimator = getattr(importlib.import_module(f"rffboost_ext.interop.{module}"), name)
    y = event_and_time(np.random.default_rng(0), N)
    with pytest.raises(ValueError, match="y must hold bounds of times"):
        estimator(loss="aft_normal", n_estimators=2).fit(np.zeros((N, 2)), y)
    with pytest.raises(ValueError, match="y must hold bounds of times"):
        concordance_index(y, np.zeros(N))


@pytest.mark.parametrize(("name", "y", "fault"), FAULTS)
def test_invalid_targets_are_named(name, y, fault):
    with pytest.raises(ValueError, match=fault):
        prepared_loss(LOSSES.create(name), Observations(np.array(y), np.ones(len(y))))
