"""Arrays of frequencies and weights of cosines, and the coordinates of wide tables on which cosines act."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar
from weakref import WeakValueDictionary

import numpy as np

from ..utils.pickling import PickledByFields
from ..utils.sparse import row_hashes
from ..utils.typing import Array

# Nodes of a quadrature: for more than twice as many features the integrand is smooth, and more nodes change the
# last bits only.
MAX_NODES = 32
# Entries of a block of rows of a wide table.
BLOCK_ENTRIES = 2**20


@dataclass(frozen=True, eq=False)
class Projection(PickledByFields):
    r"""``x -> matrix @ x``, from d columns to r coordinates.

    A kernel depends on its rows only through inner products, so all its frequencies can lie in the span of the
    rows. K frequencies then take :math:`r (K + d)` numbers, where they would take :math:`K d`.

    Parameters
    ----------
    matrix : ndarray of shape (r, d)
        Coefficients, float32 or float64.
    """

    matrix: Array

    _alive: ClassVar[WeakValueDictionary[int, Projection]] = WeakValueDictionary()

    @classmethod
    def of(cls, matrix: Array) -> Projection:
        """The projection of an array, one object as long as it lives: its key takes a pass over the array."""
        return cls._alive.setdefault(id(matrix), cls(matrix))

    def __call__(self, X: Array) -> Array:
        """The coordinates of X (n, d): (n, r), in float64."""
        return np.asarray(X @ self.matrix.T, dtype=np.float64)

    @property
    def n_features(self) -> int:
        """Number of columns, d."""
        return int(self.matrix.shape[1])

    @cached_property
    def key(self) -> Hashable:
        """Equal for equal projections."""
        return self.matrix.shape, hashlib.blake2b(np.ascontiguousarray(self.matrix).data, digest_size=16).digest()

    @cached_property
    def _divided(self) -> dict[bytes, Projection]:
        return {}

    def divided(self, scale: Array) -> Projection:
        """The coordinates of ``x / scale``, for positive scales (d,); one object for equal scales."""
        key = scale.tobytes()
        if key not in self._divided:
            self._divided[key] = Projection((self.matrix / scale).astype(self.matrix.dtype))
        return self._divided[key]


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


@cache
def half_quadrature(n_players: int) -> tuple[Array, Array]:
    """Nodes on (0, 1) and weights for the integral over [-1, 1] of the real part of a product of players.

    They are the positive nodes of Gauss-Legendre quadrature on [-1, 1], with twice their weights.
    """
    size = min(max(1, -(-n_players // 4)), MAX_NODES)
    nodes, weights = np.polynomial.legendre.leggauss(2 * size)
    return nodes[size:], 2.0 * weights[size:]
