"""How many rows fall into each leaf of regression trees."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def add_to_leaves(X, weight, roots, left, right, feature, threshold, missing_left, cover):  # type: ignore[no-untyped-def]
    """Add the weight (n,) of each row of X (n, d) to `cover` (nodes,) of the leaf it falls into, in each tree.

    Nodes are those of :func:`rffboost_ext.kernels.forest.add_trees`.
    """
    for root in roots:
        for i in range(X.shape[0]):
            node = root
            while left[node] >= 0:
                x = X[i, feature[node]]
                go_left = missing_left[node] if np.isnan(x) else x < threshold[node]
                node = left[node] if go_left else right[node]
            cover[node] += weight[i]
