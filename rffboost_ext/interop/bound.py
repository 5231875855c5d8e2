"""An ensemble in the shell of a fitted estimator."""

from __future__ import annotations

import numpy as np

from ..base import BaseRFFBoost
from ..core import Learner, Loss
from ..ensemble import Ensemble
from ..estimators import RFFBoostClassifier, RFFBoostRegressor


def fitted(ensemble: Ensemble, loss: Loss, n_features: int, learner: str | Learner = "tree") -> BaseRFFBoost:
    """A fitted estimator that predicts by `ensemble`: of classes 0 .. K-1 for a classification loss.

    Parameters
    ----------
    ensemble : Ensemble
        Raw scores, as `loss` understands them.
    loss : Loss
        Its link makes probabilities or means of them.
    n_features : int
        Columns of X.
    learner : str or Learner, default="tree"
        What a later fit of the estimator would take.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
    """
    shell = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    model = shell(loss, learner, n_estimators=max(1, len(ensemble)))
    model.ensemble_, model.loss_, model.n_features_in_, model._seed = ensemble, loss, n_features, 0
    if isinstance(model, RFFBoostClassifier):
        model.classes_ = np.arange(max(2, ensemble.n_outputs))
    return model
