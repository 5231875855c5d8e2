"""Histograms, splits and leaves of symmetric trees.

Rows are kept in the order of the leaves of the current level, those of leaf l being ``start[l]`` to ``stop[l]``.
Derivatives are multiples of one number, so that sums are exact in any order. The histogram of a
leaf is therefore the histogram of its parent less the one of its sibling. Histograms are kept as running sums.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .kernel import INNER, kernel
from .symmetric_tree_evaluation import add_slopes

# With a larger total weight values keep their leading bits, and weights are numbers of rows up to rounding.
MAX_REPEATED = 2.0**26
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


@kernel("f8[1] f8[1] u1[1]*")
def find_codes(values, edges, codes):  # type: ignore[no-untyped-def]
    """Write 1 plus the number of edges (at most 254) that are not above each value to codes (n,); 0 for NaN."""
    padded = np.full(255, np.inf)
    for i in range(len(edges)):
        padded[i] = edges[i]
    for i in range(len(values)):
        # Bit by bit, and without branches, of which the processor would guess half wrong.
        below = 0
        for bit in range(7, -1, -1):
            below += int(padded[below + (1 << bit) - 1] <= values[i]) << bit
        codes[i] = 0 if np.isnan(values[i]) else min(below, len(edges)) + 1


@numba.njit(**INNER)
def least_bit(most):  # type: ignore[no-untyped-def]
    """A number whose last bit is that of 52 bits below the next power of two above `most`."""
    return math.ldexp(1.5, math.frexp(most)[1])


@numba.njit(fastmath={"nnan", "nsz"}, **INNER)
def largest(values, s):  # type: ignore[no-untyped-def]
    """The largest size in column s of values (n, columns)."""
    most = 0.0
    for i in range(len(values)):
        size = abs(values[i, s])
        most = size if size > most else most
    return most


@kernel("f8[2] f8[1] f8 f8[2]*")
def exact_products(values, weight, total, out):  # type: ignore[no-untyped-def]
    """Weighted values (n, s), rounded to multiples of a power of two, so that sums of each column are exact.

    They do not depend on an order then, and a row of weight 2 counts as two rows to the last bit, up to a `total`
    weight of `MAX_REPEATED`.
    """
    for s in range(values.shape[1]):
        size = largest(values, s)
        first, last = least_bit(size * min(max(total, 1.0), MAX_REPEATED)), least_bit(size * total)
        for i in range(len(values)):
            rounded = (values[i, s] + first) - first
            out[i, s] = (weight[i] * rounded + last) - last


@kernel("f8[2] u4[1]* f8[1]*")
def find_used_rows(sums, rows, size):  # type: ignore[no-untyped-def]
    """Write the rows of sums (n, s) with any entry but 0, add absolute values to size (s,), and count the rows."""
    used = 0
    for i in range(len(sums)):
        is_used = False
        for s in range(len(size)):
            size[s] += abs(sums[i, s])
            is_used |= sums[i, s] != 0.0
        rows[used] = i
        used += int(is_used)
    return used


@kernel("f8[2] u4[1] f8[1] f8[2]*")
def take_in_units(sums, rows, unit, out):  # type: ignore[no-untyped-def]
    """Write some rows of sums (n, s), in units (s,), to out (m, s)."""
    for i in range(len(rows)):
        for s in range(len(unit)):
            out[i, s] = sums[rows[i], s] / unit[s]


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


@kernel("u1[2] u4[1] f8[2] i8[1] i8[1] i8 i8[1] i8[1] b1[1] f8 f8 f8[4]* f8[3]* i8 i8")
def find_gains(  # type: ignore[no-untyped-def]
    codes,
    rows,
    sums,
    start,
    stop,
    n_leaves,
    columns,
    n_codes,
    one_hot,
    penalty,
    least,
    below,
    gains,
    first,
    last,
):
    """Gains (columns, 2, bins) of the splits of a level, columns first .. last-1.

    ``gains[j, 0, b]`` is the gain if codes above b go right, ``gains[j, 1, b]`` if those of code 0 go right too.
    If codes are singled out, ``gains[j, 0, b]`` is the gain if code b goes right. Splits that do not exist, or
    that are another one because no row has code 0, have gain 0. `below` (columns, leaves, s, bins) are the sums up
    to each code of the level before; for the first level they are empty. Without memory for them, (0, leaves, s,
    bins), rows of all leaves are added at each level.
    """
    n_sums, most, kept = sums.shape[1], below.shape[3], len(below) > 0
    fresh, left = np.empty((0 if kept else n_leaves, n_sums, most)), np.empty((n_sums, most))
    histogram, total, low, high = np.empty((most, n_sums)), np.empty(n_sums), np.empty(most), np.empty(most)
    for j in range(first, last):
        bins, known = n_codes[j], below[j] if kept else fresh
        # Children of leaves whose sums are known.
        half = n_leaves // 2 if kept else 0
        update_sums(codes[columns[j]], rows, sums, start, stop, half, n_leaves, histogram[:bins], known)
        gains[j] = 0.0
        has_missing = has_rows(known, n_leaves)
        for leaf in range(n_leaves):
            if stop[leaf] - start[leaf] < 2:
                continue
            for s in range(n_sums):
                total[s] = known[leaf, s, bins - 1]
            for side in range(2 if has_missing and not one_hot[j] else 1):
                splits = known[leaf]
                if side or one_hot[j]:
                    leave_out(known[leaf], one_hot[j], bins, left)
                    splits = left
                add_gains(splits, total, penalty, least, low[:bins], high[:bins], gains[j, side, :bins])


@kernel("u1[1] u1[1] u4[1] f8[2] i8[1]* i8[1]* i8 u4[1]* f8[2]*")
def partition_rows(column, table, rows, sums, start, stop, n_leaves, new_rows, new_sums):  # type: ignore[no-untyped-def]
    """Split each leaf: rows that go right by `table` are leaf ``l + n_leaves``, in the opposite order."""
    for leaf in range(n_leaves):
        left, right = start[leaf], stop[leaf] - 1
        for i in range(start[leaf], stop[leaf]):
            goes_right = np.int64(table[column[rows[i]]])
            at = right if goes_right else left
            left += 1 - goes_right
            right -= goes_right
            new_rows[at] = rows[i]
            for s in range(0, sums.shape[1], 2):
                new_sums[at, s], new_sums[at, s + 1] = sums[i, s], sums[i, s + 1]
        start[leaf + n_leaves], stop[leaf + n_leaves], stop[leaf] = left, stop[leaf], left


@kernel("u1[1] u1[1] i8 i4[1]*")
def add_level(column, table, level, leaf):  # type: ignore[no-untyped-def]
    """Set the bit of a level in the leaves of rows, (n,), if their code goes right by `table`."""
    for i in range(len(leaf)):
        leaf[i] |= np.int32(table[column[i]]) << np.int32(level)


@kernel("i4[1] f8[2] f8[2] f8[3]*")
def add_leaf_sums(leaf, gradient, hessian, sums):  # type: ignore[no-untyped-def]
    """Add weighted gradients and hessians, (n, C) each, to the sums (leaves, C, 2) of the leaves of the rows."""
    for i in range(len(leaf)):
        k = leaf[i]
        for c in range(gradient.shape[1]):
            sums[k, c, 0] += gradient[i, c]
            sums[k, c, 1] += hessian[i, c]


@numba.njit(**INNER)
def has_enough(sums, least):  # type: ignore[no-untyped-def]
    """Whether the hessian of sums (C, 2), on average over outputs, is at least `least`."""
    return sums[:, 1].sum() / len(sums) >= least


@kernel("f8[3] f8 f8 f8[2]* b1[1]*")
def find_constants(sums, penalty, least, value, enough):  # type: ignore[no-untyped-def]
    r"""Write :math:`-G / (H + \lambda)` of sums (leaves, C, 2) to value (leaves, C), or that of an ancestor.

    It is the nearest one with enough hessian; `enough` (leaves,) says which leaves have it themselves.
    """
    n_leaves, n_outputs, _ = sums.shape
    # Those of a tree of m leaves begin at m.
    merged, m = np.empty((2 * n_leaves, n_outputs, 2)), n_leaves
    merged[n_leaves:] = sums
    while m > 1:
        m //= 2
        merged[m : 2 * m] = merged[2 * m : 3 * m] + merged[3 * m : 4 * m]
    for k in range(n_leaves):
        enough[k] = has_enough(sums[k], least)
        m = n_leaves
        while m > 1 and not has_enough(merged[m + k % m], least):
            m //= 2
        for c in range(n_outputs):
            gradient, bend = merged[m + k % m, c, 0], merged[m + k % m, c, 1] + penalty
            value[k, c] = -gradient / bend if bend > 0.0 else 0.0


@kernel("T[2] i4[1] f8[1] f8[1] f8[1] f8[1] f8[2]*")
def standardise_levels(X, feature, low, high, center, scale, Z):  # type: ignore[no-untyped-def]
    """Write features of X (n, d), clipped and standardised, and a 1 to Z (n, D + 1); missing values are 0."""
    for i in range(len(X)):
        Z[i, len(feature)] = 1.0
        for level in range(len(feature)):
            x = np.float64(X[i, feature[level]])
            z = (min(max(x, low[level]), high[level]) - center[level]) / scale[level]
            Z[i, level] = 0.0 if np.isnan(x) else z


@kernel("i4[1] f8[2] f8[2] f8[2] f8[3]* f8[3]*")
def add_normal_equations(leaf, gradient, hessian, Z, matrix, right):  # type: ignore[no-untyped-def]
    """Add the rows of Z (n, p) to the weighted least squares of each leaf and output.

    `matrix` (leaves, C, p (p + 1) / 2) are sums of ``h z z^T``, its lower triangle row by row, and `right`
    (leaves, C, p) sums of ``-g z``; the derivatives, (n, C) each, contain the weights.
    """
    size, products = Z.shape[1], np.empty(matrix.shape[2])
    for i in range(len(leaf)):
        k, q = leaf[i], 0
        for a in range(size):
            for b in range(a + 1):
                products[q] = Z[i, a] * Z[i, b]
                q += 1
        for c in range(gradient.shape[1]):
            g, h = gradient[i, c], hessian[i, c]
            for q in range(len(products)):
                matrix[k, c, q] += h * products[q]
            for a in range(size):
                right[k, c, a] -= g * Z[i, a]


@kernel("i4[1] f8[3] f8[2] f8[2]*")
def add_linear_outputs(leaf, coefficients, Z, out):  # type: ignore[no-untyped-def]
    """Add coefficients (leaves, C, p) of the leaves of rows, times Z (n, p), to out (n, C)."""
    add_slopes(coefficients, leaf, Z, out)
