"""A function of the features, which is the result of a learner."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

from ..utils.pickling import PickledByFields
from ..utils.typing import Array

T = TypeVar("T", bound="Term")


class Term(PickledByFields, ABC):
    """A function from X (n, d) to outputs (n, C), held as constant arrays: the result of a learner.

    Laws: ``t.scaled(a)(X) == a * t(X)``, and ``type(t).stack([s, t])(X) == s(X) + t(X)`` if s and t are of one
    family. The terms of this package are final: a custom term derives from this class.
    """

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Outputs, (n, C)."""

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

    def features(self, X: Array) -> Array:
        """The learned representation of X, (n, p): by default the outputs; for cosines each single one."""
        return self(X)

    def merged(self) -> Term:
        """The same function with equal parts merged; called on stacked terms."""
        return self

    def materialized(self) -> Term:
        """The same function as plain arrays, which can be stored; learners may return lazy terms."""
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:
            if getattr(base, "__final__", False):
                raise TypeError(
                    f"{cls.__name__} must not derive from {base.__name__}, which is final: derive from "
                    f"rffboost_ext.Term, and keep a {base.__name__} as an attribute"
                )
