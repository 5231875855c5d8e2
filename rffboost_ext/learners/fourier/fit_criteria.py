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


class QuadraticCriterion(FitCriterion):
    """``c + p h + q h^2 / 2`` with coefficients of each row."""

    @abstractmethod
    def coefficients(self, round: Round) -> tuple[Array, Array, Array]:
        """The coefficients p, q and c, (n,) each; sample weights not applied."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        p, q, constant = self.coefficients(round)
        curved = q * output
        return constant + (p + 0.5 * curved) * output, p + curved

    def compiled(self, round: Round) -> CompiledCriterion:
        p, q, constant = self.coefficients(round)
        p, q = p * round.weight, q * round.weight
        # Of order 1 for float32; the constant is added in float64.
        factor = float(max(np.abs(p).max(), np.abs(q).max())) or 1.0
        return CompiledCriterion(NEWTON, p / factor, q / factor, factor, float(np.sum(round.weight * constant)))


@FIT_CRITERIA.register("squared")
class SquaredCriterion(QuadraticCriterion):
    """``(r - h)^2``: the least-squares GBRFF of 2019."""

    def coefficients(self, round: Round) -> tuple[Array, Array, Array]:
        residual = round.residual[:, 0]
        return -2.0 * residual, np.full(len(residual), 2.0), np.square(residual)


@FIT_CRITERIA.register("linear")
class LinearCriterion(QuadraticCriterion):
    """``-r h``: the alignment that PBRFF maximises."""

    def coefficients(self, round: Round) -> tuple[Array, Array, Array]:
        return round.gradient[:, 0], *np.zeros((2, len(round.gradient)))


@FIT_CRITERIA.register("newton")
class NewtonCriterion(QuadraticCriterion):
    """``g h + H h^2 / 2``: the second-order expansion of any loss, as in XGBoost's trees."""

    def coefficients(self, round: Round) -> tuple[Array, Array, Array]:
        return round.gradient[:, 0], round.hessian[:, 0], np.zeros(len(round.gradient))


@FIT_CRITERIA.register("scaled")
class ScaledCriterion(QuadraticCriterion):
    r"""``g h / u + H h^2 / 2``: the newton fit criterion with a normalised gradient.

    With :math:`u^2 = 2 \sum w g^2 / \sum w H` a cosine, whose mean square is about 1/2, is as large as a typical
    Newton step. The result depends neither on the scale of the target nor on that of the residuals; the step
    determines the length.
    """

    def coefficients(self, round: Round) -> tuple[Array, Array, Array]:
        gradient = round.gradient[:, 0] / newton_amplitude(round)
        return gradient, round.hessian[:, 0], np.zeros(len(gradient))


def newton_amplitude(round: Round) -> float:
    """The amplitude of a cosine with the mean square of the Newton steps of the rows."""
    hessian = round.inner(round.hessian)
    amplitude = np.sqrt(2.0 * round.inner(round.gradient, round.gradient) / hessian) if hessian > 0.0 else 0.0
    return float(amplitude) if amplitude > 0.0 else 1.0


def choose_fit_criterion(fit_criterion: str | FitCriterion, round: Round) -> FitCriterion:
    """The fit criterion of this name or instance; "auto" is that of the loss."""
    return FIT_CRITERIA.make(round.loss.fit_criterion if is_auto(fit_criterion) else fit_criterion)
