"""Regression of several quantiles that do not cross."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..boosting.callbacks import Callback
from ..core import Learner, Step
from ..losses import Quantiles
from .docstrings import ATTRIBUTES, PARAMETERS
from .parameters import explain_unknown, parameters_of
from .recipe import Recipe
from .regressor import RFFBoostRegressor

OF_QUANTILES = PARAMETERS[PARAMETERS.index("learner : ") :]


class RFFBoostQuantileRegressor(RFFBoostRegressor):
    __doc__ = f"""Regression of several conditional quantiles by one model; predictions do not cross.

    The sum of the pinball losses of all levels is minimised, :class:`~rffboost_ext.losses.Quantiles`. Each level
    has a raw score; the predictions of a row are its scores in increasing order. The learner must fit several
    outputs, as all but "rff_k" and "rff_1" do.

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        The levels, increasing, each above 0 and below 1.
    {OF_QUANTILES}

    Attributes
    ----------
    ensemble_ : Ensemble
        The fitted ensemble; ``ensemble_.raw(X)`` are raw scores.
    loss_ : Quantiles
        The loss that was minimised; ``loss_.link.inverse(raw)`` are predictions.
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

    @explain_unknown
    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        learner: str | Learner = "auto",
        *,
        step: str | Step = "auto",
        n_estimators: int | None = None,
        learning_rate: float | str | Callable[[int], float] = "auto",
        standardize: bool | str = "auto",
        extrapolation: str = "constant",
        early_stopping: bool | str = "auto",
        validation_fraction: Any = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-4,
        n_folds: int | str = "auto",
        refit: bool | str = "auto",
        quality: str | Recipe = "auto",
        eval_metric: Any = None,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        precision: str = "float32",
        categorical_features: Any = "from_dtype",
        missing: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        params = parameters_of(locals())
        self.quantiles = params.pop("quantiles")
        super().__init__(**params)
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
        sample_weight : array-like of shape (n,), optional
            Weights.
        base_margin : array-like of shape (n, Q), optional
            The offset of each row and level; required by a model that was fitted with one, else None.

        Returns
        -------
        float
            At most 1; see :func:`sklearn.metrics.d2_pinball_score`.
        """
        from sklearn.metrics import d2_pinball_score

        columns = self.predict(X, base_margin).reshape(-1, len(self.quantiles)).T
        levels, weight = zip(self.quantiles, columns, strict=True), {"sample_weight": sample_weight}
        return float(np.mean([d2_pinball_score(y, column, alpha=level, **weight) for level, column in levels]))
