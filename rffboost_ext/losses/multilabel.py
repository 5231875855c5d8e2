"""The log loss of several labels, each of which a row has or has not."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..kernels import compiled
from ..utils.typing import Array
from .links import LogitLink
from .target_statistics import require_targets


class MultilabelLogLoss(Loss):
    """The sum over L labels of ``log(1 + exp(raw)) - y raw``, with y in {0, 1}; ``p = sigmoid(raw)`` for each.

    The response, (n, L), has the probability of each label; they need not sum to 1.
    :class:`~rffboost_ext.losses.LogLoss` becomes this loss for a target of several columns.
    """

    link = LogitLink()
    rows = "independent"
    task = "classification"
    multilabel = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, (y == 0.0) | (y == 1.0), "0 or 1 in each of several columns")

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for each label."""
        return y.shape[1]

    def value(self, y: Array, raw: Array) -> Array:
        return np.asarray((np.logaddexp(0.0, raw) - y * raw).sum(axis=1))

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        gradient, hessian = np.empty((2, *raw.shape))
        compiled("loss_derivatives").logistic_derivatives(y, raw, gradient, hessian)
        return gradient, hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        eps = np.finfo(np.float64).eps
        p = np.clip(np.average(y, axis=0, weights=weight), eps, 1.0 - eps)
        return np.asarray(np.log(p / (1.0 - p)))
