"""Compiled passes against NumPy: objectives of the built-in matches, derivatives of the losses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from rffboost_ext import LOSSES, Design, Round
from rffboost_ext.learners import FIT_CRITERIA, FitCriterion
from rffboost_ext.learners.fourier.objectives import CompiledRisk, NumpyRisk, empirical_risk
from rffboost_ext.learners.tiles import CACHE_LINE, LANES, ROWS_PER_TILE
from rffboost_ext.losses.links import LARGEST_EXPONENT
from rffboost_ext.terms import FeatureMap

from ..cases import LOSS_CASES, OF_THE_PAPERS, Array, LossCase, make_round

BUILT_IN = ["exponential", "squared", "linear", "newton"]
# Passes see the derivatives of a round only: one loss of steep ones and one of moderate ones.
losses = pytest.mark.parametrize("loss", OF_THE_PAPERS[:3:2], ids=str)
matches = pytest.mark.parametrize("fit_criterion", BUILT_IN)
precisions = pytest.mark.parametrize("precision", ["float64", "float32"])

# (n, d, K): one row; whole and partial vectors and tiles; one feature; features by 8, by 4 and alone.
SHAPES = [
    (1, 1, 1),
    (1, 5, 2),
    (LANES, 1, 3),
    (LANES + 1, 13, 1),
    (ROWS_PER_TILE - 1, 3, 2),
    (ROWS_PER_TILE, 1, 1),
    (ROWS_PER_TILE + 1, 4, 5),
    (2 * ROWS_PER_TILE + 7, 9, 3),
]
shapes = pytest.mark.parametrize(("n", "d", "K"), SHAPES)


@dataclass(frozen=True)
class Problem:
    """The same objective compiled and in NumPy, and a point at which to compare them."""

    round: Round
    fit_criterion: FitCriterion
    tiled: CompiledRisk
    plain: NumpyRisk
    omega: Array
    phases: Array

    @property
    def eps(self) -> float:
        """What is allowed per unit of what a rounding can move."""
        # 1e-12 and, as sums of up to 2048 products over 16 lanes lose a few digits of 24, 16 roundings.
        return 1e-12 if self.tiled.tiles.dtype == np.float64 else 16.0 * float(np.finfo(np.float32).eps)

    def angle(self) -> Array:
        """Size of the terms of ``omega . x - phase``, which roundings are relative to: (n,), the largest of K."""
        terms = np.abs(self.plain.X) @ np.abs(self.omega.T) + np.abs(self.phases)
        return 1.0 + terms.max(axis=1)

    def slack(self, output: Array) -> tuple[float, Array]:
        """What roundings can change in the value, and in each row's factor of the gradient, (n,), for outputs."""
        value, slope = self.fit_criterion(self.round, output)
        bend = (
            np.abs(
                self.fit_criterion(self.round, output + 1e-4)[1] - self.fit_criterion(self.round, output - 1e-4)[1]
            )
            / 2e-4
        )
        factors = (np.abs(slope) + bend) * self.angle()
        # Of the squared fit criterion, the part that h can change is summed apart from the constant, (r - h)^2 =
        # r^2 - ...
        moved = self.round.mean(
            np.abs(value) + np.square(self.round.residual[:, 0]) + np.abs(slope) * self.angle()
        )
        return self.eps * float(moved), self.eps * factors


def make_problem(
    loss: LossCase, fit_criterion: str, shape: tuple[int, int, int], precision: str, n_jobs: int = 1, seed: int = 0
) -> Problem:
    n, d, K = shape
    rng = np.random.default_rng(seed)
    round = make_round(loss, seed, n, d)
    design = Design(
        round.design.original, FeatureMap(center=np.full(d, 0.1), scale=np.full(d, 1.3)), n_jobs, precision
    )
    round = replace(round, design=design)
    made = FIT_CRITERIA.create(fit_criterion)
    tiled, plain = CompiledRisk(round, made.compiled(round)), NumpyRisk(round, made)
    omega = rng.standard_normal((K, d)) * np.sqrt(2.0 / d)
    tiled.project(omega)
    plain.project(omega)
    return Problem(round, made, tiled, plain, omega, rng.uniform(-np.pi, np.pi, K))


def check_phase(problem: Problem) -> None:
    phase = float(problem.phases[0])
    slack, _ = problem.slack(problem.plain.output(problem.omega[0], phase))
    assert problem.tiled.at_phase(phase) == pytest.approx(problem.plain.at_phase(phase), rel=0, abs=slack)


def check_frequency(problem: Problem) -> None:
    phase = float(problem.phases[0])
    (value, gradient), (value_, gradient_) = (
        objective.frequency_objective(phase)(problem.omega[0]) for objective in (problem.tiled, problem.plain)
    )
    slack, factors = problem.slack(problem.plain.output(problem.omega[0], phase))
    assert value == pytest.approx(value_, rel=0, abs=slack)
    assert gradient.dtype == np.float64
    assert (np.abs(gradient - gradient_) <= problem.round.mean(factors * np.abs(problem.plain.X.T))).all()


def check_phases(problem: Problem) -> None:
    value, gradient = problem.tiled.at_phases(problem.phases)
    value_, gradient_ = problem.plain.at_phases(problem.phases)
    output = np.cos(problem.plain.z - problem.phases).mean(axis=1)
    slack, factors = problem.slack(output)
    assert value == pytest.approx(value_, rel=0, abs=slack)
    assert gradient.shape == gradient_.shape
    assert (np.abs(gradient - gradient_) <= problem.round.mean(factors)).all()


def check_outputs(problem: Problem) -> None:
    phase, angle = float(problem.phases[0]), problem.angle()
    output = problem.tiled.output(problem.omega[0], phase)
    assert output.shape == angle.shape
    assert (np.abs(output - problem.plain.output(problem.omega[0], phase)) <= problem.eps * angle).all()


def check_mixture(problem: Problem) -> None:
    """The K cosines alone, and then their weighted sum; last, as it overwrites the projections."""
    risks, risks_ = problem.tiled.component_risks(problem.phases), problem.plain.component_risks(problem.phases)
    for k, cosine in enumerate(problem.plain.cosines.T):
        assert risks[k] == pytest.approx(risks_[k], rel=0, abs=problem.slack(cosine)[0])
    weight = np.random.default_rng(1).standard_normal(len(problem.phases))
    off = np.abs(problem.tiled.weighted_sum(weight) - problem.plain.weighted_sum(weight))
    assert (off <= problem.eps * problem.angle() * np.abs(weight).sum()).all()


def check_all(problem: Problem) -> None:
    if len(problem.omega) == 1:
        check_phase(problem)
    check_frequency(problem)
    check_outputs(problem)
    check_phases(problem)
    check_mixture(problem)


@matches
def test_built_in_matches_alone_are_compiled(fit_criterion):
    class Own(type(FIT_CRITERIA.create(fit_criterion))):
        compiled = FitCriterion.compiled

    round = make_round(LOSS_CASES[0])
    assert isinstance(empirical_risk(round, FIT_CRITERIA.create(fit_criterion)), CompiledRisk)
    assert isinstance(empirical_risk(round, Own()), NumpyRisk)


@shapes
@losses
@matches
@precisions
def test_tiles_agree_with_numpy(n, d, K, loss, fit_criterion, precision):
    check_all(make_problem(loss, fit_criterion, (n, d, K), precision))


@precisions
@settings(max_examples=30, deadline=None)
@given(
    loss=st.sampled_from(OF_THE_PAPERS),
    fit_criterion=st.sampled_from(BUILT_IN),
    shape=st.tuples(st.integers(1, 70), st.integers(1, 20), st.integers(1, 9)),
    seed=st.integers(0, 2**32 - 1),
)
def test_tiles_agree_with_numpy_on_any_shape(loss, fit_criterion, shape, precision, seed):
    check_all(make_problem(loss, fit_criterion, shape, precision, seed=seed))


@matches
@precisions
def test_threads_share_tiles_and_change_no_bit(fit_criterion, precision):
    # 9 tiles and a bit: 2 threads and no more, and a loop that 3 and 7 must not cut too fine.
    def results(n_jobs):
        problem = make_problem(LOSS_CASES[0], fit_criterion, (9 * ROWS_PER_TILE + 5, 3, 2), precision, n_jobs)
        frequency, phases = problem.omega[0], problem.phases
        parts = [*problem.tiled.frequency_objective(0.3)(frequency), problem.tiled.output(frequency, 0.3).copy()]
        parts += problem.tiled.subsampled_frequency_objective(0.3, 2 * ROWS_PER_TILE)(frequency)
        parts += [*problem.tiled.at_phases(phases), problem.tiled.component_risks(phases)]
        return [*parts, problem.tiled.weighted_sum(phases), problem.tiled.tiles.blocks]

    expected = results(1)
    for n_jobs in (2, 3, 7):
        for one, other in zip(expected, results(n_jobs), strict=True):
            np.testing.assert_array_equal(one, other)


@precisions
@pytest.mark.parametrize("fit_criterion", ["exponential", "linear", "newton"])
def test_scores_that_are_far_off_leave_finite_sums(fit_criterion, precision):
    # The exponential loss at such scores is cut, and its derivatives are up to exp(500).
    round = make_round(LOSS_CASES[0], n=3000, spread=600.0)
    round = replace(round, design=Design(round.design.original, precision=precision))
    assert np.abs(round.gradient).max() > 1e200
    objective = CompiledRisk(round, FIT_CRITERIA.create(fit_criterion).compiled(round))
    omega = np.array([0.3, -1.0, 0.5])
    for phase in np.linspace(-3.0, 3.0, 7):
        value, gradient = objective.frequency_objective(phase)(omega)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


EXTREME = np.array(
    [0.0, 5e-324, 1e-300, 1e-16, 1e-8, 1.0, 36.0, 40.0, 499.9, 500.0, 500.1, 707.0, 745.0, 1e8, 1e300]
)


def extreme_state() -> tuple[Array, Array]:
    raw = np.concatenate([EXTREME, -EXTREME])[:, None]
    return np.concatenate([np.zeros_like(raw), np.ones_like(raw)]), np.concatenate([raw, raw])


# The compiled exponential is cut at exp(-708), where plain NumPy goes on to 0.
LEAST = 4e-308


@pytest.mark.parametrize("name", ["exponential", "log_loss"])
def test_derivatives_at_extreme_scores(name):
    y, raw = extreme_state()
    sign = 2.0 * y - 1.0
    # The weight of each row, which the gradient is in size, and the hessian.
    weight, curvature = {
        "exponential": (np.exp(np.minimum(-sign * raw, LARGEST_EXPONENT)),) * 2,
        "log_loss": (expit(-sign * raw), expit(raw) * expit(-raw)),
    }[name]
    gradient, hessian = LOSSES.create(name).derivatives(y, raw)
    np.testing.assert_allclose(gradient, -sign * weight, rtol=1e-15, atol=LEAST)
    np.testing.assert_allclose(hessian, curvature, rtol=1e-15, atol=LEAST)
    assert (hessian > 0.0).all()


@precisions
@shapes
def test_what_passes_read_and_write_starts_with_a_cache_line(n, d, K, precision):
    objective = make_problem(OF_THE_PAPERS[0], "exponential", (n, d, K), precision).tiled
    _, p, q = objective.arrays
    for array in (objective.tiles.blocks, p, q, objective.outputs, objective.z):
        assert array.ctypes.data % CACHE_LINE == 0
