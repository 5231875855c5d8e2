"""Risk sets of survival analysis: the rows whose times are no earlier than that of an event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import compiled
from ..utils.typing import Array

ORDERS: dict[int, Array] = {}
"""The order of the rows of recent calls by their number; an order that is not that of the times is not used."""
MAX_ORDERS = 8


@dataclass(frozen=True)
class RiskSets:
    """Sums over the rows at risk at each of T distinct times of events, by falling time.

    Parameters
    ----------
    sums : ndarray of shape (T, 5)
        The time; ``log(S)``, S being the weighted sum of ``exp(raw)`` over the rows at risk; number and total
        weight of the events; and their share in S.
    place : ndarray of shape (n,)
        The row of `sums` of the last event that is not after the time of a row, T if there is none.
    """

    sums: Array
    place: Array

    @classmethod
    def of(cls, y: Array, raw: Array, weight: Array) -> RiskSets:
        """The risk sets of rows with events and times y (n, 2), scores (n,) and weights (n,).

        Scores may differ by any amount. Rows are sorted once for several calls on the same times.
        """
        sums, place = np.empty((len(y), 5)), np.empty(len(y), dtype=np.int64)

        def summed(order: Array) -> int:
            return int(compiled("risk_sets").sum_risk_sets(y, raw, weight, order, sums, place))

        known = ORDERS.get(len(y))
        n_times = -1 if known is None else summed(known)
        if n_times < 0:
            order = np.argsort(y[:, 1], kind="stable")
            n_times = summed(order)
            if len(ORDERS) >= MAX_ORDERS:
                ORDERS.clear()
            ORDERS[len(y)] = order
        return cls(sums[:n_times], place)

    def expected_events(self, y: Array, raw: Array) -> Array:
        """The expected number of events of each row, (n,), by its hazard while it is at risk."""
        expected = np.empty(len(y))
        hazard = np.empty((len(self.sums), 2))
        compiled("risk_sets").sum_hazards(y, raw, self.sums, self.place, hazard, expected)
        return expected

    def log_sums(self) -> Array:
        """Means of the log of S without a part of the events, by Efron's method, and 0 behind them: (T + 1,).

        For m events, of the sum E, they are of ``log(S - l E / m)`` over l from 0 to m - 1.
        """
        _, log_at_risk, count, _, share = self.sums.T
        count = count.astype(np.int64)
        of = np.repeat(np.arange(len(count)), count)
        gone = (np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)) / count[of]
        means = np.bincount(of, np.log(1.0 - gone * share[of]), len(count)) / count
        return np.append(log_at_risk + means, 0.0)
