"""Frequencies of a chosen kernel: those at which its kernel machine has most of what it has."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...kernels import compiled
from ...utils.kernel_ridge import Kernel, Solution, gaussian, solution, squared_distances
from ...utils.typing import Array
from .feature_scales import columns_of
from .kernel_selection import KernelSelection

# Fewer frequencies than this hardly save anything.
LEAST_KEPT = 64


@dataclass(frozen=True)
class FrequencyBudget:
    """How many frequencies a kernel machine has, and of how many directions each is chosen.

    Parameters
    ----------
    n_components : int
        The most that there are.
    n_directions : int
        Directions of each, of which the best is kept.
    per_degree : float, optional
        The most for each effective degree of freedom of the kernel machine, but at least `LEAST_KEPT`.
    """

    n_components: int
    n_directions: int
    per_degree: float | None

    def count(self, machine: Solution) -> int:
        """How many there are for this kernel machine."""
        if self.per_degree is None:
            return self.n_components
        return min(self.n_components, max(LEAST_KEPT, math.ceil(self.per_degree * machine.degrees)))


def frequencies(search: KernelSelection, kernel: Kernel, wanted: FrequencyBudget) -> Array:
    """Frequencies (K, d) of the best kernel of a search, whose scale is learned from all rows that are fitted."""
    round, x = search.round, columns_of(search.round, search.rows)
    scale = search.ways[kernel.scale](round, search.target, search.used)
    products = gaussian(squared_distances(scale * x.T.astype(np.float64)), kernel.gamma)
    machine = solution(products, search.target[search.rows], round.weight[search.rows], kernel.l2)
    n_components = wanted.n_components if machine is None else wanted.count(machine)
    shape = n_components, wanted.n_directions, round.design.n_features
    drawn = np.sqrt(2.0 * kernel.gamma / shape[2]) * scale * of_equal_lengths(round.rng.standard_normal(shape))
    if machine is None or wanted.n_directions == 1:
        return np.asarray(drawn[:, 0])
    found = amplitudes(machine.dual, x, drawn.reshape(-1, shape[2])).reshape(shape[:2])
    return np.asarray(drawn[np.arange(n_components), found.argmax(axis=1)])


def of_equal_lengths(draws: Array) -> Array:
    """Standard normal draws (K, r, d), the r of each made as long as the first: lengths stay those of a kernel."""
    lengths = np.linalg.norm(draws, axis=2, keepdims=True)
    return draws * np.divide(lengths[:, :1], lengths, out=np.ones_like(lengths), where=lengths > 0.0)


def amplitudes(dual: Array, x: Array, omega: Array) -> Array:
    r"""How much a kernel machine has of frequencies, (M,), squared.

    With dual weights :math:`\alpha` that is :math:`\sum_c |\sum_i \alpha_{ic} e^{i \omega \cdot x_i}|^2`.

    Parameters
    ----------
    dual : ndarray of shape (m, C)
        Its dual weights, alpha; the result is in the square of their largest.
    x : ndarray of shape (d, m)
        Its rows.
    omega : ndarray of shape (M, d)
        Frequencies.
    """
    size = np.abs(dual).max()
    alpha = np.ascontiguousarray((dual / (size if size > 0.0 else 1.0)).T, dtype=x.dtype)
    found = np.empty(len(omega))
    compiled("random_features").amplitude_pass(x, omega.astype(x.dtype), alpha, found, 0, len(omega))
    return found
