"""Fit criteria: measures of the fit of h to the residual, which learners minimise over their parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ...core import Round, Spec
from ...losses.links import LARGEST_EXPONENT
from ...utils.param_validation import is_auto
from ...utils.registry import Registry
from ...utils.typing import Array

EXPONENTIAL, NEWTON = 0, 1
# Gradients are clipped, so that sums of exp(g h) over rows are finite, also in float32.
MAX_GRADIENT = 1e8


@dataclass(frozen=True)
class CompiledCriterion:
    """A fit criterion for the compiled passes, sample weights included.

    The sum over rows is ``offset + factor * sum_i q_i exp(p_i h_i)`` if kind is EXPONENTIAL, and
    ``offset + factor * sum_i (p_i + q_i h_i / 2) h_i`` if kind is NEWTON.
    """

    kind: int
    p: Array
    q: Array
    factor: float = 1.0
    offset: float = 0.0


class FitCriterion(Spec, ABC):
    """A measure of the misfit of an output h, one column, to the derivatives of a round.

    Law: ``slope`` is the derivative of ``value`` by the output.
    """

    def compiled(self, round: Round) -> CompiledCriterion | None:
        """The fit criterion for the compiled passes, or None if it must be called in Python."""
        return None

    @abstractmethod
    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        """Value and slope per row, each of the shape of `output`, (..., n); sample weights not applied."""


FIT_CRITERIA: Registry[FitCriterion] = Registry("fit_criterion", FitCriterion)  # type: ignore[type-abstract]


@FIT_CRITERIA.register("exponential")
class ExponentialCriterion(FitCriterion):
    """``exp(-r h)`` with the residual r = -gradient: GBRFF1 and GBRFF2 (ECML-PKDD 2020, equations 5 and 9)."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        residual = round.residual[:, 0]
        value = np.exp(np.minimum(-residual * output, LARGEST_EXPONENT))
        return value, -residual * value

    def compiled(self, round: Round) -> CompiledCriterion:
        gradient = np.clip(round.gradient[:, 0], -MAX_GRADIENT, MAX_GRADIENT)
        largest = float(round.weight.max())
        weight = round.weight if largest == 1.0 else round.weight / largest
        return CompiledCriterion(EXPONENTIAL, gradient, weight, factor=largest)


@FIT_CRITERIA.register("squared")
class SquaredCriterion(FitCriterion):
    """``(r - h)^2``: the least-squares GBRFF of 2019."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        error = output - round.residual[:, 0]
        return np.square(error), 2.0 * error

    def compiled(self, round: Round) -> CompiledCriterion:
        # (r - h)^2 = r^2 - 2 r h + h^2: the constant is added in float64.
        residual = round.residual[:, 0]
        constant = float(np.sum(round.weight * np.square(residual)))
        return quadratic_criterion(-2.0 * residual * round.weight, 2.0 * round.weight, constant)


@FIT_CRITERIA.register("linear")
class LinearCriterion(FitCriterion):
    """``-r h``: the alignment that PBRFF maximises."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        residual = round.residual[:, 0]
        return -residual * output, np.broadcast_to(-residual, output.shape)

    def compiled(self, round: Round) -> CompiledCriterion:
        return quadratic_criterion(round.gradient[:, 0] * round.weight, np.zeros(len(round.weight)))


@FIT_CRITERIA.register("newton")
class NewtonCriterion(FitCriterion):
    """``g h + H h^2 / 2``: the second-order expansion of any loss, as in XGBoost's trees."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        gradient, hessian = round.gradient[:, 0], round.hessian[:, 0]
        curved = hessian * output
        return (gradient + 0.5 * curved) * output, gradient + curved

    def compiled(self, round: Round) -> CompiledCriterion:
        return quadratic_criterion(round.gradient[:, 0] * round.weight, round.hessian[:, 0] * round.weight)


@FIT_CRITERIA.register("scaled")
class ScaledCriterion(FitCriterion):
    r"""``g h / u + H h^2 / 2``: the newton fit criterion with a normalised gradient.

    With :math:`u^2 = 2 \sum w g^2 / \sum w H` a cosine, whose mean square is about 1/2, is as large as a typical
    Newton step. The result depends neither on the scale of the target nor on that of the residuals; the step
    determines the length.
    """

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        gradient, hessian = round.gradient[:, 0] / newton_amplitude(round), round.hessian[:, 0]
        curved = hessian * output
        return (gradient + 0.5 * curved) * output, gradient + curved

    def compiled(self, round: Round) -> CompiledCriterion:
        gradient = round.gradient[:, 0] / newton_amplitude(round)
        return quadratic_criterion(gradient * round.weight, round.hessian[:, 0] * round.weight)


def newton_amplitude(round: Round) -> float:
    """The amplitude of a cosine with the mean square of the Newton steps of the rows."""
    hessian = round.inner(round.hessian)
    amplitude = np.sqrt(2.0 * round.inner(round.gradient, round.gradient) / hessian) if hessian > 0.0 else 0.0
    return float(amplitude) if amplitude > 0.0 else 1.0


def quadratic_criterion(p: Array, q: Array, offset: float = 0.0) -> CompiledCriterion:
    """``offset + sum_i (p_i + q_i h_i / 2) h_i``, with p and q scaled to order 1 for float32."""
    factor = float(max(np.abs(p).max(), np.abs(q).max())) or 1.0
    return CompiledCriterion(NEWTON, p / factor, q / factor, factor, offset)


def choose_fit_criterion(fit_criterion: str | FitCriterion, round: Round) -> FitCriterion:
    """The fit criterion of this name or instance; "auto" is that of the loss."""
    return FIT_CRITERIA.make(round.loss.fit_criterion if is_auto(fit_criterion) else fit_criterion)
