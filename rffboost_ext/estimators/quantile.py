"""Regression of several quantiles that do not cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import Learner
from ..losses import Quantiles
from .docstrings import ATTRIBUTES, WITHOUT_LOSS
from .parameters import with_keywords_of
from .regressor import RFFBoostRegressor


class RFFBoostQuantileRegressor(RFFBoostRegressor):
    __doc__ = f"""Regression of several conditional quantiles by one model; predictions do not cross.

    The sum of the pinball losses of all levels is minimised, :class:`~rffboost_ext.losses.Quantiles`. Each level
    has a raw score; the predictions of a row are its scores in increasing order. The learner must fit several
    outputs, as all but "rff_k" and "rff_1" do.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        The levels, increasing, each above 0 and below 1.
    {WITHOUT_LOSS}

    Attributes
    ----------
    {ATTRIBUTES}

    References
    ----------
    Koenker and Bassett, Regression quantiles, Econometrica 46, 1978. Chernozhukov, Fernández-Val and Galichon,
    Quantile and probability curves without crossing, Econometrica 78, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostQuantileRegressor
    >>> X = np.linspace(-3, 3, 300)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).standard_normal(300)
    >>> model = RFFBoostQuantileRegressor((0.1, 0.5, 0.9), random_state=0).fit(X, y)
    >>> low, median, high = model.predict(X).T
    >>> bool((low <= median).all() and (median <= high).all())
    True
    """

    loss = "auto"

    @with_keywords_of(RFFBoostRegressor)
    def __init__(
        self, quantiles: Sequence[float] = (0.05, 0.5, 0.95), learner: str | Learner = "auto", **params: Any
    ) -> None:
        super().__init__(learner=learner, **params)
        self.quantiles = quantiles
        # It is no parameter here.
        del self.loss

    @property
    def default_loss(self) -> Quantiles:  # type: ignore[override]
        """The pinball losses of the levels."""
        return Quantiles(self.quantiles)

    def score(self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None) -> float:
        """The fraction of pinball loss explained, relative to constant quantiles, averaged over levels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Targets.
        {weight}

        Returns
        -------
        float
            At most 1; see :func:`sklearn.metrics.d2_pinball_score`.
        """
        from sklearn.metrics import d2_pinball_score

        columns = self.predict(X, base_margin).reshape(-1, len(self.quantiles)).T
        levels, weight = zip(self.quantiles, columns, strict=True), {"sample_weight": sample_weight}
        return float(np.mean([d2_pinball_score(y, column, alpha=level, **weight) for level, column in levels]))
