"""Prediction of symmetric trees, level by level for a block of rows."""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INLINED, INNER, kernel
from .tree_traversal import add_values

# Rows per block: their features stay in cache.
BLOCK = 256


@numba.njit(**INNER)
def find_leaves(columns, start, feature, threshold, missing_right, subset, members, leaf):  # type: ignore[no-untyped-def]
    """Write the leaf in one tree of as many rows from `start` on, of features by columns (d, rows)."""
    leaf[:] = 0
    for level in range(len(feature)):
        x = columns[feature[level]][start : start + len(leaf)]
        t, bit = threshold[level], np.int32(1 << level)
        if subset[level] >= 0:
            # Without branches, of which the processor would guess half wrong.
            own, unknown_right = members[subset[level]], missing_right[level]
            for i in range(len(leaf)):
                is_code = (x[i] >= 0.0) & (x[i] < 8 * len(own))
                code = np.int64(x[i] if is_code else 0.0)
                is_member = (own[code >> 3] >> np.uint8(code & 7)) & 1 == 1
                leaf[i] |= bit * np.int32(is_code & is_member | np.isnan(x[i]) & unknown_right)
        elif missing_right[level]:
            # True for NaN too.
            for i in range(len(leaf)):
                leaf[i] |= bit * np.int32(not x[i] < t)
        else:
            for i in range(len(leaf)):
                leaf[i] |= bit * np.int32(x[i] >= t)


@kernel("T[2] i4[2] f8[2] b1[2] i4[2] u1[2] i4[2]*")
def find_tree_leaves(X, feature, threshold, missing_right, subset, members, leaf):  # type: ignore[no-untyped-def]
    """Write the leaf of each row of X (n, d) in each tree, (T, n)."""
    columns, own = np.empty((feature.shape[1], BLOCK)), np.arange(feature.shape[1])
    for start in range(0, len(X), BLOCK):
        stop = min(start + BLOCK, len(X))
        for t in range(len(feature)):
            for level in own:
                for i in range(start, stop):
                    columns[level, i - start] = X[i, feature[t, level]]
            splits = threshold[t], missing_right[t], subset[t], members
            find_leaves(columns, 0, own, *splits, leaf[t, start:stop])


@kernel("T[2] i4[1] f8[1] b1[1] i4[1] u1[2] i4[1]* i8 i8")
def find_leaves_by_column(  # type: ignore[no-untyped-def]
    columns, feature, threshold, missing_right, subset, members, leaf, first, last
):
    """Write the leaf (n,) of rows first .. last-1 in one tree, of features by columns (d, n)."""
    find_leaves(columns, first, feature, threshold, missing_right, subset, members, leaf[first:last])


@numba.njit(**INNER)
def center_levels(columns, feature, low, high, center, z):  # type: ignore[no-untyped-def]
    """Write the clipped and centered features of the levels of a tree to z (rows, D); missing values are 0."""
    for level in range(len(feature)):
        x, a, b, middle = columns[feature[level]], low[level], high[level], center[level]
        for i in range(len(z)):
            v = a if x[i] < a else x[i]
            v = b if v > b else v
            z[i, level] = 0.0 if np.isnan(v) else v - middle


@numba.njit(fastmath=True, **INLINED)
def add_slopes(slope, leaf, z, out):  # type: ignore[no-untyped-def]
    """Add slopes (leaves, C, D) of the leaves of some rows, times z (rows, D), to out (rows, C)."""
    for i in range(len(leaf)):
        lines, row = slope[leaf[i]], z[i]
        for c in range(out.shape[1]):
            part = 0.0
            for level in range(len(row)):
                part += lines[c, level] * row[level]
            out[i, c] += part


@numba.njit(**INNER)
def cross_columns(columns, crosses, size):  # type: ignore[no-untyped-def]
    """Write the differences and products of features behind them, for the first `size` rows of a block."""
    start = len(columns) - len(crosses)
    for k in range(len(crosses)):
        a, b, out = columns[crosses[k, 0]], columns[crosses[k, 1]], columns[start + k]
        if crosses[k, 2]:
            for i in range(size):
                out[i] = a[i] * b[i]
        else:
            for i in range(size):
                out[i] = a[i] - b[i]


@kernel("T[2] i4[1] i4[2] i4[2] f8[2] b1[2] i4[2] u1[2] f8[3] f8[4] f8[2] f8[2] f8[2] i8[1] f8[3]* i8 i8")
def add_symmetric_trees(  # type: ignore[no-untyped-def]
    X,
    used,
    crosses,
    feature,
    threshold,
    missing_right,
    subset,
    members,
    value,
    slope,
    low,
    high,
    center,
    place,
    out,
    begin,
    end,
):
    """Add symmetric trees at X (n, d) to out (P, n, C), blocks begin .. end-1.

    Features `used` are those of the trees. Columns d, d + 1, ... are `crosses` (K, 3): the features i and j, and 1
    for their product or 0 for their difference. Tree t is added to ``out[place[t]]``. Without slopes the arrays of
    linear parts are empty.
    """
    columns = np.empty((X.shape[1] + len(crosses), BLOCK))
    reached, z = np.empty(BLOCK, dtype=np.int32), np.empty((BLOCK, feature.shape[1]))
    for b in range(begin, end):
        start, stop = b * BLOCK, min((b + 1) * BLOCK, len(X))
        size = stop - start
        for i in range(size):
            for f in used:
                columns[f, i] = X[start + i, f]
        cross_columns(columns, crosses, size)
        leaf = reached[:size]
        for t in range(len(feature)):
            find_leaves(columns, 0, feature[t], threshold[t], missing_right[t], subset[t], members, leaf)
            add_values(value[t], leaf, out[place[t]], start)
            if len(slope):
                center_levels(columns, feature[t], low[t], high[t], center[t], z[:size])
                add_slopes(slope[t], leaf, z[:size], out[place[t], start:stop])
