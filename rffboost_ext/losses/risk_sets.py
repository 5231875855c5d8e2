"""Risk sets of survival analysis: the rows whose times are no earlier than that of an event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..utils.typing import Array


@dataclass(frozen=True)
class RiskSets:
    """Sums over the rows at risk at each of T distinct times of events, in increasing order.

    Parameters
    ----------
    time : ndarray of shape (T,)
        Times at which there are events.
    log_at_risk : ndarray of shape (T,)
        ``log(S)``, S being the weighted sum of ``exp(raw)`` over the rows at risk.
    n_events, weight : ndarray of shape (T,)
        Number and total weight of the events.
    share : ndarray of shape (T,)
        Share of the events in S, at most 1.
    last_event : ndarray of shape (n,)
        Index of the last of these times that is not after the time of a row, -1 if there is none.
    """

    time: Array
    log_at_risk: Array
    n_events: Array
    weight: Array
    share: Array
    last_event: Array

    @classmethod
    def of(cls, y: Array, raw: Array, weight: Array) -> RiskSets:
        """The risk sets of rows with events and times y (n, 2), scores (n,) and weights (n,).

        Sums are of logs: scores may differ by any amount.
        """
        order = np.argsort(y[:, 1])
        event, time = y[order].T
        weight = weight[order]
        log_risk = raw[order] + np.log(weight)
        first = np.flatnonzero(np.append(True, time[1:] != time[:-1]))
        n_events = np.add.reduceat(event, first).astype(np.int64)
        has_event = n_events > 0
        last = np.repeat(np.cumsum(has_event) - 1, np.diff(np.append(first, len(time))))
        first, n_events = first[has_event], n_events[has_event]
        log_at_risk = np.logaddexp.accumulate(log_risk[::-1])[::-1][first]
        tied = np.flatnonzero(event)
        part = np.exp(log_risk[tied] - log_at_risk[last[tied]])
        total, share = (np.bincount(last[tied], values, len(first)) for values in (weight[tied], part))
        last_event = np.empty_like(last)
        last_event[order] = last
        return cls(time[first], log_at_risk, n_events, total, np.minimum(share, 1.0), last_event)

    def efron_means(self) -> tuple[Array, Array, Array]:
        """Means of Efron's method over the parts of the events that have left the risk set, each (T,).

        For m events these parts p are 0, 1 / m, ... (m - 1) / m. With the share q of the events the means are of
        ``log(1 - p q)``, of ``1 / (1 - p q)`` and of ``(1 - p) / (1 - p q)``.
        """
        count = self.n_events
        of = np.repeat(np.arange(len(count)), count)
        gone = (np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)) / count[of]
        left = 1.0 - gone * self.share[of]
        terms = np.log(left), 1.0 / left, (1.0 - gone) / left
        log_left, all_rows, of_events = (np.bincount(of, values, len(count)) / count for values in terms)
        return log_left, all_rows, of_events
