"""Regression of a distribution."""

from __future__ import annotations

from typing import Any

from ..core import Learner
from ..losses.distributions.base import DISTRIBUTIONS, Distribution
from ..utils.typing import Array
from .docstrings import ATTRIBUTES, WITHOUT_LOSS
from .parameters import with_keywords_of
from .regressor import RFFBoostRegressor


class RFFBoostDistribution(RFFBoostRegressor):
    __doc__ = f"""Boosting for probabilistic regression: all parameters of a distribution depend on the features.

    The negative log-likelihood is minimised. Each parameter of the distribution has a raw score, and steps are
    natural gradients, scaled by the Fisher information.

    Parameters
    ----------
    distribution : str or Distribution, default="normal"
        The distribution of the target given the features: a name in ``DISTRIBUTIONS``, "normal", "lognormal",
        "laplace", "student_t", "gamma", "beta", "poisson", "negative_binomial" or "zero_inflated_poisson", or an
        instance of a :class:`~rffboost_ext.losses.Distribution`.
    {WITHOUT_LOSS}

    Attributes
    ----------
    {ATTRIBUTES}

    Notes
    -----
    ``loss_`` is the distribution; ``loss_.link.inverse(raw)`` are its parameters, (n, W), with the names
    ``loss_.link.names``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (500, 1))
    >>> y = X[:, 0] + (0.1 + X[:, 0]) * rng.standard_normal(500)
    >>> model = RFFBoostDistribution("normal", random_state=0).fit(X, y)
    >>> narrow, wide = model.predict_dist([[0.1], [0.9]]).std()
    >>> bool(narrow < wide)
    True
    """

    loss = "auto"
    roles = RFFBoostRegressor.roles | {"distribution": DISTRIBUTIONS}

    @with_keywords_of(RFFBoostRegressor)
    def __init__(
        self, distribution: str | Distribution = "normal", learner: str | Learner = "auto", **params: Any
    ) -> None:
        super().__init__(learner=learner, **params)
        self.distribution = distribution
        # It is no parameter here.
        del self.loss

    @property
    def default_loss(self) -> Distribution:  # type: ignore[override]
        """The distribution."""
        return DISTRIBUTIONS.create(self.distribution)

    def predict_dist(self, X: Any, base_margin: Any = None) -> Any:
        """The predicted distributions, as one frozen distribution of :mod:`scipy.stats`.

        Parameters
        ----------
        {rows}

        Returns
        -------
        rv_frozen
            ``mean()`` and ``std()`` are arrays (n,); ``logpdf(y)``, or ``logpmf(y)`` of counts, and ``cdf(y)``
            take one number for each row, ``ppf(0.9)`` is a quantile of each row, ``ppf([[0.1], [0.9]])`` are two,
            (2, n).
        """
        raw = self.raw_scores(X, base_margin)
        return self.loss_.frozen(self.loss_.link.inverse(raw))

    def _response(self, raw: Array) -> Array:
        return self.loss_.mean(self.loss_.link.inverse(raw))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The score is not R2.
        tags.regressor_tags.poor_score = True
        return tags
