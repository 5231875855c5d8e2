"""Laws of losses, over the registry."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from rffboost_ext.losses import Signed

from .cases import LOSS_CASES

loss_cases = pytest.mark.parametrize("case", LOSS_CASES, ids=str)
N = 40
STEP = 1e-5


def state(case, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    return case.make(), case.targets(rng, N), spread * rng.standard_normal((N, 1))


@loss_cases
def test_shapes(case):
    loss, y, raw = state(case)
    assert loss.value(y, raw).shape == (N,)
    assert [a.shape for a in loss.derivatives(y, raw)] == [raw.shape, raw.shape]
    assert loss.baseline(y, np.ones(N)).shape == (1,)


@loss_cases
def test_gradient_is_the_derivative_of_the_value(case):
    loss, y, raw = state(case)
    gradient, _ = loss.derivatives(y, raw)
    numeric = (loss.value(y, raw + STEP) - loss.value(y, raw - STEP)) / (2.0 * STEP)
    np.testing.assert_allclose(gradient[:, 0], numeric, rtol=1e-7, atol=1e-9)


@loss_cases
def test_hessian_is_the_derivative_of_the_gradient(case):
    loss, y, raw = state(case)
    _, hessian = loss.derivatives(y, raw)
    up, down = (loss.derivatives(y, raw + h)[0] for h in (STEP, -STEP))
    numeric = (up - down) / (2.0 * STEP)
    assert (hessian > 0.0).all()
    if loss.exact_hessian:
        np.testing.assert_allclose(hessian, numeric, rtol=1e-7, atol=1e-9)
    else:
        assert (hessian >= numeric - 1e-9).all()


@loss_cases
def test_bounded_ratio_is_a_fact(case):
    loss, y, raw = state(case, spread=5.0)
    gradient, hessian = loss.derivatives(y, raw)
    assert loss.bounded_ratio == bool((np.abs(gradient) <= hessian * (1.0 + 1e-12)).all())


@loss_cases
@pytest.mark.parametrize("weighted", [False, True])
def test_baseline_minimises_the_weighted_loss(case, weighted):
    loss, y, _ = state(case)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, N) if weighted else np.ones(N)

    def total(score):
        return weight @ loss.value(y, np.full((N, 1), score))

    best = minimize_scalar(total, bracket=(-1.0, 1.0), tol=1e-12)
    baseline = float(loss.baseline(y, weight)[0])
    assert total(baseline) <= best.fun * (1.0 + 1e-12)
    assert baseline == pytest.approx(best.x, abs=1e-6)


@loss_cases
def test_baseline_of_weight_two_is_that_of_the_row_twice(case):
    loss, y, _ = state(case)
    weight = np.where(np.arange(N) < N // 4, 2.0, 1.0)
    twice = np.repeat(y, weight.astype(int), axis=0)
    np.testing.assert_allclose(loss.baseline(y, weight), loss.baseline(twice, np.ones(len(twice))), rtol=1e-12)


@loss_cases
def test_response(case):
    loss, _, raw = state(case)
    response = loss.inverse_link(np.sort(raw, axis=0))
    assert (np.diff(response[:, -1]) >= 0.0).all(), "the response increases with the score"
    if loss.task == "classification":
        assert response.shape == (N, 2)
        assert response.min() >= 0.0
        assert response.max() <= 1.0
        np.testing.assert_allclose(response.sum(axis=1), 1.0, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(np.sort(raw[:, 0]) > 0.0, response[:, 1] > 0.5)


@loss_cases
def test_response_of_the_baseline_is_the_weighted_mean(case):
    # Holds for every loss whose score at a constant fits the mean of the target.
    loss, y, _ = state(case)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, N)
    response = loss.inverse_link(loss.baseline(y, weight)[None])[0, -1]
    assert response == pytest.approx(np.average(y[:, 0], weights=weight), abs=1e-12)


@loss_cases
@pytest.mark.parametrize("extreme", [-1e3, 1e3])
def test_extreme_scores_are_finite_and_silent(case, extreme):
    loss, y, raw = state(case)
    raw = np.full_like(raw, extreme)
    with np.errstate(divide="raise", over="raise", invalid="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [loss.value(y, raw), *loss.derivatives(y, raw), loss.inverse_link(raw)]
        assert all(np.isfinite(a).all() for a in results)
        assert np.isfinite(results[0].sum() * 1e6), "sums over many rows stay finite"


@loss_cases
def test_one_class_has_a_finite_baseline(case):
    loss, y, _ = state(case)
    for constant in (y.min(), y.max()):
        assert np.isfinite(loss.baseline(np.full_like(y, constant), np.ones(N))).all()


@loss_cases
def test_arguments_stay_as_they_are(case):
    loss, y, raw = state(case)
    weight = np.ones(N)
    for array in (y, raw, weight):
        array.flags.writeable = False
    results = [loss.value(y, raw), *loss.derivatives(y, raw), loss.baseline(y, weight), loss.inverse_link(raw)]
    again = [loss.value(y, raw), *loss.derivatives(y, raw), loss.baseline(y, weight), loss.inverse_link(raw)]
    for first, second in zip(results, again, strict=True):
        np.testing.assert_array_equal(first, second)


@loss_cases
@pytest.mark.parametrize("copy", [clone, lambda loss: pickle.loads(pickle.dumps(loss))], ids=["clone", "pickle"])
def test_copies_are_the_same_loss(case, copy):
    loss, y, raw = state(case)
    twin = copy(loss)
    assert type(twin) is type(loss)
    assert repr(twin) == repr(loss)
    np.testing.assert_array_equal(twin.value(y, raw), loss.value(y, raw))


def test_log_loss_keeps_the_digits_of_small_gradients():
    loss = next(case for case in LOSS_CASES if case.name == "log_loss").make()
    y, raw = np.array([[0.0], [0.0], [1.0]]), np.array([[-50.0], [-20.0], [40.0]])
    gradient, hessian = loss.derivatives(y, raw)
    wrong = np.exp(-np.abs(raw)) / (1.0 + np.exp(-np.abs(raw)))
    np.testing.assert_allclose(gradient, np.where(y == 0.0, wrong, -wrong), rtol=1e-12)
    np.testing.assert_allclose(hessian, wrong * (1.0 - wrong), rtol=1e-12)


def test_signed_takes_regression_losses_only():
    with pytest.raises(ValueError, match="loss must be a regression loss"):
        Signed(next(case for case in LOSS_CASES if case.name == "exponential").make()).validate()
