"""The log loss of more than two classes."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..kernels import compiled
from ..utils.param_validation import Integer
from ..utils.typing import Array
from .links import MultinomialLogitLink, row_max, row_sum
from .target_statistics import require_class_indices

# The hessian would be 0 for a class of probability 0 or 1 up to rounding.
LEAST_HESSIAN = 1e-16


class MultinomialLogLoss(Loss):
    r"""Cross-entropy of K classes, ``logsumexp(raw) - raw[y]``, one raw score per class; ``p = softmax(raw)``.

    The gradient is :math:`p_c - [y = c]`. The second derivative is the matrix :math:`\mathrm{diag}(p) - p p^T`;
    the hessian returned is its diagonal majorizer :math:`2 p_c (1 - p_c)`, at least 1e-16.

    :class:`~rffboost_ext.losses.LogLoss` becomes this loss for more than two classes.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.

    References
    ----------
    Friedman, Hastie and Tibshirani, Additive logistic regression, Annals of Statistics 28, 2000. Böhning,
    Multinomial logistic regression algorithm, Annals of the Institute of Statistical Mathematics 44, 1992.
    """

    link = MultinomialLogitLink()
    rows = "independent"
    task = "classification"
    exact_hessian = False
    constraints = {"n_classes": Integer(2)}

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> MultinomialLogLoss:
        """The loss itself, after a check that `y` holds indices of its classes."""
        if n_classes is not None and n_classes != self.n_classes:
            raise ValueError(f"loss {self!r}: y must have {self.n_classes} classes, got {n_classes}")
        require_class_indices(self, y, self.n_classes)
        return self

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for each class."""
        return self.n_classes

    def value(self, y: Array, raw: Array) -> Array:
        largest = row_max(raw)
        total = row_sum(np.exp(raw - largest[:, None]))
        return np.asarray(np.log(total) + (largest - raw[np.arange(len(raw)), column(y)]))

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        gradient, hessian = np.empty(raw.shape), np.empty(raw.shape)
        compiled("loss_derivatives").multinomial_derivatives(y, raw, LEAST_HESSIAN, gradient, hessian)
        return gradient, hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        counts = np.bincount(column(y), weights=weight, minlength=self.n_classes)
        logs = np.log(np.maximum(counts / counts.sum(), np.finfo(np.float64).eps))
        return np.asarray(logs - logs.mean())


def column(y: Array) -> Array:
    """Class indices (n, 1) as integers (n,)."""
    return y[:, 0].astype(np.intp)
