"""The optimizers against SciPy's: not only where they end, but every point that they try."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fmin_l_bfgs_b, rosen, rosen_der

from rffboost_ext.learners import FIT_CRITERIA
from rffboost_ext.learners.fourier.objectives import NumpyRisk
from rffboost_ext.learners.optimizers import LBFGS

from ..cases import ONE_OUTPUT, Array, make_round

Function = Callable[[Any], Any]
# SciPy's names and units for our defaults.
DEFAULTS = {"maxiter": 10, "pgtol": 1e-5, "factr": 1e7, "m": 10}


def recorded(fun: Function) -> tuple[Function, list[Array]]:
    """The function, and the list of points at which it will have been called."""
    points: list[Array] = []

    def record(x):
        points.append(np.array(x, dtype=float))
        return fun(x)

    return record, points


def ours(fun: Function, start: Array, **params: Any) -> tuple[Array, Array]:
    """The result of LBFGS and the points tried."""
    record, points = recorded(fun)
    return LBFGS(**params).minimise(record, start), np.array(points)


def scipys(fun: Function, start: Array, **params: Any) -> tuple[Array, Array]:
    """The result of SciPy's L-BFGS-B and the points tried."""
    record, points = recorded(fun)
    return fmin_l_bfgs_b(record, start, **(DEFAULTS | params))[0], np.array(points)


def frequency_problem(seed: int) -> tuple[Function, Array]:
    """What RFF-1 minimises over its frequency, and where it starts."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 11)), int(rng.integers(20, 200))
    round = make_round(ONE_OUTPUT[seed % len(ONE_OUTPUT)], seed, n, d)
    objective = NumpyRisk(round, FIT_CRITERIA.create(round.loss.fit_criterion))
    phase, l2 = rng.uniform(-np.pi, np.pi), rng.choice([0.0, 0.01])

    def fun(omega):
        value, gradient = objective.frequency_objective(phase)(omega)
        return value + l2 * (omega @ omega), gradient + 2.0 * l2 * omega

    return fun, rng.standard_normal(d) * np.sqrt(2.0 / d)


def quadratic(x: Array) -> tuple[float, Array]:
    curvature = np.arange(1.0, 1.0 + len(x))
    return float(0.5 * curvature @ np.square(x - 1.0)), curvature * (x - 1.0)


def rosenbrock(x: Array) -> tuple[float, Array]:
    return rosen(x), rosen_der(x)


def is_steady(fun: Function, start: Array, points: Array) -> bool:
    """Whether SciPy's own path stays where it is when the start is nudged; a chaotic one is no oracle."""
    for nudge in (1e-13, -1e-13, 1e-12, -1e-12, 1e-11):
        nudged = scipys(fun, start * (1.0 + nudge))[1]
        if len(nudged) != len(points) or np.abs(nudged - points).max() > 1e-6:
            return False
    return True


def test_points_tried_are_scipys():
    compared = 0
    for seed in (*range(60), 63, 105, 135, 183):
        fun, start = frequency_problem(seed)
        (result, points), (got, tried) = scipys(fun, start), ours(fun, start)
        if not is_steady(fun, start, points):
            np.testing.assert_allclose(tried[:5], points[:5], rtol=0, atol=1e-9)
            assert fun(got)[0] <= fun(result)[0] + 0.05 * (fun(start)[0] - fun(result)[0])
            continue
        compared += 1
        assert len(tried) == len(points), seed
        np.testing.assert_allclose(tried, points, rtol=0, atol=1e-6, err_msg=str(seed))
        np.testing.assert_allclose(got, result, rtol=0, atol=1e-6, err_msg=str(seed))
    assert compared >= 40


@pytest.mark.parametrize("memory", [1, 3, 10, 40])
@pytest.mark.parametrize("d", [2, 5, 10])
def test_rosenbrock(d, memory):
    start = np.full(d, -1.2)
    got, tried = ours(rosenbrock, start, max_iter=1000, memory=memory)
    result, points = scipys(rosenbrock, start, maxiter=1000, m=memory)
    np.testing.assert_allclose(tried[:15], points[:15], rtol=0, atol=1e-8)
    assert rosen(got) <= max(rosen(result) * 1.5, 1e-7)
    assert len(tried) <= 1.2 * len(points)


RULES = [{"maxiter": 1}, {"maxiter": 2}, {"maxiter": 5}]
RULES += [{"pgtol": tol, "factr": 0.0} for tol in (1.0, 0.01)] + [
    {"pgtol": 0.0, "factr": rel_tol / np.finfo(float).eps} for rel_tol in (1e-3, 0.3)
]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_stopping_rules_are_scipys(rules):
    start, rules = np.array([-1.2, 1.0, 0.5]), {"maxiter": 200} | rules
    names = {"maxiter": "max_iter", "pgtol": "tol", "factr": "rel_tol"}
    units = {"factr": np.finfo(float).eps}
    params = {names[name]: units.get(name, 1) * value for name, value in rules.items()}
    (got, tried), (result, points) = ours(rosenbrock, start, **params), scipys(rosenbrock, start, **rules)
    assert len(tried) == len(points)
    np.testing.assert_allclose(got, result, rtol=0, atol=1e-5)


@pytest.mark.parametrize("d", [1, 4])
def test_a_stationary_start_stays(d):
    start = np.ones(d)
    got, tried = ours(quadratic, start)
    assert len(tried) == 1
    np.testing.assert_array_equal(got, start)
    assert got is not start


def test_the_start_is_left_alone_and_buffers_may_be_used_again():
    gradient = np.empty(3)

    def fun(x):
        gradient[:] = rosen_der(x)
        return rosen(x), gradient

    start = np.array([-1.2, 1.0, 0.5])
    start.flags.writeable = False
    got, tried = ours(fun, start, max_iter=30)
    fresh, again = ours(rosenbrock, start, max_iter=30)
    np.testing.assert_array_equal(tried, again)
    np.testing.assert_array_equal(got, fresh)


def obstructed(first: int, count: int) -> Function:
    """A function of which evaluations `first` .. `first + count - 1` look far worse than they are."""
    calls = 0
    curvature = np.array([1.0, 10.0, 100.0, 5.0])

    def fun(x):
        nonlocal calls
        calls += 1
        value = 0.5 * curvature @ np.square(x) + 0.1 * np.sum(x**4)
        wall = 1e3 if first <= calls < first + count else 0.0
        return float(value + wall), curvature * x + 0.4 * x**3

    return fun


@pytest.mark.parametrize("first", range(3, 13))
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_failed_line_search_starts_again_along_the_gradient(first, count):
    # A wall that all steps along a direction run into, and that is gone later.
    start = np.ones(4)
    got, _ = ours(obstructed(first, count), start, max_iter=60)
    result, _ = scipys(obstructed(first, count), start, maxiter=60)
    truth = obstructed(0, 0)
    assert truth(got)[0] <= truth(result)[0] * (1.0 + 1e-6) + 1e-9


@pytest.mark.parametrize("first", [2, 5])
def test_without_any_way_down_the_best_point_is_kept(first):
    fun, truth = obstructed(first, 10_000), obstructed(0, 0)
    got, tried = ours(fun, np.ones(4), max_iter=60)
    best = min(truth(x)[0] for x in tried[: first - 1])
    assert truth(got)[0] == pytest.approx(best, rel=1e-9)
    assert len(tried) <= first + 42, "at most one more line search after a failed one"


def uphill(x: Array) -> tuple[float, Array]:
    """A gradient of the wrong sign."""
    return float(x @ x), -2.0 * x


def kink(x: Array) -> tuple[float, Array]:
    """Not smooth at the minimum."""
    return float(np.abs(x).sum()), np.sign(x)


def cliff(x: Array) -> tuple[float, Array]:
    """Without a lower bound."""
    return float(-np.exp(min(x.sum(), 300.0))), np.full_like(x, -np.exp(min(x.sum(), 300.0)))


def plateau(x: Array) -> tuple[float, Array]:
    """Flat but for a gradient that is not there."""
    return 1.0, np.full_like(x, 0.1)


@pytest.mark.parametrize("fun", [uphill, kink, cliff, plateau])
@pytest.mark.parametrize("d", [1, 3])
def test_bad_functions_come_to_an_end_no_higher(fun, d):
    start = np.linspace(0.3, 0.9, d)
    got, tried = ours(fun, start, max_iter=20)
    assert np.isfinite(got).all()
    assert fun(got)[0] <= fun(start)[0]
    assert len(tried) <= 20 * 40


SIGNS = [[0.0, 1.0, -1.0], [-1.0, -1.0, 1.0], [0.0, 0.0, 1e-4]]
CONTRADICTIONS = {
    "mixed": ([0.0, 1.0, -1.0], SIGNS),
    "huge values": ([1e300, -1e300, 0.0], SIGNS),
    "huge slopes": ([0.0, 1.0, -1.0], [[1e200, 0.0, 1.0]]),
    "nan": ([np.nan, 1.0, 0.0], SIGNS),
    "infinity": ([np.inf, 0.0, 1.0], SIGNS),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictory_functions_come_to_an_end(name):
    # As a user's loss may be, where it overflows: values and slopes that have nothing to do with one another.
    values, slopes = CONTRADICTIONS[name]
    for seed in range(300):
        rng = np.random.default_rng(seed)
        chosen, d = slopes[seed % len(slopes)], 1 + seed % 3
        got, tried = ours(lambda x: (rng.choice(values), rng.choice(chosen, len(x))), np.zeros(d))  # noqa: B023
        assert np.isfinite(got).all()
        assert len(tried) <= 10 * 40
