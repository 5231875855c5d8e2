"""Prediction of regression trees, level by level for a block of rows."""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INNER, kernel

# Rows per block: their look-ups overlap, and a tree stays in cache.
BLOCK = 256


@numba.njit(**INNER)
def is_member(members, subset, x):  # type: ignore[no-untyped-def]
    """Whether code x is in the set `subset`, a row of the bit masks `members` (S, B)."""
    if not 0 <= x < 8 * members.shape[1]:
        return False
    code = np.int64(x)
    return (members[subset, code >> 3] >> np.uint8(code & 7)) & 1 == 1


@numba.njit(**INNER)
def next_node(x, node, splits):  # type: ignore[no-untyped-def]
    """The child of an inner node that a row (d,) goes to."""
    left, right, feature, threshold, missing_left, subset, members = splits
    value = x[feature[node]]
    if np.isnan(value):
        leftwards = missing_left[node]
    elif subset[node] >= 0:
        leftwards = not is_member(members, subset[node], value)
    else:
        leftwards = value < threshold[node]
    return left[node] if leftwards else right[node]


@numba.njit(**INNER)
def has_missing(X, start, stop):  # type: ignore[no-untyped-def]
    """Whether rows start .. stop-1 have a missing value."""
    has_gap = False
    for i in range(start, stop):
        for f in range(X.shape[1]):
            has_gap |= np.isnan(X[i, f])
    return has_gap


@numba.njit(**INNER)
def descend_level(X, start, node, child, feature, threshold):  # type: ignore[no-untyped-def]
    """Move each row one level down from its node (rows,). Thresholds of leaves are NaN, so that rows stay."""
    for i in range(len(node)):
        k = node[i]
        node[i] = child[k] + np.int32(X[start + i, feature[k]] >= threshold[k])


@numba.njit(**INNER)
def descend_general_level(X, start, node, child, feature, threshold, missing_right, subset, members):  # type: ignore[no-untyped-def]
    """As :func:`descend_level`, for missing values and category sets (``subset >= 0``)."""
    for i in range(len(node)):
        k = node[i]
        x = X[start + i, feature[k]]
        right = (x >= threshold[k]) | (missing_right[k] & np.isnan(x))
        if subset[k] >= 0 and not np.isnan(x):
            right = is_member(members, subset[k], x)
        node[i] = child[k] + np.int32(right)


@numba.njit(**INNER)
def add_values(value, node, out, start):  # type: ignore[no-untyped-def]
    """Add the values (nodes, C) of the nodes of some rows to out (n, C), from row `start` on."""
    if value.shape[1] == 1:
        for i in range(len(node)):
            out[start + i, 0] += value[node[i], 0]
        return
    for i in range(len(node)):
        for c in range(value.shape[1]):
            out[start + i, c] += value[node[i], c]


@kernel("T[2] i4[1] i4[1] i4[1] i4[1] T[1] b1[1] i4[1] u1[2] f8[2] i8[1] i8 i8 f8[3]* i8 i8")
def add_trees(  # type: ignore[no-untyped-def]
    X,
    roots,
    levels,
    child,
    feature,
    threshold,
    missing_right,
    subset,
    members,
    value,
    place,
    first,
    last,
    out,
    begin,
    end,
):
    """Add the leaf values that rows of X (n, d) fall into to out (P, n, C), blocks begin .. end-1.

    The trees are :attr:`rffboost_ext.terms.Trees.level_order`, in the precision of X; tree t of first .. last-1 is
    added to ``out[place[t]]``. A row goes right if ``x >= threshold``, if its code is in the set of the node, or
    if x is NaN and ``missing_right``.
    """
    reached = np.empty(BLOCK, dtype=np.int32)
    for b in range(begin, end):
        start, stop = b * BLOCK, min((b + 1) * BLOCK, len(X))
        plain = len(members) == 0 and not has_missing(X, start, stop)
        node = reached[: stop - start]
        for t in range(first, last):
            node[:] = roots[t]
            for _ in range(levels[t]):
                if plain:
                    descend_level(X, start, node, child, feature, threshold)
                else:
                    descend_general_level(
                        X, start, node, child, feature, threshold, missing_right, subset, members
                    )
            add_values(value, node, out[place[t]], start)


@kernel("f4[2] f8[1] i8[1] i4[1] i4[1] i4[1] f4[1] b1[1] i4[1] u1[2] f8[1]*")
def add_leaf_cover(X, weight, roots, left, right, feature, threshold, missing_left, subset, members, cover):  # type: ignore[no-untyped-def]
    """Add the weight (n,) of each row of X (n, d) to `cover` (nodes,) of its leaf in each tree.

    Nodes are those of :class:`rffboost_ext.Trees`.
    """
    splits = left, right, feature, threshold, missing_left, subset, members
    for root in roots:
        for i in range(X.shape[0]):
            node = root
            while left[node] >= 0:
                node = next_node(X[i], node, splits)
            cover[node] += weight[i]
