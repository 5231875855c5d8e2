"""Pinball losses: one conditional quantile, or several that do not cross."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..utils.param_validation import POSITIVE, POSITIVE_SEQUENCE, OneOf, Real, SequenceOf
from ..utils.typing import Array
from .links import SortedLink
from .registry import LOSSES
from .robust import PiecewiseLinearLoss
from .target_statistics import ScaledLoss, typical_deviation, weighted_quantile


@dataclass(frozen=True)
class Increasing(SequenceOf):
    """An increasing sequence of at least one item."""

    def accepts(self, value: Any) -> bool:
        return super().accepts(value) and len(value) > 0 and all(low < high for low, high in pairwise(value))

    def __str__(self) -> str:
        return f"an increasing sequence of {self.items}"


LEVELS = Increasing(Real(0.0, 1.0, closed="neither"), "numbers > 0 and < 1")
"""Allowed values of ``quantiles``."""


class PinballLoss(PiecewiseLinearLoss):
    """Base class of sums of pinball losses, with a score for each level."""

    scored_by = "loss"

    @property
    @abstractmethod
    def levels(self) -> Array:
        """The levels of the quantiles, (C,)."""

    def value(self, y: Array, raw: Array) -> Array:
        error = raw - y
        return np.maximum(-self.levels * error, (1.0 - self.levels) * error).sum(axis=1)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        sign, curvature = self.absolute_derivatives(y, raw)
        return 0.5 * sign + (0.5 - self.levels) * np.abs(sign), 0.5 * curvature

    def baseline(self, y: Array, weight: Array) -> Array:
        # With an offset for each score the targets have a column for each, too.
        columns = np.broadcast_to(y, (len(y), len(self.levels))).T
        pairs = zip(columns, self.levels, strict=True)
        return np.array([weighted_quantile(column, weight, level) for column, level in pairs])


@LOSSES.register("quantile")
class Quantile(PinballLoss):
    r"""The pinball loss, ``q max(y - raw, 0) + (1 - q) max(raw - y, 0)``: the response is a conditional quantile.

    The gradient is 1 - q above the target, -q below and 0 at it. With :math:`r = raw - y` the loss is
    :math:`|r| / 2 + (1/2 - q) r`, so the hessian is :math:`1 / (2 \max(|r|, 0.05 u))`, u being the unit.

    Parameters
    ----------
    quantile : float, default=0.5
        The quantile q, above 0 and below 1; 0.5 is half the absolute error.
    unit : float or "auto", default="auto"
        Size of a typical error, u. Derivatives are multiplied by it in a fit, so that regularisation has the same
        effect whatever the scale of the target. "auto" is the median absolute deviation of the target from the
        baseline, computed in each fit; outside of a fit it is 1.

    References
    ----------
    Koenker and Bassett, Regression quantiles, Econometrica 46, 1978. Hunter and Lange, Quantile regression via an
    MM algorithm, Journal of Computational and Graphical Statistics 9, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.losses import Quantile
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((400, 1)), rng.standard_normal(400)
    >>> model = RFFBoostRegressor(Quantile(0.9), "tree", n_estimators=5).fit(X, y)
    >>> 0.8 < (y < model.predict(X)).mean() < 0.97
    np.True_
    """

    constraints = ScaledLoss.constraints | {"quantile": Real(0.0, 1.0, closed="neither")}

    def __init__(self, quantile: float = 0.5, unit: float | str = "auto") -> None:
        super().__init__(unit)
        self.quantile = quantile

    @property
    def levels(self) -> Array:
        return np.array([self.quantile])


@LOSSES.register("quantiles")
class Quantiles(PinballLoss):
    r"""The sum of the pinball losses of several levels: the response is as many quantiles, which do not cross.

    There is a score for each level. All scores share the splits or frequencies of a term. The response is the
    scores of a row in increasing order, (n, C): this brings them no farther from the true quantiles, and never
    adds to the loss (Chernozhukov et al.). Derivatives are those of :class:`Quantile` for each score, and so is
    the baseline, the quantiles of the target. Monotone constraints bind all scores: sorted, they remain monotone.

    What metrics compare with targets is the median of the predicted quantiles.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        The levels, increasing, each above 0 and below 1.
    unit : float, sequence of float or "auto", default="auto"
        Size of a typical error, as in :class:`Quantile`, of all scores or of each; "auto" is estimated for each.

    References
    ----------
    Chernozhukov, Fernández-Val and Galichon, Quantile and probability curves without crossing, Econometrica 78,
    2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.losses import Quantiles
    >>> X, y = np.arange(50.0)[:, None], np.sin(np.arange(50.0))
    >>> RFFBoostRegressor(Quantiles((0.1, 0.9)), "tree", n_estimators=5).fit(X, y).predict(X).shape
    (50, 2)
    """

    constraints = {"unit": POSITIVE | POSITIVE_SEQUENCE | OneOf(("auto",)), "quantiles": LEVELS}

    def __init__(
        self, quantiles: Sequence[float] = (0.05, 0.5, 0.95), unit: float | str | Sequence[float] = "auto"
    ) -> None:
        super().__init__(unit)
        self.quantiles = quantiles

    @property
    def levels(self) -> Array:
        return np.asarray(self.quantiles, dtype=np.float64)

    @property
    def link(self) -> SortedLink:  # type: ignore[override]
        """Scores in increasing order."""
        return SortedLink(len(self.quantiles))

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for each level."""
        super().n_scores(y)
        return len(self.quantiles)

    def estimated_unit(self, y: Array, weight: Array) -> tuple[float, ...]:  # type: ignore[override]
        """The typical deviation of the target from the baseline of each level."""
        return tuple(typical_deviation(error, weight) for error in (y - self.baseline(y, weight)).T)

    def prediction(self, response: Array) -> Array:
        """The median of the quantiles, (n, 1)."""
        return np.median(response, axis=1, keepdims=True)
