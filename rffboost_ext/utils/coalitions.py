r"""Shapley values of any function, from its values at rows that mix a row with a background row.

With few features all coalitions are evaluated. With more, features are added one by one, in random orders: the
value of a feature is the mean change of the function when the feature is added. Each order is followed by its
reverse, so that values are exact for sums of functions of one or two features. Interactions of more features have
a sampling error. In either case the sum of the values over features is exact.

References
----------
Castro, Gómez and Tejada, Polynomial calculation of the Shapley value based on sampling, Computers and Operations
Research 36, 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

from .typing import Array

# All coalitions of up to so many features are evaluated.
MAX_FEATURES = 8
# Minimum number of orders for each row, over all background rows; each is used with its reverse.
MIN_ORDERS = 64
# Entries of mixed rows that are evaluated at a time.
CHUNK_ENTRIES = 2**20


def shapley_by_evaluation(
    function: Callable[[Array], Array], X: Array, background: Array, source: Array, n_features: int
) -> Array:
    """Shapley values of d features for a function of columns, such as a term: (n, C, d).

    The function is evaluated at n m 2^d rows, with more than 8 features at about 2 n m d, with n rows to explain
    and m >= 64 background rows.

    Parameters
    ----------
    function : callable
        From (r, e) to (r, C).
    X : ndarray of shape (n, e)
        Rows to explain.
    background : ndarray of shape (m, e)
        Background rows.
    source : ndarray of shape (e,)
        The feature that each column belongs to; columns of one feature are from the same row.
    n_features : int
        Number of features, d.

    Returns
    -------
    ndarray of shape (n, C, d)
    """
    used, player = np.unique(source, return_inverse=True)
    values = by_all_coalitions if len(used) <= MAX_FEATURES else by_random_orders
    size = max(1, CHUNK_ENTRIES // (X.shape[1] * max(len(background), len(used) + 1)))
    chunks = np.array_split(X, range(size, len(X), size))
    shares = np.concatenate([values(function, rows, background, player) for rows in chunks])
    out = np.zeros((*shares.shape[:2], n_features))
    out[:, :, used] = shares
    return out


def by_all_coalitions(function: Callable[[Array], Array], X: Array, background: Array, player: Array) -> Array:
    """Shapley values of p players from all coalitions, (n, C, p)."""
    p, total = int(player.max()) + 1, np.zeros(())
    for members in np.ndindex(*[2] * p):
        inside = np.array(members, dtype=bool)
        size = int(inside.sum())
        joined = factorial(size - 1) * factorial(p - size) / factorial(p) if size else 0.0
        left_out = factorial(size) * factorial(p - size - 1) / factorial(p) if size < p else 0.0
        mixed = np.where(inside[player], X[:, None], background)
        outputs = function(mixed.reshape(-1, X.shape[1])).reshape(len(X), len(background), -1)
        total = total + outputs.mean(axis=1)[:, :, None] * np.where(inside, joined, -left_out)
    return total


def by_random_orders(function: Callable[[Array], Array], X: Array, background: Array, player: Array) -> Array:
    """Shapley values of p players from random orders in which they join, (n, C, p)."""
    rng, p, total = np.random.default_rng(0), int(player.max()) + 1, np.zeros(())
    n_orders = -(-MIN_ORDERS // len(background))
    for row in background:
        for order in rng.permuted(np.tile(np.arange(p), (n_orders, 1)), axis=1):
            forward = np.argsort(order)
            for rank in (forward, p - 1 - forward):
                mixed = np.where(rank[player] < np.arange(p + 1)[:, None], X[:, None], row)
                outputs = function(mixed.reshape(-1, X.shape[1])).reshape(len(X), p + 1, -1)
                total = total + np.diff(outputs, axis=1)[:, rank]
    return total.transpose(0, 2, 1) / (2 * n_orders * len(background))
