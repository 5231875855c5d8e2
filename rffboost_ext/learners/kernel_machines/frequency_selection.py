"""Selection of the frequencies of a kernel by their amplitudes in its kernel machine."""

from __future__ import annotations

import math

import numpy as np

from ...core import Round
from ...kernels import compiled
from ...terms.cosine_arrays import Projection
from ...utils.kernel_ridge import (
    SelectedKernel,
    fit_kernel_ridge,
    gaussian_kernel,
    squared_distances,
)
from ...utils.typing import Array
from .kernel_selection import KernelSelection
from .random_features import feature_columns

# Fewer frequencies than this hardly save time.
MIN_FREQUENCIES = 64
# Entries of a block of draws.
BLOCK_ENTRIES = 2**20


def select_frequencies(
    selection: KernelSelection,
    kernel: SelectedKernel,
    n_components: int,
    n_directions: int,
    per_degree: float | None,
) -> tuple[Array, Projection | None]:
    """Frequencies of the selected kernel, whose scale is learned again from all fitted rows, and their projection.

    They are (K, r) with a projection to r coordinates, and (K, d) without one. K and the number of directions that
    each is chosen from are as for :class:`RFFRidge`.
    """
    round, rows = selection.round, selection.scored
    x = feature_columns(round, rows)
    scale = selection.scales[kernel.scale](round, selection.target, selection.fitted)
    products = gaussian_kernel(squared_distances(scale * x.T.astype(np.float64)), kernel.gamma)
    machine = fit_kernel_ridge(products, selection.target[rows], round.weight[rows], kernel.l2)
    if machine is not None and per_degree is not None:
        n_needed = math.ceil(per_degree * machine.degrees_of_freedom)
        n_components = min(n_components, max(MIN_FREQUENCIES, n_needed))
    projection = row_space(round, selection.fitted, scale, n_components)
    if projection is not None:
        x, scale = feature_columns(round, rows, projection), np.ones(len(projection.matrix))
    scale = np.sqrt(2.0 * kernel.gamma / round.design.n_features) * scale
    dual, omega = None if machine is None else machine.dual, np.empty((n_components, len(scale)))
    size = max(1, BLOCK_ENTRIES // (n_directions * len(scale)))
    for start in range(0, n_components, size):
        block = omega[start : start + size]
        draws = round.rng.standard_normal((len(block), n_directions, len(scale)))
        block[:] = best_directions(scale * equalise_lengths(draws), dual, x)
    return omega, projection


def best_directions(candidates: Array, dual: Array | None, x: Array) -> Array:
    """The directions of largest amplitude, (K, d), of candidates (K, r, d); the first ones without `dual`."""
    n_frequencies, n_directions, d = candidates.shape
    if dual is None or n_directions == 1:
        return np.asarray(candidates[:, 0])
    power = squared_amplitudes(dual, x, candidates.reshape(-1, d)).reshape(n_frequencies, n_directions)
    return np.asarray(candidates[np.arange(n_frequencies), power.argmax(axis=1)])


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


# Directions in which the rows have less than this share of the largest variance are left out.
MIN_VARIANCE = 1e-8


def row_space(round: Round, rows: Array, scale: Array, n_frequencies: int) -> Projection | None:
    r"""Coordinates of the span of some rows, if frequencies in it take less memory than in all columns, else None.

    With B an orthonormal basis of the span of the m scaled rows, a normal draw of d components is
    :math:`B^T u + v`, where u is a normal draw of at most m components, and v is orthogonal to all rows. Only u
    changes the cosines of these rows. For other rows v would only add noise, so it is left out.

    Parameters
    ----------
    round : Round
    rows : ndarray of shape (m,)
        The rows that are fitted.
    scale : ndarray of shape (d,)
        Factors on the standardised features.
    n_frequencies : int
        Number of frequencies, K.
    """
    d, m = round.design.n_features, len(rows)
    if m * (d + n_frequencies) >= n_frequencies * d:
        return None
    X = scale * round.design.X[rows]
    variance, vectors = np.linalg.eigh(X @ X.T)
    if variance[-1] <= 0.0:
        # All columns are constant.
        return None
    used = variance > MIN_VARIANCE * variance[-1]
    basis = (vectors[:, used] / np.sqrt(variance[used])).T @ X
    return Projection((scale * basis).astype(round.design.tiles.dtype))
