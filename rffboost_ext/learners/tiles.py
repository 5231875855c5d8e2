"""Features in tiles, the layout of the compiled passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..kernels import compiled
from ..utils.parallel import run_over_tiles
from ..utils.typing import Array

# Enough rows to prefetch the next tile, few enough for a tile to stay in cache.
ROWS_PER_TILE = 2048
# Features of rows for each thread: of fewer a pass takes less time than its start.
MIN_VALUES = 2**20
# The same of features that are gathered from rows far apart.
MIN_GATHERED = 2**17
# The size of a tile is a multiple of this, so that vectorised loops have no remainder.
LANES = 16
# Bytes of a cache line, and of a vector.
CACHE_LINE = 64


def empty_aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An uninitialised array that starts on a cache line.

    A vector on two cache lines takes two reads; NumPy's own large arrays start 16 bytes after a line.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(shape)


class Tiles:
    """Standardised features as T tiles of B rows, feature-major inside a tile: blocks (T, d, B).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, float32 or float64.
    center, scale : ndarray of shape (d,)
        Tiles hold ``(X - center) / scale``.
    dtype : dtype
        Precision of the tiles and of the passes over them.
    n_jobs : int
        Number of threads for passes.
    """

    def __init__(self, X: Array, center: Array, scale: Array, dtype: Any, n_jobs: int) -> None:
        self.n_samples, d = X.shape
        size = min(ROWS_PER_TILE, -(-self.n_samples // LANES) * LANES)
        self.n_tiles = -(-self.n_samples // size)
        self.n_jobs = n_jobs
        self.blocks = empty_aligned((self.n_tiles, d, size), dtype)
        self._buffers: dict[str, Array] = {}
        for block, start in zip(self.blocks, range(0, self.n_samples, size), strict=True):
            rows = X[start : start + size]
            block[:, : len(rows)] = ((rows - center) / scale).T
            block[:, len(rows) :] = 0

    @property
    def dtype(self) -> Any:
        """Precision of the tiles."""
        return self.blocks.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (T, B) of an array with one entry per row."""
        return self.n_tiles, self.blocks.shape[2]

    def gather(self, rows: Array, features: Array) -> Array:
        """Some features (s,) of some rows (m,): (s, m)."""
        x = np.empty((len(features), len(rows)), self.dtype)
        arrays, least = (self.blocks, rows, features, x), -(-MIN_GATHERED // max(len(rows), 1))
        run_over_tiles(compiled("tiles").gather, len(features), self.n_jobs, *arrays, least=least)
        return x

    def pack(self, values: Array, name: str) -> Array:
        """Values (n,) as (T, B) in the precision of the tiles, padded with zeros.

        Calls with the same `name` share a buffer, because fresh memory is slower than writing the values.
        """
        if name not in self._buffers:
            self._buffers[name] = empty_aligned(self.shape, self.dtype)
            self._buffers[name][:] = 0
        out = self._buffers[name]
        out.reshape(-1)[: self.n_samples] = values
        return out

    def unpack(self, tiled: Array) -> Array:
        """Values (T, B) as (n,)."""
        return tiled.reshape(-1)[: self.n_samples]

    def run(self, kernel: Callable[..., Any], *args: Any, number: int | None = None) -> None:
        """Run a compiled pass ``kernel(*args, first, last)`` over all tiles, or over the first `number`."""
        self.bind(kernel, *args, number=number)()

    def bind(self, kernel: Callable[..., Any], *args: Any, number: int | None = None) -> Callable[[], None]:
        """The call that :meth:`run` makes, for repeated use with other contents of the arrays."""
        number = self.n_tiles if number is None else number
        if self.n_jobs == 1:
            return partial(kernel, *args, 0, number)
        least = -(-MIN_VALUES // self.blocks[0].size)
        return partial(run_over_tiles, kernel, number, self.n_jobs, *args, least=least)
