"""Kernels for triangular matrices."""

from __future__ import annotations

from .kernel import kernel


@kernel("f8[2] f8[2]* f8[1]*")
def inverse_diagonal_pass(upper, inverse, diagonal):  # type: ignore[no-untyped-def]
    """Write the diagonal of the inverse of ``U' U`` to diagonal (m,), for an upper triangle U (m, m).

    It consists of the squared norms of the columns of the inverse of U', which is written to inverse (m, m). For
    some hundred rows this is faster than LAPACK.
    """
    diagonal[:] = 0.0
    for j in range(len(upper)):
        row, blocks = inverse[j], j - j % 4
        row[:] = 0.0
        for k in range(0, blocks, 4):
            a, b, c, d = upper[k, j], upper[k + 1, j], upper[k + 2, j], upper[k + 3, j]
            first, second, third, fourth = inverse[k], inverse[k + 1], inverse[k + 2], inverse[k + 3]
            for i in range(k + 4):
                row[i] += a * first[i] + b * second[i] + c * third[i] + d * fourth[i]
        for k in range(blocks, j):
            a, first = upper[k, j], inverse[k]
            for i in range(k + 1):
                row[i] += a * first[i]
        row[j] = -1.0
        scale = -1.0 / upper[j, j]
        for i in range(j + 1):
            row[i] *= scale
            diagonal[i] += row[i] * row[i]
