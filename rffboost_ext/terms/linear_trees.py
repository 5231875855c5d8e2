"""Trees whose leaves are linear functions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..core import Term
from ..utils.arrays import require_columns
from ..utils.typing import Array
from .category_sets import Recoding
from .stored_fields import require_instance, require_outputs
from .trees import Trees

# Entries of the coefficients of a block of rows.
CHUNK_ENTRIES = 2**20


@final
@dataclass(frozen=True, eq=False)
class LinearTrees(Term):
    """The sum of regression trees whose leaves are linear functions: ``x -> sum_j b_j(x) x_j + b_d(x)``.

    Missing values count as 0: a leaf with another rule tests for them by splits. Trees of one leaf are a linear
    model. LightGBM grows them with ``linear_tree``, XGBoost's ``gblinear`` is a linear model.

    Parameters
    ----------
    coefficients : Trees
        The functions b, as C (d + 1) outputs of trees: for each output the coefficients of d features and the
        constant.
    n_outputs : int, default=1
        Number of outputs, C.
    """

    coefficients: Trees
    n_outputs: int = 1

    def __call__(self, X: Array) -> Array:
        step = max(1, CHUNK_ENTRIES // self.coefficients.n_outputs)
        parts = [self._outputs(X[start : start + step]) for start in range(0, max(1, len(X)), step)]
        return np.concatenate(parts)

    def _outputs(self, X: Array) -> Array:
        slopes, constant = self.slopes_and_constant(X)
        return np.asarray(np.einsum("ncd,nd->nc", slopes, np.where(np.isnan(X), 0.0, X)) + constant)

    def slopes_and_constant(self, X: Array) -> tuple[Array, Array]:
        """The coefficients of the features, (n, C, d), and the constant, (n, C), at X (n, d)."""
        require_columns(X, self.n_features)
        found = self.coefficients(X).reshape(len(X), self.n_outputs, self.n_features + 1)
        return found[:, :, :-1], found[:, :, -1]

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", with_all_columns(self.coefficients))

    @property
    def n_features(self) -> int:
        """Columns of X, d."""
        return self.coefficients.n_outputs // self.n_outputs - 1

    @property
    def family(self) -> Hashable:
        return LinearTrees, self.coefficients.family

    def scaled(self, factor: float) -> LinearTrees:
        return replace(self, coefficients=self.coefficients.scaled(factor))

    @classmethod
    def stack(cls, terms: Sequence[LinearTrees]) -> LinearTrees:
        return replace(terms[0], coefficients=Trees.stack([term.coefficients for term in terms]))

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        require_outputs("trees with linear leaves", self.n_outputs, n_outputs)
        require_instance("coefficients", self.coefficients, Trees)
        width = self.n_features if n_features is None else n_features
        self.coefficients.check(n_features, self.n_outputs * (width + 1))

    def recoded(self, recoding: Recoding) -> LinearTrees:
        return replace(self, coefficients=self.coefficients.recoded(recoding))

    def gradient(self, X: Array) -> Array:
        slopes = self.slopes_and_constant(X)[0]
        return np.where(np.isnan(X[:, None, :]), 0.0, slopes)


def with_all_columns(trees: Trees) -> Trees:
    """The same trees with a column of values for each output, also if each tree has one output."""
    if trees.output is None:
        return trees
    value = np.zeros((len(trees.value), trees.n_outputs))
    value[np.arange(len(value)), trees.output[trees.tree_of_nodes]] = trees.value[:, 0]
    return replace(trees, value=value, output=None)


def linear_model(slopes: Array, constant: Array) -> LinearTrees:
    """The linear model ``x -> slopes x + constant``, for slopes (C, d) and constants (C,)."""
    value = np.column_stack([slopes, constant]).reshape(1, -1)
    child, feature = np.full(1, -1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    nodes = child, child, feature, np.zeros(1), np.zeros(1, dtype=bool), value
    return LinearTrees(Trees(np.zeros(1, dtype=np.int64), *nodes), len(constant))
