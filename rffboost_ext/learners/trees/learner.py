"""XGBoost's trees as a weak learner: one tree per round, on a matrix that is binned once."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import Learner, Round, Term
from ...utils.param_validation import NON_NEGATIVE, OPTIONAL, Integer, OneOf, Real
from ...utils.typing import Array
from ..registry import LEARNERS
from .binning import binned, centred, require_single_precision
from .column_sampling import seeded, seen_columns
from .constraints import Groups, Signs, require_groups, require_signs
from .gradient_scaling import units_of_targets
from .incremental_forest import Forest, GrownTree
from .xgboost_c_api import boost, margins, weigh_columns

SHARE = Real(0.0, 1.0)


@LEARNERS.register("tree")
class Tree(Learner):
    """One regression tree, grown by XGBoost from the gradient and hessian of the round.

    The same tree as in XGBoost's own loop with the same objective: the features are binned once per fit and
    one booster grows through all rounds. The learning rate is the estimator's. Parameters are XGBoost's own.

    Parameters
    ----------
    max_depth : int, default=6
        Maximum depth; 0 for no limit.
    max_leaves : int, default=0
        Maximum number of leaves; 0 for no limit.
    grow_policy : "depthwise" or "lossguide", default="depthwise"
        Whether the node nearest to the root or that of the largest gain is split next.
    min_child_weight : float, default=1.0
        Minimum sum of hessians in a leaf.
    min_split_loss : float, default=0.0
        Minimum gain of a split (XGBoost's ``gamma``).
    reg_lambda, reg_alpha : float, default=1.0, 0.0
        L2 and L1 penalty on leaf values.
    max_delta_step : float, default=0.0
        Largest leaf value; 0 for no limit.
    subsample, colsample_bytree, colsample_bylevel, colsample_bynode : float, default=1.0
        Shares of rows and columns that a tree, a level, a node sees.
    max_bin : int, default=256
        Bins per feature.
    monotone_constraints : sequence of -1, 0 and 1, optional
        For each feature: outputs decrease with it, are unconstrained, or increase with it.
    interaction_constraints : sequence of sequences of int, optional
        Groups of features by index: only features of one group may share a path. Like monotone constraints
        they need ``learner="tree"``: cosines do not honour them, in a mixture or beside trees in a stack.

    Raises
    ------
    ValueError
        In fit, if constraints do not match the number of features, or X is beyond the range of float32.

    Notes
    -----
    Missing values (NaN) go to the side that gains more, and categories are split into sets, as in XGBoost. Columns
    of a large offset, such as times in seconds, of which float32 would tell few values apart, are centred for
    XGBoost, and their thresholds moved back in float64. Rows and columns are drawn from the round's own seed: a
    round does not depend on those before it, nor on other boosters of the process. Trees of several outputs in one
    round see the same columns.
    """

    step = "unit"
    multi_output = True
    constraints = {
        "max_depth": Integer(0),
        "max_leaves": Integer(0),
        "grow_policy": OneOf(("depthwise", "lossguide")),
        "min_child_weight": NON_NEGATIVE,
        "min_split_loss": NON_NEGATIVE,
        "reg_lambda": NON_NEGATIVE,
        "reg_alpha": NON_NEGATIVE,
        "max_delta_step": NON_NEGATIVE,
        "subsample": SHARE,
        "colsample_bytree": SHARE,
        "colsample_bylevel": SHARE,
        "colsample_bynode": SHARE,
        "max_bin": Integer(2),
        "monotone_constraints": Signs() | OPTIONAL,
        "interaction_constraints": Groups() | OPTIONAL,
    }

    def __init__(
        self,
        max_depth: int = 6,
        max_leaves: int = 0,
        min_child_weight: float = 1.0,
        min_split_loss: float = 0.0,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        max_bin: int = 256,
        grow_policy: str = "depthwise",
        max_delta_step: float = 0.0,
        monotone_constraints: Sequence[int] | None = None,
        interaction_constraints: Sequence[Sequence[int]] | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_child_weight = min_child_weight
        self.min_split_loss = min_split_loss
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.max_bin = max_bin
        self.grow_policy = grow_policy
        self.max_delta_step = max_delta_step
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """The constraints that are set."""
        signs = self.monotone_constraints is not None and any(self.monotone_constraints)
        groups = self.interaction_constraints is not None
        return ("monotone_constraints",) * signs + ("interaction_constraints",) * groups

    def merges_rows(self, n_samples: int) -> bool:
        """Only where each value has a bin of its own: elsewhere XGBoost's bins depend on how rows are weighted."""
        return n_samples <= self.max_bin

    def fit(self, round: Round) -> Term:
        """The tree of this round; one per output where there are several."""
        # By value: a learner that is recreated in each round continues the booster of an equal one.
        grower = round.design.cache((type(self), pickle.dumps(vars(self))), lambda: Grower(self, round))
        return grower.grow(round)

    @property
    def draws(self) -> bool:
        """Whether XGBoost draws rows, or columns of a level or a node; columns of a tree are drawn for it."""
        return min(self.subsample, self.colsample_bylevel, self.colsample_bynode) < 1.0

    @property
    def has_units(self) -> bool:
        """Whether a hyperparameter is in units of leaf values or of gains."""
        return max(self.reg_alpha, self.min_split_loss, self.max_delta_step) > 0.0

    def native(self, n_features: int) -> dict[str, Any]:
        """The parameters as ``xgboost.train`` takes them."""
        # A class that derives from this one may have fewer parameters.
        params: dict[str, Any] = {name: getattr(self, name) for name in Tree.constraints}
        signs, groups = params.pop("monotone_constraints"), params.pop("interaction_constraints")
        if signs is not None:
            require_signs(signs, n_features)
            params["monotone_constraints"] = f"({','.join(str(int(sign)) for sign in signs)})"
        if groups is not None:
            require_groups(groups, n_features)
            params["interaction_constraints"] = str([[int(index) for index in group] for group in groups])
        return params


class Grower:
    """A booster of XGBoost that grows by one tree per round, and the matrix that it grows on."""

    def __init__(self, learner: Tree, round: Round) -> None:
        from xgboost import Booster

        design, n_outputs = round.design, round.raw.shape[1]
        params = learner.native(design.original.shape[1])
        require_single_precision(design.original)
        self.share, self.n_features = learner.colsample_bytree, design.original.shape[1]
        # Column weights belong to the matrix: a learner that sets none and draws columns by them has another one.
        draws = min(learner.colsample_bylevel, learner.colsample_bynode) < 1.0
        kind = Grower, learner.max_bin, self.share == 1.0 and draws
        center, X = design.cache((Grower, "centred"), lambda: centred(design.original))
        self.matrix = design.cache(kind, lambda: binned(round, X, learner.max_bin))
        # Seeded per iteration: XGBoost's default stream is global to the process, shared with other boosters.
        params |= {"nthread": design.n_jobs, "seed_per_iteration": True}
        params |= {"eta": 1.0, "base_score": 0.0, "tree_method": "hist"}
        if n_outputs > 1:
            params |= {"num_class": n_outputs, "objective": "multi:softprob"}
        self.unit = np.ones(n_outputs) if learner.has_units else units_of_targets(round)
        self.booster = Booster(params, [self.matrix])
        self.forest, self.grown = Forest(self.booster, X, center), 0
        # Requested before there are trees, scores are cached and updated as they grow, without passes of their
        # own.
        self.margin = margins(self.booster, self.matrix, round.raw.shape)
        self.seeded = seeded(self.booster.save_config()) if learner.draws else None

    def grow(self, round: Round) -> GrownTree:
        """Grow one more round and return it, its output on the training rows remembered."""
        iteration = self.grown
        if self.seeded is not None:
            iteration = int(round.rng.integers(2**31))
            self.booster.load_config(self.seeded(iteration))
        if self.share < 1.0:
            weigh_columns(self.matrix, seen_columns(round.rng, self.n_features, self.share))
        grad, hess = weighted(round)
        if (self.unit != 1.0).any():
            grad = grad / self.unit
        boost(self.booster, self.matrix, iteration, grad, hess)
        margin = margins(self.booster, self.matrix, round.raw.shape)
        term = GrownTree(self.forest, self.grown, self.unit)
        round.design.cache_output(term, self.unit * np.subtract(margin, self.margin, dtype=np.float64))
        self.margin, self.grown = margin, self.grown + 1
        return term


def weighted(round: Round) -> tuple[Array, Array]:
    """Gradient and hessian, (n, C) each, times the sample weights where those are not all 1."""
    if (round.weight == 1.0).all():
        return round.gradient, round.hessian
    return round.gradient * round.weight[:, None], round.hessian * round.weight[:, None]
