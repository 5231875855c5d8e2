"""Sums of symmetric trees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, final

import numpy as np

from ..core import Term
from ..utils.arrays import require_used_columns
from ..utils.parallel import N_JOBS, run_over_tiles
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array
from .batch_evaluation import tree_outputs
from .category_sets import Recoding, check_category_sets, recoded_sets, stack_sets
from .crosses import NO_CROSSES, Crosses
from .stored_fields import require_field, require_range
from .trees import Trees

MAX_DEPTH = 16
"""The most levels of a symmetric tree."""


@final
@dataclass(frozen=True, eq=False)
class SymmetricTrees(Term):
    r"""The sum of T symmetric (oblivious) trees of depth D, whose nodes of one level have the same split.

    Bit l of the number of a row's leaf is 1, which is called right, if ``x[feature[l]] >= threshold[l]``, or if
    that value is missing (NaN) and ``missing_right[l]``. A set of codes of categories, which go right, may replace
    the threshold, and the difference or product of two features, in double precision, the feature. The output is

    .. math:: v_{tk} + \sum_{l} s_{tkl} \left(\min(\max(x_{f(t,l)}, a_{tl}), b_{tl}) - m_{tl}\right),

    in leaf k of tree t, the second part only with `slope`; missing values count as the center m.

    Parameters
    ----------
    feature : ndarray of shape (T, D), int32
        The feature of each level.
    threshold : ndarray of shape (T, D), float64
        Split values; infinity for a level that splits nothing, and for sets.
    missing_right : ndarray of shape (T, D), bool
        Where missing values go.
    value : ndarray of shape (T, 2**D, C), float64
        The values of the leaves, v.
    slope : ndarray of shape (T, 2**D, C, D), float64, optional
        The slopes of the features of the levels in each leaf, s; by default leaves are constant.
    low, high, center : ndarray of shape (T, D), float64, optional
        The range of each feature and its center, a, b and m; required with `slope`.
    subset : ndarray of shape (T, D), int32, optional
        The row of `members` with the set that a level tests; -1 for a threshold. By default all are thresholds.
    members : ndarray of shape (S, B), uint8, optional
        The sets, as bits: category c is a member of set s if bit ``c % 8`` of ``members[s, c // 8]`` is 1.
    other : ndarray of shape (T, D), int32, optional
        The second feature of a level that tests two; -1 for a level that tests one, which is the default.
    is_product : ndarray of shape (T, D), bool, optional
        Whether a level tests the product of both; otherwise it tests ``x[feature[l]] - x[other[l]]``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import SymmetricTrees
    >>> feature, missing_right, value = np.array([[0]], np.int32), np.array([[False]]), np.array([[[3.0], [4.0]]])
    >>> SymmetricTrees(feature, np.array([[0.5]]), missing_right, value)(np.array([[0.0], [9.0]])).ravel()
    array([3., 4.])
    """

    is_tree: ClassVar[bool] = True
    on_original = True  # they handle missing values and codes themselves
    feature: Array
    threshold: Array
    missing_right: Array
    value: Array
    slope: Array | None = None
    low: Array | None = None
    high: Array | None = None
    center: Array | None = None
    subset: Array | None = None
    members: Array | None = None
    other: Array | None = None
    is_product: Array | None = None

    def __call__(self, X: Array) -> Array:
        return self.group_outputs(X, np.zeros(len(self.feature), dtype=np.int64), 1)[0]

    def at_sparse(self, X: SparseRows) -> Array:
        used = self.used_columns
        return self.on_columns(used)(X[:, used])

    def group_outputs(self, X: Array, group: Array, n_groups: int) -> Array:
        """Sums over the trees of each group at X (n, d): (n_groups, n, C); tree t is in ``group[t]``."""
        from ..kernels.symmetric_tree_evaluation import BLOCK, add_symmetric_trees

        plain, crosses = self.split_columns(X.shape[1])
        used = np.union1d(self.feature, crosses.table[:, :2])
        require_used_columns(X, used)
        X = np.ascontiguousarray(X, dtype=None if X.dtype == np.float32 else np.float64)
        out = np.zeros((n_groups, len(X), self.n_outputs))
        splits = plain.feature, self.threshold, self.missing_right, *self.category_sets
        arrays = used.astype(np.int32), crosses.table, *splits, self.value, *self.linear_parts
        run_over_tiles(add_symmetric_trees, -(-len(X) // BLOCK), N_JOBS.get(), X, *arrays, group, out)
        return out

    @property
    def used_columns(self) -> Array:
        """The features of all levels, ascending."""
        both = self.feature if self.other is None else np.append(self.feature, self.other[self.other >= 0])
        return np.unique(both)

    def on_columns(self, columns: Array) -> SymmetricTrees:
        """The same trees as functions of some columns, ascending, that include all features."""
        feature = np.searchsorted(columns, self.feature).astype(np.int32)
        if self.other is None:
            return replace(self, feature=feature)
        other = np.where(self.other < 0, -1, np.searchsorted(columns, self.other)).astype(np.int32)
        return replace(self, feature=feature, other=other)

    def leaves(self, X: Rows) -> Array:
        """The leaf of each row of X (n, d) in each tree: (n, T), int32."""
        from ..kernels.symmetric_tree_evaluation import find_tree_leaves

        used = self.used_columns
        plain, crosses = self.on_columns(used).split_columns(len(used))
        columns = np.ascontiguousarray(crosses.append(X[:, used]))
        leaf = np.empty((self.n_trees, len(X)), dtype=np.int32)
        find_tree_leaves(columns, plain.feature, self.threshold, self.missing_right, *self.category_sets, leaf)
        return leaf.T

    def split_columns(self, n_features: int) -> tuple[SymmetricTrees, Crosses]:
        """The trees as functions of d features and of crosses, as columns d, d + 1, ...; and the crosses.

        Differences come before products.
        """
        if self.other is None or self.is_product is None:
            return self, NO_CROSSES
        tested = np.stack([self.is_product, self.feature, self.other], axis=-1)
        table, place = np.unique(tested[self.other >= 0], axis=0, return_inverse=True)
        table = np.roll(table, -1, axis=1).astype(np.int32)
        feature = self.feature.copy()
        feature[self.other >= 0] = n_features + place.ravel()
        return replace(self, feature=feature, other=None, is_product=None), Crosses(table)

    def of_split_columns(self, n_features: int, crosses: Crosses) -> SymmetricTrees:
        """The inverse of :meth:`split_columns`."""
        column = self.feature - n_features
        if (column < 0).all():
            return self
        first, second, is_product = np.moveaxis(crosses.table[np.maximum(column, 0)], -1, 0)
        return replace(
            self,
            feature=np.where(column < 0, self.feature, first),
            other=np.where(column < 0, -1, second).astype(np.int32),
            is_product=(column >= 0) & (is_product == 1),
        )

    @staticmethod
    def single(term: Term) -> SymmetricTrees:
        """The term itself; a ValueError unless it is one symmetric tree."""
        tree = SymmetricTrees.of(term)
        if tree.n_trees != 1:
            raise ValueError(f"replay must have one symmetric tree per round, got {term!r:.60}")
        return tree

    def as_trees(self) -> Trees:
        """The same function as binary trees, whose nodes of one level are equal.

        Leaves must be constant, and levels must test one feature each.
        """
        if self.slope is not None or self.other is not None:
            got = "linear leaves" if self.slope is not None else "levels that test two features"
            raise ValueError(f"as_trees: leaves must be constant and levels must test one feature, got {got}")
        depth, n_trees, n_leaves = self.depth, self.n_trees, 2**self.depth
        size, n_inner = 2 * n_leaves - 1, n_leaves - 1
        # Node k of a tree has the children 2 k + 1 and 2 k + 2; the bits of a path are those of the leaf reversed.
        level = np.floor(np.log2(np.arange(1, n_leaves))).astype(np.int64)
        child = np.append(2 * np.arange(n_inner) + 1, np.full(n_leaves, -1))
        place = (np.arange(n_trees) * size)[:, None]
        left, right = (np.where(child < 0, -1, child + side + place).astype(np.int32) for side in (0, 1))
        order = [int(f"{leaf:0{depth}b}"[::-1], 2) if depth else 0 for leaf in range(n_leaves)]
        value = np.zeros((n_trees, size, self.n_outputs))
        value[:, n_inner:] = self.value[:, order]

        def of_nodes(array: Array, leaf: float) -> Array:
            return np.hstack([array[:, level], np.full((n_trees, n_leaves), leaf, array.dtype)]).ravel()

        nodes = of_nodes(self.feature, 0), of_nodes(self.threshold, 0), of_nodes(~self.missing_right, 0)
        subset = None if self.subset is None else of_nodes(self.subset, -1)
        children, values = (left.ravel(), right.ravel()), value.reshape(-1, self.n_outputs)
        return Trees(place.ravel(), *children, *nodes, values, subset, self.members)

    @property
    def linear_parts(self) -> tuple[Array, Array, Array, Array]:
        """Slopes, ranges and centers; empty where leaves are constant."""
        if self.slope is None or self.low is None or self.high is None or self.center is None:
            return np.zeros((0, 0, 0, 0)), *np.zeros((3, 0, 0))
        return self.slope, self.low, self.high, self.center

    @property
    def category_sets(self) -> tuple[Array, Array]:
        """``subset`` and ``members``; -1 for each level and an empty table if there are none."""
        if self.subset is None or self.members is None:
            return np.full(self.feature.shape, -1, dtype=np.int32), np.zeros((0, 1), dtype=np.uint8)
        return self.subset, self.members

    @property
    def n_trees(self) -> int:
        """Number of trees, T."""
        return len(self.feature)

    @property
    def depth(self) -> int:
        """Number of levels, D."""
        return int(self.feature.shape[1])

    @property
    def n_outputs(self) -> int:
        """Number of outputs, C."""
        return int(self.value.shape[2])

    @property
    def family(self) -> Hashable:
        """Trees with constant and with linear leaves are not stacked."""
        return SymmetricTrees, self.slope is None

    def scaled(self, factor: float | Array) -> SymmetricTrees:
        """The same function times a number, or a number for each output (C,)."""
        scale = np.asarray(factor, dtype=np.float64)
        slope = None if self.slope is None else np.multiply(self.slope, scale[..., None])
        return replace(self, value=scale * self.value, slope=slope)

    @classmethod
    def stack(cls, terms: Sequence[SymmetricTrees]) -> SymmetricTrees:
        depth = max(term.depth for term in terms)
        if any(term.other is not None for term in terms):
            terms = [term.with_crosses_marked() for term in terms]
        deep = [term.deepened(depth) for term in terms]
        joined = {
            name: np.concatenate([getattr(term, name) for term in deep])
            for name in (*BY_LEVEL, "value", "slope")
            if name != "subset" and getattr(deep[0], name) is not None
        }
        if any(term.subset is not None for term in terms):
            joined |= dict(zip(("subset", "members"), stack_sets([t.category_sets for t in deep]), strict=True))
        return cls(**joined)

    def with_crosses_marked(self) -> SymmetricTrees:
        """The same function with `other` and `is_product`."""
        shape, other, is_product = self.feature.shape, self.other, self.is_product
        return replace(
            self,
            other=np.full(shape, -1, dtype=np.int32) if other is None else other,
            is_product=np.zeros(shape, dtype=np.bool_) if is_product is None else is_product,
        )

    def deepened(self, depth: int) -> SymmetricTrees:
        """The same function with more levels, which split nothing."""
        added, leaves = depth - self.depth, 2**depth - 2**self.depth
        if not added:
            return self
        sizes: dict[str, tuple[int, ...]] = dict.fromkeys(BY_LEVEL, (added,)) | {"value": (leaves,)}
        sizes["slope"] = leaves, 0, added
        present = {name: size for name, size in sizes.items() if getattr(self, name) is not None}
        longer = {}
        for name, size in present.items():
            array = getattr(self, name)
            shape = np.add(array.shape, (0, *size, *[0] * (array.ndim - 1 - len(size))))
            # As np.pad, which takes ten times as long.
            longer[name] = np.full(shape, EMPTY.get(name, 0), dtype=array.dtype)
            longer[name][tuple(map(slice, array.shape))] = array
        return replace(self, **longer)

    def trees(self, selection: slice) -> SymmetricTrees:
        """The term of consecutive trees."""
        names = *BY_LEVEL, "value", "slope"
        return replace(self, **{n: getattr(self, n)[selection] for n in names if getattr(self, n) is not None})

    @classmethod
    def outputs_of(cls, terms: Sequence[SymmetricTrees], X: Array) -> Sequence[Array]:
        return tree_outputs(terms, X)

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        require_field("feature", self.feature, (None, None), "i")
        shape = n_trees, depth = self.feature.shape
        if depth > MAX_DEPTH:
            raise ValueError(f"feature must have shape (T, D) with D up to {MAX_DEPTH}, got {shape}")
        require_field("threshold", self.threshold, shape)
        require_field("missing_right", self.missing_right, shape, "b")
        require_field("value", self.value, (n_trees, 2**depth, n_outputs))
        require_range("feature ids", self.feature, 0, n_features)
        if np.isnan(self.threshold).any():
            raise ValueError("thresholds must be numbers, got nan")
        check_category_sets(self.subset, self.members, shape)
        if (self.other is None) != (self.is_product is None):
            raise ValueError("trees must have both other and is_product, or neither")
        if self.other is not None:
            require_field("other", self.other, shape, "i")
            require_field("is_product", self.is_product, shape, "b")
            require_range("other feature ids", self.other, -1, n_features)
        linear = {name: getattr(self, name) for name in ("slope", "low", "high", "center")}
        if any(array is not None for array in linear.values()):
            for name, array in linear.items():
                require_field(name, array, (*self.value.shape, depth) if name == "slope" else shape)

    def recoded(self, recoding: Recoding) -> SymmetricTrees:
        if self.subset is None or self.members is None:
            return self
        return replace(self, **recoded_sets(self.feature, self.missing_right, self.subset, self.members, recoding))

    def gradient(self, X: Array) -> Array:
        if self.slope is None:
            return np.zeros((len(X), self.n_outputs, X.shape[1]))
        leaf, (_, low, high, _) = self.leaves(X), self.linear_parts
        plain, crosses = self.split_columns(X.shape[1])
        columns = crosses.append(X)
        out = np.zeros((len(X), self.n_outputs, columns.shape[1]))
        for t, (slope, feature) in enumerate(zip(self.slope, plain.feature, strict=True)):
            x = columns[:, feature]
            # 0 beyond the range of training, and for missing values.
            inside = (x > low[t]) & (x < high[t])
            for level, column in enumerate(feature):
                out[:, :, column] += inside[:, level, None] * slope[leaf[:, t], :, level]
        return crosses.chain(out, X)

    def variances(self, X: Array, weight: Array) -> Array | None:
        if self.slope is not None:
            return None
        plain, crosses = self.split_columns(X.shape[1])
        return crosses.fold(plain.as_trees().variances(crosses.append(X), weight))

    def shapley(self, X: Array, background: Array) -> Array:
        if self.slope is None and self.other is None:
            return self.as_trees().shapley(X, background)
        out = np.zeros((len(X), self.n_outputs, X.shape[1]))
        for t in range(self.n_trees):
            # A tree depends on few features, of which all coalitions can be evaluated.
            tree = self.trees(slice(t, t + 1))
            used = tree.used_columns
            out[:, :, used] += Term.shapley(tree.on_columns(used), X[:, used], background[:, used])
        return out


BY_LEVEL = "feature", "threshold", "missing_right", "subset", "low", "high", "center", "other", "is_product"
"""Fields with an entry for each level of each tree."""
EMPTY = {"threshold": np.inf, "subset": -1, "other": -1}
"""Entries of levels that split nothing, by field; those of other fields are 0."""
