"""Sums of regression trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any, ClassVar, final

import numpy as np

from ..core import Term
from ..utils.arrays import require_used_columns
from ..utils.parallel import N_JOBS, run_over_tiles
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array
from .batch_evaluation import tree_outputs
from .category_sets import Recoding, check_category_sets, recoded_sets, stack_sets
from .level_order import number_by_level, require_structure
from .stored_fields import require_field, require_outputs, require_range

# Bottom-up evaluation pays off from this number of rows, for trees of at most so many inner nodes per level.
MIN_ROWS, MAX_NODES_PER_LEVEL = 1_000, 12


@final
@dataclass(frozen=True, eq=False)
class Trees(Term):
    """The sum of binary regression trees, as XGBoost and LightGBM grow them, in flat arrays over all nodes.

    A row goes to the left child if ``x < threshold``, with x rounded to the precision of the thresholds, or if x
    is missing (NaN) and ``missing_left``. Children are indices into the same arrays. A leaf has -1 for both, and
    each node has one parent. XGBoost compares in float32; LightGBM's ``x <= t`` in float64 is
    ``x < nextafter(t, inf)``.

    A node may instead test whether the code x = 0, 1, ... is a member of a set of categories. Members go to the
    right child, all other codes to the left child, and missing values as above. XGBoost's categorical splits are
    of this form.

    Parameters
    ----------
    roots : ndarray of shape (T,), int64
        Index of each tree's root.
    left, right, feature : ndarray of shape (nodes,), int32
        Children and split feature.
    threshold : ndarray of shape (nodes,), float32 or float64
        Split value.
    missing_left : ndarray of shape (nodes,), bool
        Where missing values go.
    value : ndarray of shape (nodes, C) or (nodes, 1), float64
        Leaf values; 0 at inner nodes. One column if each tree has one `output`, else one for each output.
    subset : ndarray of shape (nodes,), int32, optional
        The row of `members` with the set that a node tests; -1 at leaves and nodes with a threshold. By default
        all nodes have thresholds.
    members : ndarray of shape (S, B), uint8, optional
        The sets, as bits: category c is a member of set s if bit ``c % 8`` of ``members[s, c // 8]`` is 1.
    output : ndarray of shape (T,), int64, optional
        The output that each tree is added to, as in XGBoost. By default trees are added to all outputs.
    n_outputs : int, optional
        Number of outputs, C. It is required with `output`; by default it is the number of columns of `value`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import Trees
    >>> left, right, feature = (np.array([one, -1, -1]) for one in (1, 2, 0))
    >>> split = feature, np.array([0.5, 0.0, 0.0]), np.ones(3, dtype=bool)
    >>> trees = Trees(np.array([0]), left, right, *split, value=np.array([[0.0], [3.0], [4.0]]))
    >>> trees(np.array([[0.0], [9.0]])).ravel()
    array([3., 4.])
    """

    is_tree: ClassVar[bool] = True
    roots: Array
    left: Array
    right: Array
    feature: Array
    threshold: Array
    missing_left: Array
    value: Array
    subset: Array | None = None
    members: Array | None = None
    output: Array | None = None
    n_outputs: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        if self.output is None:
            object.__setattr__(self, "n_outputs", np.shape(self.value)[-1])

    def __call__(self, X: Array) -> Array:
        return self.group_outputs(X, np.zeros(len(self.roots), dtype=np.int64), 1)[0]

    def at_sparse(self, X: SparseRows) -> Array:
        used = self.used_columns
        return self.on_columns(used)(X[:, used])

    def group_outputs(self, X: Array, group: Array, n_groups: int) -> Array:
        """Sums over the trees of each group at X (n, d): (n_groups, n, C); tree t is in ``group[t]``."""
        X, outputs = self.check_X(X), self.n_outputs
        if self.output is None:
            return self._sums(X, group, n_groups)
        # Each output of a group is a group of trees of one output.
        sums = self._sums(X, group * outputs + self.output, n_groups * outputs).reshape(n_groups, outputs, len(X))
        return np.ascontiguousarray(sums.transpose(0, 2, 1))

    def leaves(self, X: Rows) -> Array:
        """The node that is the leaf of each row of X (n, d) in each tree: (n, T)."""
        require_used_columns(X, self.feature)
        used, numbers = self.used_columns, np.arange(len(self.left), dtype=np.float64)[:, None]
        trees = replace(self.on_columns(used), value=numbers, output=None)
        leaves = trees._sums(trees.check_X(X[:, used]), np.arange(self.n_trees), self.n_trees)
        return leaves[:, :, 0].T.astype(np.int64)

    def _sums(self, X: Array, group: Array, n_groups: int) -> Array:
        """As :meth:`group_outputs`, with the columns of `value` in place of the outputs."""
        from ..kernels.tree_evaluation_bottom_up import add_trees_bottom_up
        from ..kernels.tree_traversal import BLOCK, add_trees

        *nodes, value = self.level_order
        out, number = np.zeros((n_groups, len(X), self.value.shape[1])), len(self.roots)
        begin = self.bottom_up[0] if len(X) >= MIN_ROWS else np.zeros(number + 1, dtype=np.int32)
        # Trees are added in their order: one call for consecutive trees of the same kind.
        is_bottom_up = begin[1:] > begin[:-1]
        ends = np.append(np.flatnonzero(np.diff(is_bottom_up)) + 1, number)
        for first, last in pairwise(np.append(0, ends).tolist() if number else ()):
            kernel, arrays = (add_trees_bottom_up, self.bottom_up) if is_bottom_up[first] else (add_trees, nodes)
            run_over_tiles(kernel, -(-len(X) // BLOCK), N_JOBS.get(), X, *arrays, value, group, first, last, out)
        return out

    @property
    def used_columns(self) -> Array:
        """The features of all splits, and the first, which leaves read; ascending."""
        return np.union1d(0, self.feature[self.left >= 0])

    def on_columns(self, columns: Array) -> Trees:
        """The same trees as functions of some columns, ascending, that include all features."""
        feature = np.where(self.left < 0, 0, np.searchsorted(columns, self.feature)).astype(np.int32)
        return replace(self, feature=feature, n_outputs=self.n_outputs)

    def check_X(self, X: Array) -> Array:
        """X (n, d) in the precision of the thresholds, with enough columns: kernels do not check bounds."""
        require_used_columns(X, self.feature)
        # Values beyond the range of float32 become infinite, which is on the same side of any threshold.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(X, dtype=self.threshold.dtype)

    @cached_property
    def level_order(self) -> tuple[Any, ...]:
        """The trees with nodes in level order and siblings adjacent.

        Root and depth of each tree, (T,) each; child, feature, threshold, missing_right and subset of each node;
        members; and the values.
        """
        first, levels, order, child = number_by_level(self.roots, self.left, self.right)
        inner = self.left[order] >= 0
        subset, members = self.category_sets
        nodes = (
            child,
            np.where(inner, self.feature[order], 0).astype(np.int32),
            np.where(inner, self.threshold[order], np.nan).astype(self.threshold.dtype),
            inner & ~self.missing_left[order],
            subset[order],
            np.ascontiguousarray(members),
        )
        return first, levels, *nodes, self.value[order]

    @cached_property
    def bottom_up(self) -> tuple[Any, ...]:
        """The inner nodes of small trees, which are evaluated for all rows from the leaves up.

        The first of these nodes of each tree, (T + 1,); their features (as indices into the used ones),
        thresholds, missing_right, operands and slots; the used features, (u,); and the number of slots. There are
        no such nodes if any node tests a set.
        """
        from ..kernels.tree_evaluation_bottom_up import order_nodes

        first, levels, child, *splits, _, members, _ = self.level_order
        begin, size = np.zeros(len(first) + 1, dtype=np.int32), len(child)
        most = 0 if len(members) else MAX_NODES_PER_LEVEL
        node, left, right, into = np.empty((4, size), dtype=np.int32)
        work = np.empty((int(levels.max(initial=0)) + 1, 4), dtype=np.int32), np.zeros(size, dtype=np.int32)
        slots = order_nodes(first, levels, child, most, begin, node, left, right, into, *work)
        node, left, right, into = (array[: begin[-1]] for array in (node, left, right, into))
        feature, threshold, missing_right = (array[node] for array in splits)
        used, column = np.unique(feature, return_inverse=True)
        columns = column.astype(np.int32)
        return begin, columns, threshold, missing_right, left, right, into, used, slots

    @cached_property
    def splits(self) -> tuple[Array, ...]:
        """All arrays that determine the leaf of a row: arguments of the kernels that support sets."""
        nodes = self.roots, self.left, self.right, self.feature, self.threshold, self.missing_left
        return *nodes, *self.category_sets

    @property
    def n_trees(self) -> int:
        """Number of trees, T."""
        return len(self.roots)

    @property
    def category_sets(self) -> tuple[Array, Array]:
        """``subset`` and ``members``; -1 for each node and an empty table if there are none."""
        if self.subset is None or self.members is None:
            return np.full(len(self.left), -1, dtype=np.int32), np.zeros((0, 1), dtype=np.uint8)
        return self.subset, self.members

    @property
    def family(self) -> Hashable:
        """Trees with thresholds of the same precision, and values of one or of all outputs, can be stacked."""
        return Trees, self.threshold.dtype.char, self.output is None

    def scaled(self, factor: float | Array) -> Trees:
        """The same function times a number, or a number for each output (C,)."""
        if self.output is not None and np.ndim(factor):
            factor = np.asarray(factor)[self.output[self.tree_of_nodes], None]
        return replace(self, value=factor * self.value)

    @property
    def tree_of_nodes(self) -> Array:
        """The tree of each node, (nodes,), int64; 0 for nodes that no row reaches."""
        first, _, order, _ = number_by_level(self.roots, self.left, self.right)
        tree = np.zeros(len(self.left), dtype=np.int64)
        tree[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
        return tree

    @classmethod
    def stack(cls, terms: Sequence[Trees]) -> Trees:
        def join(name: str) -> Array:
            return np.concatenate([getattr(t, name) for t in terms])

        sizes = np.array([len(t.left) for t in terms])
        offsets = np.cumsum(sizes) - sizes
        roots = join("roots") + np.repeat(offsets, [len(t.roots) for t in terms])
        shift = np.repeat(offsets, sizes).astype(np.int32)
        left, right = (np.where(child < 0, child, child + shift) for child in map(join, ("left", "right")))
        stacked = cls(roots, left, right, *map(join, ("feature", "threshold", "missing_left", "value")))
        if terms[0].output is not None:
            stacked = replace(stacked, output=join("output"), n_outputs=terms[0].n_outputs)
        if all(t.subset is None for t in terms):
            return stacked
        subset, members = stack_sets([t.category_sets for t in terms])
        return replace(stacked, subset=subset, members=members)

    def split(self, counts: Sequence[int] | Array) -> list[Trees]:
        """Terms of ``counts[0]``, ``counts[1]``, ... consecutive trees.

        The nodes of each tree must be contiguous, in the order of the roots.
        """
        trees = np.append(0, np.cumsum(counts))
        nodes = np.append(self.roots, len(self.left))[trees]
        shift = np.repeat(nodes[:-1], np.diff(nodes)).astype(np.int32)
        roots = self.roots - np.repeat(nodes[:-1], counts)
        left, right = (np.where(child < 0, child, child - shift) for child in (self.left, self.right))
        parts = []
        for (first, last), (start, stop) in zip(pairwise(trees), pairwise(nodes), strict=True):
            nodes_arrays = left, right, self.feature, self.threshold, self.missing_left, self.value
            part = Trees(roots[first:last], *(array[start:stop] for array in nodes_arrays))
            if self.output is not None:
                part = replace(part, output=self.output[first:last], n_outputs=self.n_outputs)
            parts.append(part if self.subset is None else replace(part, **self._sets_of_nodes(start, stop)))
        return parts

    def _sets_of_nodes(self, start: int, stop: int) -> dict[str, Any]:
        """``subset`` and ``members`` of a range of nodes; empty if none of them tests a set."""
        subset, members = self.category_sets
        used, subset = np.unique(subset[start:stop], return_inverse=True)
        if not len(used) or used[-1] < 0:
            return {}
        offset = int(used[0] < 0)
        return {"subset": (subset - offset).astype(np.int32), "members": members[used[offset:]]}

    @classmethod
    def outputs_of(cls, terms: Sequence[Trees], X: Array) -> Sequence[Array]:
        return tree_outputs(terms, X)

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        require_field("left", self.left, (None,), "i")
        n, is_leaf = len(self.left), self.left < 0
        require_field("roots", self.roots, (None,), "iu")
        for name, kind in {"right": "i", "feature": "i", "threshold": "f", "missing_left": "b"}.items():
            require_field(name, getattr(self, name), (n,), kind)
        require_range("roots", self.roots, 0, n)
        require_outputs("trees", self.n_outputs, n_outputs)
        require_field("value", self.value, (n, self.n_outputs if self.output is None else 1))
        if self.output is not None:
            require_field("output", self.output, self.roots.shape, "iu")
            require_range("output", self.output, 0, self.n_outputs)
        require_range("feature ids", self.feature[~is_leaf], 0, n_features)
        if np.isnan(self.threshold[~is_leaf]).any():
            raise ValueError("thresholds must be numbers, got nan")
        check_category_sets(self.subset, self.members, (n,))
        if self.subset is not None and (self.subset[is_leaf] >= 0).any():
            raise ValueError("subset must be -1 at leaves, which have no set of categories")
        require_structure(self.roots, self.left, self.right)

    def recoded(self, recoding: Recoding) -> Trees:
        if self.subset is None or self.members is None:
            return self
        return replace(self, **recoded_sets(self.feature, ~self.missing_left, self.subset, self.members, recoding))

    def gradient(self, X: Array) -> Array:
        # Piecewise constant: 0 except at the thresholds, where the derivative does not exist.
        return np.zeros((len(X), self.n_outputs, X.shape[1]))

    def variances(self, X: Array, weight: Array) -> Array:
        cover, mean = self.node_means(X, weight)
        splits = np.flatnonzero((self.left >= 0) & (cover > 0.0))
        left, right = self.left[splits], self.right[splits]
        between = np.square(mean[left] - mean[right]).sum(axis=1)
        gains = cover[left] * cover[right] / cover[splits] * between
        return np.bincount(self.feature[splits], gains, minlength=X.shape[1])

    def node_means(self, X: Array, weight: Array) -> tuple[Array, Array]:
        """Weight of the rows in each node, (nodes,), and the mean output of its tree on these rows, (nodes, C)."""
        from ..kernels.tree_traversal import add_leaf_cover

        cover = np.zeros(len(self.left))
        add_leaf_cover(self.check_X(X), weight, *self.splits, cover)
        total = cover[:, None] * self.value
        for level in reversed(list(self.inner_levels())):
            for sums in (cover, total):
                sums[level] = sums[self.left[level]] + sums[self.right[level]]
        return cover, np.divide(total, cover[:, None], out=np.zeros_like(total), where=cover[:, None] > 0.0)

    def inner_levels(self) -> Iterator[Array]:
        """Indices of inner nodes, level by level from the roots."""
        level = self.roots[self.left[self.roots] >= 0]
        while len(level):
            yield level
            below = np.concatenate([self.left[level], self.right[level]])
            level = below[self.left[below] >= 0]

    def shapley(self, X: Array, background: Array) -> Array:
        from ..kernels.shapley import add_paths

        depth = sum(1 for _ in self.inner_levels())
        # (p - 1)! q! / (p + q)!, and 0 for p = 0.
        sizes = range(min(depth, X.shape[1]) + 1)
        shares = np.array([[1.0 / (p * comb(p + q, p)) if p else 0.0 for q in sizes] for p in sizes])
        rows, (_, *splits) = (self.check_X(X), self.check_X(background)), self.splits
        single = self.output
        parts = [self.roots] if single is None else [self.roots[single == c] for c in range(self.n_outputs)]
        out = np.zeros((len(parts), len(X), self.value.shape[1], X.shape[1]))
        for roots, part in zip(parts, out, strict=True):
            add_paths(*rows, roots, *splits, self.value, shares, depth, part)
        return out.transpose(1, 0, 2, 3).reshape(len(X), self.n_outputs, X.shape[1]) / len(background)
