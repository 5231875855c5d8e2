"""Validation of the columns of X by an estimator: names, order, categories and missing values."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y, validate_data

from ..data.sample_weight import with_positive_weight
from ..terms import ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.param_validation import Check, OneOf
from ..utils.typing import Array
from .category_encoding import CategoryEncoding, fit_category_encoding
from .feature_expansion import fit_feature_expansion
from .tables import FLOAT_TYPES, is_table, mixed_array, raise_for_column, require_no_dates, require_unmasked

# scikit-learn is not to look for infinities: :func:`missing_columns` does, in the pass that it makes anyway.
UNREAD = {"ensure_all_finite": False}


class ColumnsMixin(BaseEstimator):
    """Checks X against the fit, and converts it to one matrix: numbers, category codes, NaN if missing."""

    categorical_features: Any
    missing: str
    n_features_in_: int
    _coding: CategoryEncoding | None = None
    _gaps: Array | None = None
    _expansion: ImputeAndEncode | None = None
    _fills: bool = False

    column_constraints: ClassVar[dict[str, Check]] = {"missing": OneOf(("error", "mean"))}

    @abstractmethod
    def _goes_on(self) -> bool:
        """Whether a fit continues from the rounds of the previous one, and so from its columns."""

    def _taken(
        self, X: Any, y: Any, sample_weight: Any, coding: CategoryEncoding | None = None, **known: Any
    ) -> tuple[Array, Array, Array]:
        """Validated X, y and weights of a fit, rows of weight 0 removed; `known` is for scikit-learn's check.

        If `coding` has all categories of X, it is the coding of the fit.
        """
        require_unmasked(X=X, y=y, sample_weight=sample_weight)
        reset, known = not self._goes_on(), {"dtype": FLOAT_TYPES, "ensure_all_finite": "allow-nan", **known}
        if reset:
            self._coding = self._coding_for(X)
        if self._coding is None:
            require_no_dates(X)
            try:
                X, y = validate_data(self, X, y, reset=reset, **known | UNREAD)
            except (ValueError, TypeError):
                raise_for_column(X)
                raise
            gaps = missing_columns(X)
        else:
            validate_data(self, X, reset=reset, skip_check_array=True)
            X, gaps = self._coding.transform(X)
            X, y = check_X_y(X, y, estimator=self, **known)
        n_given = len(X)
        X, y, weight = with_positive_weight(X, y, sample_weight)
        if len(X) < n_given:
            gaps &= missing_columns(X)
            if reset and self._coding is not None:
                self._coding, X = self._coding.drop_unused(X)
        if reset and self._coding is not None and coding is not None and coding.includes(self._coding):
            self._coding, X = coding, coding.recode(X, self._coding)
        if reset:
            self._gaps, self._fills = gaps, self.missing == "mean"
        self._require_complete(gaps)
        return X, y, weight

    def _coding_for(self, X: Any) -> CategoryEncoding | None:
        """The coding of the table of a fit."""
        given = self.categorical_features
        if not is_table(X):
            if given is None or (isinstance(given, str) and given == "from_dtype"):
                return None
            X = mixed_array(X)
        return fit_category_encoding(type(self).__name__, given, X)

    def _learn_columns(self, X: Array, weight: Array) -> None:
        """Learn from the rows of a fit how to impute missing values and encode categories for learners."""
        if self._goes_on():
            return
        coded = [] if self._coding is None else self._coding.coded
        assert self._gaps is not None
        self._expansion = fit_feature_expansion(X, weight, coded, self._gaps, self._fills)

    def _validated(self, X: Any) -> Array:
        check_is_fitted(self)
        if self._is_valid(X):
            return np.asarray(X)
        require_unmasked(X=X)
        if self._coding is None:
            require_no_dates(X)
            try:
                X = np.asarray(validate_data(self, X, reset=False, dtype=FLOAT_TYPES, **UNREAD))
            except (ValueError, TypeError):
                raise_for_column(X, in_fit=False)
                raise
            gaps = missing_columns(X)
        else:
            X = X if is_table(X) else mixed_array(X)
            validate_data(self, X, reset=False, skip_check_array=True)
            X, gaps = self._coding.transform(X)
            X = check_array(X, ensure_all_finite="allow-nan", estimator=self)
        self._require_complete(gaps)
        return np.asarray(X)

    def _is_valid(self, X: Any) -> bool:
        """Whether X is a small array that full validation would return unchanged, at a higher cost."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and 0 < X.size <= 4096
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
            and self._coding is None
        )

    def _require_complete(self, gaps: Array) -> None:
        """Raise a ValueError that names a column with missing values (d,) that had none in the fit."""
        if self._fills or not gaps.any():
            return
        new = np.flatnonzero(gaps if self._gaps is None else gaps & ~self._gaps)
        if not len(new):
            return
        raise ValueError(
            f"{type(self).__name__}: X contains NaN in {self._named(int(new[0]))}, which had no missing values in "
            f'fit; missing="mean" allows them'
        )

    def _require_scores(self, given: Ensemble, X: Array) -> None:
        """Raise a ValueError unless an initial ensemble can handle missing values wherever they may occur."""
        may_come = np.full(X.shape[1], self._fills)
        if self._gaps is not None:
            may_come |= self._gaps
        if np.isnan(given.raw(np.where(may_come, np.nan, X[:1]))).any():
            raise ValueError(
                f"{type(self).__name__}: init_model has cosines that know no missing values, which may come in "
                f"{self._named(int(np.flatnonzero(may_come)[0]))} of X: fit it to data that have gaps, or with "
                f'missing="mean"'
            )

    def _named(self, column: int) -> str:
        """A column as messages name it."""
        names = getattr(self, "feature_names_in_", None)
        return f"column {column}" if names is None else f"column {names[column]!r}"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def missing_columns(X: Array) -> Array:
    """Which columns of X (n, d) have missing values, (d,); a ValueError if one has infinities."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return np.zeros(X.shape[1], dtype=bool)
    assert_all_finite(X, allow_nan=True, input_name="X")
    return np.asarray(np.isnan(X).any(axis=0))
