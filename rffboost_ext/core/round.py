"""A boosting round: its state, what fits its term, and what chooses the length of its step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..utils.registry import Spec
from ..utils.typing import Array
from .loss import Loss, Observations
from .term import Term

Fitted: TypeAlias = Term | tuple[Term, Array]
"""What a learner returns: a term, or a term and its outputs on the rows of the round, (n, C)."""


@dataclass(frozen=True)
class Round:
    """The state of one boosting round, read-only. Row i of each array belongs to row i of ``design``.

    Attributes
    ----------
    design : Design
        The features: ``design.X`` is standardised, (n, d), or (n, e) after imputation and one-hot encoding.
    loss : Loss
        The loss that is minimised.
    y, raw : ndarray
        Target, (n, K), and raw scores so far, (n, C), without the offset.
    gradient, hessian : ndarray of shape (n, C)
        Derivatives at ``raw`` of ``loss.scales.unit`` times the loss, sample weights not applied.
    weight : ndarray of shape (n,)
        Sample weights; a row of weight 2 is equivalent to two rows, unless the loss couples rows. A learner that
        fits to a sample of the rows sets those of others to 0.
    index : int
        Index of the round, from 0.
    rng : numpy.random.Generator
        The random generator of this round.
    shrinkage : float
        Fraction of the full step that the term will be multiplied by, such as the learning rate.
    loss_weight : ndarray of shape (n,), optional
        Sample weights for calls of the loss: those of all rows, whatever a learner samples.
    offset : ndarray of shape (n, C), optional
        What is added to the scores before the loss gets them; None without an offset.
    prior_weight : float
        Weight of the old values of a term that is fitted again, in rows.
    """

    design: Any
    loss: Loss
    y: Array
    raw: Array
    gradient: Array
    hessian: Array
    weight: Array
    index: int
    rng: np.random.Generator
    shrinkage: float = 1.0
    loss_weight: Array = None  # type: ignore[assignment]
    offset: Array | None = None
    prior_weight: float = 0.0

    def __post_init__(self) -> None:
        if self.loss_weight is None:
            object.__setattr__(self, "loss_weight", self.weight)

    @property
    def observations(self) -> Observations:
        """What the loss gets of all rows: ``round.observations.losses(round.loss, raw)`` are losses at `raw`."""
        return Observations(self.y, self.loss_weight, self.offset)

    @property
    def residual(self) -> Array:
        """The negative gradient, (n, C), which the next term approximates."""
        return -self.gradient

    @property
    def output_weights(self) -> Array | None:
        """Weights of outputs in sums over outputs, (C,), if each has its own unit; None for equal weights."""
        unit = self.loss.scales.unit
        return None if isinstance(unit, float) or np.ndim(unit) == 0 else 1.0 / np.asarray(unit)

    @cached_property
    def balanced_gradient(self) -> Array:
        """The gradient, (n, C), times the roots of the output weights: sums over outputs have no unit."""
        return self.gradient if self.output_weights is None else np.sqrt(self.output_weights) * self.gradient

    @cached_property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.weight.sum())

    @cached_property
    def prior(self) -> Array:
        """Weight of the old values of a term that is fitted again, (C,), in units of weighted hessians."""
        if not self.prior_weight:
            return np.zeros(self.raw.shape[1])
        return np.asarray(self.prior_weight * np.average(self.hessian, axis=0, weights=self.weight))

    def mean(self, values: Array) -> Any:
        """The weighted mean over rows, the last axis of `values`."""
        return values @ self.weight / self.total_weight

    def inner(self, *factors: Array) -> float:
        """The weighted sum over rows and outputs of the product of arrays of shape (n, C)."""
        return float(np.einsum("i" + ",ic" * len(factors) + "->", self.weight, *factors))

    def newton_length(self, output: Array) -> float:
        """The length ``-<g, h> / <H, h^2>`` of a Newton step along an output h, (n, C); 0 after a perfect fit."""
        weighted = output if self.output_weights is None else self.output_weights * output
        curvature = self.inner(self.hessian, weighted, output)
        return -self.inner(self.gradient, weighted) / curvature if curvature > 0.0 else 0.0

    def evaluated(self, fitted: Fitted) -> tuple[Term, Array]:
        """The term that a learner returned, and its outputs on the rows of this round, (n, C)."""
        if isinstance(fitted, tuple):
            return fitted
        return fitted, self.design.restore(fitted).at(self.design.original)


class Learner(Spec, ABC):
    """Fits one term per round.

    A learner reads ``round.design.X``, ``round.residual`` (or gradient and hessian) and ``round.weight``. Laws:
    the term is a function of ``round.design.X``, and all random numbers are drawn from ``round.rng``.
    """

    step: ClassVar[str | None] = None
    """Name of the default step; None if it depends on the loss."""
    bounded: ClassVar[bool] = False
    """Whether outputs of terms are within [-1, 1]."""
    multi_output: ClassVar[bool] = False
    """Whether a term can have several outputs."""

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """Names of hyperparameters that constrain every term, such as monotone constraints.

        A model satisfies a constraint only if all learners of its terms do. By default there are none.
        """
        return ()

    @property
    def refits(self) -> bool:
        """Whether terms can be fitted again to other rows: whether the class has a method :meth:`refit`."""
        return type(self).refit is not Learner.refit

    @abstractmethod
    def fit(self, round: Round) -> Fitted:
        """The term of this round, or a pair of the term and its outputs on the rows of the round, (n, C).

        A learner that has the outputs anyway returns them, so that the term is not evaluated on these rows;
        :meth:`Round.evaluated` yields the pair in either case.
        """

    def refit(self, term: Term, round: Round) -> Fitted:
        """The term for this round that has the structure of `term`, which was fitted to other rows.

        The result is a term or a pair, as that of :meth:`fit`. Of trees the splits stay and the leaves are fitted
        again, of cosines the frequencies stay and the amplitudes are fitted again. The features of the round,
        ``round.design.X``, are standardised as in the fit of `term`. Estimators replay the rounds of a model by
        this method: in their method ``refresh``, and after early stopping.

        With ``round.prior_weight`` the old values have the weight ``round.prior``: a value v minimises the loss
        plus ``prior / 2 * (v - old) ** 2``.

        Law: the rounds of a fit that are replayed on the rows of the fit lower the loss as before.
        """
        raise NotImplementedError(f"{type(self).__name__}.refit")


class Step(Spec, ABC):
    """Chooses the length of the step along a term."""

    @abstractmethod
    def move(self, round: Round, output: Array) -> tuple[float, float]:
        """Return (keep, length) of the update ``raw <- keep * raw + length * output``.

        keep is 1 if earlier terms stay unchanged; a ridge step, for example, shrinks them.
        """

    def shrinkage(self, index: int) -> float:
        """Fraction of the full step in round `index`."""
        return 1.0


class Optimizer(Spec, ABC):
    """Minimises a function."""

    @abstractmethod
    def minimise(self, fun: Callable[[Any], Any], x0: Any) -> Any:
        """Return the best point for ``fun(x) -> (value, gradient)`` from the start `x0`.

        `fun` must not be called after this method returns, as its buffers are reused.
        """

    def minimise_in_stages(self, rough: Callable[[Any], Any], fun: Callable[[Any], Any], x0: Any) -> Any:
        """Return the best point for `fun`; a first stage may use `rough`, an approximation on a subset of rows.

        By default there is no first stage.
        """
        return self.minimise(fun, x0)
