"""What a fitted estimator says about itself: derivatives, importances and Shapley values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .core import Array
from .ensemble import Ensemble
from .importance import Pending


class ExplainMixin:
    """Methods of an estimator that has fitted an ensemble."""

    ensemble_: Ensemble
    _importances: Array | Pending | None = None

    @abstractmethod
    def _validated(self, X: Any) -> Array:
        """X as an array, (n, d), checked against the fit."""

    def gradient(self, X: Any) -> Array:
        """The derivative of the raw score by each feature, per unit of the feature.

        Exact for cosines. Trees count as flat, as they are but for jumps at their thresholds: an ensemble of trees
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
            If the ensemble has a term of the user's own for which no derivative is registered; it is named.
        """
        X = self._validated(X)
        slopes = self.ensemble_.gradient(X)
        return slopes[:, 0] if slopes.shape[1] == 1 else slopes

    def shap_values(self, X: Any, background: Any) -> Array:
        """The Shapley values of the raw score of each row, compared with background rows; exact.

        They are the SHAP values of independent features, for cosines and trees alike; formulas in
        :mod:`rffboost_ext.shapley`. What fills a gap for the cosines counts as the value of the column with
        the gap, whichever columns told it.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to explain.
        background : array-like of shape (m, d)
            Rows that they are compared with. The time grows with n times m; a hundred are usual.

        Returns
        -------
        ndarray of shape (n, d) or (n, C, d)
            Their sum over features is the raw score of a row less the mean raw score of the background.

        Raises
        ------
        TypeError
            If the ensemble has a term of the user's own for which no rule is registered; it is named.
        """
        from .shapley import shapley_values

        X = self._validated(X)
        try:
            background = self._validated(background)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{type(self).__name__}: background: {error}") from error
        values = shapley_values(self.ensemble_, X, background)
        return values[:, 0] if values.shape[1] == 1 else values

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in what trees and cosines account for, (d,); they sum to 1.

        Taken over at most 1,000 rows of the fit, when they are first asked for. A tree counts with the variance
        that each of its splits explains, which for the squared error is XGBoost's gain, a cosine with its own
        variance, divided in proportion to the squared frequencies on standardised features; formulas in
        :mod:`rffboost_ext.importance`.
        """
        check_is_fitted(self)
        found = self._known_importances()
        if found is None:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ needs the rows of a fit, which a model that was "
                f"grown elsewhere has not, and a rule for each type of term in the ensemble; register one with "
                f"rffboost_ext.importance.variances.register"
            )
        return found

    def _known_importances(self) -> Array | None:
        """The importances, computed where they are pending; None where a type of term has no rule."""
        if isinstance(self._importances, Pending):
            self._importances = self._importances.found()
        return self._importances

    def __getstate__(self) -> Any:
        # A copy or a file has what the rows say, not the rows.
        self._known_importances()
        return super().__getstate__()
