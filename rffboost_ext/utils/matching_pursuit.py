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
    from scipy.linalg import solve

    n_pairs, n = pairs.shape[1:]
    n_frequencies = min(n_frequencies, n_pairs)
    group = max(1, -(-n_frequencies // GROUPS))
    power = np.square(pairs).sum(axis=2)[..., None] + np.finfo(np.float64).tiny
    free, residual = np.ones(n_pairs, dtype=bool), target
    selected, weight = np.empty(0, dtype=np.int64), np.empty((2, 0, target.shape[1]))
    columns, gram = np.empty((0, n)), np.empty((0, 0))
    while len(selected) < n_frequencies and np.square(residual).sum() > tol * n:
        correlation = (np.square(pairs @ residual) / power).sum(axis=(0, 2))
        ranked = np.argsort(-np.where(free, correlation, -1.0), kind="stable")
        added = ranked[: min(group, n_frequencies - len(selected))]
        free[added] = False
        selected = np.append(selected, added)
        new = pairs[:, added].reshape(-1, n)
        across = columns @ new.T
        gram = np.block([[gram, across], [across.T, new @ new.T]])
        columns = np.concatenate([columns, new])
        penalty = RELATIVE_PENALTY * n * np.eye(len(columns))
        flat = solve(gram + penalty, columns @ target, assume_a="pos")
        residual = target - columns.T @ flat
        # Each group has the cosines first, then the sines.
        parts = [flat[start : start + 2 * group] for start in range(0, len(flat), 2 * group)]
        weight = np.concatenate([part.reshape(2, -1, target.shape[1]) for part in parts], axis=1)
    return selected, weight
