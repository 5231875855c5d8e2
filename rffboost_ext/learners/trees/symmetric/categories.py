"""Categories as columns of codes: the levels of splits, and their orders."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ....core import Round
from ....kernels import compiled
from ....utils.parallel import MIN_ROWS_PER_THREAD, run_over_tiles
from ....utils.typing import Array
from .columns import MAX_BINS, Column, Condition

# Up to this number of levels splits single out one of them.
MAX_SINGLED_OUT = 4


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
    """A category of many levels, which :class:`LevelOrders` orders anew for each tree.

    With more levels than codes, neighbours in the order share one. Without missing values in training, missing
    values and unknown levels go the way of a level without rows.

    Parameters
    ----------
    levels : ndarray of shape (n,), int32
        The level of each row; -1 for a missing one.
    n_levels : int
    """

    def __init__(self, levels: Array, n_levels: int) -> None:
        self.place = (levels + 1).astype(np.uint32)
        self.n_levels, self.n_codes = n_levels, min(n_levels, MAX_BINS) + 1
        self.has_missing = not self.place.all()
        self.code_of_level, self.code_of_unknown = np.zeros(n_levels, dtype=np.uint8), np.zeros((), dtype=np.uint8)

    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split that divides the order of the levels."""
        unknown_right = missing_right if self.has_missing else bool(self.code_of_unknown > code)
        return Condition(np.inf, unknown_right, self.code_of_level > code)


class LevelOrders:
    r"""The orders of the levels of all categories that have many.

    The order is by :math:`(\sum_i g_i + a m) / (\sum_i h_i + a)` over the rows of a level that the tree is not
    fitted to, so that no row has an influence on the place of its own level; m is that quotient, without a, over
    all such rows.

    Parameters
    ----------
    columns : mapping of int to ManyLevels
        The categories, by the row of each in `codes`.
    codes : ndarray of shape (d, n), uint8
        Where the codes are written.
    """

    def __init__(self, columns: Mapping[int, ManyLevels], codes: Array) -> None:
        self.columns, self.codes = np.array(list(columns)), codes
        n_places = np.array([one.n_levels + 1 for one in columns.values()])
        self.begin = np.append(0, np.cumsum(n_places))
        self.place = np.stack([one.place for one in columns.values()])
        # The first place of each category is that of missing values.
        self.code_of_rank = np.concatenate([codes_in_order(one) for one in columns.values()])
        self.code_of_place = np.empty_like(self.code_of_rank)
        self.code_of_unknown = np.empty(len(columns), dtype=np.uint8)
        for k, one in enumerate(columns.values()):
            one.place, one.code_of_unknown = self.place[k], self.code_of_unknown[k, ...]
            one.code_of_level = self.code_of_place[self.begin[k] + 1 : self.begin[k + 1]]

    def reorder(self, round: Round, weight: Array, smoothing: float) -> None:
        """Order the levels by rows of given weights (n,), and by a random direction of the gradients."""
        kernels, (n_columns, n_samples), n_places = compiled("level_orders"), self.place.shape, self.begin[-1]
        rows, derivatives = np.empty(n_samples, dtype=np.uint32), np.empty((n_samples, 2))
        mixing = round.rng.standard_normal(round.gradient.shape[1])
        own = round.balanced_gradient, round.hessian, weight, mixing
        used = kernels.take_weighted(*own, rows, derivatives)
        sums, quotient, below = np.empty((n_places, 2)), np.empty(n_places), np.empty(n_columns, dtype=np.int64)
        added = smoothing * float(round.mean(round.hessian.T).mean())
        sizes, threads = (self.place, self.begin), (n_columns, round.design.n_jobs)
        memory = rows[:used], derivatives[:used], added, sums, quotient, below
        columns_per_thread = -(-MIN_ROWS_PER_THREAD // n_samples)
        run_over_tiles(kernels.find_quotients, *threads, *sizes, *memory, least=columns_per_thread)
        for first, last in pairwise(self.begin.tolist()):
            order = np.argsort(quotient[first:last], kind="stable")
            self.code_of_place[first:last][order] = self.code_of_rank[first:last]
        self.code_of_unknown[:] = self.code_of_rank[np.minimum(self.begin[:-1] + below, self.begin[1:] - 1)]
        written = self.code_of_place, self.columns, self.codes
        run_over_tiles(kernels.write_codes, *threads, *sizes, *written, least=columns_per_thread)


def codes_in_order(column: ManyLevels) -> Array:
    """The codes of missing values and of the levels in their order, (n_levels + 1,)."""
    rank, n = np.arange(column.n_levels), column.n_levels
    return np.append(0, 1 + rank * (column.n_codes - 1) // n).astype(np.uint8)


def category(values: Array, n_levels: int, codes: Array) -> Column:
    """A column of category codes, (n,)."""
    levels = np.where(np.isnan(values), -1, values).astype(np.int32)
    return FewLevels(levels, n_levels, codes) if n_levels <= MAX_SINGLED_OUT else ManyLevels(levels, n_levels)
