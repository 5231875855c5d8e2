"""Cosines and trees in one ensemble: each round is drawn for one of them, by their recent gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Learner, Round, Term
from ..utils.param_validation import Integer, Real
from ..utils.typing import Array
from .fourier.second_order import MERGED, POOL_SIZE, SHARE
from .registry import LEARNERS
from .subsampling import relative_gain, sampled, update
from .trees.learner import Tree

# From this number of features on, up to 3,000 rows are trained on by shorter steps, with coarser trees.
MANY_FEATURES = 100
# Leaves of the larger trees of many rows, the most useful number twice. They gain 0.11 points on 24, 48 and 96 (30
# fits of 10 sets, standard error 0.06), and 0.4 on 32 alone (0.2).
LEAVES = 32, 64, 64


@LEARNERS.register("mixture")
class Mixture(Learner):
    r"""One of two learners in each round, drawn by the gains of both so far.

    A round's term is fitted to a sample of the rows. On the others it scores

    .. math:: e = -\frac{\bar H \sum_i w_i \sum_c \left(g_{ic} f_c(x_i) + \tfrac12 H_{ic} f_c(x_i)^2\right)}
              {\tfrac12 \sum_i w_i \sum_c g_{ic}^2},

    the gain of a full step along it by the second-order expansion, relative to the largest possible gain at the
    mean hessian, so that early and late rounds are comparable. Negative gains count as 0. Each learner has its own
    moving average, and the trees are drawn with probability :math:`e_t^2 / (e_t^2 + e_c^2)`, bounded away from 0
    and 1. The first rounds alternate.

    Parameters
    ----------
    cosines : str or Learner, default="rff_newton"
        The learner for smooth structure.
    trees : str or Learner, default="auto"
        The learner for discontinuous structure. "auto" is a :class:`Tree`, drawn anew in each round: with fewer
        than 3,000 rows of depth 4 on 0.6 of the features or all (always 0.6 for classification of fewer than 1,000
        rows), else of depth 4, or, three times as often, of 32 or 64 leaves, on 0.8 of them. With up to four
        features it sees all of them. Where fewer than 3,000 rows have at least 100 features, these have 64 bins,
        and leaves at least ten rows in regression.
    subsample : float, default=0.9
        Share of the rows that a round's term is fitted to. With 1 there are no others to measure on, and rounds
        alternate to the end.
    memory : float, default=0.8
        Weight of the past in the moving averages.
    least_share : float, default=0.05
        Minimum probability of either learner.
    n_alternating : int, default=10
        Number of initial rounds that alternate.
    """

    step = "unit"
    multi_output = True
    stops_early = True
    pool_size = POOL_SIZE
    constraints = {
        "subsample": Real(0.0, 1.0),
        "memory": SHARE,
        "least_share": Real(0.0, 0.5, inclusive=True),
        "n_alternating": Integer(0),
    }

    roles = {"cosines": LEARNERS, "trees": LEARNERS}

    def __init__(
        self,
        cosines: str | Learner = "rff_newton",
        trees: str | Learner = "auto",
        subsample: float = 0.9,
        memory: float = 0.8,
        least_share: float = 0.05,
        n_alternating: int = 10,
    ) -> None:
        self.cosines = cosines
        self.trees = trees
        self.subsample = subsample
        self.memory = memory
        self.least_share = least_share
        self.n_alternating = n_alternating

    def set_params(self, **params: Any) -> Mixture:
        """Set hyperparameters, nested ones too: those of trees put a :class:`Tree` in the place of "auto"."""
        trees = params.get("trees", self.trees)
        automatic = isinstance(trees, str) and trees == "auto"
        if automatic and any(name.startswith("trees__") for name in params):
            params["trees"] = Tree()
        return super().set_params(**params)

    def validate(self) -> None:
        """Raise, beyond what all parts check, a ValueError if one learner is constrained and the other is not."""
        super().validate()
        learners = {"cosines": LEARNERS.make(self.cosines)}
        learners["trees"] = LEARNERS.make("tree" if self.trees == "auto" else self.trees)
        for role, other in (("cosines", "trees"), ("trees", "cosines")):
            for name in set(learners[role].active_constraints) - set(learners[other].active_constraints):
                raise ValueError(
                    f"Mixture: {name} of {role} hold only where all rounds keep to them, and {other}, "
                    f"{getattr(self, other)!r}, do not. Cosines cannot; learner='tree' without quality='high' does"
                )

    @property
    def supports_log_transform(self) -> bool:  # type: ignore[override]
        """Whether the cosines allow it, and the others are trees."""
        trees = isinstance(self.trees, Tree) or self.trees in ("auto", "tree")
        return trees and LEARNERS.make(self.cosines).supports_log_transform

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """What both learners promise."""
        return LEARNERS.make(self.cosines).active_constraints

    def merges_rows(self, n_samples: int) -> bool:
        """As second-order cosines do."""
        return n_samples <= MERGED

    def fit(self, round: Round) -> Term:
        """The term of whichever learner is drawn."""
        # A mixture may be part of another, with earnings of its own. It is spelt out once; kept with its spelling,
        # its id cannot become another's.
        _, spelt = round.design.cache((Mixture, id(self)), lambda: (self, spelling(self)))
        books = round.design.learner_state((Mixture, spelt, "books"), lambda: np.full(2, np.nan))
        learners = LEARNERS.make(self.cosines), self._tree(round)
        kind = self._draw(round, books)
        seen, rest = sampled(round, self.subsample)
        term = learners[kind].fit(seen)
        output = round.design.output(term)
        round.design.cache_output(term, output)
        if rest.any():
            update(books, kind, relative_gain(round, output, rest), self.memory)
        return term

    def _draw(self, round: Round, books: Array) -> int:
        """0 for cosines, 1 for trees."""
        chance = round.rng.random()
        cosines, trees = (float(earning) ** 2 for earning in books)
        if round.index < self.n_alternating or not cosines + trees > 0.0:
            return round.index % 2
        share = trees / (cosines + trees)
        return int(chance < min(max(share, self.least_share), 1.0 - self.least_share))

    def _tree(self, round: Round) -> Learner:
        if isinstance(self.trees, str) and self.trees == "auto":
            trees: tuple[Tree, ...] = round.design.cache((Mixture, "trees"), lambda: trees_of(round))
            return trees[0] if len(trees) == 1 else trees[int(round.rng.integers(len(trees)))]
        return LEARNERS.make(self.trees)


def spelling(part: Any) -> str:
    """What tells learners apart: types and hyperparameters. ``repr`` takes ten times as long, a round's time."""
    if not isinstance(part, Learner):
        return repr(part)
    known = (f"{name}={spelling(value)}" for name, value in part.get_params(deep=False).items())
    return f"{type(part).__qualname__}({', '.join(known)})"


def trees_of(round: Round) -> tuple[Tree, ...]:
    """Default trees for the rows, the features and the loss of a fit."""
    n, d = round.design.original.shape
    hessian = np.average(round.hessian.mean(axis=1), weights=round.weight)
    return trees_for(n, d, round.loss.task, float(hessian))


def trees_for(n_samples: int, n_features: int, task: str, hessian: float = 1.0) -> tuple[Tree, ...]:
    """Default trees for this number of rows and features, one of which is drawn in each round.

    With few rows all have the same depth, and column sampling makes them differ. Sampling per tree instead of per
    node changes accuracy by -0.04 points (standard error 0.08) over 136 fits of 21 sets, at 0.8 of the time of a
    fit. Half of the trees see all features, since interactions of two or three of them would otherwise hardly ever
    be seen: that gives +0.03 points (0.06) over 108 fits of 21 sets, and up to 0.15 of R2 where there are such
    interactions. For classification of fewer than 1,000 rows none does, since it gains nothing (-0.04, 0.07, over
    311 fits).

    With many rows shallow trees and those of many leaves complement each other. 64 leaves, split where the gain is
    largest, do the work of all nodes of depth 8 or 10: compared with depths of 4, 6, 8 and 10 accuracy changes by
    +0.01 points (30 fits of 10 sets, 0.11), with 10,000 to 34,000 rows by +0.16 (5 fits of 5 sets, 0.06), at 0.87
    and 0.81 of the time. With 0.8 of the features it is 0.13 points (0.05) higher than with all over 49 fits of 7
    sets, with 0.6 of them 0.03 (0.06).

    Features have XGBoost's 256 bins, which fast oscillations need: the R2 of 26 periods of a sine on 3,500 rows is
    0.94, with half the bins 0.84. On real sets half of them cost nothing (135 fits of few rows, 0.04) and save
    0.03 of the time. A quarter of them is worth its loss of 0.04 points (360 fits, 0.03) where there are many
    features. There one of them always happens to separate a few rows: leaves of a regression have ten rows at
    least, of the mean `hessian`, which takes 0.8 of the time and gains R2 where few features matter (0.84 instead
    of 0.83 on Friedman's first function with 200 features, 490 rows).
    """
    few = n_samples < 3_000
    shares = [0.6, 1.0] if few else [0.8]
    if n_features <= 4:
        shares = [1.0]
    elif task == "classification" and n_samples < 1_000:
        shares = [0.6]
    wide = few and n_features >= MANY_FEATURES
    least = 10.0 * hessian if wide and task == "regression" else 1.0
    bins: dict[str, Any] = {"max_bin": 64 if wide else 256}
    shallow = tuple(Tree(4, colsample_bytree=share, min_child_weight=least, **bins) for share in shares)
    if few:
        return shallow
    large = bins | {"max_depth": 0, "grow_policy": "lossguide", "colsample_bytree": shares[0]}
    return shallow + tuple(Tree(max_leaves=leaves, **large) for leaves in LEAVES)
