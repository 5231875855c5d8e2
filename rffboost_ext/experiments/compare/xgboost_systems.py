"""XGBoost's own loop with one of our losses, and with our cosines."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import xgboost
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._signals import defer_signals
from ...core import Loss
from ...interop.objectives import MatrixObjective
from ...interop.xgboost import CosineObjective
from ...interop.xgboost_estimators import DeferInterrupts
from ...losses.registry import LOSSES
from ...utils.typing import Array


class NativeXGBClassifier(DeferInterrupts, xgboost.XGBClassifier):
    """``xgboost.XGBClassifier``, whose fit can be interrupted."""


class XGBoostSystem(ClassifierMixin, BaseEstimator):
    """Base class: parameters and label encoding.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        A loss for two classes.
    n_estimators : int, default=100
        Rounds.
    learning_rate : float, default=0.1
        Shrinkage of each round.
    max_depth : int, default=5
        Depth of the trees.
    reg_lambda : float, default=1.0
        L2 penalty on leaf values.
    random_state : int, default=0
        Seed.
    n_jobs : int, default=1
        Threads.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels.
    """

    def __init__(
        self,
        loss: str | Loss = "log_loss",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 5,
        reg_lambda: float = 1.0,
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.reg_lambda = reg_lambda
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to X (n, d), finite, and y (n,).

        Raises
        ------
        ValueError
            If y does not have two classes, or the data are not finite.
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"{type(self).__name__}: y must have 2 classes, got {len(self.classes_)}")
        self._train(X, codes)
        return self

    @abstractmethod
    def _train(self, X: Array, codes: Array) -> None:
        """Fit to validated features and class indices."""

    def _native(self) -> dict[str, Any]:
        """Parameters of ``xgboost.train``."""
        named = {name: getattr(self, name) for name in ("max_depth", "learning_rate", "reg_lambda")}
        fixed = {"tree_method": "hist", "disable_default_eval_metric": True}
        return named | fixed | {"seed": self.random_state, "nthread": self.n_jobs}


class XGBoostLoop(XGBoostSystem):
    """``xgboost.train`` with a binary loss of ours: baseline, objective and link as in our own loop."""

    booster_: Any
    loss_: Loss

    def _train(self, X: Array, codes: Array) -> None:
        self.loss_ = LOSSES.create(self.loss)
        self.baseline_ = float(self.loss_.baseline(codes[:, None].astype(np.float64), np.ones(len(X)))[0])
        matrix, params = self._matrix(X, self.baseline_, label=codes), self._native() | {"base_score": 0.0}
        self.booster_ = xgboost.train(params, matrix, self.n_estimators, obj=MatrixObjective(self.loss_))

    def decision_function(self, X: Any) -> Array:
        """Margins, (n,)."""
        X = self._validate(X)
        return self._margin(self._matrix(X, self.baseline_))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, (n, 2), by the loss's own link."""
        return self.loss_.link.inverse(self.decision_function(X)[:, None])

    def predict(self, X: Any) -> Array:
        """The more probable class of each row, (n,)."""
        return self._labels(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predicted classes after 1, 2, ... rounds."""
        X = self._validate(X)
        # With a base margin of 0 each prediction is the contribution of one tree.
        matrix = self._matrix(X, 0.0)
        margin = np.full(len(X), self.baseline_)
        for t in range(self.n_estimators):
            margin = margin + self._margin(matrix, iteration_range=(t, t + 1))
            yield self._labels(margin)

    def _matrix(self, X: Array, margin: float, **label: Array) -> Any:
        return xgboost.DMatrix(X, base_margin=np.full(len(X), margin), nthread=self.n_jobs, **label)

    def _margin(self, matrix: Any, **rounds: tuple[int, int]) -> Array:
        margin = self.booster_.predict(matrix, output_margin=True, **rounds)
        return np.asarray(margin, dtype=np.float64)

    def _validate(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=[np.float64, np.float32]))

    def _labels(self, margin: Array) -> Array:
        return np.asarray(self.classes_[(margin > 0.0).astype(int)])


class XGBoostCosine(XGBoostSystem):
    """``xgboost.train`` with cosines of ours: in each round a cosine, then XGBoost's tree."""

    model_: Any

    def _train(self, X: Array, codes: Array) -> None:
        shared = {name: getattr(self, name) for name in ("learning_rate", "random_state", "n_jobs")}
        hybrid = CosineObjective(self.loss, "rff_1", **shared)
        with defer_signals():
            matrix = xgboost.QuantileDMatrix(X, codes, nthread=self.n_jobs)
        hybrid.attach(matrix, X)
        self.model_ = hybrid.bind(xgboost.train(self._native(), matrix, self.n_estimators, obj=hybrid))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, (n, 2)."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The more probable class of each row, (n,)."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.model_.predict(X)])

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predicted classes after 1, 2, ... rounds, a cosine and a tree each."""
        check_is_fitted(self)
        for codes in islice(self.model_.staged_predict(X), 1, None, 2):
            yield self.classes_[codes]
