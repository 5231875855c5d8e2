"""Explanations of a fitted estimator: derivatives, importances and Shapley values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..inspection.importance import Pending
from ..terms.ensemble import Ensemble
from ..utils.typing import Array


class ExplainMixin:
    """Methods of an estimator that has fitted an ensemble."""

    ensemble_: Ensemble
    _importances: Array | Pending | None = None

    @abstractmethod
    def _validated(self, X: Any) -> Array:
        """X as an array, (n, d), checked against the fit."""

    def gradient(self, X: Any) -> Array:
        """The derivative of the raw score with respect to each feature, per unit of the feature.

        Exact for cosines. Trees are piecewise constant (flat) and contribute no gradient: an ensemble of trees
        alone has the derivative 0 everywhere.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Where the derivatives are taken.

        Returns
        -------
        ndarray of shape (n, d) or (n, C, d)
            (n, d) where there is one raw score per row, as in :meth:`decision_function` or, with a loss without
            a link, :meth:`predict`.

        Raises
        ------
        TypeError
            If the ensemble has a custom type of term without a registered derivative; the message names it.
        """
        X = self._validated(X)
        slopes = self.ensemble_.gradient(X)
        return slopes[:, 0] if slopes.shape[1] == 1 else slopes

    def shap_values(self, X: Any, background: Any) -> Array:
        """The exact Shapley values of the raw score of each row, relative to background rows.

        They are the SHAP values of independent features, for cosines and trees alike; formulas in
        :mod:`rffboost_ext.inspection.shapley`. A value that is imputed for the cosines is attributed to its own
        column, whichever columns it was predicted from.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to explain.
        background : array-like of shape (m, d)
            Rows to compare with. The time grows with n times m; a hundred are usual.

        Returns
        -------
        ndarray of shape (n, d) or (n, C, d)
            Their sum over features is the raw score of a row less the mean raw score of the background.

        Raises
        ------
        TypeError
            If the ensemble has a custom type of term without a registered rule; the message names it.
        """
        from ..inspection.shapley import shapley_values

        X = self._validated(X)
        try:
            background = self._validated(background)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{type(self).__name__}: background: {error}") from error
        values = shapley_values(self.ensemble_, X, background)
        return values[:, 0] if values.shape[1] == 1 else values

    @property
    def feature_importances_(self) -> Array:
        """Normalised variance-based feature importances of trees and cosines, (d,); they sum to 1.

        Computed on first access, over at most 1,000 rows of the fit. Trees and cosines count by their part in the
        variance of the scores. Trees divide it by the variance that each split explains, which for the squared
        error is XGBoost's gain, cosines by the total effects of the features on their sum; formulas in
        :mod:`rffboost_ext.inspection.importance`.
        """
        check_is_fitted(self)
        found = self._known_importances()
        if found is None:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ needs the rows of a fit, which a model that was "
                f"grown elsewhere has not, and a rule for each type of term in the ensemble; register one with "
                f"rffboost_ext.inspection.importance.variances.register"
            )
        return found

    def _known_importances(self) -> Array | None:
        """The importances, computed where they are pending; None where a type of term has no rule."""
        if isinstance(self._importances, Pending):
            self._importances = self._importances.found()
        return self._importances

    def __getstate__(self) -> Any:
        # Copies and files keep the importances, not the rows.
        self._known_importances()
        return super().__getstate__()
