"""Cosines and trees in one ensemble: each round fits one of them, drawn by their recent gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Fitted, Learner, Round, Term
from ..utils.param_validation import FRACTION, POSITIVE_FRACTION, Integer, Real, is_auto
from ..utils.typing import Array
from .registry import LEARNERS
from .subsampling import relative_gain, sample_rows
from .trees.learner import Tree
from .trees.symmetric.learner import SymmetricTree

# From this number of features on, fits on fewer than 3,000 rows take shorter steps and coarser trees.
MANY_FEATURES = 100
# From this number of features on, bins take most of the time and memory of a tree on few rows: they are halved.
VERY_MANY_FEATURES = 1_000
# Leaves of the larger trees with many rows; the most useful number is drawn twice as often.
LEAVES = 32, 64, 64
# With a category of more levels than this, most time of XGBoost's trees is for sorting the levels in each node.
MANY_LEVELS = 2_000
OF_MANY_LEVELS = (SymmetricTree(leaf="constant", colsample_bytree=0.8, ordered=False),)
# Gradients of a ranking sum to 0 in each query, so that features of queries gain only by interactions with others,
# which symmetric trees look for in all nodes of a level at once.
GROUPED = (SymmetricTree(leaf="linear", max_bin=64, colsample_bytree=0.5),)


@LEARNERS.register("mixture")
@dataclass(eq=False, repr=False)
class Mixture(Learner):
    r"""Fits one of two learners in each round, drawn by their recent gains.

    The term of a round is fitted to a sample of the rows. Its score on the other rows is

    .. math:: e = -\frac{\bar H \sum_i w_i \sum_c \left(g_{ic} f_c(x_i) + \tfrac12 H_{ic} f_c(x_i)^2\right)}
              {\tfrac12 \sum_i w_i \sum_c g_{ic}^2},

    the gain of a full step along it by the second-order expansion, relative to the largest possible gain at the
    mean hessian. Negative gains count as 0. Each learner has a moving average of its scores, and trees are drawn
    with probability :math:`e_t^2 / (e_t^2 + e_c^2)`, bounded away from 0 and 1. The first rounds alternate. Terms
    of learners that leave their length to the step, such as :class:`RFF1`, get the length of a Newton step.

    Parameters
    ----------
    cosines : str or Learner, default="rff_newton"
        The learner for smooth structure.
    trees : str or Learner, default="auto"
        The learner for discontinuous structure. "auto" draws a :class:`Tree` in each round. With fewer than 3,000
        rows it has depth 4 and samples 0.6 of the features or all (always 0.6 in classification of fewer than
        1,000 rows). Otherwise it has depth 4 or, three times as often, 32 or 64 leaves, and samples 0.8. Up to
        four features are never sampled. With fewer than 3,000 rows and at least 100 features there are 64 bins (32
        from 1,000 features on), and leaves of regression trees have at least ten rows. It is a
        :class:`SymmetricTree` in two cases: if the loss couples the rows of groups, as in rankings, with linear
        leaves, 64 bins and half of the features; with a category of more than 2,000 levels, with constant leaves,
        0.8 of the features, and levels that all rows order.
    subsample : float, default=0.9
        Share of the rows that a term is fitted to. With 1 no rows are left to score on, and all rounds alternate.
    memory : float, default=0.8
        Weight of the past in the moving averages.
    least_share : float, default=0.05
        Minimum probability of either learner.
    n_alternating : int, default=10
        Number of initial rounds that alternate.
    """

    cosines: str | Learner = "rff_newton"
    trees: str | Learner = "auto"
    subsample: float = 0.9
    memory: float = 0.8
    least_share: float = 0.05
    n_alternating: int = 10

    step = "unit"
    constraints = {
        "subsample": POSITIVE_FRACTION,
        "memory": FRACTION,
        "least_share": Real(0.0, 0.5, closed="both"),
        "n_alternating": Integer(0),
    }

    roles = {"cosines": LEARNERS, "trees": LEARNERS}

    def set_params(self, **params: Any) -> Mixture:
        """Set hyperparameters, including nested ones; those of trees replace "auto" by a :class:`Tree`."""
        if is_auto(params.get("trees", self.trees)) and any(name.startswith("trees__") for name in params):
            params["trees"] = Tree()
        return super().set_params(**params)

    def validate(self) -> None:
        """Raise a ValueError also if one learner has constraints that the other does not have."""
        super().validate()
        learners = {"cosines": LEARNERS.make(self.cosines)}
        learners["trees"] = LEARNERS.make("tree" if is_auto(self.trees) else self.trees)
        for role, other in (("cosines", "trees"), ("trees", "cosines")):
            for name in set(learners[role].active_constraints) - set(learners[other].active_constraints):
                raise ValueError(
                    f"Mixture: {name} of {role} hold only if all rounds satisfy them, but {other}, "
                    f"{getattr(self, other)!r}, do not; use learner='tree' without quality='high' instead"
                )

    @property
    def multi_output(self) -> bool:  # type: ignore[override]
        """Whether both learners can fit several outputs."""
        return all(is_auto(one) or LEARNERS.make(one).multi_output for one in (self.cosines, self.trees))

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """What both learners promise."""
        return LEARNERS.make(self.cosines).active_constraints

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The term of the drawn learner, and its outputs."""
        # Nested mixtures have separate averages. The cache keeps a reference to self, so that its id stays unique.
        _, description = round.design.cache((Mixture, id(self)), lambda: (self, str(self.get_params())))
        gains = round.design.learner_state((Mixture, description, "books"), lambda: np.full(2, np.nan))
        learners = LEARNERS.make(self.cosines), self._draw_tree(round)
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
        cosines, trees = LEARNERS.make(self.cosines), LEARNERS.make("tree" if is_auto(self.trees) else self.trees)
        return cosines.refits and trees.refits and has_trees(trees) and not has_trees(cosines)

    def refit(self, term: Term, round: Round) -> tuple[Term, Array]:
        """The term with the structure of `term`, on a sample of the rows."""
        # The random numbers of a fit.
        trees, _ = self._draw_tree(round), round.rng.random()
        learner = trees if term.is_tree else LEARNERS.make(self.cosines)
        sample, _ = sample_rows(round, self.subsample)
        return scaled_to_newton_step(learner, sample, learner.refit(term, sample))

    def _draw_learner(self, round: Round, gains: Array) -> int:
        """0 for cosines, 1 for trees."""
        chance = round.rng.random()
        cosines, trees = (float(gain) ** 2 for gain in gains)
        if round.index < self.n_alternating or not cosines + trees > 0.0:
            return round.index % 2
        share = trees / (cosines + trees)
        return int(chance < min(max(share, self.least_share), 1.0 - self.least_share))

    def _draw_tree(self, round: Round) -> Learner:
        if is_auto(self.trees):
            trees: tuple[Learner, ...] = round.design.cache((Mixture, "trees"), lambda: default_trees(round))
            return trees[0] if len(trees) == 1 else trees[int(round.rng.integers(len(trees)))]
        return LEARNERS.make(self.trees)


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


def default_trees(round: Round) -> tuple[Learner, ...]:
    """The trees that "auto" draws from in this fit."""
    if round.loss.rows == "groups":
        return GROUPED
    if max(round.design.n_levels.values(), default=0) > MANY_LEVELS:
        return OF_MANY_LEVELS
    n, d = round.design.original.shape
    hessian = float(np.average(round.hessian.mean(axis=1), weights=round.weight))
    return tree_variants(n, d, round.loss.task, hessian)


def tree_variants(n_samples: int, n_features: int, task: str, hessian: float = 1.0) -> tuple[Tree, ...]:
    """The trees that "auto" draws from, for this number of rows and features.

    With few rows all have the same depth, and column sampling makes them differ. Half of the trees see all
    features, because sampling would hide interactions, except in classification of fewer than 1,000 rows. With
    many rows, shallow trees and trees of many leaves complement each other. With many features and few rows, bins
    are coarser, and a leaf in regression has at least ten rows of the mean `hessian`, because some feature
    separates a few rows by chance.
    """
    few = n_samples < 3_000
    shares = [0.6, 1.0] if few else [0.8]
    if n_features <= 4:
        shares = [1.0]
    elif task == "classification" and n_samples < 1_000:
        shares = [0.6]
    wide = few and n_features >= MANY_FEATURES
    min_weight = 10.0 * hessian if wide and task == "regression" else 1.0
    n_bins = 32 if n_features >= VERY_MANY_FEATURES else 64
    bins: dict[str, Any] = {"max_bin": n_bins if wide else 256}
    shallow = tuple(Tree(4, colsample_bytree=share, min_child_weight=min_weight, **bins) for share in shares)
    if few:
        return shallow
    bins |= {"max_depth": 0, "grow_policy": "lossguide", "colsample_bytree": shares[0]}
    return shallow + tuple(Tree(max_leaves=leaves, **bins) for leaves in LEAVES)
