"""Base class of the feature maps, and a linear SVM on top of a map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rffboost_ext import terms
from rffboost_ext._signals import atomic_fit
from rffboost_ext.core import Round
from rffboost_ext.learners.design import Design
from rffboost_ext.losses import SquaredError
from rffboost_ext.rows.feature_expansion import mean_and_scale
from rffboost_ext.utils.param_validation import BOOL, POSITIVE, SEED, Check, Instance, OneOf, require_all
from rffboost_ext.utils.registry import Registry
from rffboost_ext.utils.typing import Array

if TYPE_CHECKING:
    from sklearn.svm import SVC, LinearSVC

M = TypeVar("M", bound="FeatureMap")

LIBSVM_ITERATIONS = 10_000
"""Iteration limit of libsvm in the experiments of Gautheron et al."""


@dataclass(frozen=True)
class TrainingData:
    """Training data of a map: features (standardised on request), class indices and the random generator."""

    design: Design
    codes: Array
    rng: np.random.RandomState

    def seed(self) -> int:
        """A new seed."""
        return int(self.rng.randint(2**31 - 1))

    def first_round(self) -> Round:
        """The round before the first term: raw scores of 0."""
        loss, y = SquaredError(), self.codes[:, None].astype(np.float64)
        raw, rng = np.zeros_like(y), np.random.default_rng(self.seed())
        return Round(self.design, loss, y, raw, *loss.derivatives(y, raw), np.ones(len(y)), 0, rng)


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A transformer from X (n, d) to learned features (n, p)."""

    supervised: ClassVar[bool] = True
    """Whether :meth:`fit` needs labels."""
    binary: ClassVar[bool] = False
    """Whether there must be exactly two classes."""
    constraints: ClassVar[Mapping[str, Check]] = {}
    shared: ClassVar[Mapping[str, Check]] = {"standardize": BOOL, "random_state": SEED}
    roles: ClassVar[Mapping[str, Registry[Any]]] = {}
    """Parameters that are parts, as an instance or a registered name."""
    standardize: bool
    random_state: Any
    n_features_in_: int
    classes_: Array

    @atomic_fit
    def fit(self: M, X: Any, y: Any = None) -> M:
        """Fit to X and, where the map is supervised, to labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features, finite; an absent entry is 0.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid; the message names it.
        """
        self._validate_parameters()
        X, codes = self._read(X, y)
        center, scale = mean_and_scale(X, np.ones(len(X))) if self.standardize else (None, None)
        design = Design(X, terms.FeatureMap(center=center, scale=scale))
        self._learn(TrainingData(design, codes, check_random_state(self.random_state)))
        return self

    def transform(self, X: Any) -> Array:
        """The features of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n, p)
        """
        check_is_fitted(self)
        return self._features(np.asarray(read_rows(self, X, reset=False)))

    @property
    def _n_features_out(self) -> int:
        """Number of columns of :meth:`transform`."""
        return self._features(np.zeros((1, self.n_features_in_))).shape[1]

    def _validate_parameters(self) -> None:
        """Raise unless all parameters are valid."""
        require_all(self, {**self.shared, **self.constraints})
        for role, registry in self.roles.items():
            registry.create(getattr(self, role))

    @abstractmethod
    def _learn(self, data: TrainingData) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _features(self, X: Array) -> Array:
        """Features, (n, p), of valid X in its original units."""

    def _read(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Valid features, and class indices; 0 if the map needs no labels."""
        if not self.supervised:
            X = read_rows(self, X)
            return X, np.zeros(len(X), dtype=np.int64)
        X, y = read_rows(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        require_classes(type(self).__name__, self.classes_, self.binary)
        return X, codes

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervised
        tags.input_tags.sparse = True
        if self.binary:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


def read_rows(owner: Any, X: Any, *y: Any, **options: Any) -> Any:
    """X (n, d) in float64, and y if it is given, by ``validate_data``; of a sparse matrix the same as an array."""
    return validate_data(owner, X.toarray("C") if issparse(X) else X, *y, dtype=np.float64, **options)


def require_classes(owner: str, classes: Array, binary: bool = False) -> None:
    """Raise a ValueError unless there are at least two classes, or exactly two if `binary`."""
    if len(classes) < 2:
        raise ValueError(f"{owner}: y must have at least 2 classes, got one class: {classes.tolist()[0]!r}")
    if binary and len(classes) > 2:
        raise ValueError(
            f"{owner}: y must have 2 classes, got {len(classes)}. Only binary classification is supported."
        )


@dataclass(eq=False, repr=False)
class MappedSVM(ClassifierMixin, BaseEstimator):
    """A linear support vector machine on the features of a map.

    Parameters
    ----------
    mapping : FeatureMap
        The map; a clone of it is fitted.
    C : float, default=1.0
        Inverse strength of the SVM's penalty.
    svm : {"liblinear", "liblinear_dual", "libsvm"}, default="liblinear"
        scikit-learn's ``LinearSVC``; the same with ``dual=True``, as in Letarte et al. 2019, which stops before
        convergence at a large C; or its ``SVC(kernel="linear", max_iter=10000)``, as in Gautheron et al. 2020.
    random_state : int, RandomState or None, default=None
        Seed of the solver; the map has its own.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    mapping_ : FeatureMap
        The fitted map.
    svm_ : LinearSVC or SVC
        The fitted classifier.
    n_features_in_ : int
        Number of features seen in fit.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from benchmarks.papers.baselines import MappedSVM, RBFLandmarks
    >>> X, y = load_wine(return_X_y=True)
    >>> bool(MappedSVM(RBFLandmarks(20, random_state=0)).fit(X, y).score(X, y) > 0.95)
    True
    """

    mapping: FeatureMap
    C: float = 1.0
    svm: str = "liblinear"
    random_state: Any = None

    constraints: ClassVar[Mapping[str, Check]] = {
        "mapping": Instance(FeatureMap),
        "C": POSITIVE,
        "svm": OneOf(("liblinear", "liblinear_dual", "libsvm")),
        "random_state": SEED,
    }

    @atomic_fit
    def fit(self, X: Any, y: Any) -> MappedSVM:
        """Fit the map, then the SVM on its features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Features, finite; an absent entry is 0.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid; the message names it.
        """
        require_all(self, self.constraints)
        X, y = read_rows(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        require_classes(type(self).__name__, self.classes_, self.mapping.binary)
        self.mapping_ = clone(self.mapping).fit(X, y)
        self.svm_ = self.solver().fit(self.mapping_.transform(X), y)
        return self

    def solver(self) -> LinearSVC | SVC:
        """The linear SVM for the features, not fitted."""
        from sklearn.svm import SVC, LinearSVC

        if self.svm != "libsvm":
            dual = True if self.svm == "liblinear_dual" else "auto"
            return LinearSVC(C=self.C, dual=dual, random_state=self.random_state)
        return SVC(kernel="linear", C=self.C, max_iter=LIBSVM_ITERATIONS, random_state=self.random_state)

    def decision_function(self, X: Any) -> Array:
        """The SVM's decision values, (n,) for two classes, else (n, K)."""
        features = self._transform(X)
        return np.asarray(self.svm_.decision_function(features))

    def predict(self, X: Any) -> Array:
        """The predicted class of each row, (n,)."""
        features = self._transform(X)
        return np.asarray(self.svm_.predict(features))

    def _transform(self, X: Any) -> Array:
        check_is_fitted(self)
        X = read_rows(self, X, reset=False)
        return self.mapping_.transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = not getattr(self.mapping, "binary", False)
        return tags
