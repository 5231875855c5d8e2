"""Searches that start on a part of the rows: what the part is, and that they end on all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, rosen, rosen_der

from rffboost_ext import LEARNERS, MATCHES, RFF1, Design, Optimizer, RFFBoostClassifier, presets
from rffboost_ext.learners.fourier import START_ROWS
from rffboost_ext.learners.objectives import PlainObjective, TiledObjective
from rffboost_ext.optimizers import FINISH, LBFGS
from rffboost_ext.tiles import ROWS

from .cases import LOSS_CASES, Array, make_round

BINARY = LOSS_CASES[0]
OMEGA, PHASE = np.array([0.4, -1.0, 0.3]), 0.5
matches = pytest.mark.parametrize("match", MATCHES.names())


def rosenbrock(x: Array) -> tuple[float, Array]:
    return rosen(x), rosen_der(x)


def moved(x: Array) -> tuple[float, Array]:
    """Much like Rosenbrock's function, with its minimum elsewhere."""
    return 1.1 * rosen(x - 0.05), 1.1 * rosen_der(x - 0.05)


def counted(fun):
    """The function, and how often it has been called."""
    calls = []

    def count(x):
        calls.append(1)
        return fun(x)

    return count, calls


def problem(match: str, precision: str = "float64", n_jobs: int = 1):
    """A round of five tiles and a bit, and its two objectives."""
    round = make_round(BINARY, 0, 5 * ROWS + 7, len(OMEGA))
    round = replace(round, design=Design(round.design.original, n_jobs=n_jobs, precision=precision))
    made = MATCHES.create(match)
    return round, made, TiledObjective(round, made.compiled(round))


@matches
def test_the_part_is_every_kth_tile(match):
    round, made, tiled = problem(match)
    part = tiled.roughly_by_frequency(PHASE, 2 * ROWS)
    # Three tiles of six, which count twice.
    visited = np.arange(len(round.weight)) // ROWS % 3 == 0
    weight = round.weight * np.where(visited, 6 / 2, 0.0)
    constant = float(round.weight @ np.square(round.residual[:, 0])) if match == "squared" else 0.0
    counted_ = float(weight @ np.square(round.residual[:, 0])) if match == "squared" else 0.0
    value, _ = made(round, np.cos(round.design.X @ OMEGA - PHASE))
    expected = (weight @ value - counted_ + constant) / round.total_weight
    assert part(OMEGA)[0] == pytest.approx(expected, rel=1e-10)
    numeric = approx_fprime(OMEGA, lambda omega: part(omega)[0], 1e-7)
    np.testing.assert_allclose(part(OMEGA)[1], numeric, rtol=1e-4, atol=1e-5)


@matches
def test_a_part_leaves_no_outputs_behind(match):
    round, _, tiled = problem(match)
    expected = np.cos(round.design.X @ OMEGA - PHASE)
    tiled.at_frequency(OMEGA, PHASE)
    tiled.roughly_by_frequency(PHASE, ROWS)(2.0 * OMEGA)
    np.testing.assert_allclose(tiled.output(OMEGA, PHASE), expected, atol=1e-10)


def test_there_is_no_part_of_more_than_half_the_rows():
    round, made, tiled = problem("exponential")
    assert tiled.roughly_by_frequency(PHASE, 3 * ROWS) is not None
    assert tiled.roughly_by_frequency(PHASE, 3 * ROWS + 1) is None
    assert tiled.roughly_by_frequency(PHASE, 10**9) is None
    assert PlainObjective(round, made).roughly_by_frequency(PHASE, 1) is None


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_threads_change_no_bit_of_a_part(precision):
    tiled = (problem("exponential", precision, n_jobs)[2] for n_jobs in (1, 2))
    one, two = (objective.roughly_by_frequency(PHASE, ROWS)(OMEGA) for objective in tiled)
    assert one[0] == two[0]
    np.testing.assert_array_equal(one[1], two[1])


def test_stages_end_at_the_function_itself_with_what_is_known_of_its_curvature():
    start, optimizer = np.full(4, -1.2), LBFGS(max_iter=60)
    (rough, rough_calls), (fun, calls) = counted(moved), counted(rosenbrock)
    found = optimizer.minimise_in_stages(rough, fun, start)
    near = optimizer.minimise(moved, start)
    assert rosen(found) < 0.01 * rosen(near)
    assert 1 < len(calls) < len(rough_calls)
    # Without the curvature as many iterations come less far.
    assert rosen(found) < rosen(LBFGS(max_iter=FINISH).minimise(rosenbrock, near))


def test_stages_of_the_same_function_go_on_where_the_first_ended():
    start = np.full(4, -1.2)
    found = LBFGS(max_iter=5).minimise_in_stages(rosenbrock, rosenbrock, start)
    assert rosen(found) < rosen(LBFGS(max_iter=5).minimise(rosenbrock, start))
    near = LBFGS(max_iter=500).minimise_in_stages(moved, rosenbrock, start)
    np.testing.assert_allclose(near[:2], 1.0, atol=0.01)


def test_an_optimizer_of_the_users_takes_one_function_after_the_other():
    class Steps(Optimizer):
        def minimise(self, fun, x0, bounds=None):
            for _ in range(3):
                x0 = x0 - 1e-3 * fun(x0)[1]
            return x0

    start, steps = np.full(2, -1.2), Steps()
    expected = steps.minimise(rosenbrock, steps.minimise(moved, start))
    np.testing.assert_array_equal(steps.minimise_in_stages(moved, rosenbrock, start), expected)


def classes(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)).astype(np.float32)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n) > 0.0).astype(int)


@pytest.mark.parametrize("l2", [0.0, 0.01])
def test_a_start_on_a_part_costs_no_accuracy(l2):
    def score(seed, rows):
        X, y = classes(24 * ROWS, seed)
        model = RFFBoostClassifier("exponential", RFF1(l2=l2, start_rows=rows), n_estimators=40, random_state=seed)
        return model.fit(X[: 20 * ROWS], y[: 20 * ROWS]).score(X[20 * ROWS :], y[20 * ROWS :])

    whole, started = (np.array([score(seed, rows) for seed in range(4)]) for rows in (None, 4 * ROWS))
    assert (started != whole).all()
    assert started.mean() > whole.mean() - 0.005


@pytest.mark.parametrize(
    ("precision", "tiles", "same"), [("float64", 2, True), ("float32", 2, False), ("float32", 1, True)]
)
def test_auto_is_by_precision_and_number_of_rows(precision, tiles, same):
    X, y = classes(tiles * START_ROWS["float32"])
    auto, whole = (
        presets.gbrff2(2, random_state=0, precision=precision)
        .set_params(**more)
        .fit(X, y)
        .decision_function(X[:50])
        for more in ({}, {"learner__start_rows": None})
    )
    assert (auto == whole).all() == same


@pytest.mark.parametrize("rows", [0, -1, 0.5, "all", True])
def test_bad_rows_are_named(rows):
    X, y = classes(50)
    with pytest.raises((TypeError, ValueError), match="start_rows must be an integer >= 1"):
        RFFBoostClassifier(learner=LEARNERS.create("rff_1").set_params(start_rows=rows)).fit(X, y)
