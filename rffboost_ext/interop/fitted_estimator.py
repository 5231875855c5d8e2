"""Wrap an ensemble as a fitted estimator."""

from __future__ import annotations

import numpy as np

from ..core import Learner, Loss
from ..estimators.base import BaseRFFBoost
from ..estimators.classifier import RFFBoostClassifier
from ..estimators.regressor import RFFBoostRegressor
from ..inspection.importance import DeferredImportances
from ..preprocessing.category_encoding import CategoryEncoding
from ..preprocessing.feature_encoder import FeatureEncoder, lacks_scores
from ..terms.ensemble import Ensemble
from ..utils.typing import Array


def fitted(
    ensemble: Ensemble,
    loss: Loss,
    n_features: int,
    learner: str | Learner = "tree",
    names: Array | None = None,
    categories: CategoryEncoding | None = None,
    base_margin: bool = False,
    importances: DeferredImportances | None = None,
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
    categories : CategoryEncoding, optional
        Categories of the columns, whose codes the ensemble takes; None if all are numbers.
    base_margin : bool, default=False
        Whether predictions need an offset, which is added to the raw scores.
    importances : DeferredImportances, optional
        Rows of the training for feature importances.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
    """
    cls = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    encoder = FeatureEncoder(cls.__name__)
    # Whether there were missing values in training is not known here.
    every = np.ones(n_features, dtype=bool)
    has_scores = not lacks_scores(ensemble, np.zeros((1, n_features)), every)
    columns = {"categories": categories, "missing_columns": every & has_scores}
    encoder.__dict__.update(columns, n_features_in_=n_features)
    if names is not None:
        encoder.feature_names_in_ = names
    model = cls.from_ensemble(ensemble, loss, encoder, learner)
    model._importances = importances
    if base_margin:
        model.uses_base_margin_ = True
    return model
