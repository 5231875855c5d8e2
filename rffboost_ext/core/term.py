"""A function of the features, which is the result of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..utils.coalitions import shapley_by_evaluation
from ..utils.pickling import PickledByFields
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array

T = TypeVar("T", bound="Term")


class Term(PickledByFields, ABC):
    """A function from X (n, d) to outputs (n, C), held as constant arrays: the result of a learner.

    Laws: ``t.scaled(a)(X) == a * t(X)``, and ``type(t).stack([s, t])(X) == s(X) + t(X)`` if s and t are of one
    family. The terms of this package are final: a custom term derives from this class. It needs the three abstract
    methods; all others have defaults, which it overrides where it knows better.
    """

    is_tree: ClassVar[bool] = False
    """Whether a learner of trees fits such terms."""
    on_original: bool = False
    """Whether it is a function of the original columns, as trees are, and not of ``design.X``."""

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Outputs, (n, C)."""

    def at(self, X: Rows) -> Array:
        """Outputs at rows of an array or of a sparse matrix, (n, C)."""
        return self.at_sparse(X) if isinstance(X, SparseRows) else self(X)

    def at_sparse(self, X: SparseRows) -> Array:
        """Outputs at rows of a sparse matrix, from blocks of dense rows; override it if few columns are read."""
        return np.concatenate([self(block) for block in X.blocks()])

    @classmethod
    def of(cls: type[T], term: Term) -> T:
        """The term of a round itself; a ValueError unless it is of this kind."""
        if not isinstance(term, cls):
            raise ValueError(f"replay must have {cls.__name__} in each round, got {term!r:.60}")
        return term

    @abstractmethod
    def scaled(self: T, factor: float) -> T:
        """The same function times `factor`."""

    @classmethod
    @abstractmethod
    def stack(cls: type[T], terms: Sequence[T]) -> T:
        """The sum of `terms`, all of one ``family``, as one term."""

    @property
    def family(self) -> Hashable:
        """Terms of equal family can be stacked; override it if instances differ in more than arrays."""
        return type(self)

    @property
    def innermost(self) -> Term:
        """The term that a learner fitted, without a map of the features around it."""
        return self

    def features(self, X: Array) -> Array:
        """The learned representation of X, (n, p): by default the outputs; for cosines each single one."""
        return self(X)

    def merged(self) -> Term:
        """The same function with equal parts merged; called on stacked terms."""
        return self

    def materialized(self) -> Term:
        """The same function as plain arrays, which can be stored; learners may return lazy terms."""
        return self

    @classmethod
    def outputs_of(cls, terms: Sequence[Any], X: Array) -> Sequence[Array] | Array:
        """Outputs (n, C) of each of several terms of this type; override it to share work among them."""
        return [term(X) for term in terms]

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        """Raise a ValueError unless the arrays are consistent, for terms from a learner or a file.

        Parameters
        ----------
        n_features, n_outputs : int or None
            Columns of X and of the outputs; None if they are not known.
        """

    def on_features(self, features: Any) -> Term:
        """The function ``x -> self(features(x))`` as a term of the original columns.

        A term of the original columns is itself. By default the map is kept around any other, without its range.
        Override it for a closed form, as cosines do.

        Parameters
        ----------
        features : FeatureMap
            The map to the features that a learner sees.

        Raises
        ------
        TypeError
            If features are log-transformed, which the default does not support.
        """
        term: Term = self if self.on_original else features.around(self)
        return term

    def with_arrays_of(self, other: Term) -> Term:
        """The same term with the objects of `other` in place of equal large arrays, which models store once."""
        return self

    def recoded(self, recoding: Any) -> Term:
        """The term as a function of new category codes; additional categories count as missing.

        Parameters
        ----------
        recoding : Recoding
            The new codes of each column.

        Raises
        ------
        TypeError
            By default. Override it in terms that act on codes.
        """
        raise TypeError(f"new category codes: {type(self).__name__} must have a method recoded(recoding)")

    def gradient(self, X: Array) -> Array:
        """The derivative of each output with respect to each feature, at X (n, d): (n, C, d), float64.

        Raises
        ------
        TypeError
            By default.
        """
        raise TypeError(f"gradient: {type(self).__name__} must have a method gradient(X)")

    def variances(self, X: Array, weight: Array) -> Array | None:
        """The variance of the outputs over weighted rows, divided among the features: (d,).

        By default None: the variance is divided in proportion to total effects, from evaluations of the term.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows.
        weight : ndarray of shape (n,)
            Weights of the rows, with sum 1.
        """
        return None

    def shapley(self, X: Array, background: Array) -> Array:
        """Shapley values of each output at X (n, d), with background rows (m, d): (n, C, d).

        By default the term is evaluated at mixtures of rows.
        """
        return self.grouped_shapley(X, background, np.arange(X.shape[1]), X.shape[1])

    def grouped_shapley(self, X: Array, background: Array, source: Array, n_features: int) -> Array:
        """Shapley values of d features, with column j of X (n, e) belonging to feature ``source[j]``: (n, C, d).

        The columns of one feature, such as its one-hot columns, are one player. By default the term is evaluated
        at mixtures of rows.
        """
        return shapley_by_evaluation(self, X, background, source, n_features)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:
            if getattr(base, "__final__", False):
                raise TypeError(
                    f"{cls.__name__} must not derive from {base.__name__}, which is final: derive from "
                    f"rffboost_ext.Term, and keep a {base.__name__} as an attribute"
                )
