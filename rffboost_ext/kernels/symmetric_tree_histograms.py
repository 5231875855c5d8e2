"""Histograms of symmetric trees, and the gains of their splits.

Sums of derivatives are exact in any order. The histogram of a leaf is therefore that of its parent less that of
its sibling. Histograms are kept as running sums.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .kernel import INNER

PAIR = ir.VectorType(ir.DoubleType(), 2).as_pointer()


@intrinsic
def add_pair(typing_context, target, at, source, of):  # type: ignore[no-untyped-def]
    """Add entries `of` and ``of + 1`` of the data of `source` to entries `at` and ``at + 1`` of that of `target`.

    Both are C-contiguous arrays of float64 of any shape, and entries are counted in that order. The compiler does
    not find this vector operation by itself.
    """

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kinds = signature.args

        def pointer(array, place):  # type: ignore[no-untyped-def]
            data = context.make_array(kinds[array])(context, builder, args[array]).data
            return builder.bitcast(builder.gep(data, [args[place]]), PAIR)

        here, there = pointer(0, 1), pointer(2, 3)
        total = builder.fadd(builder.load(here, align=8), builder.load(there, align=8))
        builder.store(total, here, align=8)
        return context.get_dummy_value()

    return types.void(target, at, source, of), generate


@numba.njit(**INNER)
def add_rows(codes, rows, sums, histogram):  # type: ignore[no-untyped-def]
    """Add the derivatives (m, s) of some rows to a histogram (bins, s), by the code of each row; s is even."""
    n_sums = np.int64(sums.shape[1])
    for s in range(0, n_sums, 2):
        for i in range(len(rows)):
            add_pair(histogram, codes[rows[i]] * n_sums + s, sums, i * n_sums + s)


@numba.njit(**INNER)
def update_sums(codes, rows, sums, spans, counts, first, last, histogram, below):  # type: ignore[no-untyped-def]
    """Fill the sums over the codes up to each one, below (leaves, s, bins), of leaves first .. last-1.

    Unless `first` is 0, the sibling ``l - first`` of leaf l has the sums of both before, and its own afterwards.
    `counts` (leaves,) are the numbers of their rows. `histogram` (bins, s) is scratch memory.
    """
    for leaf in range(first, last):
        sibling = leaf - first
        is_larger = counts[leaf] >= counts[sibling]
        counted = sibling if is_larger else leaf
        histogram[:] = 0.0
        for t in range(len(spans)):
            span = slice(spans[t, counted, 0], spans[t, counted, 1])
            add_rows(codes, rows[span], sums[span], histogram)
        # Two sums at a time, because each addition waits for the one before.
        for s in range(0, sums.shape[1], 2):
            here, there = 0.0, 0.0
            low, high = below[leaf, s], below[leaf, s + 1]
            for b in range(len(histogram)):
                here += histogram[b, s]
                there += histogram[b, s + 1]
                low[b], high[b] = here, there
        if first == 0:
            continue
        for s in range(sums.shape[1]):
            whole, part = below[sibling, s], below[leaf, s]
            for b in range(len(histogram)):
                rest = whole[b] - part[b]
                whole[b], part[b] = (part[b], rest) if is_larger else (rest, part[b])


@numba.njit(**INNER)
def leave_out(below, one_hot, bins, left):  # type: ignore[no-untyped-def]
    """Write the sums (s, bins) below each code, less those of code 0, or of each code alone, to `left`."""
    for s in range(left.shape[0]):
        for b in range(bins):
            left[s, b] = below[s, b] - (below[s, b - 1 if one_hot else 0] if b or not one_hot else 0.0)


@numba.njit(**INNER)
def has_rows(below, n_leaves):  # type: ignore[no-untyped-def]
    """Whether any sum of code 0 in (leaves, s, bins) is not 0."""
    for leaf in range(n_leaves):
        for s in range(below.shape[1]):
            if below[leaf, s, 0] != 0.0:
                return True
    return False


@numba.njit(fastmath=True, **INNER)
def add_gains(left, total, penalty, least, low, high, gain):  # type: ignore[no-untyped-def]
    """Add the gain of each split of a leaf to `gain` (bins,).

    `left` (s, bins) are the sums of the rows that go left, `total` (s,) those of the leaf, the last of each being
    the hessian. A split with a child of a hessian below `least` gains nothing. `low` and `high` (bins,) are
    scratch memory.
    """
    last = len(total) - 1
    weight, before = total[last], 0.0
    low[:] = 0.0
    high[:] = 0.0
    for s in range(last):
        whole, part = total[s], left[s]
        before += whole * whole
        for b in range(len(gain)):
            low[b] += part[b] * part[b]
            high[b] += (whole - part[b]) * (whole - part[b])
    before /= weight + penalty
    part = left[last]
    for b in range(len(gain)):
        here, there = part[b], weight - part[b]
        change = low[b] / (here + penalty) + high[b] / (there + penalty) - before
        gain[b] += change if (here >= least) & (there >= least) else 0.0


@numba.njit(**INNER)
def scan_column(  # type: ignore[no-untyped-def]
    codes, rows, sums, spans, counts, n_leaves, n_parents, bins, one_hot, penalty, least, below, scratch
):
    """The largest gain of the splits of one column, 1 if missing values go right there, and the code.

    `codes` (n,) are those of the column, `spans` (tiles, leaves, 2) and `counts` (leaves,) say which rows leaves
    have. Of `below` (leaves, s, bins) the sums of the first `n_parents` leaves are those of the level before, and
    `scratch` is memory. Codes above the one of the split go right; if codes are singled out, that one does. Splits
    that do not exist, or that are another one because no row has code 0, gain 0. Of equal gains the first counts.
    """
    histogram, left, low, high, total, gains = scratch
    update_sums(codes, rows, sums, spans, counts, n_parents, n_leaves, histogram[:bins], below)
    gains[:] = 0.0
    n_sides = 2 if not one_hot and has_rows(below, n_leaves) else 1
    for leaf in range(n_leaves):
        if counts[leaf] < 2:
            continue
        for s in range(len(total)):
            total[s] = below[leaf, s, bins - 1]
        for side in range(n_sides):
            splits = below[leaf]
            if side or one_hot:
                leave_out(below[leaf], one_hot, bins, left)
                splits = left
            add_gains(splits, total, penalty, least, low[:bins], high[:bins], gains[side, :bins])
    best, place = 0.0, (0, 0)
    for side in range(n_sides):
        for code in range(bins):
            if gains[side, code] > best:
                best, place = gains[side, code], (side, code)
    return best, *place
