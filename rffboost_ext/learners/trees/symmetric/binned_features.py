"""The features of training rows as codes of one byte."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np

from ....terms.crosses import NO_CROSSES, Crosses
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array
from ...design import Design
from .categories import LevelOrders, ManyLevels, category
from .columns import Column, Numbers
from .search import DenseSearch


@dataclass(frozen=True)
class BinnedFeatures:
    """The features of n rows, and their crosses.

    Parameters
    ----------
    codes : ndarray of shape (d + K, n), uint8
        The code of each value.
    columns : list of Column
    crosses : Crosses
        The last K columns.
    """

    codes: Array
    columns: list[Column]
    crosses: Crosses

    @classmethod
    def of(cls, design: Design, weight: Array, max_bin: int, crosses: Crosses = NO_CROSSES) -> BinnedFeatures:
        """The original features of a design, binned by the weights of the rows, (n,)."""
        X = design.original
        n_levels, (n_samples, n_features) = design.n_levels, X.shape
        codes = code_array((n_features + len(crosses), n_samples))
        columns: list[Any] = [None] * len(codes)

        def bin_columns(first: int, last: int) -> None:
            for j in range(first, last):
                values, target, coded = crosses.column(X, j), codes[j], j in n_levels
                columns[j] = (
                    category(values, n_levels[j], target) if coded else Numbers(values, weight, max_bin, target)
                )

        run_over_tiles(bin_columns, len(columns), design.n_jobs)
        return cls(codes, columns, crosses)

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return self.codes.shape[1]

    @cached_property
    def n_codes(self) -> Array:
        """The number of codes of each column, (d + K,)."""
        return np.array([column.n_codes for column in self.columns])

    @cached_property
    def one_hot(self) -> Array:
        """Whether splits of each column single out a code, (d + K,)."""
        return np.array([column.one_hot for column in self.columns])

    @cached_property
    def usable(self) -> Array:
        """The columns that trees may split."""
        return np.arange(len(self.columns))

    @property
    def chances(self) -> None:
        """None: columns are drawn with equal probabilities."""

    def originals(self, design: Design, feature: Array) -> tuple[Array, Array]:
        """An array (d, n), filled for the features in `feature` (D,) at least, and `feature`."""
        X = design.original
        if X.flags.f_contiguous:
            return X.T, feature
        # Pages of other columns take no memory.
        memory, filled = design.cache(
            (BinnedFeatures, "originals"), lambda: (np.empty(X.shape[::-1], X.dtype), set[int]())
        )
        for f in set(feature.tolist()) - filled:
            memory[f] = X[:, f]
            filled.add(f)
        return memory, feature

    def search(self, max_depth: int, n_sums: int, n_jobs: int) -> DenseSearch:
        """The search for splits, with memory for trees of a depth and a number of derivatives of each row."""
        return DenseSearch(self.codes, self.n_codes, self.one_hot, max_depth, n_sums, n_jobs)

    def require_numbers(self, owner: str, signs: Sequence[int] | None) -> None:
        """Raise a ValueError if outputs are to be monotone in a category."""
        for j, sign in enumerate(() if signs is None else signs):
            if sign and not self.columns[j].is_number:
                raise ValueError(
                    f"{owner}: monotone_constraints must be 0 for categories, got {sign} for column {j}"
                )

    @cached_property
    def level_orders(self) -> LevelOrders | None:
        """The orders of the categories of many levels, None without such categories."""
        ordered = {j: column for j, column in enumerate(self.columns) if isinstance(column, ManyLevels)}
        return LevelOrders(ordered, self.codes) if ordered else None


# Codes of more bytes are kept on disk.
MOST_CODES = 2**28


def code_array(shape: tuple[int, ...]) -> Array:
    """Codes of 0 (d, n), in memory, or if there are many of them in a temporary file without a name.

    The system deletes the file with the array, and also if the process is killed.

    Raises
    ------
    OSError
        If the disk has no space for them; without the reservation the system would end the process later.
    """
    if (size := math.prod(shape)) <= MOST_CODES:
        return np.zeros(shape, dtype=np.uint8)
    with TemporaryFile() as file:
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            place = f"the folder {gettempdir()} must have {size:,} bytes for the bins of trees"
            raise OSError(error.errno, f"{place}, {error.strerror}: TMPDIR names another one") from error
        return np.memmap(file, np.uint8, "w+", shape=shape)
