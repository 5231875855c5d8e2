"""XGBoost's own loop with one of our losses, and with our cosines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin

from ..._signals import defer_signals
from ...core import Loss
from ...interop.xgboost import CosineObjective, bind, intercept, objective
from ...interop.xgboost_estimators import DeferInterrupts
from ...utils.typing import Array


class NativeXGBClassifier(DeferInterrupts, xgboost.XGBClassifier):
    """``xgboost.XGBClassifier``, whose fit can be interrupted."""


@dataclass(eq=False, repr=False)
class XGBoostLoop(ClassifierMixin, BaseEstimator):
    """``xgboost.train`` with a loss of ours for two classes: baseline, objective and link as in our own loop.

    `cosines` says whether a cosine of ours comes before each tree. ``model_`` is the booster, with the cosines if
    there are any, as a fitted estimator.
    """

    loss: str | Loss = "log_loss"
    n_estimators: int = 100
    learning_rate: float = 0.1
    max_depth: int = 5
    reg_lambda: float = 1.0
    cosines: bool = False
    random_state: int = 0
    n_jobs: int = 1

    def fit(self, X: Array, y: Array) -> XGBoostLoop:
        """Fit to X (n, d), finite, and labels y (n,) of 0 and 1."""
        self.classes_ = np.unique(y)
        with defer_signals():
            matrix = xgboost.QuantileDMatrix(X, y, nthread=self.n_jobs)
        named = {name: getattr(self, name) for name in ("max_depth", "learning_rate", "reg_lambda")}
        fixed = {"tree_method": "hist", "seed": self.random_state, "nthread": self.n_jobs}
        train = {"params": named | fixed, "dtrain": matrix, "num_boost_round": self.n_estimators}
        self.model_ = self._with_cosines(train, X) if self.cosines else self._with_trees(train)
        return self

    def _with_trees(self, train: dict[str, Any]) -> Any:
        train["params"] |= intercept(self.loss, train["dtrain"])
        return bind(xgboost.train(**train, obj=objective(self.loss)), self.loss)

    def _with_cosines(self, train: dict[str, Any], X: Array) -> Any:
        shared = {name: getattr(self, name) for name in ("learning_rate", "random_state", "n_jobs")}
        hybrid = CosineObjective(self.loss, "rff_1", **shared)
        hybrid.attach(train["dtrain"], X)
        train["params"]["disable_default_eval_metric"] = True
        return hybrid.bind(xgboost.train(**train, obj=hybrid))

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
        """Predicted classes after 1, 2, ... rounds, each a tree, or a cosine and a tree."""
        yield from islice(self.model_.staged_predict(X), int(self.cosines), None, 1 + self.cosines)
