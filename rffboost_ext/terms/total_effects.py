r"""Total effects of features on the outputs of a function.

.. math:: T_j = \tfrac12 \mathrm{E} \, (f(x) - f(x_1, \dots, x'_j, \dots, x_d))^2,

where :math:`x'_j` is the value of another row (Saltelli et al., Global sensitivity analysis, 2008, section 4.6).
Any function is evaluated once for each feature. For cosines, replacing one value adds a multiple of the
frequencies of its column to the angles. A cosine of few features is evaluated at the new angle. A cosine of many
features has small frequencies, so its change is the Taylor series

.. math:: \cos(z + h \omega_j) - \cos z = \sum_{p \ge 1} \frac{(h \omega_j)^p}{p!} \cos^{(p)} z,

which takes one matrix product for each order p, for all rows and features together.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..utils.typing import Array

# Maximum number of rows and of cosines evaluated, unless rows were fewer than the minimum.
MAX_EVALUATIONS, MAX_COSINES, MIN_ROWS = 1_000_000, 50_000_000, 50
# A cosine of more features than this changes by its series where its angle changes by at most this.
MANY_FEATURES, MAX_CHANGE = 256, 2.0
# Upper bound on the first omitted term of a series.
TOLERANCE = 1e-3
# Features whose frequencies are in memory at a time.
BLOCK_SIZE = 1024


def total_effects(function: Callable[[Array], Array], X: Array, weight: Array) -> Array:
    """Total effect of each feature on a function, (d,), over weighted pairs of rows, summed over outputs.

    It is evaluated d + 1 times on the rows.

    Parameters
    ----------
    function : callable
        From X (n, d) to outputs (n, C), such as a term.
    X : ndarray of shape (n, d)
        Rows, of which a sample is used if n d is large.
    weight : ndarray of shape (n,)
        Weights of the rows, with sum 1.
    """
    X, weight, other = sample_pairs(X, weight, MAX_EVALUATIONS // X.shape[1])
    outputs, moved, effects = function(X), X.copy(), np.zeros(X.shape[1])
    for j in range(len(effects)):
        moved[:, j] = X[other, j]
        effects[j] = 0.5 * weight @ np.square(function(moved) - outputs).sum(axis=1)
        moved[:, j] = X[:, j]
    return effects


def divided_variance(function: Callable[[Array], Array], effects: Array, X: Array, weight: Array) -> Array:
    """The variance of the outputs of a function, divided in proportion to total effects (d,)."""
    total = effects.sum()
    whole = variance(function(X), weight).sum()
    return np.asarray(whole / total * effects if total > 0.0 else effects)


def variance(values: Array, weight: Array) -> Array:
    """The weighted variance of each column, for weights with sum 1."""
    return np.asarray(weight @ np.square(values - weight @ values))


def sample_pairs(X: Array, weight: Array, size: int) -> tuple[Array, Array, Array]:
    """A sample of `size` rows, `MIN_ROWS` at least, their weights, and for each the index of another row."""
    rng, size = np.random.default_rng(0), max(MIN_ROWS, size)
    if len(X) > size:
        rows = rng.choice(len(X), size, replace=False)
        X, weight = X[rows], weight[rows] / weight[rows].sum()
    return X, weight, rng.choice(len(X), len(X), p=weight)


def changes_of_outputs(weight: Array, angles: Array, shift: Array, omega: Array, counts: Array) -> Array:
    """Changes of the outputs of cosines if each of k features is shifted alone, (k, n, C).

    Parameters
    ----------
    weight : ndarray of shape (M, C)
    angles : ndarray of shape (n, M)
    shift : ndarray of shape (n, k)
        Changes of the features.
    omega : ndarray of shape (M, k)
        Frequencies of these features.
    counts : ndarray of shape (M,)
        The number of features that each cosine depends on.
    """
    is_small = np.abs(omega) * np.abs(shift).max(axis=0, initial=0.0) <= MAX_CHANGE
    by_series = (counts[:, None] > MANY_FEATURES) & is_small
    change = series_changes(weight, angles, shift, np.where(by_series, omega, 0.0))
    exactly = (omega != 0.0) & ~by_series
    # Single precision: sums over rows have far larger errors.
    waves = np.cos(angles).astype(np.float32)
    for j in np.flatnonzero(exactly.any(axis=0)):
        shifted = slice(None) if exactly[:, j].all() else exactly[:, j]
        moved = shift[:, j, None] * omega[shifted, j]
        moved += angles[:, shifted]
        moved = np.cos(moved.astype(np.float32))
        moved -= waves[:, shifted]
        change[j] += moved @ weight[shifted]
    return change


def series_changes(weight: Array, angles: Array, shift: Array, omega: Array) -> Array:
    """As :func:`changes_of_outputs`, by the series; frequencies of cosines that are left out are 0."""
    change = np.zeros((shift.shape[1], len(angles), weight.shape[1]))
    used = omega.any(axis=1)
    # Single precision: sums over rows have far larger errors.
    angles, omega, power = angles[:, used], omega[used].astype(np.float32), np.ones((), np.float32)
    reach = float(
        (np.abs(omega).max(axis=0, initial=0.0) * np.abs(shift).max(axis=0, initial=0.0)).max(initial=0.0)
    )
    order, first_omitted = 0, reach
    while first_omitted > TOLERANCE or order == 0 < reach:
        order += 1
        first_omitted *= reach / (order + 1)
        power = power * omega
        factor = np.power(shift, order) / math.factorial(order)
        derivative = np.cos(angles + 0.5 * order * np.pi)
        for c, amplitudes in enumerate(weight[used].T):
            change[:, :, c] += (factor * ((derivative * amplitudes).astype(np.float32) @ power)).T
    return change
