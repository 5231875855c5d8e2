"""Features in the layout of the compiled passes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..utils.parallel import over_tiles
from ..utils.typing import Array

# Rows per tile: enough to prefetch the next tile, few enough for a tile to stay in cache.
ROWS = 2048
# Tiles are cut to whole vectors, so that loops over them have no remainder.
LANES = 16
# Bytes of a cache line, which are those of a vector.
LINE = 64


def at_line(shape: tuple[int, ...], dtype: Any) -> Array:
    """New memory for an array of that shape, not filled, that starts with a cache line.

    A vector that lies on two lines takes two reads; NumPy's own large arrays start 16 bytes after a line.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.empty(size + LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(shape)


class Tiles:
    """Standardised features as tiles of rows, feature-major inside a tile: blocks (T, d, B).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, float32 or float64.
    center, scale : ndarray of shape (d,)
        Tiles hold ``(X - center) / scale``.
    dtype : dtype
        Precision of the tiles, and of the passes over them.
    n_jobs : int
        Threads for passes.
    """

    def __init__(self, X: Array, center: Array, scale: Array, dtype: Any, n_jobs: int) -> None:
        from ..kernels.tiles import fill_tiles

        self.n_samples, d = X.shape
        size = min(ROWS, -(-self.n_samples // LANES) * LANES)
        self.n_tiles = -(-self.n_samples // size)
        self.n_jobs = n_jobs
        self.blocks = at_line((self.n_tiles, d, size), dtype)
        self._buffers: dict[str, Array] = {}
        over_tiles(fill_tiles, self.n_tiles, n_jobs, X, center, scale, self.blocks)

    @property
    def dtype(self) -> Any:
        """Precision of the tiles."""
        return self.blocks.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (T, B) of an array with one entry per row."""
        return self.n_tiles, self.blocks.shape[2]

    def rows(self, values: Array, name: str) -> Array:
        """Values (n,) as (T, B) in the tiles' precision, zero where a tile has no row.

        The same `name` gets the same memory in every round: the system clears fresh memory page by page, which
        costs more than to write the values.
        """
        if name not in self._buffers:
            self._buffers[name] = at_line(self.shape, self.dtype)
            self._buffers[name][:] = 0
        out = self._buffers[name]
        out.reshape(-1)[: self.n_samples] = values
        return out

    def flat(self, tiled: Array) -> Array:
        """Values (T, B) as (n,)."""
        return tiled.reshape(-1)[: self.n_samples]

    def run(self, kernel: Callable[..., Any], *args: Any, number: int | None = None) -> None:
        """Run a compiled pass ``kernel(*args, first, last)`` over all tiles, or over a `number` of them."""
        self.bound(kernel, *args, number=number)()

    def bound(self, kernel: Callable[..., Any], *args: Any, number: int | None = None) -> Callable[[], None]:
        """The call that :meth:`run` makes, for a search that makes it often and changes what is in the arrays."""
        number = self.n_tiles if number is None else number
        if self.n_jobs == 1:
            return partial(kernel, *args, 0, number)
        return partial(over_tiles, kernel, number, self.n_jobs, *args)
