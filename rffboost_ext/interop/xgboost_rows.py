"""Sparse rows as matrices of XGBoost in which an absent entry is 0, not missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xgboost import DataIter, QuantileDMatrix

from .._signals import defer_signals
from ..utils.sparse import SparseRows
from ..utils.typing import Array


class RowBlocks(DataIter):
    """Sparse rows (n, d) as arrays of consecutive rows with their weights (n,), for a matrix of XGBoost.

    `feature_types` are XGBoost's types of the columns.
    """

    def __init__(self, X: Any, weight: Any, feature_types: Any) -> None:
        super().__init__()
        self.X, self.weight, self.feature_types = SparseRows.of(X), weight, feature_types

    def reset(self) -> None:
        """Start from the first row."""
        self.blocks, self.n_rows = self.X.blocks(), 0

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Pass the next rows on; False if there are none."""
        for block in self.blocks:
            first, self.n_rows = self.n_rows, self.n_rows + len(block)
            weight = None if self.weight is None else np.asarray(self.weight)[first : self.n_rows]
            input_data(data=block, weight=weight, feature_types=self.feature_types)
            return True
        return False


@defer_signals()
def quantile_matrix(
    data: Any,
    *,
    weight: Any,
    feature_types: Any,
    label: Any,
    base_margin: Any,
    feature_weights: Any = None,
    **options: Any,
) -> QuantileDMatrix:
    """The matrix of XGBoost for sparse rows (n, d), equal to that of the rows as an array, which is never made.

    Other parameters are those of :class:`xgboost.QuantileDMatrix`.
    """
    matrix = QuantileDMatrix(RowBlocks(data, weight, feature_types), **options)
    matrix.set_info(label=label, base_margin=base_margin, feature_weights=feature_weights)
    return matrix


def in_blocks(method: Callable[..., Array], X: Any, base_margin: Any = None, **options: Any) -> Array:
    """What a method returns for sparse rows X (n, d) and their ``base_margin``, on dense rows block by block."""
    results, first = [], 0
    for block in SparseRows.of(X).blocks():
        rows = slice(first, first := first + len(block))
        margin = {} if base_margin is None else {"base_margin": np.asarray(base_margin)[rows]}
        results.append(method(block, **margin, **options))
    return np.concatenate(results)
