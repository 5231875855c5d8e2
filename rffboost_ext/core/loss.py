"""What a booster minimises: losses, their links and scales, and the rows at which they are evaluated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..utils.param_validation import OneOf, require
from ..utils.registry import Spec
from ..utils.typing import Array


@dataclass(frozen=True)
class Link(ABC):
    """The function between raw scores and the response, such as log or logit: a frozen dataclass.

    Two links are the same function if they are equal: of one class, with equal fields.

    Parameters
    ----------
    names : tuple of str, optional
        Names of the columns of the response, such as parameters of a distribution; each is an output in ONNX.
    """

    names: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False, compare=False)

    @abstractmethod
    def inverse(self, raw: Array) -> Array:
        """Response for raw scores (n, C): class probabilities (n, K), or means (n, W) for regression."""


@dataclass(frozen=True)
class Scales:
    """How derivatives of a loss are scaled for learners, whose penalties are for hessians of about 1.

    Minimisers and Newton steps do not depend on the unit, but the strength of penalties does.

    Parameters
    ----------
    unit : float or sequence of float, default=1.0
        Factor of gradient and hessian in a fit, so that hessians are O(1) for any scale of the target; one for
        each score if it is a sequence.
    relative_rates : float or sequence of float, default=1.0
        Factor of the learning rate, for each score if it is a sequence: hessians in a fit are divided by it.
        Scores that are fitted to the errors of others, such as the scale of a distribution, need shorter steps.
    min_hessian : float, default=0.0
        Least hessian in a fit, in units of `unit`, where hessians that are no upper bounds would be too small.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import Scales
    >>> from rffboost_ext.losses import Quantile
    >>> Quantile(0.5).prepared(np.array([[0.0], [2.0], [4.0]]), np.ones(3)).scales.unit > 0.0
    True
    """

    unit: float | Sequence[float] = 1.0
    relative_rates: float | Sequence[float] = 1.0
    min_hessian: float = 0.0

    def apply(self, derivatives: tuple[Array, Array]) -> tuple[Array, Array]:
        """Gradient and hessian (n, C) of a loss as learners get them."""
        gradient, hessian = derivatives
        if not (isinstance(self.unit, float) and self.unit == 1.0):
            unit = np.asarray(self.unit, dtype=np.float64)
            gradient, hessian = unit * gradient, unit * hessian
        if self.min_hessian > 0.0:
            hessian = np.maximum(hessian, self.min_hessian)
        if not (isinstance(self.relative_rates, float) and self.relative_rates == 1.0):
            hessian = hessian / np.asarray(self.relative_rates)
        return gradient, hessian


COUPLED = "groups", "all"
"""Values of ``rows`` of losses of coupled rows."""


class Loss(Spec, ABC):
    """A loss function of target and raw scores; a booster minimises its weighted sum over rows.

    A custom loss implements the three abstract methods in plain NumPy, and defines ``link``; for classification it
    sets ``task``. Nothing needs to be compiled. A loss whose rows are coupled, as in rankings, derives from
    :class:`CoupledLoss`.

    Laws, which are tested for every registered loss:

    - The gradient is the derivative of ``value`` with respect to the raw score if ``exact_gradient``. The hessian
      is the second derivative if ``exact_hessian``, else a positive upper bound. Both have the shape of ``raw``.
    - ``baseline`` minimises the weighted sum of ``value`` over constant raw scores.
    - A binary classification loss predicts the second class if raw > 0: its probability is then more than 1/2.
    - No method changes its arguments.
    """

    link: ClassVar[Link]
    """The link between raw scores and the response, whose columns it names."""
    task: ClassVar[str] = "regression"
    """``"classification"``, with class indices 0 .. K-1 as the first column of the target, or zeros and ones if
    ``multilabel``; or ``"regression"``, with real targets."""
    scales: ClassVar[Scales] = Scales()
    """The scales in which learners get the derivatives."""
    rows: ClassVar[str] = "set"
    """How the rows of a loss depend on one another.

    - ``"set"``: a call gets one set of rows and the scores of one round. Fits may sample, divide and merge rows:
      the losses of rows do not depend on their order, nor on their number if each is there as often.
    - ``"independent"``: the loss of a row depends on that row only; a call may hold rows of many rounds.
    """
    fit_criterion: ClassVar[str] = "newton"
    """Name of the default fit criterion of learners."""
    exact_gradient: ClassVar[bool] = True
    """Whether the gradient is the derivative of ``value`` everywhere.

    That of LambdaRank is not where the ranking changes: ``value`` is then what early stopping monitors."""
    exact_hessian: ClassVar[bool] = True
    """Whether ``derivatives`` returns the second derivative, not an upper bound."""
    bounded_ratio: ClassVar[bool] = False
    """Whether \\|gradient\\| <= hessian everywhere; the confidence-rated step requires it."""
    multilabel: ClassVar[bool] = False
    """For classification: whether the target has a column of zeros and ones for each of L labels, and the response
    the probability of each, (n, L)."""
    positive: ClassVar[bool] = False
    """For regression: whether targets must be positive or non-negative."""
    translation_invariant: ClassVar[bool] = False
    """For regression: whether ``value(y + a, raw + a)`` is ``value(y, raw)`` for any a (n, C), as for residuals.

    An offset is then subtracted from the target, so that scales that ``prepared`` takes from it are those of what
    remains to be explained."""
    scored_by: ClassVar[str] = "loss"
    """For regression: what ``score`` of estimators is, which searches over parameters maximise.

    - ``"loss"``: minus the weighted mean of the loss, which is right whatever the response is.
    - ``"r2"``: the coefficient of determination R2 of the response, for losses that predict means.
    """
    monotone: ClassVar[Sequence[int] | None] = None
    """The signs with which predictions change with each score, 0 for scores without effect; None is 1 for each.

    Monotone constraints are promises on predictions: they bind the scores with a sign."""
    canonical: ClassVar[bool] = False
    """Whether the gradient is the response less the target, as with the logit or the log link of a mean.

    At the best constant scores the predictions then sum to the targets. Fits with early stopping end with such an
    intercept.
    """
    levels: ClassVar[Any] = None
    """For regression: the levels of the quantiles that the columns of the response are, increasing, (W,); None if
    the response is anything else."""
    infinite: ClassVar[bool] = False
    """Whether targets may be infinite, such as the bounds of censored times."""

    ALLOWED_ROWS: ClassVar[tuple[str, ...]] = ("set", "independent")

    def validate(self) -> None:
        """Raise a TypeError or ValueError for an invalid hyperparameter, link or `rows`."""
        super().validate()
        name, link = type(self).__name__, getattr(self, "link", None)
        require(name, "rows", self.rows, OneOf(self.ALLOWED_ROWS))
        require(name, "scored_by", self.scored_by, OneOf(("loss", "r2")))
        if not isinstance(link, Link):
            raise TypeError(f"{name}: link must be a Link, such as a FunctionLink, got {link!r}")

    @abstractmethod
    def value(self, y: Array, raw: Array) -> Array:
        """Loss of each row, (n,)."""

    @abstractmethod
    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        """First and second derivatives of ``value`` with respect to ``raw``, new arrays of shape (n, C)."""

    @abstractmethod
    def baseline(self, y: Array, weight: Array) -> Array:
        """The constant raw score, (C,), that minimises the weighted loss."""

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with parameters that depend on the data, such as a scale or the number of classes.

        Called once per fit, with all targets. Law: ``prepared`` of a prepared loss returns the loss itself. So
        does the default, for losses without such parameters.

        Parameters
        ----------
        y : ndarray of shape (n, K)
            Target.
        weight : ndarray of shape (n,)
            Sample weights, positive.
        n_classes : int, optional
            Number of classes, at least 2. By default the largest class index in y plus 1.

        Returns
        -------
        Loss

        Raises
        ------
        ValueError
            If the targets are invalid for the loss.
        """
        return self

    def check_target(self, y: Array) -> None:
        """Raise a ValueError if targets of training or evaluation data are invalid for the loss."""

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """Number of raw scores of each row, C, for a target; this method says which targets a loss takes.

        By default one, for a single column of numbers or of two classes. A loss of several targets or labels has a
        score for each column, a loss of several classes one for each class, or another number: two for mean and
        scale of one target, or one for the K ordered classes of an ordinal regression. Columns of y that are no
        targets, such as costs or bounds, travel with their rows.

        Parameters
        ----------
        y : ndarray of shape (n, K)
            Target.
        n_classes : int, optional
            Number of classes, at least 2. By default the largest class index in y plus 1.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If the loss does not take so many columns or classes.
        """
        if y.shape[1] > 1:
            raise ValueError(
                f"y must have one column for loss {self!r}, got {y.shape[1]}; several need a loss with a method "
                f"'n_scores'"
            )
        if self.task == "classification" and (n_classes := class_count_of(y, n_classes)) > 2:
            raise ValueError(
                f"Only binary classification is supported by loss {self!r}: y must have 2 classes, got {n_classes}"
            )
        return 1

    def groups(self, y: Array) -> Array:
        """Codes of groups of rows, (n,), such as queries, for metrics: by default the last column of y."""
        return y[:, -1]

    def prediction(self, response: Array) -> Array:
        """What metrics compare with targets, by default the response; of a distribution's parameters the mean."""
        return response


class CoupledLoss(Loss):
    """A loss whose rows depend on one another and on their weights: its methods get the sample weights, (n,).

    The total is the sum of weight times value, and the derivatives of row i are those of the total, divided by the
    weight of row i. Weights are relative: those of a group or a set times a factor give the same derivatives. Fits
    keep groups whole.
    """

    rows: ClassVar[str] = "all"
    """``"all"``: rows are coupled with all others, as in risk sets; or ``"groups"``: within groups, such as
    queries, whose codes are ``groups(y)``."""

    ALLOWED_ROWS = COUPLED

    @abstractmethod
    def value(self, y: Array, raw: Array, weight: Array) -> Array:  # type: ignore[override]
        """Loss of each row, (n,)."""

    @abstractmethod
    def derivatives(self, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:  # type: ignore[override]
        """First and second derivatives of the total by ``raw``, divided by the weights: new arrays (n, C)."""


def class_count_of(y: Array, n_classes: int | None = None) -> int:
    """The number of classes, at least 2; by default the largest class index in y (n, K) plus 1."""
    return max(2, int(y[:, 0].max()) + 1) if n_classes is None else n_classes


@dataclass(frozen=True)
class Observations:
    r"""Targets, weights and the offset of some rows, at which losses are evaluated.

    This is the only place where an offset o is added to raw scores: the loss of a row is :math:`\ell(y, raw + o)`.
    For a loss that is invariant under translation it is :math:`\ell(y - o, raw)`, which is the same, and whatever
    the loss computes from targets, such as a scale, is then that of what remains to be explained.

    Attributes
    ----------
    y : ndarray of shape (n, K)
        Targets.
    weight : ndarray of shape (n,)
        Sample weights, which losses of coupled rows get too.
    offset : ndarray of shape (n, C), optional
        What is added to the scores, such as the log of an exposure.
    """

    y: Array
    weight: Array
    offset: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Any) -> Observations:
        """The rows of an index, a slice or an array of bool or int."""
        offset = None if self.offset is None else self.offset[index]
        return Observations(self.y[index], self.weight[index], offset)

    def total(self, raw: Array) -> Array:
        """Raw scores (n, C) plus the offset."""
        return raw if self.offset is None else raw + self.offset

    def target(self, loss: Loss) -> Array:
        """The targets that a loss gets, (n, K)."""
        return self.y if self.offset is None or not loss.translation_invariant else self.y - self.offset

    def losses(self, loss: Loss, raw: Array) -> Any:
        """The loss of each row, (n,), at raw scores (n, C) without the offset."""
        y, raw = self._shifted(loss, raw)
        return loss.value(y, raw, self.weight) if isinstance(loss, CoupledLoss) else loss.value(y, raw)

    def derivatives(self, loss: Loss, raw: Array) -> Any:
        """The first and second derivatives of a loss, (n, C) each, at raw scores (n, C) without the offset."""
        y, raw = self._shifted(loss, raw)
        return loss.derivatives(y, raw, self.weight) if isinstance(loss, CoupledLoss) else loss.derivatives(y, raw)

    def _shifted(self, loss: Loss, raw: Array) -> tuple[Array, Array]:
        if self.offset is None:
            return self.y, raw
        return self.target(loss), raw if loss.translation_invariant else self.total(raw)
