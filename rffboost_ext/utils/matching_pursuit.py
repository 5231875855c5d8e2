"""Which of many cosines reproduce a function: orthogonal matching pursuit over pairs of a cosine and a sine."""

from __future__ import annotations

import numpy as np

from .typing import Array

# Frequencies are chosen in so many groups, with a least-squares fit after each.
GROUPS = 16
# Penalty on the squares of the weights, as a share of the number of rows: frequencies may be nearly equal.
L2 = 1e-5


def pursue(pairs: Array, target: Array, most: int, enough: float) -> tuple[Array, Array]:
    r"""A few frequencies, and weights of their cosines and sines, that reproduce a target by least squares.

    Group by group, the frequencies are added that capture most of the residual r by themselves,
    :math:`\sum_c (\langle \cos, r_c \rangle / \|\cos\|)^2 + (\langle \sin, r_c \rangle / \|\sin\|)^2`, and all
    weights are fitted anew, until the mean square of the residual is small enough.

    Parameters
    ----------
    pairs : ndarray of shape (2, M, n)
        Cosine and sine of each frequency on the rows, of mean 0.
    target : ndarray of shape (n, C)
        Of mean 0.
    most : int
        The most frequencies to choose.
    enough : float
        The mean square of the residual, summed over outputs, that is small enough.

    Returns
    -------
    chosen : ndarray of shape (m,)
        Indices of frequencies, the first ones first.
    weight : ndarray of shape (2, m, C)

    References
    ----------
    Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad, Orthogonal matching pursuit, Asilomar Conference on Signals,
    Systems and Computers, 1993; there one at a time.
    """
    n_pairs, n = pairs.shape[1:]
    most = min(most, n_pairs)
    group = max(1, -(-most // GROUPS))
    power = np.square(pairs).sum(axis=2)[..., None] + np.finfo(np.float64).tiny
    free, residual = np.ones(n_pairs, dtype=bool), target
    chosen, fit = np.empty(0, dtype=np.int64), NormalEquations(target)
    while len(chosen) < most and np.square(residual).sum() > enough * n:
        captured = (np.square(pairs @ residual) / power).sum(axis=(0, 2))
        ranked = np.argsort(-np.where(free, captured, -1.0), kind="stable")
        added = ranked[: min(group, most - len(chosen))]
        free[added] = False
        chosen = np.append(chosen, added)
        fit.add(pairs[:, added].reshape(-1, n))
        residual = target - fit.approximation
    weight = fit.weight.reshape(-1, target.shape[1])
    return chosen, paired(weight, group)


def paired(weight: Array, group: int) -> Array:
    """Weights (2, m, C) of cosines and sines, from those (2m, C) of group after group."""
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
        """Fit on further columns (k, n) too."""
        from scipy.linalg import solve

        across, within = self.columns @ columns.T, columns @ columns.T
        self.gram = np.block([[self.gram, across], [across.T, within]])
        self.columns = np.concatenate([self.columns, columns])
        penalty = L2 * len(self.target) * np.eye(len(self.columns))
        self.weight = solve(self.gram + penalty, self.columns @ self.target, assume_a="pos")

    @property
    def approximation(self) -> Array:
        """The fitted values, (n, C)."""
        return np.asarray(self.columns.T @ self.weight)
