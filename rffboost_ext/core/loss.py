"""What a booster minimises, and what its raw scores mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ..utils.param_validation import OneOf, accepts_arguments, require
from ..utils.typing import Array
from .spec import Spec

ROWS = ("set", "independent", "groups", "all")
"""Allowed values of ``Loss.rows``."""
COUPLED = ROWS[2:]
"""Values of ``Loss.rows`` for which a loss gets the sample weights."""
ARGUMENTS = {
    "value": ("y", "raw"),
    "derivatives": ("y", "raw"),
    "baseline": ("y", "weight"),
    "n_scores": ("y", "n_classes"),
    "prepared": ("y", "weight", "n_classes"),
    "check_target": ("y",),
    "groups": ("y",),
    "prediction": ("response",),
}
"""The arguments of the methods of a loss; values and derivatives of coupled rows get the weights too."""


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


class Loss(Spec, ABC):
    """A loss function of target and raw scores; a booster minimises its weighted sum over rows.

    A custom loss implements the three abstract methods in plain NumPy, and defines ``link``; for classification it
    sets ``task``. Nothing needs to be compiled.

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
    fit_criterion: ClassVar[str] = "newton"
    """Name of the default fit criterion of learners."""
    exact_gradient: ClassVar[bool] = True
    """Whether the gradient is the derivative of ``value`` everywhere.

    That of LambdaRank is not where the ranking changes: ``value`` is then what early stopping monitors."""
    exact_hessian: ClassVar[bool] = True
    """Whether ``derivatives`` returns the second derivative, not an upper bound."""
    bounded_ratio: ClassVar[bool] = False
    """Whether \\|gradient\\| <= hessian everywhere; the confidence-rated step requires it."""
    multiclass: ClassVar[bool] = False
    """For classification: whether the loss, or that returned by ``prepared``, supports more than two classes."""
    multilabel: ClassVar[bool] = False
    """For classification: whether the target has a column of zeros and ones for each of L labels, and the response
    the probability of each, (n, L)."""
    multi_output: ClassVar[bool] = False
    """For regression: whether the target may have several columns, with one raw score each.

    A loss with its own ``n_scores`` takes any columns, and checks them in ``check_target``."""
    positive: ClassVar[bool] = False
    """For regression: whether targets must be positive or non-negative."""
    translation_invariant: ClassVar[bool] = False
    """For regression: whether ``value(y + a, raw + a)`` is ``value(y, raw)`` for any a (n, C), as for residuals.

    An offset is then subtracted from the target, so that scales that ``prepared`` takes from it are those of what
    remains to be explained."""
    infinite: ClassVar[bool] = False
    """Whether targets may be infinite, such as the bounds of censored times."""
    rows: ClassVar[str] = "set"
    """How the rows of a loss depend on one another.

    - ``"set"``: a call gets one set of rows and the scores of one round. Fits may sample, divide and merge rows:
      the losses of rows do not depend on their order, nor on their number if each is there as often.
    - ``"independent"``: the loss of a row depends on that row only; a call may hold rows of many rounds.
    - ``"groups"``: rows are coupled within groups, such as queries, whose codes are ``groups(y)``.
    - ``"all"``: rows are coupled with all others, as in risk sets.

    Fits keep groups whole. Losses of coupled rows, the last two, also get the sample weights, (n,): they define
    ``value(y, raw, weight)`` and ``derivatives(y, raw, weight)``. The total is the sum of weight times value, and
    the derivatives of row i are those of the total, divided by the weight of row i. Weights are relative: those of
    a group or a set times a factor give the same derivatives.
    """
    unit: float | str | Sequence[float] = 1.0
    """Factor of gradient and hessian in a fit, so that hessians are O(1) for any scale of the target.

    Minimisers and Newton steps do not depend on it, but the strength of learners' penalties does. It may be a
    hyperparameter: ``prepared`` then replaces ``"auto"`` by a number. With several outputs it may be a sequence.
    """
    relative_rates: float | Sequence[float] = 1.0
    """Factor of the learning rate, for each score if it is a sequence: hessians in a fit are divided by it.

    Scores that are fitted to the errors of others, such as the scale of a distribution, need shorter steps."""
    min_hessian: float = 0.0
    """Least hessian in a fit, in units of ``unit``, where hessians that are no upper bounds would be too small."""

    def validate(self) -> None:
        """Raise a TypeError or ValueError for an invalid hyperparameter, link, `rows` or signature."""
        super().validate()
        name, coupled = type(self).__name__, self.rows in COUPLED
        link = getattr(self, "link", None)
        if not isinstance(link, Link):
            raise TypeError(
                f"{name}: link must be a Link, such as FunctionLink of a function of raw, got {link!r}"
            )
        require(name, "rows", self.rows, OneOf(ROWS))
        for method, arguments in ARGUMENTS.items():
            depends = "raw" in arguments[1:]
            given = (*arguments, "weight") if coupled and depends else arguments
            if not accepts_arguments(getattr(self, method), len(given)):
                reason = f", as losses of coupled rows get weights and others do not: rows is {self.rows!r}"
                raise TypeError(
                    f"{name}: {method} must accept the arguments {', '.join(given)}{reason if depends else ''}"
                )

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

    def groups(self, y: Array) -> Array:
        """Codes of the groups of rows, (n,), by default the last column of y; of use if ``rows = "groups"``."""
        return y[:, -1]

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """Number of raw scores of each row, C, for a target.

        By default a score for each target of a regression and for each of several labels, one for two classes, and
        one for each of more classes. A loss may need another number: two for mean and scale of one target, or one
        for the K ordered classes of an ordinal regression. Columns of y that are no targets, such as costs or
        bounds, travel with their rows.

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
            If the target has more columns than the loss takes.
        """
        takes_several = self.multi_output if self.task == "regression" else self.multilabel
        if y.shape[1] > 1 and not takes_several:
            name = "multi_output" if self.task == "regression" else "multilabel"
            raise ValueError(
                f"y must have one column for loss {self!r}, got {y.shape[1]}; several need a loss with the "
                f"attribute {name!r}, or with a method 'n_scores'"
            )
        if self.task == "regression" or self.multilabel:
            return y.shape[1]
        n_classes = max(2, int(y.max()) + 1) if n_classes is None else n_classes
        return 1 if n_classes == 2 else n_classes

    @abstractmethod
    def value(self, y: Array, raw: Array) -> Array:
        """Loss of each row, (n,)."""

    @abstractmethod
    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        """First and second derivatives of ``value`` with respect to ``raw``, new arrays of shape (n, C)."""

    @abstractmethod
    def baseline(self, y: Array, weight: Array) -> Array:
        """The constant raw score, (C,), that minimises the weighted loss."""

    def prediction(self, response: Array) -> Array:
        """What metrics compare with targets, by default the response; of a distribution's parameters the mean."""
        return response
