"""A regression loss put to classification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import Array, Loss
from ..registry import Registry
from .margin import sign


class Signed(Loss):
    """A regression loss on the labels -1 and +1 of two classes, as in least-squares boosting.

    The response of the inner loss estimates ``P(+1) - P(-1)``, so the probability of the second class is
    ``(1 + response) / 2``, cut at 0 and 1.

    Parameters
    ----------
    loss : Loss
        A regression loss of one output whose response is increasing in the raw score and 0 at 0.
    """

    task = "classification"

    def __init__(self, loss: Loss) -> None:
        self.loss = loss

    @property
    def match(self) -> str:  # type: ignore[override]
        return self.loss.match

    @property
    def exact_hessian(self) -> bool:  # type: ignore[override]
        return self.loss.exact_hessian

    @property
    def bounded_ratio(self) -> bool:  # type: ignore[override]
        return self.loss.bounded_ratio

    @property
    def unit(self) -> float | str | Sequence[float]:  # type: ignore[override]
        """That of the inner loss."""
        return self.loss.unit

    def validate(self) -> None:
        """Raise unless the inner loss is a valid regression loss for targets of either sign."""
        Registry("loss", Loss).create(self.loss)  # type: ignore[type-abstract]
        if self.loss.task != "regression" or self.loss.positive:
            raise ValueError(
                f"Signed: loss must be a regression loss for targets of either sign, which -1 and 1 are, "
                f"got {self.loss!r}"
            )

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Signed:
        """The loss whose inner one is prepared for the targets -1 and 1."""
        inner = self.loss.prepared(sign(y), weight)
        return self if inner is self.loss else Signed(inner)

    def value(self, y: Array, raw: Array) -> Array:
        return self.loss.value(sign(y), raw)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return self.loss.derivatives(sign(y), raw)

    def baseline(self, y: Array, weight: Array) -> Array:
        return self.loss.baseline(sign(y), weight)

    def inverse_link(self, raw: Array) -> Array:
        response = np.clip(self.loss.inverse_link(raw), -1.0, 1.0)
        return np.hstack([0.5 * (1.0 - response), 0.5 * (1.0 + response)])
