"""Linear coordinates of tables with more columns than rows, on which cosines act."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from weakref import WeakValueDictionary

import numpy as np

from ..utils.pickling import PickledByFields
from ..utils.typing import Array

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
