"""What a fitted ensemble answers: scores, features, derivatives, importances and Shapley values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..boosting.plan import Start
from ..core import Learner, Loss
from ..inspection.importance import FitSample
from ..rows.feature_encoder import FeatureEncoder
from ..rows.row_arguments import check_base_margin, require_base_margin
from ..terms.ensemble import Ensemble
from ..utils.parallel import use_threads
from ..utils.typing import Array
from .docstrings import documented
from .parameters import copy_with_own_parts, explain_unknown

# Attributes that fits with an evaluation set, and with early stopping, have.
OF_EVALUATION = "evals_result_", "best_iteration_", "best_score_"
OF_EARLY_STOPPING = (
    "validation_scores_",
    "validation_curves_",
    "n_folds_",
    "learners_",
    "member_names_",
    "learner_weights_",
    "n_copies_",
)


@documented
class FittedEnsembleMixin(BaseEstimator):
    """Methods of an estimator that has fitted an ensemble."""

    encoder_: FeatureEncoder
    ensemble_: Ensemble
    n_features_in_: int
    n_jobs: int | None
    loss_: Loss
    _start: Start = Start()
    _n_rounds: Sequence[Sequence[int]] = ()
    """The rounds of each model of the fit, by member and fold; empty if they are not those of one fit."""
    _importances: Array | None = None
    _sample: FitSample | None = None
    uses_base_margin_: bool = False
    """Whether the model was fitted with ``base_margin``, an offset, which predictions then need."""

    @classmethod
    def from_ensemble(
        cls, ensemble: Ensemble, loss: Loss, encoder: FeatureEncoder, learner: str | Learner = "tree"
    ) -> Self:
        """A fitted estimator that predicts with an ensemble; a classifier has the classes 0 .. K-1.

        Parameters
        ----------
        ensemble : Ensemble
            Raw scores, as `loss` understands them.
        loss : Loss
            Its link maps them to probabilities or means.
        encoder : FeatureEncoder
            The columns that the ensemble acts on.
        learner : str or Learner, default="tree"
            The learner of a later fit of the estimator.
        """
        model = cls(loss=loss, learner=learner, n_estimators=max(1, len(ensemble)))
        model.encoder_, model.ensemble_, model.loss_ = encoder, ensemble, loss
        model.__dict__.update(encoder.columns)
        return model

    def with_ensemble(self, ensemble: Ensemble, importances: Array | None, encoder: FeatureEncoder) -> Self:
        """A fitted copy with another ensemble, parameters of its own, and nothing that belongs to a single fit.

        Parameters
        ----------
        ensemble : Ensemble
        importances : ndarray of shape (d,) or None
            The feature importances of the copy, if they are known.
        encoder : FeatureEncoder
            Its columns.
        """
        copied = copy_with_own_parts(self)
        copied.ensemble_, copied._importances = ensemble, importances
        copied.encoder_, copied._sample = encoder, None
        copied._start, copied._n_rounds = self._start.without_state(), []
        for name in ("learning_rate_", *OF_EVALUATION, *OF_EARLY_STOPPING):
            copied.__dict__.pop(name, None)
        return copied

    def average_fitted(self, models: Sequence[Self]) -> None:
        """Set what is fitted besides the ensemble to the average of several models."""

    def raw_scores(self, X: Any, base_margin: Any = None) -> Array:
        """The scores before the link, (n, C), the offset included.

        Parameters
        ----------
        {rows}

        Returns
        -------
        ndarray of shape (n, C)
        """
        if not hasattr(self, "ensemble_"):
            # It reads the tags, for longer than the prediction of a row takes.
            check_is_fitted(self)
        X = self.encoder_.transform(X)
        offset = self._offset(base_margin, len(X))
        with use_threads(self.n_jobs):
            raw = self.ensemble_.raw(X)
        return raw if offset is None else raw + offset

    @explain_unknown
    def predict(self, X: Any, base_margin: Any = None) -> Array:
        """The prediction for each row.

        A classifier predicts the most probable class, or zeros and ones, (n, L), for a multilabel target. A
        regressor predicts the response by the loss, such as the mean, the median or a quantile. For a distribution
        it is the mean, or the location if there is no mean. A ranker predicts scores by which the rows of a query
        are sorted: the higher, the earlier.

        A survival model predicts the risk: the higher, the earlier the event is expected. With "cox" it is the raw
        score, the log of the hazard relative to the baseline. With a loss of accelerated failure times it is minus
        the log of the expected time, so that ``exp(-model.predict(X))`` are times: the medians for "aft_normal"
        and "aft_logistic".

        Parameters
        ----------
        {rows}

        Returns
        -------
        ndarray of shape (n,), (n, L) or (n, W)
            (n, W) if the response of a regressor is wide, as of several quantiles or targets.
        """
        return self._response(self.raw_scores(X, base_margin))

    @abstractmethod
    def _response(self, raw: Array) -> Array:
        """What ``predict`` returns for raw scores."""

    @explain_unknown
    def staged_predict(self, X: Any, base_margin: Any = None) -> Iterator[Array]:
        """Predictions after 1, 2, ... rounds; those of several models, as of folds or a stack, take turns."""
        return map(self._response, self._staged_raw(X, base_margin))

    def _staged_raw(self, X: Any, base_margin: Any) -> Iterator[Array]:
        check_is_fitted(self)
        X = self.encoder_.transform(X)
        offset, stages = self._offset(base_margin, len(X)), self.ensemble_.staged(X)
        next(stages)
        for _ in range(len(self.ensemble_)):
            with use_threads(self.n_jobs):
                raw = next(stages)
            yield raw if offset is None else raw + offset

    def _offset(self, base_margin: Any, n_samples: int) -> Array | None:
        """The offset of rows to predict, (n, C); a ValueError unless the model was fitted with one."""
        require_base_margin(type(self).__name__, base_margin, self.uses_base_margin_)
        return None if base_margin is None else check_base_margin(base_margin, n_samples, self.ensemble_.n_outputs)

    @property
    def n_estimators_(self) -> int:
        """Rounds in the fitted ensemble."""
        return len(self.ensemble_)

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
            (n, d) where there is one raw score per row, as in ``decision_function`` or, with a loss without
            a link, ``predict``.

        Raises
        ------
        TypeError
            If the ensemble has a custom type of term without a registered derivative; the message names it.
        """
        check_is_fitted(self)
        X = self.encoder_.transform(X)
        slopes = self.ensemble_.gradient(X)
        return slopes[:, 0] if slopes.shape[1] == 1 else slopes

    def shap_values(self, X: Any, background: Any = None) -> Array:
        """The Shapley values of the raw score of each row, relative to background rows.

        They are the SHAP values of independent features, exact for cosines and trees alike; formulas in
        :mod:`rffboost_ext.inspection.shapley`. A value that is imputed for the cosines is attributed to its own
        column, whichever columns it was predicted from.

        A custom type of term without a rule of its own is evaluated at mixtures of rows: n m 2^d rows, with more
        than 8 features about 2 n m d rows. Its values are exact up to 8 features, and for sums of functions of
        one or two features; otherwise they have a sampling error. Their sum is exact.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to explain.
        background : array-like of shape (m, d), optional
            Rows to compare with; by default up to 100 rows of the fit. The time grows with n times m.

        Returns
        -------
        ndarray of shape (n, d) or (n, d, C)
            Their sum over features is the raw score of a row, without an offset, less the mean of the background.

        Raises
        ------
        ValueError
            Without `background`, if the model has no rows of its fit, as after :func:`~rffboost_ext.load_model`.
        """
        values, _ = self._explain(X, background)
        return values[:, :, 0] if values.shape[2] == 1 else values

    def shap_explanation(self, X: Any, background: Any = None) -> Any:
        """The Shapley values as a :class:`shap.Explanation`, for the plots of the shap package.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows to explain.
        background : array-like of shape (m, d), optional
            Rows to compare with, as in :meth:`shap_values`.

        Returns
        -------
        shap.Explanation
            ``values`` of shape (n, d) with ``base_values`` of shape (n,). With several raw scores the shapes are
            (n, d, C) and (n, C), and ``explanation[..., 1]`` is that of the second. The sum of both is the raw
            score, such as the log-odds. ``data`` holds numbers and category codes; if there are categories,
            ``display_data`` holds the values of X.

        Raises
        ------
        ImportError
            If the shap package is not installed.

        Examples
        --------
        >>> import shap
        >>> from sklearn.datasets import load_diabetes
        >>> from rffboost_ext import RFFBoostRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = RFFBoostRegressor(learner="rff_1", n_estimators=20, random_state=0).fit(X, y)
        >>> explanation = model.shap_explanation(X[:20], X[:50])
        >>> ax = shap.plots.beeswarm(explanation, show=False)
        """
        from ..inspection.shapley import explanation_of

        values, baseline = self._explain(X, background)
        return explanation_of(values, baseline, X, self.encoder_, getattr(self, "classes_", None))

    def _explain(self, X: Any, background: Any) -> tuple[Array, Array]:
        """Shapley values (n, d, C), and the mean raw scores of the background, (C,)."""
        from ..inspection.shapley import shapley_values

        check_is_fitted(self)
        X, background = self.encoder_.transform(X), self._background(background)
        values = shapley_values(self.ensemble_, X, background).transpose(0, 2, 1)
        return np.ascontiguousarray(values), self.ensemble_.raw(background).mean(axis=0)

    def _background(self, background: Any) -> Array:
        """Encoded background rows (m, d): the given ones, or rows of the fit."""
        owner = type(self).__name__
        if background is None and self._sample is None:
            raise ValueError(
                f"{owner}: background must be given, since the model has no rows of its fit: some rows like those "
                f"to predict, such as 100 of the training data"
            )
        if background is None:
            return self._sample.background().X  # type: ignore[union-attr]
        try:
            return self.encoder_.transform(background)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{owner}: background: {error}") from error

    @property
    def feature_importances_(self) -> Array:
        """Normalised variance-based feature importances, (d,); they sum to 1.

        They are of the scores without an offset. Computed on first access, over at most 1,000 rows of the fit.
        Copies and pickles hold these rows until then, and 100 of them later; model files hold the importances.

        Trees, cosines and custom types of terms count by their part in the variance of the scores. Trees divide
        it by the variance that each split explains, which for the squared error is XGBoost's gain, cosines by the
        total effects of the features on their sum; formulas in :mod:`rffboost_ext.inspection.importance`. So do
        custom terms without a rule of their own, which are evaluated d + 1 times on these rows.
        """
        check_is_fitted(self)
        shares = self._importances_if_any()
        if shares is None:
            raise AttributeError(
                f"{type(self).__name__}: feature_importances_ needs the rows of a fit, which a model that was "
                f"grown elsewhere does not have; permutation_importance of scikit-learn needs other rows"
            )
        # The caller may change the array.
        return shares.copy()

    def _importances_if_any(self) -> Array | None:
        """The importances, computed if they are pending; None for a model that was grown elsewhere."""
        if self._importances is None and self._sample is not None:
            self._importances = self._sample.importances(self.ensemble_)
            self._sample = self._sample.background()
        return self._importances
