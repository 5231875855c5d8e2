r"""Losses of survival analysis, and Cox's partial likelihood with Efron's method for ties.

At each distinct time of events let D be the m rows with an event, of total weight W, and R the rows at risk, whose
times are no earlier. With :math:`S = \sum_R w_j e^{raw_j}` and :math:`E = \sum_D w_j e^{raw_j}` the total loss is

.. math:: \sum_{times} \Big[ -\sum_D w_i \, raw_i + \frac{W}{m} \sum_{l=0}^{m-1} \log(S - l E / m) \Big].

Divided by its weight, the derivative with respect to the score of row i is :math:`u_i - event_i`, where
:math:`u_i` is its expected number of events: its hazard, summed over the times at which it is at risk. The second
derivative is at most :math:`u_i`, which is returned as hessian: the diagonal matrix of :math:`w_i u_i` is an upper
bound of the whole second derivative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core import CoupledLoss, Link, Loss
from ..kernels import compiled
from ..utils.typing import Array
from .links import IdentityLink, clip_exponent
from .registry import LOSSES
from .target_statistics import LEAST_HESSIAN, one_score_for_two_columns

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

    def of_rows(self, kernel: str) -> Array:
        """What a kernel sets for each row in order, (n,), in the order of the call."""
        ordered, values = np.empty((2, len(self.y)))
        getattr(compiled("risk_sets"), kernel)(self.y, self.raw, self.sums, ordered)
        values[self.order] = ordered
        return values


class SurvivalLoss(Loss):
    """Base class of losses for :class:`~rffboost_ext.RFFBoostSurvival`: by default of proportional hazards.

    The target has two columns, event (0 or 1) and time, or lower and upper bound of the time if ``infinite``. A
    loss of proportional hazards needs only the methods of :class:`~rffboost_ext.Loss`; its raw score is the log of
    the hazard relative to a baseline, which is estimated after the fit.
    """

    risk_link: ClassVar[Link] = IdentityLink()
    """The link between raw scores and risks, (n, 1): the higher, the earlier the event."""
    is_smooth: ClassVar[bool] = False
    """Whether cumulative hazards are known at any time, without the baseline hazard."""

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One score for the two columns of y."""
        columns = "lower and upper bound of the time" if self.infinite else "event and time"
        return one_score_for_two_columns(self, y, columns)

    def bounds(self, y: Array) -> Array:
        """Lower and upper bounds of the times of a target, (n, 2)."""
        if self.infinite:
            return y
        event, time = y.T
        return np.column_stack([time, np.where(event > 0.0, time, np.inf)])

    def risk(self, response: Array) -> Array:
        """The risk of each row, (n,), from the response (n, 1); as by ``risk_link`` from raw scores."""
        return response[:, 0]

    def baseline_hazard(self, y: Array, raw: Array, weight: Array, time: Array) -> Array:
        """The cumulative hazard of a score of 0 at times (T,), (T,): Breslow's estimator by default.

        It is the sum over the times of events up to t of their weight, divided by the weighted sum of ``exp(raw)``
        over the rows at risk, for targets (n, 2), scores (n, 1) and weights (n,).
        """
        at, shift, at_risk, _, events, _ = RiskSets.of(y, raw[:, 0], weight).sums[::-1].T
        with np.errstate(over="ignore"):
            hazard = np.append(0.0, np.cumsum(events / at_risk * np.exp(-shift)))
        return hazard[np.searchsorted(at, time, side="right")]

    def cumulative_hazard(self, raw: Array, time: Array, baseline: Array) -> Array:
        """The cumulative hazard at times (T,) for scores (n, 1) and that of a score of 0, (T,): (n, T)."""
        return np.exp(clip_exponent(raw)) * baseline

    def median_time(self, raw: Array, time: Array, baseline: Array) -> Array:
        """The first of some times (T,) at which survival is at most one half, for scores (n, 1): (n,).

        It is infinite if survival stays above one half.
        """
        is_past = self.cumulative_hazard(raw, time, baseline) >= np.log(2.0)
        return np.where(is_past.any(axis=1), time[is_past.argmax(axis=1)], np.inf)


@LOSSES.register("cox")
class Cox(CoupledLoss, SurvivalLoss):
    """The negative log partial likelihood of proportional hazards, of targets (event, time) in two columns.

    The raw score is the log of the hazard relative to a baseline hazard, which the loss does not need: it does not
    change if a constant is added to all scores, and its baseline is 0. The value of a row is its part in the
    likelihood at its event, and 0 for a censored row. Formulas are in the docstring of the module.

    References
    ----------
    Cox, Regression models and life-tables, Journal of the Royal Statistical Society B 34, 1972. Efron, The
    efficiency of Cox's likelihood function for censored data, Journal of the American Statistical Association 72,
    1977.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostSurvival
    >>> X, y = np.arange(40.0)[:, None], np.zeros(40, dtype=[("event", bool), ("time", float)])
    >>> y["event"], y["time"] = True, 50.0 - X[:, 0]
    >>> model = RFFBoostSurvival("cox", "tree", n_estimators=10).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    link = IdentityLink(names=("risk",))
    exact_hessian = False

    def check_target(self, y: Array) -> None:
        event, time = y.T
        invalid = (event != 0.0) & (event != 1.0)
        if invalid.any():
            raise ValueError(
                f"loss {self!r}: y must hold 0 or 1 in its first column, whether the event was observed, got "
                f"{event[invalid][0]:g}; bounds of times need a loss such as 'aft_normal'"
            )
        if not (time >= 0.0).all():
            raise ValueError(f"loss {self!r}: y must hold times of at least 0, got {time[~(time >= 0.0)][0]:g}")

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss itself; a ValueError if no event was observed."""
        self.check_target(y)
        if not y[:, 0].any():
            raise ValueError(f"loss {self!r}: y must have an event, got only censored times")
        return self

    def value(self, y: Array, raw: Array, weight: Array) -> Array:  # type: ignore[override]
        return RiskSets.of(y, raw[:, 0], weight).of_rows("risk_set_losses")

    def derivatives(self, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:  # type: ignore[override]
        expected = RiskSets.of(y, raw[:, 0], weight).of_rows("sum_hazards")[:, None]
        return expected - y[:, :1], np.maximum(expected, LEAST_HESSIAN)

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.zeros(1)
