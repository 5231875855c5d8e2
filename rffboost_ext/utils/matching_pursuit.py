"""Orthogonal matching pursuit over pairs of a cosine and a sine."""

from __future__ import annotations

import numpy as np

from .typing import Array

# Number of groups in which frequencies are selected, with a least-squares fit after each.
GROUPS = 16
# Penalty on squared weights relative to the number of rows, because frequencies may be nearly equal.
RELATIVE_PENALTY = 1e-5


def matching_pursuit(pairs: Array, target: Array, n_frequencies: int, tol: float) -> tuple[Array, Array]:
    r"""Approximate a target by least squares on the cosines and sines of a few selected frequencies.

    Each step adds a group of frequencies of largest correlation with the residual r,
    :math:`\sum_c (\langle \cos, r_c \rangle / \|\cos\|)^2 + (\langle \sin, r_c \rangle / \|\sin\|)^2`, and refits
    all weights, until the mean square of the residual is small enough.

    Parameters
    ----------
    pairs : ndarray of shape (2, M, n)
        Cosine and sine of each frequency on the rows, with mean 0.
    target : ndarray of shape (n, C)
        Target with mean 0.
    n_frequencies : int
        Maximum number of selected frequencies.
    tol : float
        Stop at this mean square of the residual, summed over outputs.

    Returns
    -------
    selected : ndarray of shape (m,)
        Indices of frequencies in the order of selection.
    weight : ndarray of shape (2, m, C)
        Weights of their cosines and sines.

    References
    ----------
    Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, Orthogonal matching pursuit, Asilomar Conference on Signals,
    Systems and Computers, 1993, with groups of one frequency.
    """
    n_pairs, n = pairs.shape[1:]
    n_frequencies = min(n_frequencies, n_pairs)
    group = max(1, -(-n_frequencies // GROUPS))
    power = np.square(pairs).sum(axis=2)[..., None] + np.finfo(np.float64).tiny
    free, residual = np.ones(n_pairs, dtype=bool), target
    selected, fit = np.empty(0, dtype=np.int64), NormalEquations(target)
    while len(selected) < n_frequencies and np.square(residual).sum() > tol * n:
        correlation = (np.square(pairs @ residual) / power).sum(axis=(0, 2))
        ranked = np.argsort(-np.where(free, correlation, -1.0), kind="stable")
        added = ranked[: min(group, n_frequencies - len(selected))]
        free[added] = False
        selected = np.append(selected, added)
        fit.add(pairs[:, added].reshape(-1, n))
        residual = target - fit.approximation
    weight = fit.weight.reshape(-1, target.shape[1])
    return selected, pair_weights(weight, group)


def pair_weights(weight: Array, group: int) -> Array:
    """Weights (2, m, C) of cosines and sines from concatenated weights (2m, C) of groups."""
    parts = [weight[start : start + 2 * group] for start in range(0, len(weight), 2 * group)]
    split = [part.reshape(2, -1, weight.shape[1]) for part in parts]
    return np.concatenate(split, axis=1) if split else np.empty((2, 0, weight.shape[1]))


class NormalEquations:
    """Ridge regression of a target (n, C) on a growing number of columns.

    Attributes
    ----------
    weight : ndarray of shape (p, C)
    """

    def __init__(self, target: Array) -> None:
        self.target = target
        self.columns = np.empty((0, len(target)))
        self.gram = np.empty((0, 0))
        self.weight = np.empty((0, target.shape[1]))

    def add(self, columns: Array) -> None:
        """Add columns (k, n) and refit."""
        from scipy.linalg import solve

        across, within = self.columns @ columns.T, columns @ columns.T
        self.gram = np.block([[self.gram, across], [across.T, within]])
        self.columns = np.concatenate([self.columns, columns])
        penalty = RELATIVE_PENALTY * len(self.target) * np.eye(len(self.columns))
        self.weight = solve(self.gram + penalty, self.columns @ self.target, assume_a="pos")

    @property
    def approximation(self) -> Array:
        """The fitted values, (n, C)."""
        return np.asarray(self.columns.T @ self.weight)
