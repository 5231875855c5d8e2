"""Leaves of symmetric trees: which rows they have, their values and slopes, and their outputs."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .kernel import INLINED, INNER, MERGED, kernel
from .symmetric_tree_growth import turn_right
from .team import START, take_part

LANES = 8
"""Entries that are added at once: rows of factors and of matrices have a multiple of so many."""
# Rows whose factors are written before they are read, as a read waits for writes of other sizes.
BLOCK = 64
VECTOR = ir.VectorType(ir.DoubleType(), LANES)


@intrinsic
def add_products(typing_context, target, at, source, of, inner, outer):  # type: ignore[no-untyped-def]
    """Add ``outer * (inner * v)`` to LANES entries of `target` from `at`, for entries v of `source` from `of` on.

    Both are C-contiguous arrays of float64 of any shape, and entries are counted in that order. The compiler does
    not find this vector operation by itself.
    """

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kinds = signature.args

        def pointer(array, place):  # type: ignore[no-untyped-def]
            data = context.make_array(kinds[array])(context, builder, args[array]).data
            return builder.bitcast(builder.gep(data, [args[place]]), VECTOR.as_pointer())

        def repeated(number):  # type: ignore[no-untyped-def]
            vector = ir.Constant(VECTOR, ir.Undefined)
            for lane in range(LANES):
                vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), lane))
            return vector

        here = pointer(0, 1)
        product = builder.fmul(repeated(args[4]), builder.load(pointer(2, 3), align=8))
        product = builder.fmul(repeated(args[5]), product)
        builder.store(builder.fadd(builder.load(here, align=8), product), here, align=8)
        return context.get_dummy_value()

    return types.void(target, at, source, of, inner, outer), generate


@kernel("u1[1] i8[1] b1 i8 i4[1]*")
def add_level(column, split, one_hot, level, leaf):  # type: ignore[no-untyped-def]
    """Set the bit of a level in the leaves of rows, (n,), whose code goes right."""
    turn_right(column, split, one_hot, level, leaf)


@kernel("i4[1] f8[2] f8[3]*")
def add_leaf_sums(leaf, derivatives, sums):  # type: ignore[no-untyped-def]
    """Add gradients and hessians, (n, 2 C), weighted, to the sums (leaves, C, 2) of the leaves of the rows."""
    n_outputs = sums.shape[1]
    for i in range(len(leaf)):
        k = leaf[i]
        for c in range(n_outputs):
            sums[k, c, 0] += derivatives[i, c]
            sums[k, c, 1] += derivatives[i, n_outputs + c]


@numba.njit(**INNER)
def has_enough(sums, least):  # type: ignore[no-untyped-def]
    """Whether the hessian of sums (C, 2), on average over outputs, is at least `least`."""
    total = 0.0
    for c in range(len(sums)):
        total += sums[c, 1]
    return total / len(sums) >= least


@numba.njit(**INNER)
def write_constants(sums, penalty, least, value, enough):  # type: ignore[no-untyped-def]
    r"""Write :math:`-G / (H + \lambda)` of sums (leaves, C, 2) to value (leaves, C), or that of an ancestor.

    It is the nearest one with enough hessian; `enough` (leaves,) says which leaves have it themselves. Loops take
    less time to compile than operations on arrays.
    """
    n_leaves, n_outputs, _ = sums.shape
    # Those of a tree of m leaves begin at m.
    merged = np.empty((2 * n_leaves, n_outputs, 2))
    for k in range(2 * n_leaves - 1, 0, -1):
        m = n_leaves
        while m > k:
            m //= 2
        for c in range(n_outputs):
            for s in range(2):
                if m == n_leaves:
                    merged[k, c, s] = sums[k - m, c, s]
                else:
                    merged[k, c, s] = merged[k + m, c, s] + merged[k + 2 * m, c, s]
    for k in range(n_leaves):
        enough[k] = has_enough(sums[k], least)
        m = n_leaves
        while m > 1 and not has_enough(merged[m + k % m], least):
            m //= 2
        for c in range(n_outputs):
            gradient, bend = merged[m + k % m, c, 0], merged[m + k % m, c, 1] + penalty
            value[k, c] = -gradient / bend if bend > 0.0 else 0.0


@kernel("f8[3] f8 f8 f8[2]* b1[1]*")
def find_constants(sums, penalty, least, value, enough):  # type: ignore[no-untyped-def]
    """As :func:`write_constants`."""
    write_constants(sums, penalty, least, value, enough)


@numba.njit(**INNER)
def find_factors(columns, start, feature, low, high, center, scale, Z):  # type: ignore[no-untyped-def]
    """Write the factors of rows from `start` on to Z (rows, P) as for :class:`LinearLeaves`."""
    size = len(feature)
    for level in range(size):
        column = columns[feature[level], start : start + len(Z)]
        a, b, middle, unit = low[level], high[level], center[level], scale[level]
        for i in range(len(Z)):
            x = np.float64(column[i])
            v = a if x < a else x
            v = b if v > b else v
            z = (v - middle) / unit
            Z[i, level] = 0.0 if np.isnan(x) else z
    Z[:, size] = 1.0
    Z[:, size + 1 :] = 0.0


@numba.njit(**INNER)
def add_squares(leaf, derivatives, weight, Z, matrix, right, counts):  # type: ignore[no-untyped-def]
    """Add rows to the sums of one tile, see :class:`LinearLeaves`."""
    n_outputs, p, width = matrix.shape[1:]
    for i in range(len(leaf)):
        k, row = leaf[i], i * width
        counts[k] += weight[i]
        for c in range(n_outputs):
            place, g, h = (k * n_outputs + c) * width, derivatives[i, c], derivatives[i, n_outputs + c]
            add_products(right, place, Z, row, 1.0, -g)
            # A loop from 0 on would take twice the time: most trees have one step only.
            for b in range(LANES, width, LANES):
                add_products(right, place + b, Z, row + b, 1.0, -g)
            for a in range(p):
                add_products(matrix, place * p + a * width, Z, row, Z[i, a], h)
                for b in range(LANES, width, LANES):
                    add_products(matrix, place * p + a * width + b, Z, row + b, Z[i, a], h)


@numba.njit(**INNER)
def solve(matrix, right, solution):  # type: ignore[no-untyped-def]
    """Write the solution of a positive definite system (p, p), of which the factors overwrite the lower triangle.

    The factorisation of Cholesky. Of `right` the first p entries are used and overwritten.
    """
    p = len(solution)
    for a in range(p):
        for b in range(a):
            for i in range(b):
                matrix[a, b] -= matrix[a, i] * matrix[b, i]
            matrix[a, b] /= matrix[b, b]
            matrix[a, a] -= matrix[a, b] * matrix[a, b]
            right[a] -= matrix[a, b] * right[b]
        matrix[a, a] = np.sqrt(matrix[a, a])
        right[a] /= matrix[a, a]
    for a in range(p - 1, -1, -1):
        solution[a] = right[a]
        for b in range(a + 1, p):
            solution[a] -= matrix[b, a] * solution[b]
        solution[a] /= matrix[a, a]


class LinearLeaves(NamedTuple):
    """Least squares of L leaves and C outputs, of p coefficients each, in P places."""

    feature: Annotated[Any, "i4[1]*"]
    """The columns of the levels, (p - 1,)."""
    low: Annotated[Any, "f8[1]*"]
    """The bounds, centers and scales of these columns, (p - 1,)."""
    high: Annotated[Any, "f8[1]*"]
    center: Annotated[Any, "f8[1]*"]
    scale: Annotated[Any, "f8[1]*"]
    leaf: Annotated[Any, "i4[1]*"]
    """The leaf of each row, (n,)."""
    derivatives: Annotated[Any, "f8[2]*"]
    """Weighted gradients, then hessians, (n, 2 C)."""
    weight: Annotated[Any, "f8[1]*"]
    """Weights, (n,)."""
    penalty: Annotated[float, "f8"]
    """The penalty on values."""
    ridge: Annotated[float, "f8"]
    """The penalty on slopes."""
    least: Annotated[float, "f8"]
    """The least hessian of a leaf."""
    old: Annotated[Any, "f8[3]*"]
    """Coefficients before, (L, C, p), or none, (0, C, p)."""
    prior: Annotated[Any, "f8[1]*"]
    """Their weights, (C,)."""
    tile: Annotated[int, "i8"]
    """Rows of a tile."""
    factors: Annotated[Any, "f8[2]*"]
    """Memory for the factors z of rows, (n, P): columns clipped and standardised, 0 if missing, a 1, and zeros."""
    matrix: Annotated[Any, "f8[5]*"]
    """Sums of ``h z z^T`` of each tile, (T, L, C, p, P), of 0 before."""
    right: Annotated[Any, "f8[4]*"]
    """Sums of ``-g z``, (T, L, C, P), of 0 before."""
    counts: Annotated[Any, "f8[2]*"]
    """Weights of leaves, (T, L), of 0 before."""
    coefficients: Annotated[Any, "f8[3]*"]
    """Slopes, and last the value, (L, C, p), of 0 before; written."""
    output: Annotated[Any, "f8[2]*"]
    """Outputs of rows, (n, C); written."""


@numba.njit(fastmath=True, **INLINED)
def write_outputs(leaf, coefficients, factors, output):  # type: ignore[no-untyped-def]
    """Write the coefficients of the leaves of rows times their factors to output (n, C)."""
    for i in range(len(leaf)):
        lines, row = coefficients[leaf[i]], factors[i]
        for c in range(output.shape[1]):
            total = 0.0
            for level in range(lines.shape[1]):
                total += lines[c, level] * row[level]
            output[i, c] = total


ADD, WRITE = 0, 1


@numba.njit(**MERGED)
def fit_tile(job, tile, shared, own):  # type: ignore[no-untyped-def]
    """Do one tile of rows of a phase: add its rows to its sums, or write their outputs."""
    columns, lines = shared
    begin, end = tile * lines.tile, min((tile + 1) * lines.tile, len(lines.leaf))
    for start in range(begin, end, BLOCK):
        rows = slice(start, min(start + BLOCK, end))
        leaf, factors = lines.leaf[rows], lines.factors[rows]
        if job == WRITE:
            write_outputs(leaf, lines.coefficients, factors, lines.output[rows])
            continue
        find_factors(columns, start, lines.feature, lines.low, lines.high, lines.center, lines.scale, factors)
        sums = lines.matrix[tile], lines.right[tile], lines.counts[tile]
        add_squares(leaf, lines.derivatives[rows], lines.weight[rows], factors, *sums)


# Leaves of a smaller weight than this, for each coefficient, are constant.
ROWS_PER_COEFFICIENT = 3
# The least penalty of slopes, as a share of the hessian of a leaf: one may be lost in rounding with large weights.
LEAST_RIDGE = 1e-12


@numba.njit(**MERGED)
def add_tiles(matrix, right, counts):  # type: ignore[no-untyped-def]
    """Add the sums of all tiles to those of tile 0."""
    n_tiles, n_leaves, n_outputs, size, width = matrix.shape
    for t in range(1, n_tiles):
        for k in range(n_leaves):
            counts[0, k] += counts[t, k]
            for c in range(n_outputs):
                for b in range(width):
                    right[0, k, c, b] += right[t, k, c, b]
                for a in range(size):
                    for b in range(width):
                        matrix[0, k, c, a, b] += matrix[t, k, c, a, b]


@numba.njit(**MERGED)
def solve_leaves(lines):  # type: ignore[no-untyped-def]
    """Find the coefficients from the sums of all rows, which are overwritten, as :class:`LinearLeaves` says."""
    matrix, right, counts = lines.matrix[0], lines.right[0], lines.counts[0]
    old, prior, coefficients = lines.old, lines.prior, lines.coefficients
    n_leaves, n_outputs, size = coefficients.shape
    last, has_old = size - 1, len(old) > 0
    sums, value = np.empty((n_leaves, n_outputs, 2)), np.empty((n_leaves, n_outputs))
    enough = np.empty(n_leaves, dtype=np.bool_)
    for k in range(n_leaves):
        for c in range(n_outputs):
            weight = prior[c] if has_old else 0.0
            sums[k, c, 0] = -right[k, c, last] - (weight * old[k, c, last] if has_old else 0.0)
            sums[k, c, 1] = matrix[k, c, last, last] + weight
    write_constants(sums, lines.penalty, lines.least, value, enough)
    for k in range(n_leaves):
        has_slope = counts[k] >= ROWS_PER_COEFFICIENT * size
        for c in range(n_outputs if has_old else 0):
            # A leaf that had a slope has one, however few rows it has.
            for a in range(last):
                has_slope |= old[k, c, a] != 0.0
        for c in range(n_outputs):
            own, target, weight = matrix[k, c], right[k, c], prior[c]
            slope_penalty = max(lines.ridge, LEAST_RIDGE * own[last, last]) + weight
            own[last, last] += lines.penalty + weight
            coefficients[k, c, last] = value[k, c]
            if not (enough[k] and has_slope and own[last, last] > 0.0):
                continue
            for a in range(last):
                own[a, a] += slope_penalty
            for a in range(size if has_old else 0):
                target[a] += weight * old[k, c, a]
            solve(own, target, coefficients[k, c])


@numba.njit(**MERGED)
def next_phase(job, shared):  # type: ignore[no-untyped-def]
    """The phase after another one, as a job and its number of tiles."""
    _, lines = shared
    if job == START:
        return ADD, len(lines.matrix)
    if job == ADD:
        add_tiles(lines.matrix, lines.right, lines.counts)
        solve_leaves(lines)
        return WRITE, len(lines.matrix)
    return job, 0


@kernel("T[2]", LinearLeaves, "i8[1]* b1")
def fit_linear_leaves(columns, lines, state, leads):  # type: ignore[no-untyped-def]
    """Find the coefficients of leaves and the outputs of rows, of features in `columns` (d, n).

    `state` is that of the team, and `leads` whether this thread is the leader. Leaves of few rows, or of a small
    hessian, are constant, and so are outputs without hessian or penalty.
    """
    take_part(state, leads, fit_tile, next_phase, (columns, lines), 0)
