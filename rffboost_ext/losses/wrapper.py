"""Losses that wrap another one, and the regression loss used for classification."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from ..core import CoupledLoss, Link, Loss
from ..utils.registry import full_repr
from ..utils.typing import Array
from .classification import signed_labels
from .links import LabelMeanLink
from .target_statistics import EstimatedLoss, scores_for

A = TypeVar("A", bound="LossWrapper")


class LossWrapper(Loss):
    """A loss that wraps another one and delegates to it what a derived class does not override.

    Parameters
    ----------
    loss : Loss
        The inner loss, whose rows are not coupled.
    """

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


for name in Loss.__annotations__:
    setattr(LossWrapper, name, property(attrgetter(f"loss.{name}")))


class LabelRegression(LossWrapper):
    """A regression loss on the labels -1 and +1 of two classes, as in least-squares boosting.

    The response of the inner loss estimates ``P(+1) - P(-1)``, so the probability of the second class is
    ``(1 + response) / 2``, clipped to [0, 1].

    Parameters
    ----------
    loss : Loss
        A regression loss of one output whose response is increasing in the raw score and 0 at 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostClassifier
    >>> from rffboost_ext.losses import LabelRegression, SquaredError
    >>> X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    >>> model = RFFBoostClassifier(LabelRegression(SquaredError()), "tree", n_estimators=10).fit(X, y)
    >>> model.predict([[0.0], [19.0]]).tolist()
    ['no', 'yes']
    """

    task = "classification"
    positive = False
    translation_invariant = False

    @property
    def link(self) -> Link:  # type: ignore[override]
        return LabelMeanLink(self.loss.link)

    def validate(self) -> None:
        """Raise unless the inner loss is a valid regression loss for targets of either sign."""
        super().validate()
        if not fits_labels(self.loss):
            raise ValueError(f"LabelRegression: loss must be {LOSS_OF_LABELS}, got {self.loss!r}")

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> LabelRegression:
        """The loss with its inner loss prepared for targets -1 and 1; a ValueError if its link does not suit."""
        loss = super().prepared(y, weight, n_classes)
        response = np.asarray(loss.loss.link.inverse(np.array([[-1.0], [0.0], [1.0]])))
        if response.shape == (3, 1) and abs(response[1, 0]) < 1e-6 and response[0, 0] < response[2, 0]:
            return loss
        shown = f"{response[:, 0]} at -1, 0 and 1" if response.shape == (3, 1) else f"shape {response.shape}"
        raise ValueError(
            f"loss {self.loss!r}: its task is 'regression', so that two classes are fitted as -1 and 1; "
            f"link.inverse must then have shape (n, 1), be 0 at a score of 0 and increase, got {shown} for n = 3; "
            f"set task = 'classification' if it returns class probabilities (n, K)"
        )

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One, for two classes."""
        return Loss.n_scores(self, y, n_classes)

    def inner_target(self, y: Array) -> Array:
        return signed_labels(y)


LOSS_OF_LABELS = (
    "a regression loss of uncoupled rows, with one score for one target of either sign, as -1 and 1 are"
)
"""What :class:`LabelRegression` wraps, for messages."""


def fits_labels(loss: Loss) -> bool:
    """Whether a loss can be fitted to the labels -1 and +1."""
    is_uncoupled = loss.task == "regression" and not isinstance(loss, CoupledLoss)
    return is_uncoupled and not loss.positive and scores_for(loss, 1) == 1


def mean_loss(losses: Sequence[Loss]) -> Loss:
    """The prepared loss of an average of models: estimates such as a scale are means, in any order of the losses.

    Raises
    ------
    ValueError
        If losses differ in other parameters.
    """
    first, params = losses[0], {}
    if isinstance(first, LossWrapper):
        params["loss"] = mean_loss([loss.loss for loss in losses])
    if isinstance(first, EstimatedLoss):
        # A derived class may have other parameters.
        names = [name for name in first.estimated if name in first.get_params(deep=False)]
        params = {name: mean_estimate([getattr(loss, name) for loss in losses]) for name in names}
    joint = [clone(loss).set_params(**params) if params else loss for loss in losses]
    for one, loss in zip(joint, losses, strict=True):
        if full_repr(one) != full_repr(joint[0]):
            raise ValueError(
                f"average: fitted parameters of losses must agree, got {first!r} and {loss!r}: fit all models but "
                f"one with the loss of that one, loss=model.loss_"
            )
    return joint[0]


def mean_estimate(values: Sequence[Any]) -> Any:
    """The mean of numbers or of tuples of numbers, exactly rounded; None counts as ones beside tuples."""
    if all(value == values[0] for value in values):
        return values[0]
    size = max(np.size(value) for value in values)
    rows = [np.broadcast_to(1.0 if value is None else value, size).tolist() for value in values]
    mean = tuple(math.fsum(column) / len(rows) for column in zip(*rows, strict=True))
    return mean if size > 1 or any(isinstance(value, tuple) for value in values) else mean[0]
