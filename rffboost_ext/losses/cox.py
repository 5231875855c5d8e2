r"""Cox's partial likelihood of times to an event, with Efron's method for ties.

At each distinct time of events let D be the m rows with an event, of total weight W, and R the rows at risk, whose
times are no earlier. With :math:`S = \sum_R w_j e^{raw_j}` and :math:`E = \sum_D w_j e^{raw_j}` the total loss is

.. math:: \sum_{times} \Big[ -\sum_D w_i \, raw_i + \frac{W}{m} \sum_{l=0}^{m-1} \log(S - l E / m) \Big].

Divided by its weight, the derivative with respect to the score of row i is :math:`u_i - event_i`, where
:math:`u_i` is its expected number of events: its hazard, summed over the times at which it is at risk. The second
derivative is at most :math:`u_i`, which is returned as hessian: the diagonal matrix of :math:`w_i u_i` is an upper
bound of the whole second derivative.
"""

from __future__ import annotations

import numpy as np

from ..core import CoupledLoss, Loss
from ..utils.typing import Array
from .links import IdentityLink
from .registry import LOSSES
from .risk_sets import RiskSets
from .survival import SurvivalLoss

# Hessian of rows that are never at risk at an event.
LEAST_HESSIAN = 1e-16


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
        return RiskSets.of(y, raw[:, 0], weight).losses()

    def derivatives(self, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:  # type: ignore[override]
        expected = RiskSets.of(y, raw[:, 0], weight).expected_events()[:, None]
        return expected - y[:, :1], np.maximum(expected, LEAST_HESSIAN)

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.zeros(1)
