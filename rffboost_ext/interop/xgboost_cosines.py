"""Cosines in XGBoost's training loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from xgboost import Booster, DMatrix, QuantileDMatrix
from xgboost.core import XGBoostError

from ..core import Term
from ..learners.trees.xgboost_model import parse_model, read_rounds
from ..utils.typing import Array
from .cosine_objective import DOC, CosineObjectiveBase, require_same_features
from .cosine_training import CosineTraining
from .xgboost_ensemble import best_round, names_of

CATEGORIES = (
    "CosineObjective: the matrix must hold numbers for cosines, got categorical columns: encode them, such as "
    "one-hot, or train on an array of codes with feature_types and pass it by attach(matrix, codes)"
)
"""Error message for categorical columns."""


class CosineObjective(CosineObjectiveBase):
    __doc__ = f"""{DOC}
    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> matrix = xgboost.DMatrix(X, np.sin(2.0 * X[:, 0]) > 0.0)
    >>> hybrid = rxgb.CosineObjective("log_loss")
    >>> booster = xgboost.train({{"max_depth": 2}}, matrix, 20, obj=hybrid)
    >>> hybrid.bind(booster).predict_proba(X).shape
    (200, 2)
    """

    def metric(self, scores: Array, matrix: DMatrix) -> tuple[str, float]:
        """``custom_metric`` of ``xgboost.train``: the mean loss at the sum of both parts, for early stopping."""
        return self.evaluate(scores, matrix)

    def _check_attached(self, matrix: DMatrix, X: Array) -> None:
        if not matrix.get_categories().empty():
            raise ValueError(CATEGORIES)
        require_no_missing(X.size - matrix.num_nonmissing())
        # A QuantileDMatrix has only the bins of its features.
        found = None if isinstance(matrix, QuantileDMatrix) else self._tree_inputs(matrix, np.arange(len(X)))
        if found is not None:
            require_same_features(found, X)

    def _n_features(self, matrix: DMatrix) -> int | None:
        return int(matrix.num_col())

    def _features(self, matrix: DMatrix) -> Array:
        if "c" in (matrix.feature_types or ()):
            raise ValueError(CATEGORIES)
        if isinstance(matrix, QuantileDMatrix):
            raise ValueError(
                "a QuantileDMatrix does not return its features: pass them by attach(matrix, X) before training, "
                "or train on a DMatrix"
            )
        rows = matrix.get_data()
        require_no_missing(matrix.num_row() * matrix.num_col() - rows.nnz)
        return np.asarray(rows.toarray())

    def _tree_inputs(self, matrix: DMatrix, rows: Array) -> Array | None:
        try:
            # A QuantileDMatrix cannot be sliced; its values are not the features, but take the same paths.
            binned = isinstance(matrix, QuantileDMatrix)
            return dense_with_nan(matrix.get_data()[rows] if binned else matrix.slice(rows).get_data())
        except XGBoostError:
            # Such as one in external memory.
            return None

    def _read_trees(self, booster: Booster, training: CosineTraining) -> tuple[list[Term | None], int]:
        rounds: list[Term | None] = list(read_rounds(parse_model(booster), kinds=("gbtree",)))
        return rounds[: best_round(booster, len(rounds))], booster.num_features()

    def _feature_names(self, booster: Booster) -> Array | None:
        return names_of(booster)


def require_no_missing(n_missing: int) -> None:
    """Raise a ValueError if a matrix has missing values."""
    if n_missing:
        raise ValueError(
            f"CosineObjective: the matrix has {n_missing} missing values, which cosines cannot take; trees and "
            f"cosines must use the same features: build the matrix of imputed ones"
        )


def dense_with_nan(sparse: Any) -> Array:
    """A sparse matrix as an array, NaN for missing entries."""
    entries = sparse.tocoo()
    found = np.full(entries.shape, np.nan)
    found[entries.row, entries.col] = entries.data
    return found
