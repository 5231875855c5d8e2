"""Prediction of regression trees."""

from __future__ import annotations

import numba
import numpy as np

ROWS = 64


@numba.njit(cache=True, nogil=True)
def add_trees(X, roots, left, right, feature, threshold, missing_left, value, out):  # type: ignore[no-untyped-def]
    """Add to `out` (n, C) the leaf values, (nodes, C), that each row of X (n, d) falls into.

    X and the thresholds are of one precision. A node is a leaf where ``left < 0``. A row goes left where
    ``x < threshold``, or where x is NaN and ``missing_left``. Blocks of rows visit one tree after the other, so
    that a tree stays in cache.
    """
    n = X.shape[0]
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        for root in roots:
            for i in range(start, stop):
                node = root
                while left[node] >= 0:
                    x = X[i, feature[node]]
                    go_left = missing_left[node] if np.isnan(x) else x < threshold[node]
                    node = left[node] if go_left else right[node]
                for c in range(out.shape[1]):
                    out[i, c] += value[node, c]
