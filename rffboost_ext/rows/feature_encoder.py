"""From the user's table to one matrix of floats: column names, categories and missing values."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ..terms import ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.param_validation import Check, OneOf
from ..utils.sparse import Rows, SparseRows, columns_with, compressed, is_finite
from ..utils.typing import Array
from .category_encoding import CategoryEncoding, fit_category_encoding
from .column_summary import ColumnSummary
from .feature_expansion import fit_feature_expansion
from .tables import FLOAT_TYPES, as_numbers, is_numeric, is_table, mixed_array, native_table, read_table

# Up to this many numbers the checks of scikit-learn take longer than a prediction.
SMALL = 4096


class FeatureEncoder(BaseEstimator):
    """Converts tables to a matrix of numbers and category codes, missing values as NaN.

    Large matrices with few entries that are not 0 become sparse rows, whatever they were.

    The only place that knows the names, the categories and the missing values of columns.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    categorical_features : "from_dtype", "auto", None, or sequence of bool, int or str, default="from_dtype"
        Which columns hold categories.
    missing : {"auto", "error"}, default="auto"
        Whether a missing value is allowed in columns that have none in fit.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns, d.
    feature_names_in_ : ndarray of shape (d,)
        Names of the columns, if all are text.
    categories : CategoryEncoding or None
        The categories of each column; None if all columns are numbers.
    missing_columns : ndarray of bool, shape (d,), or None
        Columns with missing values in fit; None if not recorded.
    imputes_missing : bool
        Whether missing values are allowed in the other columns, too.
    expansion : ImputeAndEncode or None
        Imputation and one-hot encoding for learners that need numbers; None if there is nothing to do.
    """

    constraints: ClassVar[dict[str, Check]] = {"missing": OneOf(("auto", "error"))}
    n_features_in_: int
    feature_names_in_: Array

    def __init__(
        self, owner: str = "FeatureEncoder", categorical_features: Any = "from_dtype", missing: str = "auto"
    ) -> None:
        self.owner = owner
        self.categorical_features = categorical_features
        self.missing = missing
        self.categories: CategoryEncoding | None = None
        self.missing_columns: Array | None = None
        self.imputes_missing = False
        self.expansion: ImputeAndEncode | None = None

    @property
    def names(self) -> Array | None:
        """Names of the columns, if they have any."""
        return getattr(self, "feature_names_in_", None)

    @property
    def columns(self) -> dict[str, Any]:
        """``n_features_in_`` and, if there are names, ``feature_names_in_``."""
        names = {} if self.names is None else {"feature_names_in_": self.names}
        return names | {"n_features_in_": self.n_features_in_}

    def fit_transform(
        self, X: Any, categories: CategoryEncoding | None = None, of_all_rows: ColumnSummary | None = None
    ) -> Array:
        """Learn the columns of a table, and return it as a matrix, (n, d).

        Parameters
        ----------
        X : array-like of shape (n, d)
        categories : CategoryEncoding, optional
            Used instead of the categories of `X` if it has all of them.
        of_all_rows : ColumnSummary, optional
            Categories and missing values of the columns, if `X` is a sample of rows.

        Returns
        -------
        ndarray of shape (n, d)

        Raises
        ------
        ValueError, TypeError
            If a column is neither of numbers nor categorical; the message names it.
        """
        X = read_table(X)
        self.categories = self._categories_of(X)
        if of_all_rows is not None:
            of_all_rows.require_numbers(self.categories, X)
            self.categories = of_all_rows.encoding(self.categories)
        if self.categories is not None and categories is not None and categories.includes(self.categories):
            self.categories = categories
        X, self.missing_columns = self._checked(X, reset=True)
        if of_all_rows is not None:
            self.missing_columns[list(of_all_rows.missing)] = True
        self.imputes_missing = self.missing == "auto"
        return X

    def fit_expansion(self, X: Rows, weight: Array) -> None:
        """Learn how missing values are imputed and categories encoded for learners, from rows of fit."""
        codes = [] if self.categories is None else self.categories.coded
        assert self.missing_columns is not None
        self.expansion = fit_feature_expansion(X, weight, codes, self.missing_columns, self.imputes_missing)

    def transform(self, X: Any) -> Array:
        """A table with the columns of fit as a matrix, (n, d).

        Raises
        ------
        ValueError, TypeError
            If names, number or kinds of columns differ from those in fit, or a column has missing values that may
            have none; the message names the column.
        """
        if self._is_valid(X):
            return np.asarray(X)
        X, missing = self._checked(read_table(X), reset=False)
        self._refuse_new_missing(missing)
        return X

    def column_name(self, column: int) -> str:
        """A column as messages name it."""
        return f"column {column}" if self.names is None else f"column {self.names[column]!r}"

    def require_scores(self, ensemble: Ensemble, X: Rows) -> None:
        """Raise a ValueError unless an ensemble that a fit continues from has a score for its missing values.

        If it has none for those of other columns, these may have none in later data either.
        """
        assert self.missing_columns is not None
        if lacks_scores(ensemble, X[:1], self.missing_columns):
            raise ValueError(
                f"{self.owner}: init_model has cosines without a rule for missing values, which "
                f"{self.column_name(int(self.missing_columns.argmax()))} of X has: fit it with "
                f'missing="auto", or impute X'
            )
        self.imputes_missing &= not lacks_scores(ensemble, X[:1], np.ones(X.shape[1], dtype=bool))

    def _categories_of(self, X: Any) -> CategoryEncoding | None:
        """The categories of the table of a fit."""
        columns = self.categorical_features
        by_type = ("from_dtype", "auto") if is_numeric(X) else ("from_dtype",)
        if columns is None or (isinstance(columns, str) and columns in by_type and not is_table(X)):
            return None
        if isinstance(X, SparseRows):
            raise ValueError(
                f"{self.owner}: categorical_features must be None for a large sparse X, got {columns!r}: one-hot "
                f"columns are its categories"
            )
        return fit_category_encoding(self.owner, columns, X if is_table(X) else mixed_array(X))

    def _checked(self, X: Any, reset: bool) -> tuple[Array, Array]:
        """X as a matrix, checked by scikit-learn, and which columns have missing values."""
        check, is_array = partial(self._validate, reset=reset), not isinstance(X, nw.DataFrame | SparseRows)
        if self.categories is not None or not is_array:
            X = mixed_array(X) if is_array else X
            self._validate(native_table(X), reset=reset, skip_check_array=True)
            check = partial(check_array, estimator=self.owner)
        if self.categories is not None:
            X, missing = self.categories.transform(X, in_fit=reset)
            X = check(X, ensure_all_finite=False, dtype=FLOAT_TYPES)
            self._missing_columns(X)
            return X, missing
        X = as_numbers(X, in_fit=reset)
        if not isinstance(X, SparseRows):
            X = compressed(check(X, ensure_all_finite=False, dtype=FLOAT_TYPES))
        return X, self._missing_columns(X)

    def _validate(self, X: Any, reset: bool, **options: Any) -> Any:
        """scikit-learn's check of names, number and values of columns, whose messages name the owner."""
        checked = type(self.owner, (BaseEstimator,), {})()
        if not reset:
            checked.__dict__.update(self.columns)
        result = validate_data(checked, X, reset=reset, **options)
        if reset:
            self.__dict__.update(vars(checked))
        return result

    def _is_valid(self, X: Any) -> bool:
        """Whether X is a small array that the full check would return unchanged."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and 0 < X.size <= SMALL
            and X.shape[1] == self.n_features_in_
            and self.names is None
            and bool(np.isfinite(X).all())
            and self.categories is None
        )

    def _refuse_new_missing(self, missing: Array) -> None:
        """Raise a ValueError that names a column with missing values (d,) that had none in fit."""
        if self.imputes_missing or not missing.any():
            return
        new = missing if self.missing_columns is None else missing & ~self.missing_columns
        if new.any():
            reason = 'missing="error"' if self.missing != "auto" else "a part of the model without a rule for them"
            raise ValueError(
                f"{self.owner}: X contains NaN in {self.column_name(int(new.argmax()))}, which had no missing "
                f"values in fit, with {reason}"
            )

    def _missing_columns(self, X: Rows) -> Array:
        """Which columns of X (n, d) have missing values, (d,); a ValueError names those with infinities."""
        if is_finite(X):
            return np.zeros(X.shape[1], dtype=bool)
        infinite = np.flatnonzero(columns_with(np.isinf, X))
        if len(infinite):
            names = ", ".join(map(self.column_name, infinite.tolist()))
            raise ValueError(f"{self.owner}: X must be finite numbers or NaN, got infinity in {names}")
        return columns_with(np.isnan, X)


def lacks_scores(ensemble: Ensemble, row: Rows, missing: Array) -> bool:
    """Whether an ensemble has no score at a row (1, d) with missing values in some columns, (d,)."""
    return bool(np.isnan(ensemble.raw(np.where(missing, np.nan, row))).any())
