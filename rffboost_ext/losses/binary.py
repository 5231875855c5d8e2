"""Binary classification losses of the margin s * raw: s is -1 for the first class and +1 for the second."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..core.loss import class_count_of
from ..kernels import compiled
from ..utils.typing import Array
from .links import LARGEST_EXPONENT, BinaryLogitLink
from .multilabel import MultilabelLogLoss
from .multinomial import MultinomialLogLoss
from .registry import LOSSES
from .target_statistics import class_count


def signed_labels(y: Array) -> Array:
    """Class indices 0 and 1 as -1 and +1."""
    return 2.0 * y - 1.0


def second_class_share(y: Array, weight: Array) -> float:
    """Weighted share of the second class, clipped to [eps, 1 - eps] with the machine epsilon of float64."""
    eps = np.finfo(np.float64).eps
    return float(np.clip(np.average(y[:, 0], weights=weight), eps, 1.0 - eps))


@LOSSES.register("exponential")
class Exponential(Loss):
    """The loss of AdaBoost, ``exp(-s raw)``, and of the GBRFF algorithms.

    Its minimiser over all functions is half the log-odds, hence ``p = sigmoid(2 raw)``. The
    gradient is ``-s`` times the hessian, so the confidence-rated step applies.

    References
    ----------
    R. E. Schapire and Y. Singer, Improved boosting algorithms using confidence-rated predictions, 1999.
    """

    link = BinaryLogitLink(slope=2.0)
    rows = "independent"
    task = "classification"
    fit_criterion = "exponential"
    bounded_ratio = True

    def value(self, y: Array, raw: Array) -> Array:
        return np.exp(np.minimum(-signed_labels(y) * raw, LARGEST_EXPONENT))[:, 0]

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        gradient, hessian = np.empty((2, *raw.shape))
        compiled("loss_derivatives").exponential_derivatives(y, raw, LARGEST_EXPONENT, gradient, hessian)
        return gradient, hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        p = second_class_share(y, weight)
        return np.array([0.5 * np.log(p / (1.0 - p))])


@LOSSES.register("log_loss")
class LogLoss(Loss):
    """Cross-entropy of two classes, ``log(1 + exp(raw)) - y raw`` with y in {0, 1}; ``p = sigmoid(raw)``.

    For more than two classes a fit minimises :class:`~rffboost_ext.losses.MultinomialLogLoss` instead, and
    :class:`~rffboost_ext.losses.MultilabelLogLoss` for a target of several columns of zeros and ones.
    """

    link = BinaryLogitLink()
    rows = "independent"
    task = "classification"

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss itself for two classes, else the log loss of several classes or several labels."""
        if y.shape[1] > 1:
            return self._successor(MultilabelLogLoss(), f"one column, got {y.shape[1]}").prepared(y, weight)
        n_classes = class_count(self, y) if n_classes is None else n_classes
        if n_classes <= 2:
            return self
        return self._successor(MultinomialLogLoss(n_classes), f"2 classes, got {n_classes}").prepared(y, weight)

    def _successor(self, loss: Loss, limit: str) -> Loss:
        """The loss that replaces this one, which would ignore what a derived loss overrides."""
        if type(self) is not LogLoss:
            raise ValueError(
                f"loss {self!r}: y must have {limit}; for more, derive a loss from {type(loss).__name__} and "
                f"return it from 'prepared'"
            )
        return loss

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for two classes, else one for each class or label."""
        if y.shape[1] > 1:
            return y.shape[1]
        n_classes = class_count_of(y, n_classes)
        return 1 if n_classes == 2 else n_classes

    def value(self, y: Array, raw: Array) -> Array:
        return (np.logaddexp(0.0, raw) - y * raw)[:, 0]

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        gradient, hessian = np.empty((2, *raw.shape))
        compiled("loss_derivatives").logistic_derivatives(y, raw, gradient, hessian)
        return gradient, hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        p = second_class_share(y, weight)
        return np.array([np.log(p / (1.0 - p))])
