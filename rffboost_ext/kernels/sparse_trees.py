"""Gains of symmetric trees on sparse columns: only stored entries are visited."""

from __future__ import annotations

import numpy as np

from .kernel import kernel
from .symmetric_tree_histograms import add_gains, leave_out


@kernel("i8[1] u4[1] u1[1] u1[1] i4[1] f8[2] f8[2] i8[1] i8[1] f8 f8 f8[3]* i8 i8")
def find_sparse_gains(  # type: ignore[no-untyped-def]
    begin, rows, codes, absent, leaf, sums, totals, columns, n_codes, penalty, least, gains, first, last
):
    """Write the gains (columns, 2, bins) of the splits of a level, of columns first .. last-1.

    ``gains[j, 0, b]`` is the gain if codes above b go right, ``gains[j, 1, b]`` if those of code 0 go right too.
    Splits that do not exist, or that are another one because no row has code 0, have gain 0. Column j has the
    `codes` of `rows` from ``begin[j]`` to ``begin[j + 1]``, and the code ``absent[j]`` in all other rows. `leaf`
    (n,) is the leaf of each row, -1 for a row that is left out, `sums` (n, s) are the derivatives of each row and
    `totals` (leaves, s) those of each leaf. A child has a hessian of at least `least`.
    """
    n_leaves, n_sums, most = len(totals), sums.shape[1], gains.shape[2]
    below, left = np.empty((n_leaves, n_sums, most)), np.empty((n_sums, most))
    low, high, reached = np.empty(most), np.empty(most), np.zeros(n_leaves, dtype=np.bool_)
    for j in range(first, last):
        column, bins, has_missing = columns[j], n_codes[columns[j]], False
        for e in range(begin[column], begin[column + 1]):
            k, code = leaf[rows[e]], codes[e]
            if k < 0:
                continue
            if not reached[k]:
                reached[k] = True
                below[k, :, :bins] = 0.0
            has_missing |= code == 0
            for s in range(n_sums):
                below[k, s, code] += sums[rows[e], s]
        gains[j] = 0.0
        for k in range(n_leaves):
            # All rows of other leaves have one code.
            if not reached[k]:
                continue
            reached[k] = False
            for s in range(n_sums):
                below[k, s, absent[column]] += totals[k, s] - below[k, s, :bins].sum()
                for b in range(1, bins):
                    below[k, s, b] += below[k, s, b - 1]
            for side in range(2 if has_missing else 1):
                splits = below[k]
                if side:
                    leave_out(below[k], False, bins, left)
                    splits = left
                add_gains(splits, totals[k], penalty, least, low[:bins], high[:bins], gains[j, side, :bins])


@kernel("i4[1] f8[2] f8[2]*")
def add_totals(leaf, sums, totals):  # type: ignore[no-untyped-def]
    """Add the derivatives (n, s) of rows to the `totals` (leaves, s) of their leaves; -1 is none."""
    for i in range(len(leaf)):
        if leaf[i] >= 0:
            for s in range(sums.shape[1]):
                totals[leaf[i], s] += sums[i, s]
