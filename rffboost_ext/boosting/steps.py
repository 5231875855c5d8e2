"""Steps, the length of the update along the output of a term, and learning rates that decay."""

from __future__ import annotations

import numpy as np

from ..core import Round, Spec, Step
from ..utils.convex import minimiser_along
from ..utils.param_validation import POSITIVE, Function, Real
from ..utils.registry import Registry
from ..utils.typing import Array

STEPS: Registry[Step] = Registry("step", Step)  # type: ignore[type-abstract]

RATE = POSITIVE | Function("the round")
"""Allowed learning rates."""

# Keeps the step finite for a term that is right or wrong on every row.
LARGEST_CORRELATION = 1.0 - 1e-12


@STEPS.register("unit")
class Unit(Step):
    """``length = 1``: for learners that scale their outputs themselves, such as trees."""

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        return 1.0, 1.0


@STEPS.register("zero")
class Zero(Step):
    """``length = 0``: the scores, and so the residual, stay the same in every round (independent features)."""

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        return 1.0, 0.0


@STEPS.register("confidence_rated")
class ConfidenceRated(Step):
    r"""The closed form of Schapire and Singer for outputs within [-1, 1].

    .. math:: \alpha = \tfrac12 \log \frac{\sum_i w_i (1 + y_i h_i)}{\sum_i w_i (1 - y_i h_i)}
              = \operatorname{artanh}\left( - \frac{\langle g, h \rangle}{\sum H} \right)

    with the gradient g = -w y and the hessian H = w of the exponential loss. The right-hand side is valid for
    every loss with \|g\| <= H.

    References
    ----------
    R. E. Schapire and Y. Singer, Improved boosting algorithms using confidence-rated predictions, Machine
    Learning 37, 1999, corollary 1. Gautheron et al., ECML-PKDD 2020, section 3.1.
    """

    needs = {"loss": ("bounded_ratio",), "learner": ("bounded",)}

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        # The hessian may be 0 after a perfect fit.
        total = round.inner(round.hessian)
        correlation = -round.inner(round.gradient, output) / total if total > 0.0 else 0.0
        return 1.0, float(np.arctanh(min(max(correlation, -LARGEST_CORRELATION), LARGEST_CORRELATION)))


@STEPS.register("newton")
class Newton(Step):
    """One Newton step along the output, ``length = -<g, h> / <H, h^2>``; exact for the squared error."""

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        return 1.0, round.newton_length(output)


@STEPS.register("line_search")
class LineSearch(Step):
    """The length that minimises the loss along the output, found as the root of its slope.

    Parameters
    ----------
    tol : float, default=1e-8
        Tolerance on the length, relative to it.
    max_length : float, default=1e6
        Maximum length, as a multiple of the largest absolute target if that exceeds 1. It is reached if the loss
        has no minimum along the output, as on separable data.
    """

    constraints = {"tol": POSITIVE, "max_length": POSITIVE}

    def __init__(self, tol: float = 1e-8, max_length: float = 1e6) -> None:
        self.tol = tol
        self.max_length = max_length

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        def slope(length: float) -> float:
            gradient, _ = round.observations.derivatives(round.loss, round.raw + length * output)
            return round.inner(gradient, output)

        longest = self.max_length * max(1.0, float(np.abs(round.y).max(initial=0.0, where=np.isfinite(round.y))))
        return 1.0, minimiser_along(slope, longest, self.tol)


class Decay(Spec):
    r"""A learning rate that decays geometrically: :math:`\max(\text{least}, \text{rate} \cdot \text{factor}^t)`.

    For the parameter ``learning_rate`` of the estimators, which takes any function of the round t = 0, 1, ... that
    returns a positive number. This one can also be stored in model files, and ``learning_rate__factor`` can be
    tuned.

    Parameters
    ----------
    rate : float, default=0.3
        The learning rate of the first round.
    factor : float, default=0.99
        Factor per round, at most 1.
    least : float, default=0.02
        Lower bound of the learning rate.

    Examples
    --------
    >>> from rffboost_ext import Decay
    >>> [Decay(0.4, 0.5, 0.1)(t) for t in range(4)]
    [0.4, 0.2, 0.1, 0.1]
    """

    constraints = {"rate": POSITIVE, "factor": Real(0.0, 1.0), "least": POSITIVE}

    def __init__(self, rate: float = 0.3, factor: float = 0.99, least: float = 0.02) -> None:
        self.rate = rate
        self.factor = factor
        self.least = least

    def __call__(self, index: int) -> float:
        """The learning rate of round `index`, from 0."""
        return max(self.least, self.rate * self.factor**index)
