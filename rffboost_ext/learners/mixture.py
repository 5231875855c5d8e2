"""Cosines and trees in one ensemble: each round fits one of them, drawn by their recent gains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Fitted, Learner, Round, Term
from ..utils.param_validation import FRACTION, POSITIVE_FRACTION
from ..utils.typing import Array
from .registry import LEARNERS
from .subsampling import relative_gain, sample_rows
from .trees.learner import Tree
from .trees.symmetric.learner import SymmetricTree

# The number of initial rounds that alternate, and the minimum probability of either learner.
N_ALTERNATING, LEAST_SHARE = 10, 0.05


@LEARNERS.register("mixture")
@dataclass(eq=False, repr=False)
class Mixture(Learner):
    r"""Fits one of two learners in each round, drawn by their recent gains.

    The term of a round is fitted to a sample of the rows. Its score on the other rows is

    .. math:: e = -\frac{\bar H \sum_i w_i \sum_c \left(g_{ic} f_c(x_i) + \tfrac12 H_{ic} f_c(x_i)^2\right)}
              {\tfrac12 \sum_i w_i \sum_c g_{ic}^2},

    the gain of a full step along it by the second-order expansion, relative to the largest possible gain at the
    mean hessian. Negative gains count as 0. Each learner has a moving average of its scores, and trees are drawn
    with probability :math:`e_t^2 / (e_t^2 + e_c^2)`, at least 0.05 and at most 0.95. The first 10 rounds
    alternate. Terms of learners that leave their length to the step, such as :class:`RFF1`, get the length of a
    Newton step.

    Parameters
    ----------
    cosines : str or Learner, default="rff_newton"
        The learner for smooth structure.
    trees : str or Learner, default="symmetric_tree"
        The learner for discontinuous structure, such as :class:`SymmetricTree` or :class:`Tree`.
    subsample : float, default=0.9
        Share of the rows that a term is fitted to. With 1 no rows are left to score on, and all rounds alternate.
    memory : float, default=0.8
        Weight of the past in the moving averages.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import Mixture, RFFBoostRegressor, SymmetricTree
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> learner = Mixture(trees=SymmetricTree(max_depth=3))
    >>> model = RFFBoostRegressor(learner=learner, n_estimators=30, early_stopping=False, random_state=0)
    >>> bool(model.fit(X, np.sin(3.0 * X[:, 0])).score(X, np.sin(3.0 * X[:, 0])) > 0.8)
    True
    """

    cosines: str | Learner = "rff_newton"
    trees: str | Learner = "symmetric_tree"
    subsample: float = 0.9
    memory: float = 0.8

    step = "unit"
    constraints = {
        "subsample": POSITIVE_FRACTION,
        "memory": FRACTION,
    }

    roles = {"cosines": LEARNERS, "trees": LEARNERS}

    def validate(self) -> None:
        """Raise a ValueError also if one learner has constraints that the other does not have."""
        super().validate()
        learners = {"cosines": LEARNERS.make(self.cosines), "trees": LEARNERS.make(self.trees)}
        for role, other in (("cosines", "trees"), ("trees", "cosines")):
            for name in set(learners[role].active_constraints) - set(learners[other].active_constraints):
                raise ValueError(
                    f"Mixture: {name} of {role} hold only if all rounds satisfy them, but {other}, "
                    f"{getattr(self, other)!r}, do not; use learner='tree' instead"
                )

    @property
    def multi_output(self) -> bool:  # type: ignore[override]
        """Whether both learners can fit several outputs."""
        return all(LEARNERS.make(one).multi_output for one in (self.cosines, self.trees))

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """What both learners promise."""
        return LEARNERS.make(self.cosines).active_constraints

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The term of the drawn learner, and its outputs."""
        # Nested mixtures have separate averages. The cache keeps a reference to self, so that its id stays unique.
        _, description = round.design.cache((Mixture, id(self)), lambda: (self, str(self.get_params())))
        gains = round.design.learner_state((Mixture, description, "books"), lambda: np.full(2, np.nan))
        learners = LEARNERS.make(self.cosines), LEARNERS.make(self.trees)
        index = self._draw_learner(round, gains)
        sample, left_out = sample_rows(round, self.subsample)
        term, output = scaled_to_newton_step(learners[index], sample, learners[index].fit(sample))
        if left_out.any():
            gain = relative_gain(round, output, left_out)
            average = gain if np.isnan(gains[index]) else gains[index]
            gains[index] = self.memory * average + (1.0 - self.memory) * gain
        return term, output

    @property
    def refits(self) -> bool:
        """Whether both learners can, and one of them has trees, the other one none: their terms differ."""
        cosines, trees = LEARNERS.make(self.cosines), LEARNERS.make(self.trees)
        return cosines.refits and trees.refits and has_trees(trees) and not has_trees(cosines)

    def refit(self, term: Term, round: Round) -> tuple[Term, Array]:
        """The term with the structure of `term`, on a sample of the rows."""
        # The random numbers of a fit.
        round.rng.random()
        learner = LEARNERS.make(self.trees if term.is_tree else self.cosines)
        sample, _ = sample_rows(round, self.subsample)
        return scaled_to_newton_step(learner, sample, learner.refit(term, sample))

    def _draw_learner(self, round: Round, gains: Array) -> int:
        """0 for cosines, 1 for trees."""
        chance = round.rng.random()
        cosines, trees = (float(gain) ** 2 for gain in gains)
        if round.index < N_ALTERNATING or not cosines + trees > 0.0:
            return round.index % 2
        share = trees / (cosines + trees)
        return int(chance < min(max(share, LEAST_SHARE), 1.0 - LEAST_SHARE))


def has_trees(learner: Learner) -> bool:
    """Whether the terms of a learner are trees."""
    return isinstance(learner, Tree | SymmetricTree)


def scaled_to_newton_step(learner: Learner, round: Round, fitted: Fitted) -> tuple[Term, Array]:
    """The term that a learner has fitted and its outputs, of the length of a Newton step."""
    term, output = round.evaluated(fitted)
    if learner.step == "unit":
        return term, output
    length = round.newton_length(output)
    return term.scaled(length), length * output
