"""Histograms and splits of symmetric trees.

Rows are kept in the order of the leaves of the current level, those of leaf l being ``start[l]`` to ``stop[l]``.
Sums of derivatives are exact in any order. The histogram of a leaf is therefore that of its parent less that of
its sibling. Histograms are kept as running sums.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .kernel import INNER, kernel

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
def update_sums(codes, rows, sums, start, stop, first, last, histogram, below):  # type: ignore[no-untyped-def]
    """Fill the sums over the codes up to each one, below (leaves, s, bins), of leaves first .. last-1.

    Unless `first` is 0, the sibling ``l - first`` of leaf l has the sums of both before, and its own afterwards.
    `histogram` (bins, s) is scratch memory.
    """
    for leaf in range(first, last):
        sibling = leaf - first
        is_larger = stop[leaf] - start[leaf] >= stop[sibling] - start[sibling]
        counted = sibling if is_larger else leaf
        histogram[:] = 0.0
        span = slice(start[counted], stop[counted])
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
    codes, rows, sums, start, stop, n_leaves, known, bins, one_hot, penalty, least, scratch, below, gains
):
    """Write the gains (2, bins) of the splits of one column, of which `codes` (n,) are the codes.

    Of `below` (leaves, s, bins) the sums of the first `known` leaves are those of the level before. `scratch` is
    memory, see :func:`scratch_memory`; the other arguments are those of :func:`find_gains`.
    """
    histogram, left, low, high, total = scratch
    update_sums(codes, rows, sums, start, stop, known, n_leaves, histogram[:bins], below)
    gains[:] = 0.0
    has_missing = has_rows(below, n_leaves)
    for leaf in range(n_leaves):
        if stop[leaf] - start[leaf] < 2:
            continue
        for s in range(len(total)):
            total[s] = below[leaf, s, bins - 1]
        for side in range(2 if has_missing and not one_hot else 1):
            splits = below[leaf]
            if side or one_hot:
                leave_out(below[leaf], one_hot, bins, left)
                splits = left
            add_gains(splits, total, penalty, least, low[:bins], high[:bins], gains[side, :bins])


@numba.njit(**INNER)
def scratch_memory(n_sums, bins):  # type: ignore[no-untyped-def]
    """Memory for a histogram, sums that go left, two terms of gains, and the sums of a leaf."""
    return np.empty((bins, n_sums)), np.empty((n_sums, bins)), np.empty(bins), np.empty(bins), np.empty(n_sums)


@kernel("u1[2] u4[1] f8[2] i8[1] i8[1] i8 i8[1] i8[1] b1[1] f8 f8 f8[4]* f8[3]* i8 i8")
def find_gains(  # type: ignore[no-untyped-def]
    codes, rows, sums, start, stop, n_leaves, columns, n_codes, one_hot, penalty, least, below, gains, first, last
):
    """Gains (columns, 2, bins) of the splits of a level, columns first .. last-1.

    ``gains[j, 0, b]`` is the gain if codes above b go right, ``gains[j, 1, b]`` if those of code 0 go right too.
    If codes are singled out, ``gains[j, 0, b]`` is the gain if code b goes right. Splits that do not exist, or
    that are another one because no row has code 0, have gain 0. `below` (columns, leaves, s, bins) are the sums up
    to each code of the level before; for the first level they are empty. Without memory for them, (0, leaves, s,
    bins), rows of all leaves are added at each level.
    """
    n_sums, most, kept = sums.shape[1], below.shape[3], len(below) > 0
    fresh, scratch = np.empty((0 if kept else n_leaves, n_sums, most)), scratch_memory(n_sums, most)
    leaves = rows, sums, start, stop, n_leaves, n_leaves // 2 if kept else 0
    for j in range(first, last):
        f, memory = columns[j], below[j] if kept else fresh
        scan_column(codes[f], *leaves, n_codes[f], one_hot[f], penalty, least, scratch, memory, gains[j])


@numba.njit(**INNER)
def goes_right(code, split, one_hot):  # type: ignore[no-untyped-def]
    """1 if a code goes right at a split (column, missing values right, code), else 0."""
    return np.int64(code == split[2] if one_hot else (code > split[2]) | ((code == 0) & (split[1] == 1)))


@numba.njit(**INNER)
def move(column, split, one_hot, rows, sums, begin, end, left, right, new_rows, new_sums):  # type: ignore[no-untyped-def]
    """Move rows that go right at a split to places up to `right`, in the opposite order, others from `left` on.

    The result is the place after the last of those that go left.
    """
    for i in range(begin, end):
        to_right = goes_right(column[rows[i]], split, one_hot)
        at = right if to_right else left
        left += 1 - to_right
        right -= to_right
        new_rows[at] = rows[i]
        for s in range(0, sums.shape[1], 2):
            new_sums[at, s], new_sums[at, s + 1] = sums[i, s], sums[i, s + 1]
    return left


@kernel("u1[1] i8[1] b1 u4[1] i8[2] i8[1]* i8 i8")
def count_left(column, split, one_hot, rows, spans, counts, first, last):  # type: ignore[no-untyped-def]
    """Write how many rows of each span, (begin, end), of spans first .. last-1 do not go right at a split."""
    for k in range(first, last):
        counts[k] = 0
        for i in range(spans[k, 0], spans[k, 1]):
            counts[k] += 1 - goes_right(column[rows[i]], split, one_hot)


@kernel("u1[1] i8[1] b1 u4[1] f8[2] i8[2] u4[1]* f8[2]* i8 i8")
def move_spans(column, split, one_hot, rows, sums, spans, new_rows, new_sums, first, last):  # type: ignore[no-untyped-def]
    """Move the rows of spans first .. last-1, (begin, end, left, right), as :func:`move` does."""
    for k in range(first, last):
        a, b, left, right = spans[k]
        move(column, split, one_hot, rows, sums, a, b, left, right, new_rows, new_sums)


@kernel("u1[2] u4[1]* f8[2]* u4[1]* f8[2]* i8[1] i8[1] b1[1] b1[2] f8 f8 f8 f8[4]* i8[2]*")
def find_splits(  # type: ignore[no-untyped-def]
    codes, rows, sums, new_rows, new_sums, columns, n_codes, one_hot, allowed, penalty, least, floor, below, splits
):
    """Find the split of each level, of largest gain, and return their number; `rows` and `sums` are overwritten.

    `splits` (levels, 3) are the column, 1 if missing values go right, and the code. At level l the columns j with
    ``allowed[l, j]`` are searched. The tree ends if no gain is above `floor`. The other arguments are those of
    :func:`find_gains`.
    """
    n_sums, most, kept, depth = sums.shape[1], below.shape[3], len(below) > 0, len(splits)
    start, stop = np.zeros(2**depth, dtype=np.int64), np.zeros(2**depth, dtype=np.int64)
    fresh, scratch = np.empty((0 if kept else 2 ** (depth - 1), n_sums, most)), scratch_memory(n_sums, most)
    gains, stop[0] = np.empty((2, most)), len(rows)
    for level in range(depth):
        n_leaves, best = 2**level, floor
        for j in range(len(columns)):
            f, memory, known = columns[j], below[j] if kept else fresh, n_leaves // 2 if kept else 0
            leaves = rows, sums, start, stop, n_leaves, known
            scan_column(codes[f], *leaves, n_codes[f], one_hot[f], penalty, least, scratch, memory, gains)
            for side in range(2 if allowed[level, j] else 0):
                for code in range(n_codes[f]):
                    if gains[side, code] > best:
                        best = gains[side, code]
                        splits[level, 0], splits[level, 1], splits[level, 2] = f, side, code
        if not best > floor:
            return level
        if level + 1 < depth:
            f = splits[level, 0]
            arrays = codes[f], splits[level], one_hot[f], rows, sums
            for leaf in range(n_leaves):
                begin, end = start[leaf], stop[leaf]
                middle = move(*arrays, begin, end, begin, end - 1, new_rows, new_sums)
                start[leaf + n_leaves], stop[leaf + n_leaves], stop[leaf] = middle, end, middle
            rows, new_rows, sums, new_sums = new_rows, rows, new_sums, sums
    return depth
