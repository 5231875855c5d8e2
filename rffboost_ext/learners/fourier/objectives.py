"""What a Fourier learner minimises: the mean fit criterion of its cosines, as a function of phase, frequency or
landmark.

Two forms of each: a compiled one that reads the tiles of the design, for the built-in fit criteria, and a plain
one in NumPy for a custom fit criterion. Both are functions of float64 arguments with float64 values and gradients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ...core import Round
from ...kernels import compiled
from ...utils.typing import Array
from ..tiles import at_line
from .fit_criteria import CompiledCriterion, FitCriterion

ByFrequency = Callable[[Array], tuple[float, Array]]
"""From a frequency (d,), the mean fit criterion of one cosine and its gradient, (d,)."""

# Subsets of more than one row in this many save too little to deviate from the published search.
LEAST_SAVED = 4


class CosineObjective(ABC):
    """The mean fit criterion of K cosines of given frequencies."""

    @abstractmethod
    def project(self, omega: Array) -> None:
        """Fix the frequencies, (K, d), for which phases and landmarks are evaluated."""

    @abstractmethod
    def at_phase(self, phase: float) -> float:
        """Mean fit criterion of one cosine with that phase."""

    @abstractmethod
    def by_frequency(self, phase: float) -> ByFrequency:
        """Mean fit criterion of ``cos(omega . x - phase)`` as a function of omega."""

    def roughly_by_frequency(self, phase: float, n_rows: int) -> ByFrequency | None:
        """As :meth:`by_frequency`, on a subset of at least `n_rows` rows; None if that would save little."""
        return None

    def at_frequency(self, omega: Array, phase: float) -> tuple[float, Array]:
        """Mean fit criterion of ``cos(omega . x - phase)`` and its gradient by omega, (d,)."""
        return self.by_frequency(phase)(omega)

    @abstractmethod
    def at_phases(self, phases: Array) -> tuple[float, Array]:
        """Mean fit criterion of the average of K cosines and its gradient by their phases, (K,)."""

    @abstractmethod
    def alone(self, phases: Array) -> Array:
        """Mean fit criterion of each of the K cosines alone, (K,); call it last, before :meth:`combined`."""

    @abstractmethod
    def combined(self, weight: Array) -> Array:
        """The K cosines of :meth:`alone` summed with weights (K,): output on the training rows, (n,)."""

    @abstractmethod
    def output(self, omega: Array, phase: float) -> Array:
        """``cos(omega . x - phase)`` on the training rows, (n,)."""


class PlainObjective(CosineObjective):
    """In NumPy, for any fit criterion."""

    def __init__(self, round: Round, fit_criterion: FitCriterion) -> None:
        self.round, self.fit_criterion, self.X = round, fit_criterion, round.design.X

    def project(self, omega: Array) -> None:
        self.z = self.X @ omega.T

    def at_phase(self, phase: float) -> float:
        return float(self.round.mean(self.fit_criterion(self.round, np.cos(self.z[:, 0] - phase))[0]))

    def by_frequency(self, phase: float) -> ByFrequency:
        def fun(omega: Array) -> tuple[float, Array]:
            z = self.X @ omega - phase
            value, slope = self.fit_criterion(self.round, np.cos(z))
            gradient = -(self.round.weight * slope * np.sin(z)) @ self.X
            return float(self.round.mean(value)), gradient / self.round.total_weight

        return fun

    def at_phases(self, phases: Array) -> tuple[float, Array]:
        z = self.z - phases
        value, slope = self.fit_criterion(self.round, np.cos(z).mean(axis=1))
        gradient = (self.round.weight * slope) @ np.sin(z) / len(phases)
        return float(self.round.mean(value)), gradient / self.round.total_weight

    def alone(self, phases: Array) -> Array:
        self.cosines = np.cos(self.z - phases)
        return np.asarray(self.round.mean(self.fit_criterion(self.round, self.cosines.T)[0]))

    def combined(self, weight: Array) -> Array:
        return self.cosines @ weight

    def output(self, omega: Array, phase: float) -> Array:
        return np.cos(self.X @ omega - phase)


class TiledObjective(CosineObjective):
    """Compiled passes over tiles, for the built-in fit criteria. Sums over tiles are in float64 and in order.

    It works in buffers of the tiles, so it is valid until the next one is created; its outputs have their own
    memory.
    """

    def __init__(self, round: Round, fit_criterion: CompiledCriterion) -> None:
        self.tiles = round.design.tiles
        # The fit criterion itself is not kept: its float64 arrays would stay in memory beside these.
        self.factor, self.offset = (
            fit_criterion.factor / round.total_weight,
            fit_criterion.offset / round.total_weight,
        )
        self.weight = round.weight
        self.arrays = (
            fit_criterion.kind,
            self.tiles.rows(fit_criterion.p, "p"),
            self.tiles.rows(fit_criterion.q, "q"),
        )
        self.outputs = at_line(self.tiles.shape, self.tiles.dtype)
        self.newest: tuple[bytes, float] | None = None

    def project(self, omega: Array) -> None:
        T, B = self.tiles.shape
        self.z = at_line((T, len(omega), B), self.tiles.dtype)
        self.phase, self.values = np.empty(1, dtype=self.tiles.dtype), np.empty((T, 1))
        self.try_phase = self.tiles.bound(
            compiled("single_cosine").phase_pass, self.z[:, 0], self.phase, *self.arrays, self.values
        )
        self.tiles.run(compiled("tiles").project, self.tiles.blocks, omega.astype(self.tiles.dtype), self.z)

    def at_phase(self, phase: float) -> float:
        # On few rows a call of NumPy takes longer than the pass: no arrays are made.
        self.phase[0] = phase
        self.try_phase()
        value: float = self.values.item() if len(self.values) == 1 else self.values.sum()
        return self.factor * value + self.offset

    def by_frequency(self, phase: float) -> ByFrequency:
        return self._by_frequency(phase, 1)

    def roughly_by_frequency(self, phase: float, n_rows: int) -> ByFrequency | None:
        n_tiles, size = self.tiles.shape
        every = n_tiles // -(-n_rows // size)
        if every < LEAST_SAVED:
            return None
        visited = sum(float(self.weight[t * size : (t + 1) * size].sum()) for t in range(0, n_tiles, every))
        share = visited / float(self.weight.sum())
        # Blocks of little weight do not represent the others.
        return self._by_frequency(phase, every, share) if share > 0.5 / every else None

    def _by_frequency(self, phase: float, every: int, share: float = 1.0) -> ByFrequency:
        """The function on every k-th tile, which have that share of the weight and represent the others."""
        tiles, offset, factor = self.tiles, self.offset, self.factor / share
        number, d = -(-tiles.n_tiles // every), tiles.blocks.shape[1]
        point, sums = np.empty(d, dtype=tiles.dtype), np.empty((number, 1 + d))
        fixed = tiles.dtype.type(phase), *self.arrays, self.outputs, every
        visit = tiles.bound(
            compiled("single_cosine").frequency_pass, tiles.blocks, point, *fixed, sums, number=number
        )

        def fun(omega: Array) -> tuple[float, Array]:
            self.newest = (omega.tobytes(), phase) if every == 1 else None
            point[:] = omega
            visit()
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

    def alone(self, phases: Array) -> Array:
        risks = np.empty((self.tiles.n_tiles, len(phases)))
        self.tiles.run(
            compiled("landmark_cosines").risk_pass, self.z, phases.astype(self.tiles.dtype), *self.arrays, risks
        )
        return np.asarray(self.offset + self.factor * risks.sum(axis=0))

    def combined(self, weight: Array) -> Array:
        self.tiles.run(
            compiled("landmark_cosines").combine_pass, self.z, weight.astype(self.tiles.dtype), self.outputs
        )
        return self.tiles.flat(self.outputs)

    def output(self, omega: Array, phase: float) -> Array:
        # The search has usually just evaluated this point.
        if self.newest != (omega.tobytes(), phase):
            self.at_frequency(omega, phase)
        return self.tiles.flat(self.outputs)


def cosine_objective(round: Round, fit_criterion: FitCriterion) -> CosineObjective:
    """The fastest form of the objective for this fit criterion."""
    ready = fit_criterion.compiled(round)
    return PlainObjective(round, fit_criterion) if ready is None else TiledObjective(round, ready)
