"""How many rows fall into each leaf of regression trees."""

from __future__ import annotations

import numba

from .compile_options import KERNEL
from .tree_traversal import goes_left


@numba.njit(**KERNEL)
def add_to_leaves(X, weight, roots, left, right, feature, threshold, missing_left, subset, members, cover):  # type: ignore[no-untyped-def]
    """Add the weight (n,) of each row of X (n, d) to `cover` (nodes,) of the leaf it falls into, in each tree.

    Nodes are those of :class:`rffboost_ext.Trees`.
    """
    for root in roots:
        for i in range(X.shape[0]):
            node = root
            while left[node] >= 0:
                x = X[i, feature[node]]
                leftwards = goes_left(x, node, threshold, missing_left, subset, members)
                node = left[node] if leftwards else right[node]
            cover[node] += weight[i]
