"""Prediction of regression trees."""

from __future__ import annotations

import numba
import numpy as np

from .calls import KERNEL

ROWS = 64


@numba.njit(**KERNEL)
def is_member(members, subset, x):  # type: ignore[no-untyped-def]
    """Whether code x is a member of a set: of a row of `members` (S, B), whose bits are the codes from 0 on."""
    if not 0 <= x < 8 * members.shape[1]:
        return False
    code = np.int64(x)
    return (members[subset, code >> 3] >> np.uint8(code & 7)) & 1 == 1


@numba.njit(**KERNEL)
def goes_left(x, node, threshold, missing_left, subset, members):  # type: ignore[no-untyped-def]
    """Whether a row with the value x goes to the left child of an inner node, of either kind."""
    if np.isnan(x):
        return missing_left[node]
    if subset[node] >= 0:
        return not is_member(members, subset[node], x)
    return x < threshold[node]


@numba.njit(**KERNEL)
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


@numba.njit(**KERNEL)
def add_trees_with_sets(X, roots, left, right, feature, threshold, missing_left, subset, members, value, out):  # type: ignore[no-untyped-def]
    """The same where nodes may test sets of categories: those with ``subset >= 0``, a row of `members`.

    A row goes right where its code is a member.
    """
    n = X.shape[0]
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        for root in roots:
            for i in range(start, stop):
                node = root
                while left[node] >= 0:
                    x = X[i, feature[node]]
                    leftwards = goes_left(x, node, threshold, missing_left, subset, members)
                    node = left[node] if leftwards else right[node]
                for c in range(out.shape[1]):
                    out[i, c] += value[node, c]
