"""XGBoost's own loop with one of our losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin

from ..._signals import defer_signals
from ...core import Loss
from ...interop.xgboost import bind, intercept, objective
from ...interop.xgboost_estimators import DeferInterrupts
from ...utils.typing import Array


class NativeXGBClassifier(DeferInterrupts, xgboost.XGBClassifier):
    """``xgboost.XGBClassifier``, whose fit can be interrupted."""


@dataclass(eq=False, repr=False)
class XGBoostLoop(ClassifierMixin, BaseEstimator):
    """``xgboost.train`` with a loss of ours for two classes: baseline, objective and link as in our own loop.

    ``model_`` is the booster as a fitted estimator.
    """

    loss: str | Loss = "log_loss"
    n_estimators: int = 100
    learning_rate: float = 0.1
    max_depth: int = 5
    reg_lambda: float = 1.0
    random_state: int = 0
    n_jobs: int = 1

    def fit(self, X: Array, y: Array) -> XGBoostLoop:
        """Fit to X (n, d), finite, and labels y (n,) of 0 and 1."""
        self.classes_ = np.unique(y)
        with defer_signals():
            matrix = xgboost.QuantileDMatrix(X, y, nthread=self.n_jobs)
        params = {name: getattr(self, name) for name in ("max_depth", "learning_rate", "reg_lambda")}
        params |= {"tree_method": "hist", "seed": self.random_state, "nthread": self.n_jobs}
        params |= intercept(self.loss, matrix)
        booster = xgboost.train(params, matrix, self.n_estimators, obj=objective(self.loss))
        self.model_ = bind(booster, self.loss)
        return self

    def decision_function(self, X: Array) -> Array:
        """Raw scores, (n,)."""
        return np.asarray(self.model_.decision_function(X))

    def predict_proba(self, X: Array) -> Array:
        """Class probabilities, (n, 2), by the loss's own link."""
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Array) -> Array:
        """The more probable class of each row, (n,)."""
        return np.asarray(self.model_.predict(X))

    def staged_predict(self, X: Array) -> Iterator[Array]:
        """Predicted classes after 1, 2, ... rounds."""
        yield from self.model_.staged_predict(X)
