"""Histograms, splits and leaves of symmetric trees.

Rows are kept in the order of the leaves of the current level, those of leaf l being ``start[l]`` to ``stop[l]``.
Derivatives are multiples of one number, so that sums are exact in any order. The histogram of a
leaf is therefore the histogram of its parent less the one of its sibling.
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


@kernel("f8[2] f8[1] f8 f8[2]*")
def exact_products(values, weight, total, out):  # type: ignore[no-untyped-def]
    """Weighted values (n, s), rounded to multiples of a power of two, so that sums of each column are exact.

    They do not depend on an order then, and a row of weight 2 counts as two rows to the last bit, up to a `total`
    weight of `MAX_REPEATED`.
    """
    n, n_columns = values.shape
    first, last = np.zeros(n_columns), np.zeros(n_columns)
    for i in range(n):
        for s in range(n_columns):
            first[s] = max(first[s], abs(values[i, s]))
    for s in range(n_columns):
        size = first[s]
        first[s] = least_bit(size * min(max(total, 1.0), MAX_REPEATED))
        last[s] = least_bit(size * total)
    for i in range(n):
        for s in range(n_columns):
            rounded = (values[i, s] + first[s]) - first[s]
            out[i, s] = (weight[i] * rounded + last[s]) - last[s]


@numba.njit(**INNER)
def add_rows(codes, rows, sums, histogram):  # type: ignore[no-untyped-def]
    """Add the derivatives (m, s) of some rows to a histogram (bins, s), by the code of each row; s is even."""
    n_sums = np.int64(sums.shape[1])
    for s in range(0, n_sums, 2):
        for i in range(len(rows)):
            add_pair(histogram, codes[rows[i]] * n_sums + s, sums, i * n_sums + s)


@numba.njit(**INNER)
def update_histograms(codes, rows, sums, start, stop, first, last, histogram):  # type: ignore[no-untyped-def]
    """Fill the histograms (leaves, bins, s) of leaves first .. last-1, and of their siblings unless first is 0.

    The sibling of leaf l is ``l - first``, and its place holds the histogram of both.
    """
    for leaf in range(first, last):
        sibling = leaf - first
        is_larger = stop[leaf] - start[leaf] >= stop[sibling] - start[sibling]
        counted = sibling if is_larger else leaf
        here, there = histogram[sibling], histogram[leaf]
        there[:] = 0.0
        span = slice(start[counted], stop[counted])
        add_rows(codes, rows[span], sums[span], there)
        if first == 0:
            continue
        for b in range(here.shape[0]):
            for s in range(here.shape[1]):
                part = there[b, s]
                rest = here[b, s] - part
                here[b, s] = part if is_larger else rest
                there[b, s] = rest if is_larger else part


@numba.njit(**INNER)
def sum_below(histogram, left):  # type: ignore[no-untyped-def]
    """Sums (s, bins) over the codes up to each one, of a histogram (bins, s)."""
    # Two sums at a time, because each addition waits for the one before.
    for s in range(0, left.shape[0], 2):
        here, there = 0.0, 0.0
        for b in range(left.shape[1]):
            here += histogram[b, s]
            there += histogram[b, s + 1]
            left[s, b], left[s + 1, b] = here, there


@numba.njit(**INNER)
def leave_out(histogram, one_hot, left):  # type: ignore[no-untyped-def]
    """Leave code 0 out of the sums (s, bins) below each code; if codes are singled out, all codes but one."""
    for s in range(left.shape[0]):
        for b in range(left.shape[1]):
            left[s, b] = histogram[b, s] if one_hot else left[s, b] - histogram[0, s]


@numba.njit(**INNER)
def has_rows(sums):  # type: ignore[no-untyped-def]
    """Whether any sum (leaves, s) is not 0."""
    for leaf in range(sums.shape[0]):
        for s in range(sums.shape[1]):
            if sums[leaf, s] != 0.0:
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
    histograms,
    gains,
    first,
    last,
):
    """Gains (columns, 2, bins) of the splits of a level, columns first .. last-1.

    ``gains[j, 0, b]`` is the gain if codes above b go right, ``gains[j, 1, b]`` if those of code 0 go right too.
    If codes are singled out, ``gains[j, 0, b]`` is the gain if code b goes right. Splits that do not exist, or
    that are another one because no row has code 0, have gain 0. Histograms (columns, leaves, bins, s) are those
    of the level before; for the first level they are empty. Without memory for them, (0, leaves, bins, s), rows of
    all leaves are added at each level.
    """
    n_sums, most, kept = sums.shape[1], histograms.shape[2], len(histograms) > 0
    fresh = np.empty((0 if kept else n_leaves, most, n_sums))
    memory, total, low, high = np.empty(n_sums * most), np.empty(n_sums), np.empty(most), np.empty(most)
    for j in range(first, last):
        bins = n_codes[j]
        histogram, left = histograms[j] if kept else fresh, memory[: n_sums * bins].reshape(n_sums, bins)
        # Children of leaves whose histograms are known.
        known = n_leaves // 2 if kept else 0
        update_histograms(codes[columns[j]], rows, sums, start, stop, known, n_leaves, histogram[:, :bins])
        gains[j] = 0.0
        has_missing = has_rows(histogram[:n_leaves, 0])
        for leaf in range(n_leaves):
            if stop[leaf] - start[leaf] < 2:
                continue
            sum_below(histogram[leaf, :bins], left)
            for s in range(n_sums):
                total[s] = left[s, bins - 1]
            for side in range(2 if has_missing and not one_hot[j] else 1):
                if side or one_hot[j]:
                    leave_out(histogram[leaf, :bins], one_hot[j], left)
                add_gains(left, total, penalty, least, low[:bins], high[:bins], gains[j, side, :bins])


@kernel("u1[1] u1[1] u4[1] f8[2] i8[1]* i8[1]* i8 u4[1]* f8[2]*")
def partition_rows(column, table, rows, sums, start, stop, n_leaves, new_rows, new_sums):  # type: ignore[no-untyped-def]
    """Split each leaf, in the order of its rows: those that go right by `table` are leaf ``l + n_leaves``."""
    for leaf in range(n_leaves):
        begin, end = start[leaf], stop[leaf]
        middle = end
        for i in range(begin, end):
            middle -= np.int64(table[column[rows[i]]])
        left, right = begin, middle
        for i in range(begin, end):
            goes_right = table[column[rows[i]]]
            at = right if goes_right else left
            left += 1 - np.int64(goes_right)
            right += np.int64(goes_right)
            new_rows[at] = rows[i]
            for s in range(sums.shape[1]):
                new_sums[at, s] = sums[i, s]
        stop[leaf], start[leaf + n_leaves], stop[leaf + n_leaves] = middle, middle, end


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
