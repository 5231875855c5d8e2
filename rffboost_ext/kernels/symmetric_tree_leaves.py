"""Leaves of symmetric trees: which rows they have, their values and slopes, and their outputs."""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .kernel import INNER, kernel
from .symmetric_tree_growth import turn_right

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


@numba.njit(**INNER)
def find_factors(columns, start, feature, low, high, center, scale, Z):  # type: ignore[no-untyped-def]
    """Write the factors of rows from `start` on to Z (rows, P) as for :func:`add_normal_equations`."""
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
    """Add rows to the sums of one tile as for :func:`add_normal_equations`."""
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


@kernel("T[2] i4[1] f8[1] f8[1] f8[1] f8[1] i4[1] f8[2] f8[1] i8 f8[2]* f8[5]* f8[4]* f8[2]* i8 i8")
def add_normal_equations(  # type: ignore[no-untyped-def]
    columns,
    feature,
    low,
    high,
    center,
    scale,
    leaf,
    derivatives,
    weight,
    size,
    Z,
    matrix,
    right,
    counts,
    first,
    last,
):
    """Add the rows of tiles first .. last-1, of `size` rows, to the weighted least squares of leaves and outputs.

    The factors of a row are some features of `columns` (d, n), clipped and standardised, and a 1; missing values
    are 0. They are written to Z (n, P), of which the entries beyond these p are 0. For tile t ``matrix[t]``
    (leaves, C, p, P) are sums of ``h z z^T``, ``right[t]`` (leaves, C, P) sums of ``-g z``, and ``counts[t]``
    (leaves,) the weights of the rows.
    """
    for t in range(first, last):
        for start in range(t * size, min((t + 1) * size, len(leaf)), BLOCK):
            rows = slice(start, min(start + BLOCK, (t + 1) * size, len(leaf)))
            find_factors(columns, start, feature, low, high, center, scale, Z[rows])
            add_squares(leaf[rows], derivatives[rows], weight[rows], Z[rows], matrix[t], right[t], counts[t])


@numba.njit(**INNER)
def solve(matrix, right, found):  # type: ignore[no-untyped-def]
    """Write the solution of a positive definite system (p, p), of which the factors overwrite the lower triangle.

    The factorisation of Cholesky. Of `right` the first p entries are used and overwritten.
    """
    p = len(found)
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
        found[a] = right[a]
        for b in range(a + 1, p):
            found[a] -= matrix[b, a] * found[b]
        found[a] /= matrix[a, a]


# The least penalty of slopes, as a share of the hessian of a leaf: one may be lost in rounding with large weights.
LEAST_RIDGE = 1e-12


@kernel("f8[4]* f8[3]* b1[1] f8[2] f8 f8 f8[3] f8[1] f8[3]*")
def solve_leaves(matrix, right, is_linear, constant, penalty, ridge, old, prior, found):  # type: ignore[no-untyped-def]
    """Write the coefficients of leaves and outputs, (leaves, C, p): slopes, and last the value.

    `matrix` (leaves, C, p, P) and `right` (leaves, C, P), sums of :func:`add_normal_equations`, are overwritten.
    Penalties on values and slopes are added, and coefficients `old` of weights `prior` (C,), unless it is empty.
    Other leaves than `is_linear` (leaves,) have the values `constant` (leaves, C), and so have outputs without
    hessian or penalty.
    """
    last = found.shape[2] - 1
    found[:] = 0.0
    for k in range(len(found)):
        for c in range(len(prior)):
            own, target, weight = matrix[k, c], right[k, c], prior[c]
            slope_penalty = max(ridge, LEAST_RIDGE * own[last, last]) + weight
            own[last, last] += penalty + weight
            found[k, c, last] = constant[k, c]
            if not is_linear[k] or not own[last, last] > 0.0:
                continue
            for a in range(last):
                own[a, a] += slope_penalty
            for a in range(last + 1 if len(old) else 0):
                target[a] += weight * old[k, c, a]
            solve(own, target, found[k, c])


@kernel("i4[1] f8[3] f8[2] f8[2]* i8 i8", fastmath=True)
def find_linear_outputs(leaf, coefficients, Z, out, first, last):  # type: ignore[no-untyped-def]
    """Write coefficients (leaves, C, p) of the leaves of rows, times the first p of Z (n, P), to out (n, C).

    For rows first .. last-1.
    """
    for i in range(first, last):
        lines, row = coefficients[leaf[i]], Z[i]
        for c in range(out.shape[1]):
            total = 0.0
            for level in range(lines.shape[1]):
                total += lines[c, level] * row[level]
            out[i, c] = total
