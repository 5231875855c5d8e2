"""Placements: the choice of the landmark of a round."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...core import Optimizer, Round, Spec
from ...utils.registry import Registry
from ...utils.typing import Array
from .objectives import EmpiricalRisk


class Placement(Spec, ABC):
    """Chooses the landmark around which the K cosines of a round are centred."""

    @abstractmethod
    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        """The landmark, (d,), in the coordinates of ``round.design.X``, for frequencies `omega` (K, d).

        `objective` is the mean fit criterion of the cosines of `omega`, as a function of their phases.
        """


PLACEMENTS: Registry[Placement] = Registry("placement", Placement)  # type: ignore[type-abstract]


@PLACEMENTS.register("learned")
class LearnedLandmark(Placement):
    """Minimises the mean fit criterion of the uniformly weighted cosines, starting at the origin.

    References
    ----------
    Gautheron et al., ECML-PKDD 2020, equation 6 and algorithm 1; the frequency stays inside the sum over j in
    the gradient.
    """

    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        def at_landmark(landmark: Array) -> tuple[float, Array]:
            value, gradient = objective.at_phases(omega @ landmark)
            return value, gradient @ omega

        return np.asarray(optimizer.minimise(at_landmark, np.zeros(omega.shape[1])))


@PLACEMENTS.register("random")
class RandomLandmark(Placement):
    """Draws one of the training rows, with probability proportional to its weight."""

    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        X = round.design.X
        # Rows are ordered along a random direction, so that the draw does not depend on their order, and a row of
        # weight 2 is equivalent to the row twice.
        position = X @ round.rng.standard_normal(X.shape[1])
        order = np.argsort(position, kind="stable")
        cumulative = np.cumsum(round.weight[order])
        rank = np.searchsorted(cumulative, round.rng.uniform() * cumulative[-1], side="right")
        return np.array(X[order[min(rank, len(order) - 1)]])
