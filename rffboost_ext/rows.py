"""Rows that occur twice are one row of twice the weight."""

from __future__ import annotations

import numpy as np

from .core import Array

BLOCK = 8192


def distinct_rows(X: Array, y: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Merge equal rows into one of their joint weight.

    A row of weight 2 and the same row twice become the same data, so that they lead to the same fit bit for
    bit, and not only up to rounding errors, which some searches multiply from round to round. To that end
    rows are put in an order that depends on their contents alone.

    Parameters
    ----------
    X, y : ndarray of shape (n, d), (n, C)
        Features and encoded targets, of which both must agree for rows to be equal.
    weight : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    X, y, weight : ndarray
        The distinct rows; the arguments themselves if all rows are distinct and of equal weight.
    """
    key = fingerprints(X) + np.uint64(3) * fingerprints(y)
    order = np.argsort(key, kind="stable")
    tied = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    one, other = order[tied], order[tied + 1]
    equal = (X[one] == X[other]).all(axis=1) & (y[one] == y[other]).all(axis=1)
    first = np.ones(len(X), dtype=bool)
    first[tied[equal] + 1] = False
    if first.all() and (weight == weight[0]).all():
        return X, y, weight
    rows = order[first]
    return X[rows], y[rows], np.add.reduceat(weight[order], np.flatnonzero(first))


def fingerprints(values: Array) -> Array:
    """A 64-bit hash of each row of `values` (n, k), floats: (n,). Equal rows have equal hashes."""
    factor = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64) * 2 + 1
    key = np.empty(len(values), dtype=np.uint64)
    for start in range(0, len(values), BLOCK):
        rows = slice(start, start + BLOCK)
        # Adding 0 makes 0 of -0. The shift brings the leading bits down, which are all that an integer has.
        bits = (np.ascontiguousarray(values[rows], dtype=np.float64) + 0.0).view(np.uint64)
        key[rows] = (bits ^ (bits >> np.uint64(32))) @ factor
    return key
