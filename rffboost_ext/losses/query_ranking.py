"""Rows of queries, and their rankings by scores, in which tied rows share their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..kernels import compiled
from ..utils.typing import Array

# As in XGBoost: gains 2^y - 1 are then below 2^31.
MAX_RELEVANCE = 31.0


@dataclass(frozen=True)
class QueryRanking:
    """Rows sorted by query and then by falling score; ranks count from 0 in each query.

    Tied rows are in no order: what a ranking says of them is the expectation over all of their orders.

    Parameters
    ----------
    order : ndarray of shape (n,)
        The rows in their order.
    start : ndarray of shape (q + 1,)
        Where each query starts, then n.
    tie : ndarray of shape (t,)
        Where each run of rows of one query and one score starts.
    """

    order: Array
    start: Array
    tie: Array

    @classmethod
    def of(cls, code: Array, score: Array | None = None) -> QueryRanking:
        """The ranking by codes of queries and scores, both (n,); without scores all rows of a query are tied."""
        is_sorted = (code[1:] >= code[:-1]).all()
        order = np.arange(len(code)) if is_sorted else np.argsort(code, kind="stable")
        code = code[order]
        first = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
        start = np.append(first, len(code))
        if score is None:
            return cls(order, start, first)
        compiled("ranking").sort_within_queries(score, start, order)
        score = score[order]
        is_tied = np.append(False, score[1:] == score[:-1])
        is_tied[first] = False
        return cls(order, start, np.flatnonzero(~is_tied))

    @cached_property
    def size(self) -> Array:
        """Number of rows of each query, (q,)."""
        return np.diff(self.start)

    @cached_property
    def rank(self) -> Array:
        """The place of each sorted row in its query, (n,)."""
        return np.arange(len(self.order)) - np.repeat(self.start[:-1], self.size)

    def total(self, values: Array) -> Array:
        """Sums over the sorted rows of each query, (q,), of values (n,)."""
        return np.add.reduceat(values, self.start[:-1])

    def of_rows(self, values: Array) -> Array:
        """Values of queries (q,) for each sorted row, (n,)."""
        return np.repeat(values, self.size)

    def unsorted(self, values: Array) -> Array:
        """Values of the sorted rows, (n,), in the order of the rows."""
        in_rows = np.empty_like(values)
        in_rows[self.order] = values
        return in_rows

    @cached_property
    def tie_size(self) -> Array:
        """Number of rows of each run, (t,)."""
        return np.diff(self.tie, append=len(self.order))

    def discount(self, k: int | None) -> Array:
        """The discount of each sorted row, (n,): 1 / log2(2 + rank) for the first k ranks, 0 for others."""
        return self._of_runs(np.add.reduceat(self.discount_of_order(k), self.tie) / self.tie_size)

    def tied_difference(self, k: int | None) -> Array:
        """The expected absolute difference of the discounts of a sorted row and another of its run, (n,)."""
        size = self.tie_size
        place = np.arange(len(self.order)) - self._of_runs(self.tie)
        total = np.add.reduceat((self._of_runs(size) - 1 - 2 * place) * self.discount_of_order(k), self.tie)
        return self._of_runs(2.0 * total / np.maximum(size * (size - 1), 1))

    def discount_of_order(self, k: int | None) -> Array:
        """The discount of each sorted row, (n,), if ties are broken by their order."""
        discount = 1.0 / np.log2(2.0 + np.arange(self.size.max()))
        discount[len(discount) if k is None else k :] = 0.0
        return discount[self.rank]

    def _of_runs(self, values: Array) -> Array:
        return np.repeat(values, self.tie_size)


def ndcg_of_queries(y: Array, score: Array, k: int | None = None) -> tuple[QueryRanking, Array]:
    """The ranking by scores (n,), and the NDCG@k of each of its queries, (q,): NaN without a relevant row.

    Targets y (n, 2) are relevance and code of the query; the formula is that of ``metrics.ndcg_score``.
    """
    gain, code = np.exp2(y[:, 0]) - 1.0, y[:, 1]
    ranking = QueryRanking.of(code, score)
    dcg = ranking.total(gain[ranking.order] * ranking.discount(k))
    best = ideal_dcg(gain, code, k)
    return ranking, np.divide(dcg, best, out=np.full_like(best, np.nan), where=best > 0.0)


def ideal_dcg(gain: Array, code: Array, k: int | None) -> Array:
    """The largest discounted cumulative gain of each query, (q,), in the order of the codes, both (n,)."""
    best = QueryRanking.of(code, gain)
    return best.total(gain[best.order] * best.discount_of_order(k))


def require_relevance(what: str, relevance: Array) -> None:
    """Raise a ValueError that starts with `what` unless relevance (n,) is between 0 and 31."""
    wrong = ~((relevance >= 0.0) & (relevance <= MAX_RELEVANCE))
    if wrong.any():
        raise ValueError(f"{what} must be relevance between 0 and {MAX_RELEVANCE:g}, got {relevance[wrong][0]:g}")


def require_constant_weight(code: Array, weight: Array) -> None:
    """Raise a ValueError unless sample weights are constant within queries, both (n,)."""
    ranking = QueryRanking.of(code, weight)
    weight, start = weight[ranking.order], ranking.start
    most, least = weight[start[:-1]], weight[start[1:] - 1]
    if (most > least).any():
        query = int((most > least).argmax())
        raise ValueError(
            f"sample_weight must be constant within a query, got {least[query]:g} and {most[query]:g} in one: the "
            f"weight of a query is on each of its rows"
        )
