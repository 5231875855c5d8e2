"""XGBoost's trees as a weak learner: one tree per round, on a matrix that is binned once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import NON_NEGATIVE, Integer, Real
from ..core import Array, Learner, Round, Term
from ..terms import Trees, restore
from . import LEARNERS

if TYPE_CHECKING:
    from xgboost import Booster

SHARE = Real(0.0, 1.0)


@LEARNERS.register("tree")
class Tree(Learner):
    """One regression tree, grown by XGBoost from the gradient and hessian of the round.

    The same tree as in XGBoost's own loop with the same objective: the features are binned once per fit and
    one booster grows through all rounds. The learning rate is the estimator's. Parameters are XGBoost's own.

    Parameters
    ----------
    max_depth : int, default=6
        Depth at most; 0 for no limit.
    max_leaves : int, default=0
        Leaves at most; 0 for no limit.
    min_child_weight : float, default=1.0
        Least sum of hessians in a leaf.
    min_split_loss : float, default=0.0
        Least gain of a split (XGBoost's ``gamma``).
    reg_lambda, reg_alpha : float, default=1.0, 0.0
        L2 and L1 penalty on leaf values.
    subsample, colsample_bytree, colsample_bylevel, colsample_bynode : float, default=1.0
        Shares of rows and columns that a tree, a level, a node sees.
    max_bin : int, default=256
        Bins per feature.
    """

    step = "unit"
    multi_output = True
    constraints = {
        "max_depth": Integer(0),
        "max_leaves": Integer(0),
        "min_child_weight": NON_NEGATIVE,
        "min_split_loss": NON_NEGATIVE,
        "reg_lambda": NON_NEGATIVE,
        "reg_alpha": NON_NEGATIVE,
        "subsample": SHARE,
        "colsample_bytree": SHARE,
        "colsample_bylevel": SHARE,
        "colsample_bynode": SHARE,
        "max_bin": Integer(2),
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

    def merges_rows(self, n_samples: int) -> bool:
        """Only where each value has a bin of its own: elsewhere XGBoost's bins depend on how rows are weighted."""
        return n_samples <= self.max_bin

    def fit(self, round: Round) -> Term:
        """The tree of this round; one per output where there are several."""
        grower = round.design.view((Tree, id(self)), lambda: Grower(self.get_params(), round))
        return grower.grow(round)


class Grower:
    """A booster of XGBoost that grows by one tree per round, and the matrix that it grows on."""

    def __init__(self, params: dict[str, Any], round: Round) -> None:
        from xgboost import Booster, QuantileDMatrix

        threads, n_outputs = round.design.n_jobs, round.raw.shape[1]
        weight = None if np.all(round.weight == round.weight[0]) else round.weight
        self.matrix = QuantileDMatrix(
            round.design.original, weight=weight, max_bin=params["max_bin"], nthread=threads
        )
        seed = int(round.rng.integers(2**31))
        fixed = {"eta": 1.0, "base_score": 0.0, "tree_method": "hist", "nthread": threads, "seed": seed}
        if n_outputs > 1:
            fixed |= {"num_class": n_outputs, "objective": "multi:softprob"}
        self.booster: Booster = Booster(params | fixed, [self.matrix])
        self.margin = np.zeros(round.raw.shape, dtype=np.float32)
        self.grown = 0

    def grow(self, round: Round) -> GrownTree:
        """Grow one more round and return it, its output on the training rows remembered."""
        grad, hess = (a * round.weight[:, None] for a in (round.gradient, round.hessian))
        self.booster.boost(self.matrix, iteration=self.grown, grad=grad, hess=hess)
        margin = self.booster.predict(self.matrix, output_margin=True, training=True)
        margin = margin.reshape(self.margin.shape)
        term = GrownTree(self.booster, self.grown)
        round.design.remember(term, (margin - self.margin).astype(np.float64))
        self.margin, self.grown = margin, self.grown + 1
        return term


@dataclass(frozen=True)
class GrownTree(Term):
    """The trees of one round inside a booster that is still growing: read out when the fit is over."""

    booster: Booster
    index: int
    factor: float = 1.0

    def __call__(self, X: Array) -> Array:
        rounds = (self.index, self.index + 1)
        out = self.booster.inplace_predict(X, iteration_range=rounds, predict_type="margin")
        return self.factor * out.reshape(len(X), -1).astype(np.float64)

    def scaled(self, factor: float) -> GrownTree:
        return replace(self, factor=factor * self.factor)

    @classmethod
    def stack(cls, terms: Sequence[Term]) -> Any:
        return Trees.stack([term.settled() for term in terms])  # type: ignore[misc]

    def settled(self) -> Trees:
        single = self.booster[self.index : self.index + 1]
        return read_trees(single).scaled(self.factor)


@restore.register
def _(term: GrownTree, center: Array, scale: Array) -> Term:
    # As for Trees: grown on the features as they came.
    return term


def read_trees(booster: Booster) -> Trees:
    """All trees of a booster with scalar leaves, as arrays (its base score is not part of them)."""
    learner = json.loads(booster.save_raw("json"))["learner"]
    model = learner["gradient_booster"]["model"]
    n_outputs = max(1, int(learner["learner_model_param"]["num_class"]))
    outputs = model["tree_info"]
    return Trees.stack(
        [read_tree(tree, output, n_outputs) for tree, output in zip(model["trees"], outputs, strict=True)]
    )


def read_tree(tree: dict[str, Any], output: int, n_outputs: int) -> Trees:
    """One tree of XGBoost's JSON format, adding to one of several outputs."""
    left = np.array(tree["left_children"], dtype=np.int32)
    condition = np.array(tree["split_conditions"], dtype=np.float32)
    value = np.zeros((len(left), n_outputs))
    value[:, output] = np.where(left < 0, condition, 0.0)
    return Trees(
        roots=np.zeros(1, dtype=np.int64),
        left=left,
        right=np.array(tree["right_children"], dtype=np.int32),
        feature=np.array(tree["split_indices"], dtype=np.int32),
        threshold=condition,
        missing_left=np.array(tree["default_left"], dtype=bool),
        value=value,
    )
