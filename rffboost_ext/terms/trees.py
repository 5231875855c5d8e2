"""A sum of regression trees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np

from ..core import Term
from ..utils.parallel import N_JOBS, over_tiles
from ..utils.typing import Array

# From this number of rows on it is worth its time to fold trees, of at most so many inner nodes for each level.
FOLDING, FOLDED = 1_000, 12


@final
@dataclass(frozen=True, eq=False)
class Trees(Term):
    """The sum of binary regression trees, as XGBoost and LightGBM grow them, in flat arrays over all nodes.

    A row goes to the left child where ``x < threshold``, x rounded to the precision of the thresholds, or
    where x is missing (NaN) and ``missing_left``. Children are indices into the same arrays; a leaf has -1 for
    both, and no node is reached in two ways. XGBoost compares like this in float32. LightGBM's ``x <= t`` in
    float64 is ``x < nextafter(t, inf)``.

    A node may instead test membership in a set of categories, x being a code 0, 1, ...: a row goes to the right
    child where x is a member, to the left one where it is not, and where it is missing as above. Codes outside the
    table are not members. XGBoost splits on categories in this way.

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
    value : ndarray of shape (nodes, C), float64
        Leaf values; 0 at inner nodes.
    subset : ndarray of shape (nodes,), int32, optional
        The set that a node tests, a row of `members`; -1 at nodes with a threshold, and at leaves. By default no
        node has any.
    members : ndarray of shape (S, B), uint8, optional
        The sets, as bits: category c is a member of set s where bit ``c % 8`` of ``members[s, c // 8]`` is 1.
    """

    roots: Array
    left: Array
    right: Array
    feature: Array
    threshold: Array
    missing_left: Array
    value: Array
    subset: Array | None = None
    members: Array | None = None

    def __call__(self, X: Array) -> Array:
        return self.sums(X, np.zeros(len(self.roots), dtype=np.int64), 1)[0]

    def sums(self, X: Array, place: Array, count: int) -> Array:
        """Several sums of trees, (count, n, C), on the rows of X (n, d); tree t is part of sum ``place[t]``."""
        from ..kernels.tree_traversal import BLOCK, add_trees

        rows = self.rows(X)
        out = np.zeros((count, len(rows), self.value.shape[1]))
        known = self.prepared, self.folded if len(rows) >= FOLDING else self._walked
        over_tiles(add_trees, -(-len(rows) // BLOCK), N_JOBS.get(), rows, *known, place, out)
        return out

    def rows(self, X: Array) -> Array:
        """X (n, d) in the precision of the thresholds, as kernels take it, which do not check its columns."""
        needed = int(self.feature.max(initial=-1)) + 1
        if X.ndim != 2 or X.shape[1] < needed:
            raise ValueError(f"X must have shape (n, d) with d >= {needed}, got {X.shape}")
        # What is beyond the range of float32 is on the same side of any threshold as infinity.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(X, dtype=self.threshold.dtype)

    @cached_property
    def prepared(self) -> tuple[Any, ...]:
        """The trees as predictions take them: nodes level by level, siblings side by side.

        The root and the depth of each tree; child, feature, threshold, where missing values go and set of each
        node, and the sets; and the values.
        """
        from ..kernels.tree_traversal import arrange

        first, levels = np.empty((2, len(self.roots)), dtype=np.int32)
        given, child = np.empty((2, len(self.left)), dtype=np.int32)
        count = arrange(self.roots, self.left, self.right, first, levels, given, child)
        if count < 0:
            raise ValueError("nodes of trees must be reached in one way, got several for one of them")
        given, child = given[:count], child[:count]
        inner = self.left[given] >= 0
        subset, members = self._sets
        nodes = (
            child,
            np.where(inner, self.feature[given], 0).astype(np.int32),
            np.where(inner, self.threshold[given], np.nan).astype(self.threshold.dtype),
            inner & ~self.missing_left[given],
            subset[given],
            members,
        )
        return first, levels, nodes, self.value[given]

    @cached_property
    def folded(self) -> tuple[Any, ...]:
        """The inner nodes that are evaluated for all rows, from the leaves up, of trees that have few of them.

        Where each tree begins among them, (T + 1,); their features, by place among those used, thresholds, where
        missing values go, operands and slots; the features used, (u,); and the number of slots. There are none if
        some nodes have sets.
        """
        from ..kernels.tree_evaluation_bottom_up import order_nodes

        first, levels, (child, *splits, _, members), _ = self.prepared
        if len(members):
            return self._walked
        begin, size = np.zeros(len(first) + 1, dtype=np.int32), len(child)
        node, left, right, into = np.empty((4, size), dtype=np.int32)
        work = np.empty((int(levels.max(initial=0)) + 1, 4), dtype=np.int32), np.zeros(size, dtype=np.int32)
        slots = order_nodes(first, levels, child, FOLDED, begin, node, left, right, into, *work)
        node, left, right, into = (given[: begin[-1]] for given in (node, left, right, into))
        feature, threshold, missing_right = (given[node] for given in splits)
        used, column = np.unique(feature, return_inverse=True)
        return begin, (column.astype(np.int32), threshold, missing_right, left, right, into), used, slots

    @cached_property
    def _walked(self) -> tuple[Any, ...]:
        """The same without any: rows go down from node to node."""
        none = np.empty(0, dtype=np.int32)
        values = none, np.empty(0, dtype=self.threshold.dtype), np.empty(0, dtype=bool)
        return np.zeros(len(self.roots) + 1, dtype=np.int32), (*values, none, none, none), none, 1

    @cached_property
    def splits(self) -> tuple[Array, ...]:
        """All arrays that decide where rows go, as the kernels with sets take them."""
        nodes = self.roots, self.left, self.right, self.feature, self.threshold, self.missing_left
        return *nodes, *self._sets

    @property
    def _sets(self) -> tuple[Array, Array]:
        """Set of each node, and the sets; without any, -1 for each node and an empty table."""
        if self.subset is None or self.members is None:
            return np.full(len(self.left), -1, dtype=np.int32), np.zeros((0, 1), dtype=np.uint8)
        return self.subset, self.members

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def family(self) -> Hashable:
        """Trees that compare in the same precision can be stacked."""
        return Trees, self.threshold.dtype.char

    def scaled(self, factor: float) -> Trees:
        return replace(self, value=factor * self.value)

    @classmethod
    def stack(cls, terms: Sequence[Trees]) -> Trees:
        def join(name: str) -> Array:
            return np.concatenate([getattr(t, name) for t in terms])

        sizes = np.array([len(t.left) for t in terms])
        before = np.cumsum(sizes) - sizes
        roots = join("roots") + np.repeat(before, [len(t.roots) for t in terms])
        shift = np.repeat(before, sizes).astype(np.int32)
        left, right = (np.where(link < 0, link, link + shift) for link in map(join, ("left", "right")))
        joined = map(join, ("feature", "threshold", "missing_left", "value"))
        term = cls(roots, left, right, *joined)
        if all(one.subset is None for one in terms):
            return term
        subset, members = stacked_sets([one.splits[6:] for one in terms])
        return replace(term, subset=subset, members=members)

    def split(self, counts: Sequence[int] | Array) -> list[Trees]:
        """Consecutive trees as terms, so many each; the nodes of a tree must follow its root, before the next."""
        trees = np.append(0, np.cumsum(counts))
        nodes = np.append(self.roots, len(self.left))[trees]
        shift = np.repeat(nodes[:-1], np.diff(nodes)).astype(np.int32)
        roots = self.roots - np.repeat(nodes[:-1], counts)
        left, right = (np.where(link < 0, link, link - shift) for link in (self.left, self.right))
        parts = []
        for (first, last), (start, stop) in zip(pairwise(trees), pairwise(nodes), strict=True):
            given = self.feature, self.threshold, self.missing_left, self.value
            part = Trees(roots[first:last], *(array[start:stop] for array in (left, right, *given)))
            parts.append(part if self.subset is None else replace(part, **self._sets_of(start, stop)))
        return parts

    def _sets_of(self, start: int, stop: int) -> dict[str, Array]:
        """The set of each of some nodes, and the sets of these; empty if none has one."""
        subset, members = self._sets
        found, subset = np.unique(subset[start:stop], return_inverse=True)
        if not len(found) or found[-1] < 0:
            return {}
        lacking = int(found[0] < 0)
        return {"subset": (subset - lacking).astype(np.int32), "members": members[found[lacking:]]}


def stacked_sets(terms: Sequence[tuple[Array, ...]]) -> tuple[Array, Array]:
    """Set of each node of all terms, and the sets of all of them, given both of each term."""
    subsets, members = zip(*terms, strict=True)
    offsets = np.cumsum([0, *map(len, members[:-1])])
    width = max(table.shape[1] for table in members)
    moved = [np.where(s >= 0, s + o, -1).astype(np.int32) for s, o in zip(subsets, offsets, strict=True)]
    wide = [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in members]
    return np.concatenate(moved), np.concatenate(wide)
