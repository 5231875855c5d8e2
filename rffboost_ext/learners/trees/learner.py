"""XGBoost's trees as a weak learner: one tree per round on a matrix that is binned once."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._signals import defer_signals
from ...core import Learner, Loss, Round, Term
from ...terms import Trees
from ...utils.param_validation import NON_NEGATIVE, OPTIONAL, POSITIVE_FRACTION, Integer, OneOf
from ...utils.typing import Array
from ..registry import LEARNERS
from .column_sampling import sample_columns, seed_configuration
from .constraints import FEATURE_GROUPS, SIGNS, is_bound, require_groups, require_signs, signs_of_scores
from .incremental_forest import GrownTree, IncrementalForest
from .leaf_values import LeafValues
from .single_precision import center_columns, gradient_units, require_single_precision
from .xgboost_c_api import set_column_weights, train_iteration, training_scores

if TYPE_CHECKING:
    from xgboost import DMatrix

    from ..design import Design


@LEARNERS.register("tree")
@dataclass(eq=False, repr=False)
class Tree(Learner):
    """One regression tree, grown by XGBoost from the gradient and hessian of the round.

    The trees are those of XGBoost's own loop with the same objective: features are binned once per fit, and one
    booster grows through all rounds. Parameters are those of XGBoost, except for the learning rate, which is a
    parameter of the estimator.

    Parameters
    ----------
    max_depth : int, default=6
        Maximum depth; 0 for no limit.
    max_leaves : int, default=0
        Maximum number of leaves; 0 for no limit.
    grow_policy : "depthwise" or "lossguide", default="depthwise"
        Whether the node nearest to the root or the node of largest gain is split next.
    min_child_weight : float, default=1.0
        Minimum sum of hessians in a leaf.
    min_split_loss : float, default=0.0
        Minimum gain of a split (XGBoost's ``gamma``).
    reg_lambda, reg_alpha : float, default=1.0, 0.0
        L2 and L1 penalty on leaf values.
    max_delta_step : float, default=0.0
        Largest leaf value; 0 for no limit.
    subsample, colsample_bytree, colsample_bylevel, colsample_bynode : float, default=1.0
        Sampled shares of the rows and columns of a tree, and of the columns of a level and a node.
    max_bin : int, default=256
        Bins per feature.
    monotone_constraints : sequence of -1, 0 and 1, or mapping, optional
        For each feature, whether predictions decrease with it, are unconstrained, or increase with it. All scores
        of the loss must change predictions (``Loss.monotone``).
    interaction_constraints : sequence of sequences of int, optional
        Groups of feature indices; only features of one group may occur on one path. Both kinds of constraints
        require ``learner="tree"``, because cosines do not satisfy them.

    Raises
    ------
    ValueError
        In fit, if constraints do not match the number of features, or X exceeds the range of float32.

    Notes
    -----
    Missing values (NaN) follow the branch of larger gain, and categories are split into sets, as in XGBoost.
    Columns with a large offset, such as times in seconds, are centred, because float32 would merge their values;
    thresholds are shifted back in float64. Rows and columns are drawn from the seed of the round: a round depends
    neither on earlier rounds nor on other boosters of the process. Trees of several outputs in one round have the
    same columns.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, Tree
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> learner = Tree(max_depth=3, monotone_constraints=[1])
    >>> model = RFFBoostRegressor(learner=learner, n_estimators=10).fit(X, np.sin(X[:, 0]))
    >>> bool((np.diff(model.predict(X)) >= 0.0).all())
    True
    """

    max_depth: int = 6
    max_leaves: int = 0
    min_child_weight: float = 1.0
    min_split_loss: float = 0.0
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    colsample_bylevel: float = 1.0
    colsample_bynode: float = 1.0
    max_bin: int = 256
    grow_policy: str = "depthwise"
    max_delta_step: float = 0.0
    monotone_constraints: Sequence[int] | Mapping[str, int] | None = None
    interaction_constraints: Sequence[Sequence[int]] | None = None

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
        "subsample": POSITIVE_FRACTION,
        "colsample_bytree": POSITIVE_FRACTION,
        "colsample_bylevel": POSITIVE_FRACTION,
        "colsample_bynode": POSITIVE_FRACTION,
        "max_bin": Integer(2),
        "monotone_constraints": SIGNS | OPTIONAL,
        "interaction_constraints": FEATURE_GROUPS | OPTIONAL,
    }

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """The constraints that are set."""
        signs = is_bound(self.monotone_constraints)
        groups = self.interaction_constraints is not None
        return ("monotone_constraints",) * signs + ("interaction_constraints",) * groups

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The tree of this round, or one tree per output."""
        # The key holds values: a learner that is recreated in each round continues the booster of an equal one.
        grower = round.design.cache((type(self), pickle.dumps(vars(self))), lambda: TreeGrower(self, round))
        return grower.grow(round)

    def refit(self, term: Term, round: Round) -> tuple[Term, Array]:
        """The splits of `term`, and leaves for all rows of this round."""
        signs, n_outputs = None, round.raw.shape[1]
        direction, (gradient, hessian) = np.ones(n_outputs), weighted_derivatives(round)
        if "monotone_constraints" in self.active_constraints:
            signs, direction = np.asarray(self.monotone_constraints), required_signs(round.loss, n_outputs)
        rule = LeafValues(self.reg_lambda, self.reg_alpha, self.max_delta_step, self.min_child_weight, signs)
        old = Trees.of(term).scaled(direction)
        tree, output = rule.refit(old, round.design.original, gradient * direction, hessian, round.prior)
        return tree.scaled(direction), output * direction

    def xgboost_params(self, n_features: int, columns: Array | None = None) -> dict[str, Any]:
        """The parameters for ``xgboost.train`` on some `columns` of n_features, ascending; None for all."""
        # Subclasses may have other constructor parameters.
        params: dict[str, Any] = {name: getattr(self, name) for name in Tree.constraints}
        signs, groups = params.pop("monotone_constraints"), params.pop("interaction_constraints")
        if signs is not None:
            require_signs("Tree", signs, n_features)
            signs = signs if columns is None else np.asarray(signs)[columns]
            params["monotone_constraints"] = f"({','.join(str(int(sign)) for sign in signs)})"
        if groups is not None:
            require_groups(groups, n_features)
            if columns is not None:
                groups = [np.flatnonzero(np.isin(columns, group)) for group in groups]
            params["interaction_constraints"] = str([[int(index) for index in group] for group in groups])
        return params


class TreeGrower:
    """A booster of XGBoost that grows by one tree per output and round, and its training matrix."""

    @defer_signals()
    def __init__(self, learner: Tree, round: Round) -> None:
        from xgboost import Booster

        design, n_outputs = round.design, round.raw.shape[1]
        columns, original = design.cache((TreeGrower, "columns"), lambda: dense_columns(design))
        params = learner.xgboost_params(design.original.shape[1], columns)
        require_single_precision(original)
        self.share, self.n_features = learner.colsample_bytree, original.shape[1]
        # Column weights belong to the matrix. A learner that sets none, but draws columns by them, needs its own
        # one.
        column_share = min(learner.colsample_bylevel, learner.colsample_bynode)
        key = TreeGrower, learner.max_bin, self.share == 1.0 and column_share < 1.0
        center, X = design.cache((TreeGrower, "centred"), lambda: center_columns(original))
        self.matrix = design.cache(key, lambda: bin_features(round, X, learner.max_bin))
        # XGBoost's default random stream is shared by all boosters of the process.
        params |= {"nthread": design.n_jobs, "seed_per_iteration": True}
        params |= {"eta": 1.0, "base_score": 0.0, "tree_method": "hist"}
        if n_outputs > 1:
            params |= {"num_class": n_outputs, "objective": "multi:softprob"}
        # These hyperparameters are in units of leaf values or gains.
        has_units = max(learner.reg_alpha, learner.min_split_loss, learner.max_delta_step) > 0.0
        self.unit = np.ones(n_outputs) if has_units else gradient_units(round)
        if "monotone_constraints" in learner.active_constraints:
            self.unit = self.unit * required_signs(round.loss, n_outputs)
        self.booster = Booster(params, [self.matrix])
        self.forest, self.n_rounds = IncrementalForest(self.booster, X, center, columns), 0
        # A first request before training makes XGBoost cache the scores and update them with each tree.
        self.scores = training_scores(self.booster, self.matrix, round.raw.shape)
        # XGBoost draws rows, and columns of a level or a node; columns of a tree are drawn here.
        draws = min(learner.subsample, column_share) < 1.0
        self.config_of_seed = seed_configuration(self.booster.save_config()) if draws else None

    @defer_signals()
    def grow(self, round: Round) -> tuple[GrownTree, Array]:
        """The trees of a round, and their outputs on the training rows."""
        iteration = self.n_rounds
        if self.config_of_seed is not None:
            iteration = int(round.rng.integers(2**31))
            self.booster.load_config(self.config_of_seed(iteration))
        if self.share < 1.0:
            set_column_weights(self.matrix, sample_columns(round.rng, self.n_features, self.share))
        gradient, hessian = weighted_derivatives(round)
        if (self.unit != 1.0).any():
            gradient = gradient / self.unit
        train_iteration(self.booster, self.matrix, iteration, gradient, hessian)
        scores = training_scores(self.booster, self.matrix, round.raw.shape)
        term = GrownTree(self.forest, self.n_rounds, self.unit)
        output = self.unit * np.subtract(scores, self.scores, dtype=np.float64)
        self.scores, self.n_rounds = scores, self.n_rounds + 1
        return term, output


def required_signs(loss: Loss, n_outputs: int) -> Array:
    """The signs of scores, (C,), that trees of one booster have in common; a ValueError if some are not bound."""
    signs = signs_of_scores(loss, n_outputs)
    if (signs == 0.0).any():
        raise ValueError(
            f"Tree: monotone_constraints bind all scores, but predictions of {loss!r} change with some only; "
            f"SymmetricTree leaves the others free"
        )
    return signs


def weighted_derivatives(round: Round) -> tuple[Array, Array]:
    """Gradient and hessian, (n, C) each, times the sample weights unless all are 1."""
    if (round.weight == 1.0).all():
        return round.gradient, round.hessian
    return round.gradient * round.weight[:, None], round.hessian * round.weight[:, None]


def bin_features(round: Round, X: Array, max_bin: int) -> DMatrix:
    """The features of a fit, (n, d), in bins."""
    from xgboost import QuantileDMatrix

    # Rows of weight 0 are left out of this round only.
    positive = round.weight[round.weight > 0.0]
    largest = np.finfo(np.float32).max
    if positive.max() > largest:
        raise ValueError(
            f"tree: sample_weight must be at most {largest:.1e}, as in XGBoost, got {positive.max():g}"
        )
    weight = None if (positive == positive[0]).all() else round.weight
    design = round.design
    options = {"weight": weight, "feature_types": feature_types(design), "nthread": design.n_jobs}
    return QuantileDMatrix(X, max_bin=int(max_bin), enable_categorical=True, **options)


def dense_columns(design: Design) -> tuple[Array | None, Array]:
    """The columns that trees are grown on, None for all, and their values: those that learners of numbers see."""
    expansion = design.feature_map.expansion
    if expansion is None or not expansion.is_sketch:
        return None, np.asarray(design.original)
    return expansion.numeric, design.original[:, expansion.numeric]


def feature_types(design: Design) -> list[str] | None:
    """XGBoost's types of columns, "c" for categories and "q" for numbers; None without categories."""
    coded = design.n_levels
    return ["c" if column in coded else "q" for column in range(design.original.shape[1])] if coded else None
