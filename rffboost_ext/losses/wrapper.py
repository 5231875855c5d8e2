"""A loss that wraps another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from sklearn.base import clone

from ..core import Link, Loss
from ..utils.typing import Array

A = TypeVar("A", bound="LossWrapper")


class LossWrapper(Loss):
    """A loss that wraps another one: what a derived class does not override is delegated to the inner loss.

    Parameters
    ----------
    loss : Loss
        The inner loss.
    """

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    def validate(self) -> None:
        """Raise unless the inner loss is valid."""
        if not isinstance(self.loss, Loss):
            raise TypeError(f"{type(self).__name__}: loss must be an instance of Loss, got {self.loss!r}")
        self.loss.validate()

    @property
    def link(self) -> Link | None:  # type: ignore[override]
        return self.loss.link

    @property
    def task(self) -> str:  # type: ignore[override]
        return self.loss.task

    @property
    def fit_criterion(self) -> str:  # type: ignore[override]
        return self.loss.fit_criterion

    @property
    def exact_hessian(self) -> bool:  # type: ignore[override]
        return self.loss.exact_hessian

    @property
    def bounded_ratio(self) -> bool:  # type: ignore[override]
        return self.loss.bounded_ratio

    @property
    def multiclass(self) -> bool:  # type: ignore[override]
        return self.loss.multiclass

    @property
    def multi_output(self) -> bool:  # type: ignore[override]
        return self.loss.multi_output

    @property
    def positive(self) -> bool:  # type: ignore[override]
        return self.loss.positive

    @property
    def unit(self) -> float | str | Sequence[float]:  # type: ignore[override]
        """That of the inner loss."""
        return self.loss.unit

    def prepared(self: A, y: Array, weight: Array, n_classes: int | None = None) -> A:
        """The loss whose inner one is prepared for its targets."""
        inner = self.loss.prepared(self.seen(y), weight, n_classes)
        return self if inner is self.loss else clone(self).set_params(loss=inner)

    def check_target(self, y: Array) -> None:
        self.loss.check_target(self.seen(y))

    def value(self, y: Array, raw: Array) -> Array:
        return self.loss.value(self.seen(y), raw)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return self.loss.derivatives(self.seen(y), raw)

    def baseline(self, y: Array, weight: Array) -> Array:
        return self.loss.baseline(self.seen(y), weight)

    def inverse_link(self, raw: Array) -> Array:
        return self.loss.inverse_link(raw)

    def seen(self, y: Array) -> Array:
        """The target as the inner loss sees it, (n, 1) or (n, C)."""
        return np.asarray(y)
