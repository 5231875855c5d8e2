"""The objective of Fourier learners: the mean fit criterion of cosines, by phase, frequency or landmark.

There are two implementations: compiled passes over the tiles of the design for built-in fit criteria, and NumPy
for custom ones. Both take and return float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ...core import Round
from ...kernels import compiled
from ...utils.typing import Array
from ..tiles import empty_aligned
from .fit_criteria import CompiledCriterion, FitCriterion

FrequencyObjective = Callable[[Array], tuple[float, Array]]
"""From a frequency (d,) to the mean fit criterion of one cosine and its gradient, (d,)."""

# Minimum factor by which a subset must be smaller than the data to be used.
MIN_SUBSAMPLING = 4


class NumpyRisk:
    """The mean fit criterion of K cosines of given frequencies on the training rows, for any fit criterion."""

    def __init__(self, round: Round, fit_criterion: FitCriterion) -> None:
        self.round, self.fit_criterion, self.X = round, fit_criterion, round.design.X

    def project(self, omega: Array) -> None:
        """Set the frequencies, (K, d), for which phases are evaluated."""
        self.z = self.X @ omega.T

    def at_phase(self, phase: float) -> float:
        """Mean fit criterion of one cosine with this phase."""
        return float(self.round.mean(self.fit_criterion(self.round, np.cos(self.z[:, 0] - phase))[0]))

    def frequency_objective(self, phase: float) -> FrequencyObjective:
        """Mean fit criterion of ``cos(omega . x - phase)`` as a function of omega."""

        def fun(omega: Array) -> tuple[float, Array]:
            z = self.X @ omega - phase
            value, slope = self.fit_criterion(self.round, np.cos(z))
            gradient = -(self.round.weight * slope * np.sin(z)) @ self.X
            return float(self.round.mean(value)), gradient / self.round.total_weight

        return fun

    def subsampled_frequency_objective(self, phase: float, n_rows: int) -> FrequencyObjective | None:
        """As :meth:`frequency_objective`, on a subset of at least `n_rows` rows; None without a small one."""
        return None

    def at_phases(self, phases: Array) -> tuple[float, Array]:
        """Mean fit criterion of the average of K cosines and its gradient by their phases, (K,)."""
        z = self.z - phases
        value, slope = self.fit_criterion(self.round, np.cos(z).mean(axis=1))
        gradient = (self.round.weight * slope) @ np.sin(z) / len(phases)
        return float(self.round.mean(value)), gradient / self.round.total_weight

    def component_risks(self, phases: Array) -> Array:
        """Mean fit criterion of each single cosine, (K,); to be called last, before :meth:`weighted_sum`."""
        self.cosines = np.cos(self.z - phases)
        return np.asarray(self.round.mean(self.fit_criterion(self.round, self.cosines.T)[0]))

    def weighted_sum(self, weight: Array) -> Array:
        """The cosines of :meth:`component_risks` summed with weights (K,), on the training rows, (n,)."""
        return self.cosines @ weight

    def output(self, omega: Array, phase: float) -> Array:
        """``cos(omega . x - phase)`` on the training rows, (n,)."""
        return np.cos(self.X @ omega - phase)


class CompiledRisk:
    """As :class:`NumpyRisk`, by compiled passes over tiles, for the built-in fit criteria.

    Sums over tiles are in float64 and in order. An instance uses buffers of the tiles and is valid until the next
    one is created; outputs are copies.
    """

    def __init__(self, round: Round, fit_criterion: CompiledCriterion) -> None:
        self.tiles = round.design.tiles
        # The float64 arrays of the fit criterion can be freed.
        self.factor = fit_criterion.factor / round.total_weight
        self.offset = fit_criterion.offset / round.total_weight
        self.weight = round.weight
        self.arrays = (
            fit_criterion.kind,
            self.tiles.pack(fit_criterion.p, "p"),
            self.tiles.pack(fit_criterion.q, "q"),
        )
        self.outputs = empty_aligned(self.tiles.shape, self.tiles.dtype)
        self.last_evaluated: tuple[bytes, float] | None = None

    def project(self, omega: Array) -> None:
        T, B = self.tiles.shape
        self.z = empty_aligned((T, len(omega), B), self.tiles.dtype)
        self.phase, self.values = np.empty(1, dtype=self.tiles.dtype), np.empty((T, 1))
        phase_pass = compiled("single_cosine").phase_pass
        self.evaluate_phase = self.tiles.bind(phase_pass, self.z[:, 0], self.phase, *self.arrays, self.values)
        self.tiles.run(compiled("tiles").project_pass, self.tiles.blocks, omega.astype(self.tiles.dtype), self.z)

    def at_phase(self, phase: float) -> float:
        # With few rows, calls of NumPy would take longer than the pass.
        self.phase[0] = phase
        self.evaluate_phase()
        value: float = self.values.item() if len(self.values) == 1 else self.values.sum()
        return self.factor * value + self.offset

    def frequency_objective(self, phase: float) -> FrequencyObjective:
        return self._frequency_objective(phase, 1)

    def subsampled_frequency_objective(self, phase: float, n_rows: int) -> FrequencyObjective | None:
        n_tiles, size = self.tiles.shape
        every = n_tiles // -(-n_rows // size)
        if every < MIN_SUBSAMPLING:
            return None
        sampled = sum(float(self.weight[t * size : (t + 1) * size].sum()) for t in range(0, n_tiles, every))
        share = sampled / float(self.weight.sum())
        # Tiles of small weight do not represent the others.
        return self._frequency_objective(phase, every, share) if share > 0.5 / every else None

    def _frequency_objective(self, phase: float, every: int, share: float = 1.0) -> FrequencyObjective:
        """The objective on every k-th tile; these have `share` of the total weight."""
        tiles, offset, factor = self.tiles, self.offset, self.factor / share
        number, d = -(-tiles.n_tiles // every), tiles.blocks.shape[1]
        point, sums = np.empty(d, dtype=tiles.dtype), np.empty((number, 1 + d))
        fixed = tiles.dtype.type(phase), *self.arrays, self.outputs, every
        frequency_pass = compiled("single_cosine").frequency_pass
        evaluate = tiles.bind(frequency_pass, tiles.blocks, point, *fixed, sums, number=number)

        def fun(omega: Array) -> tuple[float, Array]:
            self.last_evaluated = (omega.tobytes(), phase) if every == 1 else None
            point[:] = omega
            evaluate()
            total = (sums[0] if number == 1 else sums.sum(axis=0)) * factor
            return float(total[0]) + offset, total[1:]

        return fun

    def at_phases(self, phases: Array) -> tuple[float, Array]:
        sums = np.empty((self.tiles.n_tiles, 1 + len(phases)))
        self.tiles.run(
            compiled("landmark_cosines").landmark_pass, self.z, phases.astype(self.tiles.dtype), *self.arrays, sums
        )
        total = (sums[0] if len(sums) == 1 else sums.sum(axis=0)) * self.factor
        return float(total[0]) + self.offset, total[1:]

    def component_risks(self, phases: Array) -> Array:
        risks = np.empty((self.tiles.n_tiles, len(phases)))
        self.tiles.run(
            compiled("landmark_cosines").risk_pass, self.z, phases.astype(self.tiles.dtype), *self.arrays, risks
        )
        return np.asarray(self.offset + self.factor * risks.sum(axis=0))

    def weighted_sum(self, weight: Array) -> Array:
        self.tiles.run(
            compiled("landmark_cosines").combine_pass, self.z, weight.astype(self.tiles.dtype), self.outputs
        )
        return self.tiles.unpack(self.outputs)

    def output(self, omega: Array, phase: float) -> Array:
        # The search has usually just evaluated this point.
        if self.last_evaluated != (omega.tobytes(), phase):
            self.frequency_objective(phase)(omega)
        return self.tiles.unpack(self.outputs)


EmpiricalRisk: TypeAlias = NumpyRisk | CompiledRisk


def empirical_risk(round: Round, fit_criterion: FitCriterion) -> EmpiricalRisk:
    """The fastest implementation for this fit criterion."""
    criterion = fit_criterion.compiled(round)
    return NumpyRisk(round, fit_criterion) if criterion is None else CompiledRisk(round, criterion)
