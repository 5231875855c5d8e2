"""Matches: 'h resembles the residual' as a loss of its own, which a learner minimises over its parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..core import Array, Round, Spec
from ..losses.margin import LARGEST_EXPONENT
from ..registry import Registry


class Match(Spec, ABC):
    """How badly an output h of one column fits the derivatives of a round.

    Law: ``slope`` is the derivative of ``value`` by the output.
    """

    @abstractmethod
    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        """Value and slope per row, each of the shape of `output`, (..., n); sample weights not applied."""


MATCHES: Registry[Match] = Registry("match", Match)  # type: ignore[type-abstract]


@MATCHES.register("exponential")
class ExponentialMatch(Match):
    """``exp(-r h)`` with the residual r = -gradient: GBRFF1 and GBRFF2 (ECML-PKDD 2020, equations 5 and 9)."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        residual = round.residual[:, 0]
        value = np.exp(np.minimum(-residual * output, LARGEST_EXPONENT))
        return value, -residual * value


@MATCHES.register("squared")
class SquaredMatch(Match):
    """``(r - h)^2``: the least-squares GBRFF of 2019."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        error = output - round.residual[:, 0]
        return np.square(error), 2.0 * error


@MATCHES.register("linear")
class LinearMatch(Match):
    """``-r h``: the alignment that PBRFF maximises."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        residual = round.residual[:, 0]
        return -residual * output, np.broadcast_to(-residual, output.shape)


@MATCHES.register("newton")
class NewtonMatch(Match):
    """``g h + H h^2 / 2``: the second-order expansion of any loss, as in XGBoost's trees."""

    def __call__(self, round: Round, output: Array) -> tuple[Array, Array]:
        gradient, hessian = round.gradient[:, 0], round.hessian[:, 0]
        curved = hessian * output
        return (gradient + 0.5 * curved) * output, gradient + curved


def choose_match(match: str | Match, round: Round) -> Match:
    """The match of that name or instance; "auto" is the one that the loss names."""
    return MATCHES.create(round.loss.match if isinstance(match, str) and match == "auto" else match)
