"""Risk sets of survival analysis: the rows whose times are no earlier than that of an event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..kernels import compiled
from ..utils.typing import Array

ORDERS: dict[int, Array] = {}
"""The order of the rows of recent calls by their number; one that is not that of the times is not used."""
MAX_ORDERS = 8


@dataclass(frozen=True)
class RiskSets:
    """Sums over the rows at risk at each of T distinct times of events, by falling time.

    Parameters
    ----------
    order : ndarray of shape (n,)
        The rows by rising time.
    y, raw : ndarray of shape (n, 2) and (n,)
        Events and times, and scores, in this order.
    sums : ndarray of shape (T, 6)
        The time; a shift, and the weighted sum of ``exp(raw - shift)`` over the rows at risk; number and total
        weight of the events; and their share in the sum.
    """

    order: Array
    y: Array
    raw: Array
    sums: Array

    @classmethod
    def of(cls, y: Array, raw: Array, weight: Array) -> RiskSets:
        """The risk sets of rows with events and times y (n, 2), scores (n,) and weights (n,).

        Scores may differ by any amount. Rows are sorted once for several calls on the same times.
        """
        order = ORDERS.get(len(y))
        if order is None:
            if len(ORDERS) >= MAX_ORDERS:
                ORDERS.clear()
            order = ORDERS[len(y)] = np.argsort(y[:, 1], kind="stable")
        ordered, sums = (y.take(order, axis=0), raw.take(order)), np.empty((len(y), 6))
        n_times = compiled("risk_sets").sum_risk_sets(*ordered, weight.take(order), order, sums)
        if n_times < 0:
            # The order is that of other rows.
            ORDERS.pop(len(y), None)
            return cls.of(y, raw, weight)
        return cls(order, *ordered, sums[:n_times])

    def expected_events(self) -> Array:
        """The expected number of events of each row, (n,), by its hazard while it is at risk."""
        return self._of_rows(compiled("risk_sets").sum_hazards)

    def losses(self) -> Array:
        """The part of each row in the negative log likelihood, (n,)."""
        return self._of_rows(compiled("risk_sets").risk_set_losses)

    def _of_rows(self, kernel: Callable[..., None]) -> Array:
        """What a kernel sets for each row in order, (n,), in the order of the call."""
        ordered, values = np.empty((2, len(self.y)))
        kernel(self.y, self.raw, self.sums, ordered)
        values[self.order] = ordered
        return values
