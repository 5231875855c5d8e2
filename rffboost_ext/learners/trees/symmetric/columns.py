"""Columns of features as codes of one byte, and what their splits are.

Code 0 is a missing value. The other codes of a column are ordered, or single levels of a category; a split sends
some of the codes to the right.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryFile, gettempdir
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ....kernels import compiled
from ....terms.crosses import NO_CROSSES, Crosses
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array
from ...design import Design
from .search import DenseSearch

N_CODES = 256
MAX_BINS = N_CODES - 1


class Condition(NamedTuple):
    """What goes right at a split: numbers from `threshold` on, or some `levels` of a category, (K,), bool."""

    threshold: float
    missing_right: bool
    levels: Array | None = None


class Column(ABC):
    """One feature of n rows."""

    one_hot: ClassVar[bool] = False
    """Whether splits single out a code, instead of dividing the order of the codes."""
    is_number: ClassVar[bool] = False
    """Whether its values are numbers, for which slopes make sense."""
    n_codes: int

    @abstractmethod
    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split that sends codes above `code` to the right, or this code alone if they are singled out."""


class Numbers(Column):
    """Numbers in bins of about equal weight.

    Parameters
    ----------
    values, weight : ndarray of shape (n,)
        The numbers, and the weights of the rows.
    max_bin : int
        The largest number of bins.
    codes : ndarray of shape (n,), uint8
        Where the codes are written.
    """

    is_number = True

    def __init__(self, values: Array, weight: Array, max_bin: int, codes: Array) -> None:
        self.edges = bin_edges(values, weight, max_bin)
        self.n_codes = len(self.edges) + 2
        compiled("bins").find_codes(values.astype(np.float64), self.edges, codes)

    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split at an edge; those of the first and the last code divide missing values from numbers."""
        if 0 < code <= len(self.edges):
            return Condition(float(self.edges[code - 1]), missing_right)
        return Condition(math.inf if code else -math.inf, missing_right)


class FewLevels(Column):
    """A category of few levels, which splits single out.

    Parameters
    ----------
    levels : ndarray of shape (n,), int32
        The level of each row; -1 for a missing one.
    n_levels : int
    codes : ndarray of shape (n,), uint8
        Where the codes are written.
    """

    one_hot = True

    def __init__(self, levels: Array, n_levels: int, codes: Array) -> None:
        self.n_levels, self.n_codes = n_levels, n_levels + 1
        codes[:] = levels + 1

    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split that sends one level, or the missing values, to the right."""
        return Condition(np.inf, code == 0, np.arange(1, self.n_levels + 1) == code)


class ManyLevels(Column):
    r"""A category of many levels, ordered anew for each tree; parameters are those of :class:`FewLevels`.

    The order is by :math:`(\sum_i g_i + a m) / (\sum_i h_i + a)` over the rows of a level that the tree is not
    fitted to, so that no row has an influence on the place of its own level; m is that quotient, without a, over
    all such rows. With more levels than codes, neighbours share one. Without missing values in training, missing
    values and unknown levels go the way of a level without such rows, whose quotient is m.
    """

    def __init__(self, levels: Array, n_levels: int, codes: Array) -> None:
        self.n_levels, self.codes = n_levels, codes
        # Look-ups would convert 32 bits in each round.
        self.place = levels.astype(np.intp) + 1
        self.n_codes = min(n_levels, MAX_BINS) + 1
        self.code_of_level, self.code_of_unknown = np.zeros(n_levels, dtype=np.uint8), 0
        self.has_missing = bool((levels < 0).any())

    def reorder(self, gradient: Array, hessian: Array, smoothing: float) -> None:
        """Order the levels by weighted derivatives, (n,) each, which are 0 for rows that the tree is fitted to."""
        sums = np.zeros((self.n_levels + 1, 2))
        compiled("bins").sum_by_level(self.place, gradient, hessian, sums)
        total, bend = sums.sum(axis=0)
        # Levels of no such rows have the mean of all.
        mean = total / max(bend, np.finfo(np.float64).tiny)
        quotient = (sums[1:, 0] + smoothing * mean) / (sums[1:, 1] + smoothing)
        rank = np.empty(self.n_levels, dtype=np.int64)
        rank[np.argsort(quotient, kind="stable")] = np.arange(self.n_levels)
        codes = np.zeros(self.n_levels + 1, dtype=np.uint8)
        codes[1:] = self._code_of_rank(rank)
        self.code_of_level = codes[1:]
        self.code_of_unknown = self._code_of_rank(np.count_nonzero(quotient < mean))
        codes.take(self.place, out=self.codes, mode="clip")

    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split that divides the order of the levels."""
        unknown_right = missing_right if self.has_missing else self.code_of_unknown > code
        return Condition(np.inf, unknown_right, self.code_of_level > code)

    def _code_of_rank(self, rank: Any) -> Any:
        """The codes of places 0, 1, ... in the order of the levels."""
        return 1 + rank * (self.n_codes - 1) // self.n_levels


def bin_edges(values: Array, weight: Array, max_bin: int) -> Array:
    """The edges between at most `max_bin` bins, midway between adjacent values, so that bins are of equal weight.

    With few distinct values each has its own bin. A row of weight 2 counts as two rows, one of weight 0 as none.
    Edges are rounded down to single precision where that is between the values, too: a value of few digits that is
    the middle of two others is then on the same side of the edge after rounding.
    """
    if not (weight > 0.0).all():
        values, weight = values[weight > 0.0], weight[weight > 0.0]
    if weight.min(initial=np.inf) == weight.max(initial=0.0):
        ordered, below = np.sort(values), np.arange(1.0, len(values) + 1.0)
    else:
        order = np.argsort(values)
        ordered, below = values[order], np.cumsum(weight[order])
    # Missing values come last.
    ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))].astype(np.float64, copy=False)
    upper = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    if len(upper) >= max_bin:
        shares = below[len(ordered) - 1] * np.arange(1, max_bin) / max_bin
        places = np.searchsorted(upper, np.searchsorted(below, shares), side="right")
        upper = upper[np.unique(places.clip(max=len(upper) - 1))]
    return edges_between(ordered[upper - 1], ordered[upper])


def edges_between(lower: Array, upper: Array) -> Array:
    """Edges midway between adjacent values (k,), as :func:`bin_edges` rounds them."""
    middle = 0.5 * lower + 0.5 * upper
    with np.errstate(over="ignore"):
        below, single = lower.astype(np.float32), middle.astype(np.float32)
    single = np.where(single > middle, np.nextafter(single, np.float32(-np.inf)), single)
    middle = np.where(single > below, single, middle)
    # Between neighbours among numbers in double precision there is no other.
    return np.where(middle > lower, middle, upper)


# Up to this number of levels splits single out one of them.
MAX_SINGLED_OUT = 4


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
    def many_levels(self) -> list[ManyLevels]:
        """The categories that are ordered anew for each tree."""
        return [column for column in self.columns if isinstance(column, ManyLevels)]


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


def category(values: Array, n_levels: int, codes: Array) -> Column:
    """A column of category codes, (n,)."""
    levels = np.where(np.isnan(values), -1, values).astype(np.int32)
    return (FewLevels if n_levels <= MAX_SINGLED_OUT else ManyLevels)(levels, n_levels, codes)
