"""The average of fitted estimators, as one of them."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .base import BaseRFFBoost
from .ensemble import mean

E = TypeVar("E", bound=BaseRFFBoost)


def average(models: Iterable[E]) -> E:
    """One model whose raw scores are the mean of those of several, as of seeds or folds.

    Parameters
    ----------
    models : iterable of fitted RFFBoostClassifier, or of fitted RFFBoostRegressor
        Models of the same classes, loss and features.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
        A model of its own, with the parameters of the first: it predicts, is saved and is exported as one.

    Raises
    ------
    TypeError
        If one of `models` is no such estimator, or not of the kind of the first.
    ValueError
        If there is none, or classes, losses or features differ.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rffboost_ext import RFFBoostClassifier, average
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = average(RFFBoostClassifier(n_estimators=20, random_state=seed).fit(X, y) for seed in range(3))
    >>> bool(model.score(X, y) > 0.9)
    True
    """
    models = list(models)
    if not models:
        raise ValueError("average: models must hold at least one model, got none")
    for model in models:
        require_alike(models[0], model)
    averaged = copy(models[0])
    averaged.ensemble_ = mean([model.ensemble_ for model in models])
    shares = [model._importances for model in models if model._importances is not None]
    averaged._importances = np.mean(shares, axis=0) if len(shares) == len(models) else None
    # What a single fit has left behind.
    averaged._scores, averaged._lasting = None, {}
    averaged.__dict__.pop("validation_scores_", None)
    return averaged


def require_alike(first: BaseRFFBoost, other: BaseRFFBoost) -> None:
    """Raise unless two fitted models can be averaged."""
    if not isinstance(other, BaseRFFBoost) or type(other) is not type(first):
        raise TypeError(f"average: models must be fitted estimators of one kind, got {other!r} beside {first!r}")
    check_is_fitted(other)
    facts = {
        "losses": [model._loss_given for model in (first, other)],
        "classes": [np.asarray(getattr(model, "classes_", ())).tolist() for model in (first, other)],
        "numbers of features": [model.n_features_in_ for model in (first, other)],
        "names of features": [list(getattr(model, "feature_names_in_", ())) for model in (first, other)],
    }
    for name, (one, two) in facts.items():
        if one != two:
            raise ValueError(f"average: the {name} of models must agree, got {one} and {two}")
