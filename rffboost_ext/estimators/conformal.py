r"""Prediction intervals with guaranteed coverage, whatever the regressor and the distribution.

Split conformal prediction: the regressor is fitted to a part of the rows. On the m others, the calibration rows, a
score measures how far each target lies outside the prediction. The margin is the q-th smallest score, with
:math:`q = \lceil (m + 1)(1 - \alpha) \rceil`. If the calibration rows and a new one are exchangeable, its score
has any rank among the m + 1 with the same probability. So, if no scores tie,

.. math:: P(y \in \mathrm{interval}) = \frac{q}{m + 1}, \quad
          1 - \alpha \le \frac{q}{m + 1} < 1 - \alpha + \frac{1}{m + 1},

and it is no smaller with ties. Coverage is marginal, over new rows and calibration rows together; it need not hold
conditionally on x.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from ..persistence.model_file import ModelFileMixin
from ..preprocessing.tables import categorical_columns, column_values, is_missing, is_table
from ..utils.atomic_fit import atomic_fit
from ..utils.param_validation import SEED, OpenInterval, require_all
from ..utils.typing import Array
from .regressor import RFFBoostRegressor

# Tolerance for rounding errors of products such as 10 * 0.1.
ROUNDING = 1e-9
# Bound for 1 / alpha, which may be infinite.
MAX_INVERSE_ALPHA = 1e18
# Rounding errors between a score and the bounds of an interval, in rounding units.
ROUNDING_UNITS = 4.0


class ConformalRegressor(MetaEstimatorMixin, RegressorMixin, ModelFileMixin, BaseEstimator):
    """Any regressor with prediction intervals by split conformal prediction.

    With a regressor of one prediction per row, f, the score is ``|y - f(x)|`` and intervals are f(x) plus and
    minus the margin. With a regressor of several quantiles, l in the first column and u in the last, the score is
    ``max(l(x) - y, y - u(x))`` and intervals reach from l(x) minus the margin to u(x) plus the margin. This is
    conformalised quantile regression: intervals are wide only where the target varies much.

    Parameters
    ----------
    estimator : estimator, optional
        The regressor, compatible with scikit-learn; :class:`~rffboost_ext.RFFBoostRegressor` with its defaults if
        None. With :class:`~rffboost_ext.RFFBoostQuantileRegressor` quantiles are conformalised.
    alpha : float, default=0.1
        Miscoverage: intervals miss the target with at most this probability.
    calibration_fraction : float, default=0.25
        Share of the rows that are drawn at random for calibration and held out from the regressor; at least
        1 / alpha - 1 rows, which a finite margin requires.
    random_state : int, RandomState or None, default=None
        Seed of the split, and of the regressor if its own ``random_state`` is None.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor.
    margin_ : float
        Margin added on either side, in units of the target; negative if quantiles cover too much.
    coverage_ : float
        The probability of coverage, at least ``1 - alpha``: q / (m + 1), more where scores tie.
    n_features_in_ : int
        Number of features seen in fit.

    Notes
    -----
    There are no sample weights: rows of unequal weight would not be exchangeable with new ones.

    If all missing values of a column are drawn for calibration, one of these rows is exchanged with a row of the
    regressor's part: the regressor then accepts missing values in the column whatever the seed.

    If targets tie, as prices do, many lie exactly at the bounds of intervals. Each score therefore includes a
    tolerance for the rounding of its own row, in the precision of the predictions. An exported graph sums in
    another order, whose rounding may put some targets outside.

    References
    ----------
    Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, Distribution-free predictive inference for regression, Journal
    of the American Statistical Association 113, 2018. Romano, Patterson and Candès, Conformalized quantile
    regression, NeurIPS 2019.

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
        "alpha": OpenInterval(0.0, 1.0),
        "calibration_fraction": OpenInterval(0.0, 1.0),
        "random_state": SEED,
    }

    def __init__(
        self,
        estimator: Any = None,
        alpha: float = 0.1,
        calibration_fraction: float = 0.25,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.calibration_fraction = calibration_fraction
        self.random_state = random_state

    @atomic_fit
    def fit(self, X: Any, y: Any) -> ConformalRegressor:
        """Fit the regressor to a part of the rows, and the margin to the others.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features in any form that the regressor accepts.
        y : array-like of shape (n,)
            Targets.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid, or there are too few rows for alpha.
        """
        from sklearn.utils import _safe_indexing, indexable

        require_all(self, self.constraints)
        random = check_random_state(self.random_state)
        regressor = self._regressor(random)
        # The regressor gets the original X, with the columns of a DataFrame.
        values, y = self._validate_fit(X, y)
        size = self._calibration_size(len(y))
        parts = calibration_split(missing_entries(values), size, random)
        (X, held), (y, target) = ([_safe_indexing(data, part) for part in parts] for data in indexable(X, y))
        self.estimator_ = regressor.fit(X, y)
        target, predicted = target.astype(np.float64), self.estimator_.predict(held)
        values, rank = self._check_predictions(predicted, size), margin_rank(self.alpha, size)
        if not np.isfinite(values).all():
            raise ValueError(f"{type(self).__name__}: estimator must predict finite numbers, got NaN or infinity")
        # Targets exactly at a bound count as inside. The tolerance is a part of each row's score, so that rows
        # beyond the rank do not change the margin.
        tolerance = ROUNDING_UNITS * rounding_unit(predicted) * score_magnitudes(target, values)
        self.margin_ = float(np.sort(conformity_scores(target, values) + tolerance)[rank - 1])
        self.coverage_ = rank / (size + 1)
        return self

    def _validate_fit(self, X: Any, y: Any) -> tuple[Array, Array]:
        """X as one array, of objects if its columns have several types, and y."""
        known: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan", "y_numeric": True}
        if not (is_table(X) and has_non_numeric_columns(X)):
            validated: tuple[Array, Array] = validate_data(self, X, y, **known)
            return validated
        # scikit-learn's check would convert categories next to truth values to numbers.
        validate_data(self, X, skip_check_array=True)
        values, y = check_X_y(np.asarray(X), y, estimator=self, **known)
        return values, y

    def _calibration_size(self, n_samples: int) -> int:
        """The number of calibration rows; a ValueError unless there are more rows."""
        # The least m with (m + 1) alpha >= 1.
        least = math.ceil(min(1.0 / self.alpha, MAX_INVERSE_ALPHA) - ROUNDING) - 1
        size = max(least, math.ceil(self.calibration_fraction * n_samples), 1)
        if size >= n_samples:
            raise ValueError(
                f"{type(self).__name__}: X must have more than the {size} rows that calibrate with "
                f"alpha={self.alpha:g} and calibration_fraction={self.calibration_fraction:g}, got "
                f"n_samples={n_samples}"
            )
        return size

    def _regressor(self, random: np.random.RandomState) -> Any:
        """The unfitted regressor, with a seed drawn from `random` if it needs one."""
        given = RFFBoostRegressor() if self.estimator is None else self.estimator
        if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "predict")):
            raise TypeError(
                f"{type(self).__name__}: estimator must be a regressor with fit and predict, got {given!r}"
            )
        if is_classifier(given):
            raise TypeError(f"{type(self).__name__}: estimator must be a regressor, got the classifier {given!r}")
        regressor = clone(given)
        params = regressor.get_params(deep=False)
        if self.random_state is not None and "random_state" in params and params["random_state"] is None:
            regressor.set_params(random_state=random.randint(2**31 - 1))
        return regressor

    def predict(self, X: Any) -> Array:
        """The predictions of the regressor; for several quantiles, their median.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        values = self._predictions(X)
        return values if values.ndim == 1 else np.median(values, axis=1)

    def predict_interval(self, X: Any) -> Array:
        """Lower and upper bounds of the intervals.

        They contain the target with probability ``coverage_``, at least ``1 - alpha``. If a negative margin would
        make the bounds cross, both are the midpoint.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, 2)
        """
        return self.add_margin(self._predictions(X))

    def add_margin(self, values: Array) -> Array:
        """The intervals (n, 2) around the predictions of the regressor, (n,) or (n, Q)."""
        low, high = interval_bounds(values)
        middle = 0.5 * (low + high)
        return np.column_stack([np.minimum(low - self.margin_, middle), np.maximum(high + self.margin_, middle)])

    def _predictions(self, X: Any) -> Array:
        check_is_fitted(self)
        predicted = self.estimator_.predict(X)
        return self._check_predictions(predicted, len(predicted))

    def _check_predictions(self, predicted: Any, n_samples: int) -> Array:
        """The predictions of the regressor, (n,) or (n, Q), float64; an error names the regressor."""
        try:
            values = np.asarray(predicted, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{type(self).__name__}: estimator must predict numbers: {error}") from error
        if values.ndim not in (1, 2) or len(values) != n_samples or not values.size:
            raise ValueError(
                f"{type(self).__name__}: estimator must predict shape ({n_samples},) or ({n_samples}, Q), got "
                f"{values.shape}"
            )
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = get_tags(RFFBoostRegressor() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.allow_nan, tags.input_tags.categorical = given.allow_nan, given.categorical
        return tags


def rounding_unit(values: Any) -> float:
    """The rounding unit of the type of some predictions."""
    dtype = np.asarray(values).dtype
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


def interval_bounds(values: Array) -> tuple[Array, Array]:
    """The first and the last prediction of each row, of one, (n,), or several, (n, Q)."""
    columns = values[:, None] if values.ndim == 1 else values
    return columns[:, 0], columns[:, -1]


def conformity_scores(y: Array, values: Array) -> Array:
    """The distances of targets outside the prediction, (n,); negative inside an interval."""
    low, high = interval_bounds(values)
    return np.maximum(low - y, y - high)


def score_magnitudes(y: Array, values: Array) -> Array:
    """The magnitudes of the numbers in each score, (n,), to which its rounding error is proportional."""
    low, high = interval_bounds(values)
    return np.maximum(np.abs(low), np.abs(high)) + np.abs(y)


def has_non_numeric_columns(X: Any) -> bool:
    """Whether a table has columns of categories or objects, such as text."""
    n_features = np.shape(X)[1] if len(np.shape(X)) == 2 else 0
    return bool(categorical_columns(X)) or any(column_values(X, j).dtype.kind == "O" for j in range(n_features))


def missing_entries(values: Array) -> Array:
    """Whether each entry of validated X is missing, (n, d)."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([is_missing(value) for value in values.ravel()]).reshape(values.shape)


def calibration_split(missing: Array, size: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """Rows to fit and `size` others; each column with missing values (n, d) has one in the former, if possible."""
    from sklearn.model_selection import train_test_split

    kept, held = train_test_split(np.arange(len(missing)), test_size=size, random_state=random)
    for column in np.flatnonzero(missing.any(axis=0) & ~missing[kept].any(axis=0)):
        if missing[kept, column].any():
            continue
        incomplete = np.flatnonzero(missing[held, column])[0]
        # A complete row, so that no other column loses its missing value.
        complete = np.flatnonzero(~missing[kept].any(axis=1))
        if len(complete):
            kept[complete[0]], held[incomplete] = held[incomplete], kept[complete[0]]
    return kept, held


def margin_rank(alpha: float, size: int) -> int:
    """The rank, from 1, of the score that is the margin: the ceiling of ``(size + 1) (1 - alpha)``."""
    return size + 1 - math.floor((size + 1) * alpha + ROUNDING)
