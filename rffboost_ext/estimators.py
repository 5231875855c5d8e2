"""The scikit-learn estimators: validation and encoding around :func:`~rffboost_ext.boosting.boost`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from .base import PARAMETERS, BaseRFFBoost
from .core import Array
from .losses import LOSSES
from .rows import weighted_rows


class RFFBoostClassifier(ClassifierMixin, BaseRFFBoost):
    __doc__ = f"""Boosting of random Fourier features, trees or any learner, for classification.

    Parameters
    ----------
    {PARAMETERS.format(loss='"log_loss"')}

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    ensemble_ : Ensemble
        The fitted ensemble; ``ensemble_.raw(X)`` are raw scores.
    loss_ : Loss
        The loss that was minimised; ``loss_.inverse_link(raw)`` are probabilities.
    n_estimators_ : int
        Rounds in the fitted ensemble.
    validation_scores_ : ndarray
        Held-out loss before the first and after every round; only with early stopping.
    n_features_in_ : int
        Number of features seen in fit.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rffboost_ext import RFFBoostClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = RFFBoostClassifier(loss="exponential", learner="rff_1", random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    task = "classification"
    default_loss = "log_loss"
    classes_: Array

    def fit(self, X: Any, y: Any, sample_weight: Any = None, init_model: Any = None) -> RFFBoostClassifier:
        """Fit to X and y.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features, finite.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Weights, not negative; weight 2 is the row twice, weight 0 its absence.
        init_model : Ensemble, fitted estimator, Booster or scikit-learn model of XGBoost or LightGBM, optional
            A model to go on from: its rounds come first in ``ensemble_``, ``n_estimators`` further ones follow.
            Its raw scores must mean what those of the loss mean; those of a bare Ensemble are taken to.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter, a part or the data are invalid; the message names it.
        """
        parts = self._parts()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], reset=not self._goes_on())
        check_classification_targets(y)
        X, y, weight = weighted_rows(X, y, sample_weight)
        classes, y = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: y must have at least 2 classes, got one class: {classes.tolist()[0]!r}"
            )
        if len(classes) > 2 and not parts[0].multiclass:
            raise ValueError(
                f"Only binary classification is supported by loss {parts[0]!r}: "
                f"y must have 2 classes, got {len(classes)}"
            )
        if self._goes_on() and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"{type(self).__name__}: y must have the classes of the previous fit, {self.classes_}, when "
                f"warm_start is set, got {classes}"
            )
        y = y.astype(np.float64)[:, None]
        self._fit(X, y, weight, parts, init_model, classes)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Array:
        """Raw scores, (n,) where there is one output, else (n, C).

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray
        """
        return squeeze(self._raw(X))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities, (n, K), in the order of ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
        """
        raw = self._raw(X)
        return self.loss_.inverse_link(raw)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row, (n,).

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._labels(self._raw(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Raw scores after 1, 2, ... rounds."""
        return map(squeeze, self._staged_raw(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Class probabilities after 1, 2, ... rounds."""
        return (self.loss_.inverse_link(raw) for raw in self._staged_raw(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predicted classes after 1, 2, ... rounds."""
        return map(self._labels, self._staged_raw(X))

    def _labels(self, raw: Array) -> Array:
        index = (raw[:, 0] > 0.0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)
        return np.asarray(self.classes_[index])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = (
            LOSSES.get(self.default_loss if self._loss_is_auto() else self.loss)
            if isinstance(self.loss, str)
            else self.loss
        )
        tags.classifier_tags.multi_class = bool(getattr(loss, "multiclass", False))
        return tags


class RFFBoostRegressor(RegressorMixin, BaseRFFBoost):
    __doc__ = f"""Boosting of random Fourier features, trees or any learner, for regression.

    Parameters
    ----------
    {PARAMETERS.format(loss='"squared_error"')}

    Attributes
    ----------
    ensemble_ : Ensemble
        The fitted ensemble; ``ensemble_.raw(X)`` are raw scores.
    loss_ : Loss
        The loss that was minimised; ``loss_.inverse_link(raw)`` are predictions.
    n_estimators_ : int
        Rounds in the fitted ensemble.
    validation_scores_ : ndarray
        Held-out loss before the first and after every round; only with early stopping.
    n_features_in_ : int
        Number of features seen in fit.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, init_model: Any = None) -> RFFBoostRegressor:
        """Fit to X and y.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features, finite.
        y : array-like of shape (n,)
            Targets, finite.
        sample_weight : array-like of shape (n,), optional
            Weights, not negative; weight 2 is the row twice, weight 0 its absence.
        init_model : Ensemble, fitted estimator, Booster or scikit-learn model of XGBoost or LightGBM, optional
            A model to go on from: its rounds come first in ``ensemble_``, ``n_estimators`` further ones follow.
            Its raw scores must mean what those of the loss mean; those of a bare Ensemble are taken to.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter, a part or the data are invalid; the message names it.
        """
        parts = self._parts()
        kinds = [np.float64, np.float32]
        X, y = validate_data(self, X, y, dtype=kinds, y_numeric=True, reset=not self._goes_on())
        X, y, weight = weighted_rows(X, y, sample_weight)
        return self._fit(X, np.asarray(y, dtype=np.float64)[:, None], weight, parts, init_model)

    def predict(self, X: Any) -> Array:
        """The predicted mean, (n,), or what else the loss's response is.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        raw = self._raw(X)
        return squeeze(self.loss_.inverse_link(raw))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predictions after 1, 2, ... rounds."""
        return (squeeze(self.loss_.inverse_link(raw)) for raw in self._staged_raw(X))


def squeeze(raw: Array) -> Array:
    """(n,) for one output, else (n, C)."""
    return raw[:, 0] if raw.shape[1] == 1 else raw
