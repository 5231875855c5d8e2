"""Laws of losses, over the registry."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rffboost_ext import Observations

from ..cases import LOSS_CASES, LOSS_NAMED, OWN_COLUMNS

loss_cases = pytest.mark.parametrize("case", LOSS_CASES, ids=str)
N = 40
STEP = 1e-5


def state(case, seed=0, spread=2.0):
    """A prepared loss, targets, and scores none of which is at a kink."""
    rng = np.random.default_rng(seed)
    y = case.targets(rng, N)
    return case.prepared(y), y, spread * rng.standard_normal((N, case.n_outputs))


@pytest.mark.parametrize("case", [case for case in LOSS_CASES if not case.make().exact_hessian], ids=str)
def test_the_diagonal_bounds_the_whole_second_derivative(case):
    loss, y, raw = state(case)
    _, hessian = loss.derivatives(y, raw)
    moved = [[loss.derivatives(y, raw + sign * h)[0] for sign in (1, -1)] for h in STEP * np.eye(raw.shape[1])]
    # (C, n, C): how each output's gradient changes with each score.
    numeric = np.array([(up - down) / (2.0 * STEP) for up, down in moved])
    gap = np.einsum("nc,cd->ncd", hessian, np.eye(raw.shape[1])) - numeric.transpose(1, 0, 2)
    assert (np.linalg.eigvalsh(gap)[:, 0] >= -1e-8 * (1.0 + hessian.max(axis=1))).all()


@loss_cases
def test_preparing_for_weight_two_is_for_the_row_twice(case):
    _, y, _ = state(case)
    weight = np.random.default_rng(1).integers(1, 4, N)
    twice = np.repeat(y, weight, axis=0)
    order = np.random.default_rng(2).permutation(len(twice))
    assert repr(case.prepared(y, weight.astype(float))) == repr(case.prepared(twice[order]))


@loss_cases
def test_response_of_the_baseline_is_the_weighted_mean(case):
    loss, y, _ = state(case)
    if loss.fit_criterion == "scaled" and not loss.exact_hessian:
        pytest.skip("robust losses are not about the mean")
    weight = np.random.default_rng(1).uniform(0.1, 3.0, N)
    response = loss.link.inverse(loss.baseline(y, weight)[None])[0]
    expected = np.average(y, axis=0, weights=weight)
    if loss.task == "classification":
        expected = [np.average(y[:, 0] == k, weights=weight) for k in range(len(response))]
    np.testing.assert_allclose(response, expected, rtol=0, atol=1e-12)


@loss_cases
@pytest.mark.parametrize("extreme", [-1e3, 1e3])
@pytest.mark.parametrize("everywhere", [False, True])
def test_extreme_scores_are_finite_and_silent(case, extreme, everywhere):
    loss, y, raw = state(case)
    raw[:, slice(None) if everywhere else 0] = extreme
    with np.errstate(divide="raise", over="raise", invalid="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [loss.value(y, raw), *loss.derivatives(y, raw), loss.link.inverse(raw)]
        assert all(np.isfinite(a).all() for a in results)
        assert np.isfinite(results[0].sum() * 1e6), "sums over many rows stay finite"


@pytest.mark.parametrize("case", OWN_COLUMNS, ids=str)
def test_extreme_scores_of_targets_with_own_columns_are_finite(case):
    rng = np.random.default_rng(0)
    rows, raw = Observations(case.targets(rng, N), np.ones(N)), rng.uniform(-500.0, 500.0, (N, 1))
    loss = case.prepared(rows.y)
    for values in (rows.losses(loss, raw), *rows.derivatives(loss, raw)):
        assert np.isfinite(values).all()


@loss_cases
def test_a_constant_target_has_a_finite_baseline(case):
    loss, y, _ = state(case)
    for constant in (y.min(), y.max()):
        assert np.isfinite(loss.baseline(np.full_like(y, constant), np.ones(N))).all()


def test_log_loss_keeps_the_digits_of_small_gradients():
    loss = LOSS_NAMED["log_loss"].make()
    y, raw = np.array([[0.0], [0.0], [1.0]]), np.array([[-50.0], [-20.0], [40.0]])
    gradient, hessian = loss.derivatives(y, raw)
    wrong = np.exp(-np.abs(raw)) / (1.0 + np.exp(-np.abs(raw)))
    np.testing.assert_allclose(gradient, np.where(y == 0.0, wrong, -wrong), rtol=1e-12)
    np.testing.assert_allclose(hessian, wrong * (1.0 - wrong), rtol=1e-12)
