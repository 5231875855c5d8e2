"""What losses of survival analysis have in common: risks, and the hazard of a row from that of a score of 0."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core import Link, Loss
from ..utils.typing import Array
from .links import IdentityLink, clip_exponent
from .risk_sets import RiskSets


class SurvivalLoss(Loss):
    """Base class of losses for :class:`~rffboost_ext.RFFBoostSurvival`: by default of proportional hazards.

    The target has two columns, event (0 or 1) and time, or lower and upper bound of the time if ``infinite``. A
    loss of proportional hazards needs only the methods of :class:`~rffboost_ext.Loss`; its raw score is the log of
    the hazard relative to a baseline, which is estimated after the fit.
    """

    risk_link: ClassVar[Link] = IdentityLink()
    """The link between raw scores and risks, (n, 1): the higher, the earlier the event."""

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One score for the two columns of y."""
        if y.shape[1] != 2:
            columns = "lower and upper bound of the time" if self.infinite else "event and time"
            raise ValueError(f"loss {self!r}: y must have two columns, {columns}, got {y.shape[1]}")
        return 1

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
