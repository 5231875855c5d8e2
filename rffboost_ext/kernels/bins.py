"""Codes of one byte for the values of columns."""

from __future__ import annotations

import numpy as np

from .kernel import kernel


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


@kernel("i8[1] f8[1] i8[1] f8[1] u1[1]* u1[1]*")
def find_sparse_codes(begin, values, first, edges, codes, absent):  # type: ignore[no-untyped-def]
    """As :func:`find_codes`, of the entries of sparse columns and of 0 in each column.

    Column j has the `values` from ``begin[j]`` to ``begin[j + 1]`` and the `edges` from ``first[j]`` to
    ``first[j + 1]``.
    """
    for j in range(len(absent)):
        own = edges[first[j] : first[j + 1]]
        absent[j] = 1 + np.searchsorted(own, 0.0, side="right")
        for e in range(begin[j], begin[j + 1]):
            codes[e] = 0 if np.isnan(values[e]) else 1 + np.searchsorted(own, values[e], side="right")
