"""Prediction of symmetric trees, level by level for a block of rows."""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INNER
from .kernel import kernel
from .tree_traversal import add_values, is_member

# Rows per block: their features stay in cache.
BLOCK = 256


@numba.njit(**INNER)
def find_leaves(columns, feature, threshold, missing_right, subset, members, leaf):  # type: ignore[no-untyped-def]
    """The leaf of each row of a block in one tree, from its features by columns (d, rows)."""
    leaf[:] = 0
    for level in range(len(feature)):
        x, t, bit = columns[feature[level]], threshold[level], np.int32(1 << level)
        if subset[level] >= 0:
            for i in range(len(leaf)):
                right = missing_right[level] if np.isnan(x[i]) else is_member(members, subset[level], x[i])
                leaf[i] |= bit * np.int32(right)
        elif missing_right[level]:
            # True for NaN too.
            for i in range(len(leaf)):
                leaf[i] |= bit * np.int32(not x[i] < t)
        else:
            for i in range(len(leaf)):
                leaf[i] |= bit * np.int32(x[i] >= t)


@numba.njit(**INNER)
def add_linear_parts(columns, feature, slope, low, high, center, leaf, z, out):  # type: ignore[no-untyped-def]
    """Add the linear parts of the leaves of some rows to their outputs, (rows, C)."""
    for level in range(len(feature)):
        x, a, b, middle = columns[feature[level]], low[level], high[level], center[level]
        for i in range(len(leaf)):
            z[i] = 0.0 if np.isnan(x[i]) else min(max(x[i], a), b) - middle
        for i in range(len(leaf)):
            for c in range(out.shape[1]):
                out[i, c] += slope[leaf[i], c, level] * z[i]


@kernel("T[2] i4[2] f8[2] b1[2] i4[2] u1[2] f8[3] f8[4] f8[2] f8[2] f8[2] i8[1] f8[3]* i8 i8")
def add_symmetric_trees(  # type: ignore[no-untyped-def]
    X,
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
    """Add :class:`rffboost_ext.terms.SymmetricTrees` at X (n, d) to out (P, n, C), blocks begin .. end-1.

    Tree t is added to ``out[place[t]]``. Without slopes the arrays of linear parts are empty.
    """
    columns = np.empty((X.shape[1], BLOCK))
    reached, z = np.empty(BLOCK, dtype=np.int32), np.empty(BLOCK)
    for b in range(begin, end):
        start, stop = b * BLOCK, min((b + 1) * BLOCK, len(X))
        size = stop - start
        for i in range(size):
            for f in range(X.shape[1]):
                columns[f, i] = X[start + i, f]
        leaf = reached[:size]
        for t in range(len(feature)):
            find_leaves(columns, feature[t], threshold[t], missing_right[t], subset[t], members, leaf)
            add_values(value[t], leaf, out[place[t]], start)
            if len(slope):
                rows = out[place[t], start:stop]
                add_linear_parts(columns, feature[t], slope[t], low[t], high[t], center[t], leaf, z, rows)
