"""Wrap an ensemble as a fitted estimator."""

from __future__ import annotations

import numpy as np

from ..core import Learner, Loss
from ..estimators.base import BaseRFFBoost
from ..estimators.classifier import RFFBoostClassifier
from ..estimators.regressor import RFFBoostRegressor
from ..preprocessing.category_encoding import CategoryEncoding
from ..terms import Trees
from ..terms.ensemble import Ensemble
from ..utils.typing import Array


def fitted(
    ensemble: Ensemble,
    loss: Loss,
    n_features: int,
    learner: str | Learner = "tree",
    names: Array | None = None,
    coding: CategoryEncoding | None = None,
) -> BaseRFFBoost:
    """A fitted estimator that predicts with `ensemble`; classes are 0 .. K-1 for a classification loss.

    Parameters
    ----------
    ensemble : Ensemble
        Raw scores, as `loss` understands them.
    loss : Loss
        Its link maps them to probabilities or means.
    n_features : int
        Columns of X.
    learner : str or Learner, default="tree"
        The learner of a later fit of the estimator.
    names : ndarray of shape (n_features,), optional
        Names of the columns.
    coding : CategoryEncoding, optional
        Categories of the columns, on whose codes the ensemble acts; None where all are numbers.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
    """
    shell = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    model = shell(loss, learner, n_estimators=max(1, len(ensemble)))
    model.ensemble_, model.loss_, model.n_features_in_, model._seed = ensemble, loss, n_features, 0
    model._coding, model._learner_state = coding, {}
    if names is not None:
        model.feature_names_in_ = names
    # Trees route missing values; whether there were any in training is not known here.
    model._gaps = np.full(n_features, all(isinstance(term, Trees) for term in ensemble.terms))
    if isinstance(model, RFFBoostClassifier):
        model.classes_ = np.arange(max(2, ensemble.n_outputs))
    return model
