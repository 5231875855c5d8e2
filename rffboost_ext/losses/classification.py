"""Losses of classification: of two classes, of more, and of several labels."""

from __future__ import annotations

import math

import numpy as np

from ..core import Loss
from ..core.loss import class_count_of
from ..kernels import compiled
from ..utils.arrays import row_max, row_sum
from ..utils.param_validation import Integer
from ..utils.typing import Array
from .links import LARGEST_EXPONENT, BinaryLogitLink, LogitLink, MultinomialLogitLink
from .registry import LOSSES
from .target_statistics import LEAST_HESSIAN, require_targets

EPS = np.finfo(np.float64).eps


def signed_labels(y: Array) -> Array:
    """Class indices 0 and 1 as -1 and +1."""
    return 2.0 * y - 1.0


def log_odds(y: Array, weight: Array) -> Array:
    """Log-odds of the weighted share of ones in each column of y, (L,), clipped to [EPS, 1 - EPS]."""
    p = np.clip(np.average(y, axis=0, weights=weight), EPS, 1.0 - EPS)
    return np.asarray(np.log(p / (1.0 - p)))


def require_class_indices(loss: Loss, y: Array, n_classes: float) -> None:
    """Raise a ValueError unless `y` holds class indices 0 .. n_classes - 1."""
    if y.shape[1] != 1 or (y != np.floor(y)).any() or y.min() < 0.0 or y.max() >= n_classes:
        last = "K - 1" if math.isinf(n_classes) else int(n_classes) - 1
        raise ValueError(
            f"loss {loss!r}: y must hold class indices 0 .. {last} in one column, got shape {y.shape} and values "
            f"from {y.min():g} to {y.max():g}"
        )


def class_count(loss: Loss, y: Array) -> int:
    """The number of classes, at least 2, of indices `y` (n, 1); all must be present if there are more."""
    require_class_indices(loss, y, math.inf)
    present = np.unique(y)
    n_classes = max(2, int(present[-1]) + 1)
    if n_classes > max(2, len(present)):
        absent = next(k for k, is_present in enumerate(present) if k != is_present)
        raise ValueError(
            f"loss {loss!r}: y must hold class indices 0 .. {n_classes - 1}, each of them, got no row of class "
            f"{absent}"
        )
    return n_classes


@LOSSES.register("exponential")
class Exponential(Loss):
    """The loss of AdaBoost, ``exp(-s raw)``, and of the GBRFF algorithms.

    Its minimiser over all functions is half the log-odds, hence ``p = sigmoid(2 raw)``. The
    gradient is ``-s`` times the hessian, so the confidence-rated step applies.

    References
    ----------
    R. E. Schapire and Y. Singer, Improved boosting algorithms using confidence-rated predictions, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import Exponential
    >>> Exponential().value(np.array([[0.0], [1.0]]), np.zeros((2, 1)))
    array([1., 1.])
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
        return 0.5 * log_odds(y, weight)


class LogisticLoss(Loss):
    """Base class of the sum over columns of ``log(1 + exp(raw)) - y raw``, with y in {0, 1}."""

    rows = "independent"
    canonical = True
    task = "classification"

    def value(self, y: Array, raw: Array) -> Array:
        return row_sum(np.logaddexp(0.0, raw) - y * raw)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        gradient, hessian = np.empty((2, *raw.shape))
        compiled("loss_derivatives").logistic_derivatives(y, raw, gradient, hessian)
        return gradient, hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        return log_odds(y, weight)


@LOSSES.register("log_loss")
class LogLoss(LogisticLoss):
    """Cross-entropy of two classes, ``log(1 + exp(raw)) - y raw`` with y in {0, 1}; ``p = sigmoid(raw)``.

    For more than two classes a fit minimises :class:`~rffboost_ext.losses.MultinomialLogLoss` instead, and
    :class:`~rffboost_ext.losses.MultilabelLogLoss` for a target of several columns of zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostClassifier
    >>> from rffboost_ext.losses import LogLoss
    >>> LogLoss().link.inverse(np.array([[0.0]]))
    array([[0.5, 0.5]])
    >>> X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    >>> RFFBoostClassifier(LogLoss(), "tree", n_estimators=5).fit(X, y).predict([[0.0], [19.0]]).tolist()
    ['no', 'yes']
    """

    link = BinaryLogitLink()

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


class MultilabelLogLoss(LogisticLoss):
    """The sum over L labels of ``log(1 + exp(raw)) - y raw``, with y in {0, 1}; ``p = sigmoid(raw)`` for each.

    The response, (n, L), has the probability of each label; they need not sum to 1.
    :class:`~rffboost_ext.losses.LogLoss` becomes this loss for a target of several columns.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostClassifier
    >>> X = np.arange(20.0)[:, None]
    >>> labels = np.hstack([X > 5.0, X > 12.0]).astype(int)
    >>> model = RFFBoostClassifier(learner="tree", n_estimators=10).fit(X, labels)
    >>> type(model.loss_).__name__
    'MultilabelLogLoss'
    >>> model.predict([[0.0], [9.0], [19.0]])
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """

    link = LogitLink()
    multilabel = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, (y == 0.0) | (y == 1.0), "0 or 1 in each of several columns")

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for each label."""
        return y.shape[1]


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

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import MultinomialLogLoss
    >>> loss = MultinomialLogLoss(n_classes=4)
    >>> loss.link.inverse(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    """

    link = MultinomialLogitLink()
    canonical = True
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
        gradient, hessian = np.empty((2, *raw.shape))
        compiled("loss_derivatives").multinomial_derivatives(y, raw, LEAST_HESSIAN, gradient, hessian)
        return gradient, hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        counts = np.bincount(column(y), weights=weight, minlength=self.n_classes)
        logs = np.log(np.maximum(counts / counts.sum(), EPS))
        return np.asarray(logs - logs.mean())


def column(y: Array) -> Array:
    """Class indices (n, 1) as integers (n,)."""
    return y[:, 0].astype(np.intp)
