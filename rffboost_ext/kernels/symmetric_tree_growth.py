"""Splits of symmetric trees: the search for them, and the leaves of rows.

Rows are in tiles. Those of a tile are kept in the order of the leaves of the current level.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numba
import numpy as np

from .exact_sums import TINY, find_sizes, set_units, take_rows
from .kernel import INNER, MERGED, kernel
from .symmetric_tree_histograms import scan_column
from .team import JOB, START, take_part

# Rows of a tile.
TILE = 2**12
# Gains below this share of the largest that is possible are rounding errors.
LEAST_GAIN = 1e-12


@numba.njit(**INNER)
def goes_right(code, split, one_hot):  # type: ignore[no-untyped-def]
    """1 if a code goes right at a split (column, missing values right, code), else 0."""
    return np.int64(code == split[2] if one_hot else (code > split[2]) | ((code == 0) & (split[1] == 1)))


@numba.njit(**INNER)
def divide(column, split, one_hot, rows, sums, begin, end, new_rows, new_sums):  # type: ignore[no-untyped-def]
    """Move the rows of a span that go right at a split to its end, in the opposite order, and return the first."""
    left, right = begin, end - 1
    for i in range(begin, end):
        to_right = goes_right(column[rows[i]], split, one_hot)
        at = right if to_right else left
        left += 1 - to_right
        right -= to_right
        new_rows[at] = rows[i]
        for s in range(0, sums.shape[1], 2):
            new_sums[at, s], new_sums[at, s + 1] = sums[i, s], sums[i, s + 1]
    return left


@numba.njit(**INNER)
def turn_right(column, split, one_hot, level, leaf):  # type: ignore[no-untyped-def]
    """Set the bit of a level in the leaves of rows, (n,), whose code goes right."""
    for i in range(len(leaf)):
        leaf[i] |= np.int32(goes_right(column[i], split, one_hot)) << np.int32(level)


class Growth(NamedTuple):
    """The arrays of a tree in growth, and two numbers."""

    codes: Annotated[Any, "u1[2]*"]
    """The code of each feature and row, (d, n)."""
    n_codes: Annotated[Any, "i8[1]*"]
    """The number of codes of each feature, (d,)."""
    one_hot: Annotated[Any, "b1[1]*"]
    """Whether splits of a feature single out a code, (d,)."""
    drawn: Annotated[Any, "i8[1]*"]
    """The rows that splits are searched on, ascending, (m,); empty for all."""
    derivatives: Annotated[Any, "f8[2]*"]
    """Their weighted gradients, then the hessian, (m, s), whose sums are exact; rows without any are left out."""
    columns: Annotated[Any, "i8[1]*"]
    """The columns that may be split, (c,)."""
    allowed: Annotated[Any, "b1[2]*"]
    """Those that may be split at each level, (levels, c)."""
    penalty: Annotated[float, "f8"]
    """What is added to the hessian of a leaf."""
    least: Annotated[float, "f8"]
    """The least hessian of a child."""
    splits: Annotated[Any, "i8[2]*"]
    """Of each level the column, 1 if missing values go right, and the code, (levels, 3); written."""
    leaf: Annotated[Any, "i4[1]*"]
    """The leaf of each row, (n,); written."""
    below: Annotated[Any, "f8[4]*"]
    """Sums up to each code, (c, leaves, s, bins). Of length 0, rows of all leaves are added at each level."""
    rows: Annotated[Any, "u4[2]*"]
    """Rows in the order of leaves, (2, m): levels take turns."""
    sums: Annotated[Any, "f8[3]*"]
    """Their derivatives, (2, m, s), in units in which no square of a sum overflows."""
    spans: Annotated[Any, "i8[3]*"]
    """Begin and end of the rows of each leaf of a tile, (tiles, leaves, 2)."""
    counts: Annotated[Any, "i8[1]*"]
    """The number of rows of each leaf, (leaves,)."""
    sizes: Annotated[Any, "f8[2]*"]
    """Sums of absolute derivatives, (tiles, s)."""
    units: Annotated[Any, "f8[1]*"]
    """The units of gradients and hessians."""
    limits: Annotated[Any, "f8[1]*"]
    """The penalty, the least hessian and the least gain in these units."""
    gains: Annotated[Any, "f8[1]*"]
    """The largest gain of the splits of each column, (c,)."""
    places: Annotated[Any, "i8[2]*"]
    """Where that is: 1 if missing values go right, and the code, (c, 2)."""


# What a phase does, plus KINDS times the level.
MEASURE, TAKE, SEARCH, DIVIDE, ASSIGN, KINDS = 0, 1, 2, 3, 4, 5


@numba.njit(**MERGED)
def grow_tile(job, tile, tree, scratch):  # type: ignore[no-untyped-def]
    """Do one tile of a phase: of rows or, in a search, one column."""
    kind, level = job % KINDS, job // KINDS
    begin, n_leaves = tile * TILE, 2**level
    if kind == MEASURE:
        find_sizes(tree.derivatives, begin, min(begin + TILE, len(tree.derivatives)), tree.sizes[tile])
    elif kind == TAKE:
        sample = begin, min(begin + TILE, len(tree.derivatives))
        used = take_rows(tree.derivatives, *sample, tree.units, tree.rows[0, begin:], tree.sums[0, begin:])
        for i in range(begin, begin + used if len(tree.drawn) else begin):
            tree.rows[0, i] = tree.drawn[tree.rows[0, i]]
        tree.spans[tile, 0, 0], tree.spans[tile, 0, 1] = begin, begin + used
    elif kind == SEARCH:
        f, side = tree.columns[tile], level % 2
        kept = len(tree.below) > 0
        below, n_parents = (tree.below[tile], n_leaves // 2) if kept else (scratch[0], 0)
        leaves = tree.rows[side], tree.sums[side], tree.spans, tree.counts, n_leaves, n_parents
        column = tree.n_codes[f], tree.one_hot[f], tree.limits[0], tree.limits[1]
        gain, right, code = scan_column(tree.codes[f], *leaves, *column, below, scratch[1:])
        tree.gains[tile], tree.places[tile, 0], tree.places[tile, 1] = gain, right, code
    elif kind == DIVIDE:
        split, side = tree.splits[level], level % 2
        arrays = tree.codes[split[0]], split, tree.one_hot[split[0]], tree.rows[side], tree.sums[side]
        for k in range(n_leaves):
            first, last = tree.spans[tile, k, 0], tree.spans[tile, k, 1]
            middle = divide(*arrays, first, last, tree.rows[1 - side], tree.sums[1 - side])
            tree.spans[tile, k, 1] = middle
            tree.spans[tile, k + n_leaves, 0], tree.spans[tile, k + n_leaves, 1] = middle, last
    else:
        leaf = tree.leaf[begin : begin + TILE]
        for i in range(len(leaf)):
            leaf[i] = 0
        for k in range(level):
            split = tree.splits[k]
            turn_right(tree.codes[split[0], begin : begin + TILE], split, tree.one_hot[split[0]], k, leaf)


@numba.njit(**MERGED)
def set_limits(tree):  # type: ignore[no-untyped-def]
    """Find the units and the limits from the sizes of all tiles."""
    for t in range(1, len(tree.sizes)):
        for s in range(tree.sizes.shape[1]):
            tree.sizes[0, s] += tree.sizes[t, s]
    largest = set_units(tree.sizes[0], tree.units)
    tree.limits[0], tree.limits[1] = tree.penalty / tree.units[1], max(tree.least / tree.units[1], TINY)
    tree.limits[2] = LEAST_GAIN * largest


@numba.njit(**MERGED)
def best_split(tree, allowed):  # type: ignore[no-untyped-def]
    """The column of largest gain among those that are allowed (columns,); -1 if no gain is large enough."""
    best, column = tree.limits[2], -1
    for j in range(len(allowed)):
        if allowed[j] and tree.gains[j] > best:
            best, column = tree.gains[j], j
    return column


@numba.njit(**MERGED)
def scratch_memory(tree):  # type: ignore[no-untyped-def]
    """Memory of a thread: sums of leaves if they are not kept, and that of :func:`scan_column`."""
    kept, n_leaves, n_sums, most = tree.below.shape
    own = np.empty((n_leaves, n_sums, most)) if kept == 0 else tree.below[0]
    halves, gains = np.empty((2, most)), np.empty((2, most))
    return own, np.empty((most, n_sums)), np.empty((n_sums, most)), halves[0], halves[1], np.empty(n_sums), gains


@numba.njit(**MERGED)
def search_level(tree, level):  # type: ignore[no-untyped-def]
    """The job of a search for the split of a level, and its number of tiles."""
    for k in range(2**level):
        tree.counts[k] = 0
        for t in range(len(tree.spans)):
            tree.counts[k] += tree.spans[t, k, 1] - tree.spans[t, k, 0]
    return SEARCH + KINDS * level, len(tree.columns)


@numba.njit(**MERGED)
def phase_after(job, tree):  # type: ignore[no-untyped-def]
    """The phase after another one, as a job and its number of tiles."""
    kind, level, n_tiles = job % KINDS, job // KINDS, len(tree.sizes)
    if job == START:
        return MEASURE, n_tiles
    if kind == MEASURE:
        set_limits(tree)
        return TAKE, n_tiles
    if kind in (TAKE, DIVIDE):
        return search_level(tree, 0 if kind == TAKE else level + 1)
    if kind == ASSIGN:
        return job, 0
    j = best_split(tree, tree.allowed[level])
    if j >= 0:
        split = tree.splits[level]
        split[0], split[1], split[2] = tree.columns[j], tree.places[j, 0], tree.places[j, 1]
        level += 1
        if level < len(tree.splits):
            return DIVIDE + KINDS * (level - 1), n_tiles
    return ASSIGN + KINDS * level, (len(tree.leaf) + TILE - 1) // TILE


@kernel(Growth, "i8[1]* b1")
def grow(tree, state, leads):  # type: ignore[no-untyped-def]
    """Find the split of each level, of largest gain, and the leaf of each row; return the number of levels.

    `state` is that of the team, and `leads` whether this thread is the leader.
    """
    take_part(state, leads, grow_tile, phase_after, tree, scratch_memory(tree))
    return state[JOB] // KINDS
