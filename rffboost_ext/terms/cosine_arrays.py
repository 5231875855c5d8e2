"""Arrays of frequencies and weights of cosines."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..utils.arrays import row_hashes
from ..utils.typing import Array

# Nodes of a quadrature: for more than twice as many features the integrand is smooth, and more nodes change the
# last bits only.
MAX_NODES = 32


def pad_rows(array: Array, multiple: int) -> Array:
    """An array (m, ...) with rows of zeros up to a multiple of rows."""
    padded = np.zeros((len(array) + -len(array) % multiple, *array.shape[1:]))
    padded[: len(array)] = array
    return padded


def distinct_rows(rows: Array) -> tuple[Array, Array]:
    """Index of the first occurrence of each distinct row of an array (m, d), (k,), and the inverse, (m,)."""
    _, first, inverse = np.unique(row_hashes(rows), return_index=True, return_inverse=True)
    order = np.argsort(first)
    first, inverse = first[order], np.argsort(order)[inverse]
    if not np.array_equal(rows[first[inverse]], rows):
        # Fingerprints of different rows collide.
        return np.arange(len(rows)), np.arange(len(rows))
    return first, inverse


def group_sums(group: Array, n_groups: int, values: Array) -> Array:
    """Sums of values (k, m, C) over the m rows of each group: (k, n_groups, C)."""
    columns = [np.bincount(group, column, n_groups) for part in values for column in part.T]
    return np.reshape(columns, (len(values), -1, n_groups)).swapaxes(1, 2)


def half_quadrature(n_players: int) -> tuple[Array, Array]:
    """Nodes on (0, 1) and weights for the integral over [-1, 1] of the real part of a product of players."""
    return quadrature(min(max(1, -(-n_players // 4)), MAX_NODES))


@cache
def quadrature(size: int) -> tuple[Array, Array]:
    """The `size` positive nodes of Gauss-Legendre quadrature on [-1, 1], with twice their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(2 * size)
    return nodes[size:], 2.0 * weights[size:]
