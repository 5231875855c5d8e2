"""Kernels for triangular matrices."""

from __future__ import annotations

import numba

from .compile_options import KERNEL


@numba.njit(**KERNEL)
def inverse_diagonal_pass(lower, inverse, diagonal):  # type: ignore[no-untyped-def]
    """Write the diagonal of the inverse of ``L L'`` to diagonal (m,), for a lower triangle L (m, m).

    It consists of the squared norms of the columns of the inverse of L, which is written to inverse (m, m). For
    some hundred rows this is faster than LAPACK.
    """
    diagonal[:] = 0.0
    for j in range(len(lower)):
        row, blocks = inverse[j], j - j % 4
        row[:] = 0.0
        for k in range(0, blocks, 4):
            a, b, c, d = lower[j, k], lower[j, k + 1], lower[j, k + 2], lower[j, k + 3]
            first, second, third, fourth = inverse[k], inverse[k + 1], inverse[k + 2], inverse[k + 3]
            for i in range(k + 4):
                row[i] += a * first[i] + b * second[i] + c * third[i] + d * fourth[i]
        for k in range(blocks, j):
            a, first = lower[j, k], inverse[k]
            for i in range(k + 1):
                row[i] += a * first[i]
        row[j] = -1.0
        scale = -1.0 / lower[j, j]
        for i in range(j + 1):
            row[i] *= scale
            diagonal[i] += row[i] * row[i]
