"""The features of a fit in codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....terms import ImputeAndEncode
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array, DesignLike
from .columns import Column, FewLevels, ManyLevels, Numbers

# Up to this number of levels splits single out one of them.
MAX_SINGLED_OUT = 4


@dataclass(frozen=True)
class BinnedFeatures:
    """The features of n rows.

    Parameters
    ----------
    codes : ndarray of shape (d, n), uint8
        The code of each value.
    columns : list of Column
    """

    codes: Array
    columns: list[Column]

    @classmethod
    def of(cls, design: DesignLike, weight: Array, max_bin: int) -> BinnedFeatures:
        """The original features of a design, binned by the weights of the rows, (n,)."""
        X = design.original
        n_levels = numbers_of_levels(design.feature_map.expansion)
        codes = np.zeros(X.T.shape, dtype=np.uint8)
        columns: list[Any] = [None] * X.shape[1]

        def bin_columns(first: int, last: int) -> None:
            for j in range(first, last):
                values, target = np.ascontiguousarray(X[:, j]), codes[j]
                coded = j in n_levels
                columns[j] = (
                    category(values, n_levels[j], target) if coded else Numbers(values, weight, max_bin, target)
                )

        run_over_tiles(bin_columns, len(columns), design.n_jobs)
        return cls(codes, columns)

    def require_numbers(self, owner: str, signs: Sequence[int] | None) -> None:
        """Raise a ValueError if outputs are to be monotone in a category."""
        for j, sign in enumerate(() if signs is None else signs):
            if sign and not self.columns[j].is_number:
                raise ValueError(
                    f"{owner}: monotone_constraints must be 0 for categories, got {sign} for column {j}"
                )

    @property
    def many_levels(self) -> list[ManyLevels]:
        """The categories that are ordered anew for each tree."""
        return [column for column in self.columns if isinstance(column, ManyLevels)]


def numbers_of_levels(expansion: ImputeAndEncode | None) -> dict[int, int]:
    """The number of levels of each category; some may have no rows here."""
    if expansion is None:
        return {}
    tables = zip(expansion.categorical.tolist(), expansion.one_hot, strict=True)
    # The last row of a table is that of a missing level.
    return {column: len(table) - 1 for column, table in tables}


def category(values: Array, n_levels: int, codes: Array) -> Column:
    """A column of category codes, (n,)."""
    levels = np.where(np.isnan(values), -1, values).astype(np.int32)
    return (FewLevels if n_levels <= MAX_SINGLED_OUT else ManyLevels)(levels, n_levels, codes)
