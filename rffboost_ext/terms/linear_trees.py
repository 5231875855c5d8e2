"""Trees whose leaves are linear functions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ..core import Term
from ..utils.arrays import require_n_features
from ..utils.typing import Array
from .category_sets import Recoding
from .stored_fields import require_instance, require_outputs
from .trees import Trees

# Entries of the coefficients of a block of rows.
CHUNK_ENTRIES = 2**20
LOWEST = np.finfo(np.float32).min
"""No number is less: a split at this threshold sends missing values alone to the left."""


@final
@dataclass(frozen=True, eq=False)
class LinearTrees(Term):
    """The sum of regression trees whose leaves are linear functions: ``x -> sum_j b_j(x) x_j + b_d(x)``.

    Missing values count as 0: a leaf with another rule tests for them by splits. LightGBM grows such trees with
    ``linear_tree``.

    Parameters
    ----------
    coefficients : Trees
        The functions b, as C (d + 1) outputs of trees: for each output the coefficients of d features and the
        constant.
    n_outputs : int, default=1
        Number of outputs, C.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> from rffboost_ext.interop import lightgbm as rlgb
    >>> X = np.arange(100.0)[:, None]
    >>> model = lightgbm.LGBMRegressor(n_estimators=3, linear_tree=True, verbose=-1).fit(X, X[:, 0])
    >>> type(rlgb.to_ensemble(model).terms[-1]).__name__
    'LinearTrees'
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
        require_n_features(X, self.n_features)
        coefficients = self.coefficients(X).reshape(len(X), self.n_outputs, self.n_features + 1)
        return coefficients[:, :, :-1], coefficients[:, :, -1]

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


@dataclass(frozen=True)
class LinearLeaves:
    """Linear functions of the leaves of a tree: `constant` and the number of features of each, (L,).

    `features` and `slopes` are those of all leaves, one leaf after the other.
    """

    constant: Array
    counts: Array
    features: Array
    slopes: Array


def with_linear_leaves(
    plain: Trees, leaves: LinearLeaves, output: int, n_outputs: int, n_features: int
) -> LinearTrees:
    """A tree of constants with linear functions in its leaves, for one of several outputs.

    As in LightGBM, a row that lacks a feature of its leaf has the constant of the tree.
    """
    trees, ends = with_tests_of_missing_values(plain, leaves)
    column = output * (n_features + 1)
    value = np.zeros((len(trees.left), n_outputs * (n_features + 1)))
    value[:, column + n_features] = trees.value[:, 0]
    value[ends, column + n_features] = leaves.constant
    value[np.repeat(ends, leaves.counts), column + leaves.features] = leaves.slopes
    return LinearTrees(replace(trees, value=value, n_outputs=value.shape[1]), n_outputs)


def with_tests_of_missing_values(plain: Trees, leaves: LinearLeaves) -> tuple[Trees, Array]:
    """The tree with a chain of splits for each leaf, by its features, and the last leaf of each chain, (L,).

    A split has the leaf of missing values to its left, and the rest of the chain to its right.
    """
    n_nodes, n_tests, counts = len(plain.left), len(leaves.features), leaves.counts
    whole, ends = np.flatnonzero(plain.left < 0), np.cumsum(counts)
    leaf, is_first = np.repeat(whole, counts), np.isin(np.arange(n_tests), ends - counts)
    missing = n_nodes + 2 * np.arange(n_tests)
    test = np.where(is_first, leaf, missing - 1)
    nodes: dict[str, tuple[Any, Any]] = {
        "left": (-1, missing),
        "right": (-1, missing + 1),
        "feature": (0, leaves.features),
        "threshold": (0, LOWEST),
        "missing_left": (False, True),
        "value": (plain.value[np.repeat(leaf, 2)], 0.0),
    }
    fields: dict[str, Any] = {}
    for name, (new, tested) in nodes.items():
        old = getattr(plain, name)
        fields[name] = np.concatenate([old, np.broadcast_to(new, (2 * n_tests, *old.shape[1:]))]).astype(old.dtype)
        fields[name][test] = tested
    if plain.subset is not None:
        fields["subset"] = np.append(plain.subset, np.full(2 * n_tests, -1)).astype(plain.subset.dtype)
    return replace(plain, **fields), np.where(counts > 0, n_nodes + 2 * ends - 1, whole)
