r"""Sums over pairs of rows of a query, for losses of rankings.

Rows are sorted by query; those of query q are ``start[q]`` to ``start[q + 1]``. The weight of a pair of rows i
before j is, by `weighting`,

- ``BY_RANK``: \|gain_i - gain_j\| times the difference of their discounts, or times `tied[i]` if their scores
  are equal. Rows of a query are sorted by falling score; pairs whose discounts are both 0 have the weight 0.
- ``BY_GAIN``: \|gain_i - gain_j\| times `discount[i]`.
- ``EQUAL``: `discount[i]` if their gains differ, else 0.
"""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INLINED, kernel
from .vector_math import exp, log1p

BY_RANK, BY_GAIN, EQUAL = 0, 1, 2


@numba.njit(fastmath=True, **INLINED)
def pair_weight(weighting, above, lead, discount, next_discount, tied):  # type: ignore[no-untyped-def]
    """The weight of a pair, by the differences of its gains and of its scores."""
    if weighting == EQUAL:
        return 0.0 if above == 0.0 else discount
    if weighting == BY_GAIN:
        return abs(above) * discount
    return abs(above) * (discount - next_discount if lead > 0.0 else tied)


@kernel("f8[1] f8[1] f8[1] f8[1] i8 i8[1] f8[1]* f8[1]*", fastmath=True)
def pair_derivatives(score, gain, discount, tied, weighting, start, gradient, hessian):  # type: ignore[no-untyped-def]
    """Derivatives of the sum over pairs of weight times ``log(1 + exp(-x))``, x = score difference; from zeros."""
    for q in range(len(start) - 1):
        end = start[q + 1]
        for i in range(start[q], end - 1):
            own_gain, own_score, own_discount, own_tied = gain[i], score[i], discount[i], tied[i]
            if own_discount == 0.0:
                break
            slope, curvature = 0.0, 0.0
            # No branches, so that the loop is vectorised.
            for j in range(i + 1, end):
                above, lead = own_gain - gain[j], own_score - score[j]
                weight = pair_weight(weighting, above, lead, own_discount, discount[j], own_tied)
                tail = exp(-abs(lead))
                large = 1.0 / (1.0 + tail)
                pull = weight * large * (tail if (lead > 0.0) == (above > 0.0) else 1.0)
                pull = -pull if above > 0.0 else pull
                bend = weight * tail * large * large
                slope += pull
                curvature += bend
                gradient[j] -= pull
                hessian[j] += bend
            gradient[i] += slope
            hessian[i] += curvature


@kernel("f8[1] f8[1] f8[1] f8[1] i8 i8[1] f8[1]*", fastmath=True)
def pair_values(score, gain, discount, tied, weighting, start, value):  # type: ignore[no-untyped-def]
    """The sum over pairs of weight times ``log(1 + exp(-x))``, half of it for each row of the pair; from zeros."""
    for q in range(len(start) - 1):
        end = start[q + 1]
        for i in range(start[q], end - 1):
            own_gain, own_score, own_discount, own_tied = gain[i], score[i], discount[i], tied[i]
            if own_discount == 0.0:
                break
            total = 0.0
            for j in range(i + 1, end):
                above, lead = own_gain - gain[j], own_score - score[j]
                weight = pair_weight(weighting, above, lead, own_discount, discount[j], own_tied)
                size = abs(lead)
                half = 0.5 * weight * (log1p(exp(-size)) + (0.0 if (lead > 0.0) == (above > 0.0) else size))
                total += half
                value[j] += half
            value[i] += total


@kernel("f8[1] i8[1] i8[1]*")
def sort_within_queries(score, start, order):  # type: ignore[no-untyped-def]
    """Sort the rows of each query in `order` by falling score."""
    for q in range(len(start) - 1):
        rows = order[start[q] : start[q + 1]]
        ranked = rows[np.argsort(-score[rows])]
        for i in range(len(rows)):
            rows[i] = ranked[i]
