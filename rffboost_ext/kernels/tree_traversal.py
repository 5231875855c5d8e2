"""Prediction of regression trees: level by level for a block of rows, or bottom-up for small trees."""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INNER, KERNEL
from .tree_evaluation_bottom_up import evaluate_nodes, gather_columns

# Rows per block: their look-ups overlap, and a tree stays in cache.
BLOCK = 256


@numba.njit(**KERNEL)
def is_member(members, subset, x):  # type: ignore[no-untyped-def]
    """Whether code x is in the set `subset`, a row of the bit masks `members` (S, B)."""
    if not 0 <= x < 8 * members.shape[1]:
        return False
    code = np.int64(x)
    return (members[subset, code >> 3] >> np.uint8(code & 7)) & 1 == 1


@numba.njit(**KERNEL)
def goes_left(x, node, threshold, missing_left, subset, members):  # type: ignore[no-untyped-def]
    """Whether the value x goes to the left child of an inner node."""
    if np.isnan(x):
        return missing_left[node]
    if subset[node] >= 0:
        return not is_member(members, subset[node], x)
    return x < threshold[node]


@numba.njit(**KERNEL)
def number_by_level(roots, left, right, first, levels, given, child):  # type: ignore[no-untyped-def]
    """Number the nodes of trees level by level, so that right children follow left children.

    Writes the root and depth of each tree to `first` and `levels` (T,), and the old number of each node and its
    left child (itself for a leaf) to `given` and `child` (nodes,). Returns the number of reachable nodes, or -1 if
    one is reached twice.
    """
    count, reached = 0, np.zeros(len(left), dtype=np.bool_)
    for t in range(len(roots)):
        if reached[roots[t]]:
            return -1
        reached[roots[t]] = True
        first[t], levels[t] = count, -1
        given[count] = roots[t]
        start = count
        count += 1
        while start < count:
            stop = count
            levels[t] += 1
            for k in range(start, stop):
                node = given[k]
                child[k] = k
                if left[node] >= 0:
                    if reached[left[node]] or reached[right[node]] or left[node] == right[node]:
                        return -1
                    reached[left[node]] = reached[right[node]] = True
                    child[k], given[count], given[count + 1] = count, left[node], right[node]
                    count += 2
            start = stop
    return count


@numba.njit(**INNER)
def has_missing(X, start, stop):  # type: ignore[no-untyped-def]
    """Whether rows start .. stop-1 have a missing value."""
    found = False
    for i in range(start, stop):
        for f in range(X.shape[1]):
            found |= np.isnan(X[i, f])
    return found


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
def descend_to_leaves(X, start, node, levels, plain, nodes):  # type: ignore[no-untyped-def]
    """Move each row from its node (rows,) down to a leaf."""
    child, feature, threshold, missing_right, subset, members = nodes
    for _ in range(levels):
        if plain:
            descend_level(X, start, node, child, feature, threshold)
        else:
            descend_general_level(X, start, node, child, feature, threshold, missing_right, subset, members)


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


@numba.njit(**KERNEL)
def add_trees(X, trees, folded, place, out, begin, end):  # type: ignore[no-untyped-def]
    """Add the leaf values that rows of X (n, d) fall into to out (P, n, C), blocks begin .. end-1.

    `trees` and `folded` are from :class:`rffboost_ext.terms.Trees`, in the precision of X; tree t is added to
    ``out[place[t]]``. A row goes right if ``x >= threshold``, if its code is in the set of the node, or if x is
    NaN and ``missing_right``.
    """
    first, levels, nodes, value = trees
    starts, ordered, used, count = folded
    reached, slots = np.empty(BLOCK, dtype=np.int32), np.zeros((count, BLOCK), dtype=np.int32)
    x, members, all_folded = np.zeros((len(used), BLOCK), dtype=X.dtype), nodes[5], True
    for t in range(len(first)):
        all_folded &= starts[t] < starts[t + 1]
    for b in range(begin, end):
        start, stop = b * BLOCK, min((b + 1) * BLOCK, len(X))
        gather_columns(X, used, start, stop, x)
        plain = len(members) == 0 and not (all_folded or has_missing(X, start, stop))
        for t in range(len(first)):
            if starts[t] < starts[t + 1]:
                slot = evaluate_nodes(x, ordered, starts[t], starts[t + 1], slots)
                add_values(value, slots[slot, : stop - start], out[place[t]], start)
                continue
            node = reached[: stop - start]
            node[:] = first[t]
            descend_to_leaves(X, start, node, levels[t], plain, nodes)
            add_values(value, node, out[place[t]], start)


@numba.njit(**KERNEL)
def add_leaf_cover(X, weight, roots, left, right, feature, threshold, missing_left, subset, members, cover):  # type: ignore[no-untyped-def]
    """Add the weight (n,) of each row of X (n, d) to `cover` (nodes,) of its leaf in each tree.

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
