"""Prediction intervals with guaranteed coverage, whatever the regressor and the distribution."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params, check_is_fitted

from .._signals import atomic_fit
from ..boosting.early_stopping.validation_split import SplitterCheck
from ..persistence.model_file import ModelFileMixin
from ..rows.row_arguments import encode_groups
from ..rows.tables import native_table, read_table
from ..rows.weights import check_sample_weight
from ..sources.core import Source
from ..sources.sample import FitRows
from ..utils.param_validation import OPTIONAL, SEED, Real, require_all
from ..utils.registry import resolve_names
from ..utils.typing import Array
from .calibration import (
    arguments_of_fit,
    calibration_size,
    check_predictions,
    fit_margin,
    groups_of_target,
    offset_of_rows,
    quantiles_or_prediction,
    require_regressor,
    split_by,
    split_rows,
    validated_target,
)
from .fit_rows import sample_of, uniform_sample
from .parameters import explain_unknown
from .regressor import RFFBoostRegressor


class ConformalRegressor(MetaEstimatorMixin, RegressorMixin, ModelFileMixin, BaseEstimator):
    """Any regressor with prediction intervals by split conformal prediction.

    With a regressor of one prediction per row, f, the score is ``|y - f(x)|`` and intervals are f(x) plus and
    minus the margin. With a regressor of several quantiles, l in the first column and u in the last, the score is
    ``max(l(x) - y, y - u(x))`` and intervals reach from l(x) minus the margin to u(x) plus the margin. This is
    conformalised quantile regression: intervals are wide only where the target varies much.

    Columns are quantiles if the loss of the regressor says their ``levels``, or the regressor has an attribute
    ``quantiles``, or XGBoost's ``quantile_alpha``. Of the columns of any other loss, such as the parameters of a
    distribution, f is its ``prediction``.

    Parameters
    ----------
    estimator : estimator, optional
        The regressor, compatible with scikit-learn; :class:`~rffboost_ext.RFFBoostRegressor` with its defaults if
        None. With :class:`~rffboost_ext.RFFBoostQuantileRegressor` quantiles are conformalised.
    alpha : float, default=0.1
        Miscoverage: intervals miss the target with at most this probability.
    calibration_fraction : float or splitter, default=0.25
        Share of the rows that are drawn at random for calibration and held out from the regressor; at least
        1 / alpha - 1 rows, which a finite margin requires. A splitter is as `calibration`.
    calibration : splitter, optional
        A splitter of scikit-learn whose last split holds out the rows that calibrate, such as later rows by
        ``TimeSeriesSplit``, or whole groups by ``GroupShuffleSplit``; it takes the place of the share.
    random_state : int, RandomState or None, default=None
        Seed of the split, and of the regressor if its own ``random_state`` is None.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor.
    margin_ : float
        Margin added on either side, in units of the target; negative if quantiles cover too much.
    coverage_ : float
        The probability of coverage, at least ``1 - alpha``: q / (m + 1), more where scores tie. With
        sample weights that of a new row of the largest weight.
    n_features_in_ : int
        Number of features seen in fit.
    n_rows_seen_ : int
        Number of rows in fit; of a source all rows, of which a uniform sample may be kept.

    Notes
    -----
    Sample weights enter the fit of the regressor and the margin; rows of weight 0 are left out. Coverage then
    holds for the distribution that the weights describe, such as a population of which the rows are a biased
    sample: formulas in ``rffboost_ext.estimators.calibration``. With ``groups`` that
    label all copies of a row as one group, none of a calibration row are fitted to.

    If targets tie, as prices do, many lie exactly at the bounds of intervals. Each score therefore includes a
    tolerance for the rounding of its own row. The rounding of an exported graph may put some targets outside.

    References
    ----------
    Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, Distribution-free predictive inference for regression, Journal
    of the American Statistical Association 113, 2018. Romano, Patterson and Candès, Conformalized quantile
    regression, NeurIPS 2019. Tibshirani, Barber, Candès and Ramdas, Conformal prediction under covariate shift,
    NeurIPS 2019.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from rffboost_ext import ConformalRegressor, RFFBoostRegressor
    >>> X, y = make_friedman1(400, noise=1.0, random_state=0)
    >>> booster = RFFBoostRegressor(learner="rff_1", random_state=0)
    >>> model = ConformalRegressor(booster, alpha=0.2, random_state=0).fit(X[:200], y[:200])
    >>> low, high = model.predict_interval(X[200:]).T
    >>> bool(((low <= y[200:]) & (y[200:] <= high)).mean() > 0.7)
    True
    """

    constraints = {
        "alpha": Real(0.0, 1.0, closed="neither"),
        "calibration_fraction": Real(0.0, 1.0, closed="neither") | SplitterCheck(),
        "calibration": SplitterCheck() | OPTIONAL,
        "random_state": SEED,
    }

    @explain_unknown
    def __init__(
        self,
        estimator: Any = None,
        alpha: float = 0.1,
        calibration_fraction: Any = 0.25,
        random_state: Any = None,
        calibration: Any = None,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.calibration_fraction = calibration_fraction
        self.calibration = calibration
        self.random_state = random_state

    @atomic_fit
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        base_margin: Any = None,
        **fit_params: Any,
    ) -> ConformalRegressor:
        """Fit the regressor to a part of the rows, and the margin to the others.

        Parameters
        ----------
        X : array-like of shape (n, d), or Source
            Features in any form that the regressor accepts. A :class:`~rffboost_ext.sources.Source` also has
            targets, weights and groups.
        y : array-like of shape (n,), optional
            Targets.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows, for the margin and, if its ``fit`` takes them, for the regressor.
        groups : array-like of shape (n,), optional
            Labels of groups of rows, of any hashable type. Whole groups calibrate; the regressor gets them too, if
            its ``fit`` takes them.
        base_margin : array-like of shape (n,) or (n, C), optional
            An offset of each row, if ``fit`` and ``predict`` of the regressor take one.
        **fit_params
            Arguments of the regressor's ``fit``, such as ``eval_set``; those with an entry per row are split. With
            ``enable_metadata_routing=True`` the regressor gets what it requests.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid, there are too few rows for alpha, one row has too large a
            share of the weight, or the regressor predicts columns that are no quantiles.
        """
        require_all(self, self.constraints)
        random = check_random_state(self.random_state)
        train, sample = self._regressor(random).fit, sample_of(self, X, y, sample_weight, groups, base_margin)
        return self._train_and_calibrate(train, random, sample, base_margin, fit_params)

    @atomic_fit
    def refresh(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        base_margin: Any = None,
        **refresh_params: Any,
    ) -> ConformalRegressor:
        """Refresh the regressor on a part of other rows, and fit the margin to the rest of them.

        Parameters
        ----------
        X, y, sample_weight, groups, base_margin
            Rows as in :meth:`fit`.
        **refresh_params
            Arguments of the regressor's ``refresh``, such as ``prior_weight``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            As in :meth:`fit`, or if the regressor has no method ``refresh``, or refuses.
        """
        check_is_fitted(self)
        regressor, random = copy(self.estimator_), check_random_state(self.random_state)
        require_regressor(type(self).__name__, regressor, "refresh")
        sample = sample_of(self, X, y, sample_weight, groups, base_margin)
        return self._train_and_calibrate(regressor.refresh, random, sample, base_margin, refresh_params)

    def _train_and_calibrate(
        self, train: Any, random: Any, sample: FitRows, base_margin: Any, fit_params: dict[str, Any]
    ) -> ConformalRegressor:
        """Train a regressor by one of its methods on a part of the rows, and fit the margin to the others."""
        # The regressor gets the original X, with the columns of a DataFrame.
        owner, regressor, X = type(self).__name__, train.__self__, native_table(read_table(sample.X))
        with sample.rows_named(all_rows=True):
            y = validated_target(self, X, sample.y)
        weight, self.n_rows_seen_ = check_sample_weight(sample.weight, len(y)), sample.n_rows or len(y)
        if base_margin is not None:
            base_margin = offset_of_rows(base_margin, len(y))
            fit_params = fit_params | {"base_margin": base_margin}
        params = arguments_of_fit(self, regressor, sample.weight, sample.groups, fit_params)
        group = encode_groups(owner, sample.groups, X)
        group = groups_of_target(regressor, y) if group is None else group
        calibration = self.calibration_fraction if self.calibration is None else self.calibration
        if hasattr(calibration, "split"):
            parts = split_by(owner, calibration, (X, y, sample.groups), weight, group, self.alpha)
        else:
            size = partial(calibration_size, owner, self.alpha, calibration)
            parts = split_rows(weight, group, size, random)
        params = _check_method_params(X, params, indices=parts[0])
        (X, held), (y, target) = ([_safe_indexing(data, part) for part in parts] for data in indexable(X, y))
        self.estimator_ = train(X, y, **params)
        offset = None if base_margin is None else base_margin[parts[1]]
        facts = target.astype(np.float64), self.estimator_, self._predicted(held, offset), weight[parts[1]]
        self.margin_, self.coverage_ = fit_margin(owner, self.alpha, *facts)
        return self

    def set_params(self, **params: Any) -> ConformalRegressor:
        """Set parameters, including nested ones of the regressor; a ValueError without one."""
        return super().set_params(**resolve_names(self, params, {}))

    def draw(self, source: Source) -> FitRows:
        """A uniform sample of a source."""
        return uniform_sample(self, source)

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` consumes and passes on to the regressor, for scikit-learn's metadata routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self._original(), method_mapping=mapping)

    def _original(self) -> Any:
        """The regressor that is cloned."""
        if self.estimator is not None:
            return self.estimator
        default = RFFBoostRegressor()
        routed = get_config()["enable_metadata_routing"]
        return default.set_fit_request(sample_weight=True, base_margin=True) if routed else default

    def _regressor(self, random: np.random.RandomState) -> Any:
        """The unfitted regressor, with a seed drawn from `random` if it needs one."""
        original = self._original()
        require_regressor(type(self).__name__, original)
        regressor = clone(original)
        params = regressor.get_params(deep=False)
        if self.random_state is not None and "random_state" in params and params["random_state"] is None:
            regressor.set_params(random_state=random.randint(2**31 - 1))
        return regressor

    def predict(self, X: Any, base_margin: Any = None) -> Array:
        """The predictions of the regressor; for several quantiles, their median.

        Parameters
        ----------
        X : array-like of shape (n, d)
        base_margin : array-like of shape (n,) or (n, C), optional
            The offset of each row, for a regressor that was fitted with one.

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.median(self.reduced(self._predictions(X, base_margin)), axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None) -> float:
        """R2, the coefficient of determination, of the predictions.

        Parameters
        ----------
        X, y, sample_weight, base_margin
            As in :meth:`fit`.

        Returns
        -------
        float
        """
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.predict(X, base_margin), sample_weight=sample_weight))

    def predict_interval(self, X: Any, base_margin: Any = None) -> Array:
        """Lower and upper bounds of the intervals.

        They contain the target with probability ``coverage_``, at least ``1 - alpha``. If a negative margin would
        make the bounds cross, both are the midpoint.

        Parameters
        ----------
        X, base_margin
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        return self.add_margin(self._predictions(X, base_margin))

    def reduced(self, values: Array) -> Array:
        """The quantiles (n, Q) or the single prediction (n, 1) of what the regressor predicts, (n,) or (n, W)."""
        return quantiles_or_prediction(type(self).__name__, self.estimator_, values)

    def add_margin(self, values: Array) -> Array:
        """The intervals (n, 2) around what the regressor predicts, (n,) or (n, W)."""
        columns = self.reduced(values)
        low, high = columns[:, 0], columns[:, -1]
        middle = 0.5 * (low + high)
        return np.column_stack([np.minimum(low - self.margin_, middle), np.maximum(high + self.margin_, middle)])

    def _predictions(self, X: Any, base_margin: Any) -> Array:
        check_is_fitted(self)
        predicted = self._predicted(X, base_margin)
        return check_predictions(type(self).__name__, predicted, len(predicted))

    def _predicted(self, X: Any, base_margin: Any) -> Any:
        """What the regressor predicts."""
        return self.estimator_.predict(X, **({} if base_margin is None else {"base_margin": base_margin}))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._original()).input_tags
        return tags
