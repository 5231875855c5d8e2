"""Searches that start on a part of the rows: what the part is, and that they end on all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, rosen, rosen_der

from rffboost_ext import RFF1, Design, Optimizer, presets
from rffboost_ext.learners import FIT_CRITERIA
from rffboost_ext.learners.fourier.first_order import START_ROWS
from rffboost_ext.learners.fourier.objectives import CompiledRisk, NumpyRisk
from rffboost_ext.learners.optimizers import FINAL_ITERATIONS, LBFGS
from rffboost_ext.learners.subsampling import draw_by_gradient
from rffboost_ext.learners.tiles import ROWS_PER_TILE

from ..cases import LOSS_CASES, Array, make_round

BINARY = LOSS_CASES[0]
OMEGA, PHASE = np.array([0.4, -1.0, 0.3]), 0.5
matches = pytest.mark.parametrize("fit_criterion", FIT_CRITERIA.names())


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


def problem(fit_criterion: str, precision: str = "float64", n_jobs: int = 1, weight: Array | None = None):
    """A round of eleven tiles and a bit, a match and the compiled objective."""
    round = make_round(BINARY, 0, 11 * ROWS_PER_TILE + 7, len(OMEGA), weight=weight)
    round = replace(round, design=Design(round.design.original, n_jobs=n_jobs, precision=precision))
    made = FIT_CRITERIA.create(fit_criterion)
    return round, made, CompiledRisk(round, made.compiled(round))


@matches
@pytest.mark.parametrize("weighted", [False, True])
def test_the_part_is_every_kth_tile(fit_criterion, weighted):
    n = 11 * ROWS_PER_TILE + 7
    weight = np.random.default_rng(0).uniform(0.5, 2.0, n) if weighted else np.ones(n)
    round, made, tiled = problem(fit_criterion, weight=weight)
    part = tiled.subsampled_frequency_objective(PHASE, 2 * ROWS_PER_TILE + 1)
    # Tiles 0, 4 and 8 of twelve: the largest step that leaves three.
    visited = np.where(np.arange(len(round.weight)) // ROWS_PER_TILE % 4 == 0, round.weight, 0.0)
    value, _ = made(round, np.cos(round.design.X @ OMEGA - PHASE))
    if fit_criterion == "squared":
        # What no cosine changes is that of all rows.
        value -= np.square(round.residual[:, 0]) - round.mean(np.square(round.residual[:, 0]))
    assert part(OMEGA)[0] == pytest.approx(visited @ value / visited.sum(), rel=1e-10)
    numeric = approx_fprime(OMEGA, lambda omega: part(omega)[0], 1e-7)
    np.testing.assert_allclose(part(OMEGA)[1], numeric, rtol=1e-4, atol=1e-5)


@matches
def test_a_part_leaves_no_outputs_behind(fit_criterion):
    round, _, tiled = problem(fit_criterion)
    expected = np.cos(round.design.X @ OMEGA - PHASE)
    tiled.frequency_objective(PHASE)(OMEGA)
    for omega in (2.0 * OMEGA, OMEGA):
        tiled.frequency_objective(PHASE)(2.0 * OMEGA)
        tiled.subsampled_frequency_objective(PHASE, ROWS_PER_TILE)(omega)
        np.testing.assert_allclose(tiled.output(OMEGA, PHASE), expected, atol=1e-10)


def test_there_is_no_part_that_would_save_little():
    round, made, tiled = problem("exponential")
    assert tiled.subsampled_frequency_objective(PHASE, 3 * ROWS_PER_TILE) is not None
    assert tiled.subsampled_frequency_objective(PHASE, 3 * ROWS_PER_TILE + 1) is None
    assert tiled.subsampled_frequency_objective(PHASE, 10**9) is None
    assert NumpyRisk(round, made).subsampled_frequency_objective(PHASE, 1) is None
    # Tiles 0, 4 and 8 hardly count.
    weight = np.where(np.arange(len(round.weight)) // ROWS_PER_TILE % 4 == 0, 1e-9, 1.0)
    of_others = problem("exponential", weight=weight)[2]
    assert of_others.subsampled_frequency_objective(PHASE, 3 * ROWS_PER_TILE) is None


def test_stages_end_at_the_function_itself_with_what_is_known_of_its_curvature():
    start, optimizer = np.full(4, -1.2), LBFGS(max_iter=60)
    (rough, rough_calls), (fun, calls) = counted(moved), counted(rosenbrock)
    found = optimizer.minimise_in_stages(rough, fun, start)
    near = optimizer.minimise(moved, start)
    assert rosen(found) < 0.01 * rosen(near)
    assert 1 < len(calls) < len(rough_calls)
    # Without the curvature as many iterations come less far.
    assert rosen(found) < rosen(LBFGS(max_iter=FINAL_ITERATIONS).minimise(rosenbrock, near))


class Steps(Optimizer):
    """A user's own."""

    def minimise(self, fun, x0):
        for _ in range(3):
            x0 = x0 - 1e-3 * fun(x0)[1]
        return x0


class Clipped(LBFGS):
    """A user's change of ours."""

    def minimise(self, fun, x0):
        return np.clip(super().minimise(fun, x0), -0.5, 0.5)


@pytest.mark.parametrize("optimizer", [Steps(), Clipped()])
def test_an_optimizer_of_the_users_works_on_the_function_itself(optimizer):
    start = np.full(2, -1.2)
    found = optimizer.minimise_in_stages(moved, rosenbrock, start)
    np.testing.assert_array_equal(found, optimizer.minimise(rosenbrock, start))


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_the_search_starts_on_the_part_and_ends_on_all_rows(l2):
    seen = {}

    class Look(LBFGS):
        def minimise_in_stages(self, rough, fun, x0):
            seen.update(rough=rough(x0), fun=fun(x0), start=x0)
            return x0

    round, made, tiled = problem("exponential")
    term, _ = RFF1(l2=l2, fit_criterion=made, optimizer=Look(), start_rows=3 * ROWS_PER_TILE).fit(round)
    omega, phase = seen["start"], term.phase[0]
    objectives = {
        "rough": tiled.subsampled_frequency_objective(phase, 3 * ROWS_PER_TILE),
        "fun": tiled.frequency_objective(phase),
    }
    for name, objective in objectives.items():
        value, gradient = objective(omega)
        assert seen[name][0] == pytest.approx(value + l2 * omega @ omega, rel=1e-12)
        np.testing.assert_allclose(seen[name][1], gradient + 2.0 * l2 * omega, rtol=1e-9, atol=1e-12)
    assert seen["rough"][0] != seen["fun"][0]


def classes(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)).astype(np.float32)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n) > 0.0).astype(int)


@pytest.mark.parametrize(
    ("precision", "times", "same"), [("float64", 4, True), ("float32", 4, False), ("float32", 3, True)]
)
def test_auto_is_by_precision_and_number_of_rows(precision, times, same, monkeypatch):
    monkeypatch.setitem(START_ROWS, "float32", 2 * ROWS_PER_TILE)
    X, y = classes(times * START_ROWS["float32"])
    auto, whole = (
        presets.gbrff2(2, random_state=0, precision=precision)
        .set_params(**more)
        .fit(X, y)
        .decision_function(X[:50])
        for more in ({}, {"learner__start_rows": None})
    )
    assert (auto == whole).all() == same


def test_drawn_rows_represent_all_rows():
    n, size = 2_000, 400
    rng = np.random.default_rng(0)
    gradient, weight = rng.standard_cauchy((n, 2)), rng.random(n) * (rng.random(n) < 0.9)
    gradient[7], weight[7] = 1e9, 1.0
    round = replace(make_round(BINARY, 0, n, 2), gradient=gradient, weight=weight)
    sums, counts = [], []
    for seed in range(300):
        drawing = np.random.default_rng(seed), round.balanced_gradient, round.weight
        rows, factor = draw_by_gradient(*drawing, size, 1.0 / 3.0)
        assert (np.diff(rows) > 0).all()
        assert 7 in rows
        counts.append(len(rows))
        sums.append(np.count_nonzero(weight) / size * (factor * weight[rows] * np.tanh(gradient[rows, 0])).sum())
    assert abs(np.mean(counts) - size) < 4.0 * np.std(counts) / 300**0.5
    error = np.mean(sums) - weight @ np.tanh(gradient[:, 0])
    assert abs(error) < 4.0 * np.std(sums) / 300**0.5
    assert weight[rows].all()
