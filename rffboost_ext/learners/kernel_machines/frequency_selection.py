"""Selection of the frequencies of a kernel by their amplitudes in its kernel machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...kernels import compiled
from ...utils.kernel_ridge import (
    KernelRidgeFit,
    SelectedKernel,
    fit_kernel_ridge,
    gaussian_kernel,
    squared_distances,
)
from ...utils.typing import Array
from .feature_scales import feature_columns
from .kernel_selection import KernelSelection

# Fewer frequencies than this hardly save time.
MIN_FREQUENCIES = 64


@dataclass(frozen=True)
class FrequencyBudget:
    """The number of frequencies of a kernel machine, and of directions that each is chosen from.

    Parameters
    ----------
    n_components : int
        Maximum number of frequencies.
    n_directions : int
        Directions drawn for each frequency; the best one is kept.
    per_degree : float, optional
        Maximum number per effective degree of freedom of the kernel machine, but at least `MIN_FREQUENCIES`.
    """

    n_components: int
    n_directions: int
    per_degree: float | None

    def count(self, machine: KernelRidgeFit) -> int:
        """The number of frequencies for this kernel machine."""
        if self.per_degree is None:
            return self.n_components
        n_frequencies = math.ceil(self.per_degree * machine.degrees_of_freedom)
        return min(self.n_components, max(MIN_FREQUENCIES, n_frequencies))


def select_frequencies(selection: KernelSelection, kernel: SelectedKernel, budget: FrequencyBudget) -> Array:
    """Frequencies (K, d) of the selected kernel, whose scale is learned again from all fitted rows."""
    round, rows = selection.round, selection.scored
    x = feature_columns(round, rows)
    scale = selection.scales[kernel.scale](round, selection.target, selection.fitted)
    products = gaussian_kernel(squared_distances(scale * x.T.astype(np.float64)), kernel.gamma)
    machine = fit_kernel_ridge(products, selection.target[rows], round.weight[rows], kernel.l2)
    n_components = budget.n_components if machine is None else budget.count(machine)
    shape = n_components, budget.n_directions, round.design.n_features
    draws = equalise_lengths(round.rng.standard_normal(shape))
    candidates = np.sqrt(2.0 * kernel.gamma / shape[2]) * scale * draws
    if machine is None or budget.n_directions == 1:
        return np.asarray(candidates[:, 0])
    power = squared_amplitudes(machine.dual, x, candidates.reshape(-1, shape[2])).reshape(shape[:2])
    return np.asarray(candidates[np.arange(n_components), power.argmax(axis=1)])


def equalise_lengths(draws: Array) -> Array:
    """Rescale normal draws (K, r, d) so that the r directions of a frequency have the length of the first."""
    lengths = np.linalg.norm(draws, axis=2, keepdims=True)
    return draws * np.divide(lengths[:, :1], lengths, out=np.ones_like(lengths), where=lengths > 0.0)


def squared_amplitudes(dual: Array, x: Array, omega: Array) -> Array:
    r"""Squared Fourier amplitudes of a kernel machine at M frequencies, (M,), up to a common factor.

    With dual weights :math:`\alpha` these are :math:`\sum_c |\sum_i \alpha_{ic} e^{i \omega \cdot x_i}|^2`.

    Parameters
    ----------
    dual : ndarray of shape (m, C)
        Dual weights, alpha; the unit of the result is the square of the largest.
    x : ndarray of shape (d, m)
        Rows of the kernel machine.
    omega : ndarray of shape (M, d)
        Frequencies.
    """
    size = np.abs(dual).max()
    alpha = np.ascontiguousarray((dual / (size if size > 0.0 else 1.0)).T, dtype=x.dtype)
    power = np.empty(len(omega))
    compiled("random_features").amplitude_pass(x, omega.astype(x.dtype), alpha, power, 0, len(omega))
    return power
