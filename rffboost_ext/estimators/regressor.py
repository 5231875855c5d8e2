"""The regressor."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from ..boosting.loop import Parts
from ..boosting.scorers import score_of_loss
from ..core import Loss
from ..losses.registry import LOSSES
from ..losses.target_statistics import is_multioutput
from ..rows.dataset import Dataset
from ..rows.targets import RealTargets, TargetEncoder, squeeze
from ..utils.typing import Array
from .base import BaseRFFBoost
from .docstrings import ATTRIBUTES, PARAMETERS
from .fit_rows import rows_to_score
from .parameters import has_attribute, part_of


class RFFBoostRegressor(RegressorMixin, BaseRFFBoost):
    __doc__ = f"""Boosting of random Fourier features, trees or any learner, for regression.

    Parameters
    ----------
    {PARAMETERS.format(loss='"squared_error"')}

    Attributes
    ----------
    {ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> model = RFFBoostRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    task = "regression"
    default_loss = "squared_error"

    def _targets(self) -> RealTargets:
        """The encoder of targets for the loss."""
        return RealTargets(type(self).__name__, has_attribute(self, "loss", "infinite"))

    def _check_target(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> None:
        parts.loss.n_scores(data.y)

    def _response(self, raw: Array) -> Array:
        return squeeze(self.loss_.link.inverse(raw))

    def score(self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None) -> float:
        """How well the model predicts, the more the better, by a measure that suits the loss.

        That is R2, the coefficient of determination, for losses that predict means or other centers of the
        target (``Loss.scored_by``). For other losses, such as quantiles, bounds and a user's own by default, it is
        minus the mean loss: of distributions the mean log-likelihood.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, K)
            Targets, in the columns of fit.
        {weight}

        Returns
        -------
        float

        Raises
        ------
        ValueError, TypeError
            If the targets or weights are invalid.
        """
        return score_of_loss(self.loss_, *rows_to_score(self, X, y, sample_weight, base_margin))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = LOSSES.make(part_of(self, "loss")) if has_attribute(self, "learner", "multi_output") else None
        tags.target_tags.multi_output = isinstance(loss, Loss) and is_multioutput(loss)
        tags.target_tags.positive_only = has_attribute(self, "loss", "positive")
        return tags
