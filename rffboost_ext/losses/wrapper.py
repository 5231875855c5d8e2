"""A loss that wraps another one."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from ..core import CoupledLoss, Loss
from ..utils.typing import Array

A = TypeVar("A", bound="LossWrapper")


def delegated(name: str) -> Any:
    """A property with the value of the inner loss's attribute `name`."""
    return property(lambda self: getattr(self.loss, name))


class LossWrapper(Loss):
    """A loss that wraps another one and delegates to it what a derived class does not override.

    Parameters
    ----------
    loss : Loss
        The inner loss, whose rows are not coupled.
    """

    link = delegated("link")
    task = delegated("task")
    scales = delegated("scales")
    rows = delegated("rows")
    fit_criterion = delegated("fit_criterion")
    exact_gradient = delegated("exact_gradient")
    exact_hessian = delegated("exact_hessian")
    bounded_ratio = delegated("bounded_ratio")
    multilabel = delegated("multilabel")
    positive = delegated("positive")
    translation_invariant = delegated("translation_invariant")
    infinite = delegated("infinite")

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def validate(self) -> None:
        """Raise unless the inner loss is valid."""
        if not isinstance(self.loss, Loss) or isinstance(self.loss, CoupledLoss):
            raise TypeError(
                f"{type(self).__name__}: loss must be a Loss of rows that are not coupled, got {self.loss!r}"
            )
        self.loss.validate()

    def prepared(self: A, y: Array, weight: Array, n_classes: int | None = None) -> A:
        """The loss with its inner loss prepared for the targets."""
        inner = self.loss.prepared(self.inner_target(y), weight, n_classes)
        return self if inner is self.loss else clone(self).set_params(loss=inner)

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """That of the inner loss."""
        return self.loss.n_scores(self.inner_target(y), n_classes)

    def check_target(self, y: Array) -> None:
        self.loss.check_target(self.inner_target(y))

    def value(self, y: Array, raw: Array) -> Array:
        return self.loss.value(self.inner_target(y), raw)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return self.loss.derivatives(self.inner_target(y), raw)

    def baseline(self, y: Array, weight: Array) -> Array:
        return self.loss.baseline(self.inner_target(y), weight)

    def prediction(self, response: Array) -> Array:
        return self.loss.prediction(response)

    def inner_target(self, y: Array) -> Array:
        """The target of the inner loss, (n, 1) or (n, C)."""
        return np.asarray(y)
