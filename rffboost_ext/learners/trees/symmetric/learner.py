"""Symmetric trees as a weak learner: one tree per round on features that are binned once."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....core import Learner, Round, Term
from ....terms import SymmetricTrees
from ....utils.param_validation import (
    BOOL,
    NON_NEGATIVE,
    OPTIONAL,
    POSITIVE,
    POSITIVE_FRACTION,
    Integer,
    OneOf,
)
from ....utils.typing import Array
from ...registry import LEARNERS
from ..constraints import SIGNS, is_bound
from .columns import MAX_BINS
from .grower import SymmetricGrower


@LEARNERS.register("symmetric_tree")
@dataclass(eq=False, repr=False)
class SymmetricTree(Learner):
    r"""One symmetric (oblivious) regression tree: all nodes of a level have the same split.

    A tree of depth D is D comparisons and a table of :math:`2^D` leaves: fast, small and hard to overfit. The
    split of a level is the one of largest gain,

    .. math:: \sum_k \left(\frac{G_{kL}^2}{H_{kL} + \lambda} + \frac{G_{kR}^2}{H_{kR} + \lambda}
              - \frac{G_k^2}{H_k + \lambda}\right),

    summed over all leaves k of the levels before. G and H are sums of gradients and hessians over the rows of a
    leaf that go left and right. Features are binned once per fit. Sums are exact: a tree depends neither on the
    number of threads nor, up to the rounding of slopes, on the order of the rows.

    Parameters
    ----------
    max_depth : int, default=6
        Maximum number of levels, from 1 to 10.
    leaf : {"auto", "constant", "linear"}, default="auto"
        What leaves are: a constant, or a ridge regression on the features of the levels. With "auto" they are
        linear, or constant with monotone constraints.
    min_child_weight : float, default=1.0
        Minimum sum of hessians in a leaf. A leaf that a level would divide into smaller ones gains nothing by it;
        a leaf that is smaller has the value of its parent.
    reg_lambda : float, default=1.0
        L2 penalty on leaf values, :math:`\lambda`.
    linear_lambda : float, default=1.0
        L2 penalty on the slopes of linear leaves, for standardised features; at least :math:`10^{-12}` times the
        sum of hessians of the leaf.
    subsample : float, default=1.0
        Sampled share of the rows of a tree; at most 0.5 with categories of more than four levels and `ordered`.
    max_samples : int, default=131,072
        Rows on which splits are searched, if there are more. They are drawn in each round with
        probabilities that grow with the gradient, and weighted inversely. Leaves are fitted to all rows.
    colsample_bytree, colsample_bylevel : float, default=1.0
        Sampled shares of the columns of a tree and of a level. The columns of a tree on a large sparse matrix are
        drawn with probabilities in proportion to their numbers of entries: a column of few can explain little.
    max_bin : int, default=254
        Bins per feature, at most 255. Missing values have a bin of their own.
    ordered : bool, default=True
        Whether the levels of categories are ordered by rows that the tree is not fitted to, so that the target of
        a row has no influence on the place of its own level. Otherwise all rows order them, which is more accurate
        with few rows per level, but requires early stopping.
    crosses : int, default=0
        Number of features, the most important numbers, whose differences and products are further columns for
        splits: 6 have 30. Features with a monotone constraint are left out.
    monotone_constraints : sequence of -1, 0 and 1, or mapping, optional
        For each feature, whether predictions decrease with it, are unconstrained, or increase with it. Categories
        must have 0. Leaves must be constant. Scores that do not change predictions, such as the scale of a
        distribution, are free (``Loss.monotone``).

    Raises
    ------
    ValueError
        In fit, if constraints do not match the features.

    Notes
    -----
    Missing values (NaN) go to the side of larger gain at each level. A category of up to four levels is split one
    level against the others. The levels of other categories are ordered for each tree by their gradients, with ten
    average rows added to each level. With such categories and `ordered` a refit trains new rounds, in place of
    fitting leaves to all rows. Rows of any weight are then in one of both parts as a whole. Several outputs share
    the splits of one tree, whose leaves have a value for each. With more than five outputs, splits are found for
    five random projections of the gradients. Linear leaves are constant beyond the range of a feature that has
    99 % of the rows, because a line would follow a few far values.

    Importances for `crosses` are the variances of 25 trees, fitted to a quadratic approximation of the loss in the
    first round. Each of both features of a difference or product has half of its importance.

    References
    ----------
    Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 2018. Shi, Li and Li,
    Gradient boosting with piece-wise linear regression trees, IJCAI 2019. Iosipoi and Vakhrushev, SketchBoost:
    fast gradient boosted decision tree for multioutput problems, NeurIPS 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostClassifier, SymmetricTree
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> learner = SymmetricTree(max_depth=2, leaf="constant")
    >>> model = RFFBoostClassifier(learner=learner, n_estimators=20, early_stopping=False)
    >>> bool(model.fit(X, abs(X[:, 0]) > 1.0).score(X, abs(X[:, 0]) > 1.0) > 0.9)
    True
    """

    max_depth: int = 6
    leaf: str = "auto"
    min_child_weight: float = 1.0
    reg_lambda: float = 1.0
    linear_lambda: float = 1.0
    subsample: float = 1.0
    max_samples: int = 131_072
    colsample_bytree: float = 1.0
    colsample_bylevel: float = 1.0
    max_bin: int = 254
    ordered: bool = True
    monotone_constraints: Sequence[int] | Mapping[str, int] | None = None
    crosses: int = 0

    step = "unit"
    multi_output = True
    constraints = {
        "max_depth": Integer(1, 10),
        "leaf": OneOf(("auto", "constant", "linear")),
        "min_child_weight": NON_NEGATIVE,
        "reg_lambda": NON_NEGATIVE,
        "linear_lambda": POSITIVE,
        "subsample": POSITIVE_FRACTION,
        "max_samples": Integer(1),
        "colsample_bytree": POSITIVE_FRACTION,
        "colsample_bylevel": POSITIVE_FRACTION,
        "max_bin": Integer(2, MAX_BINS),
        "ordered": BOOL,
        "monotone_constraints": SIGNS | OPTIONAL,
        "crosses": Integer(0),
    }

    def validate(self) -> None:
        """Raise a ValueError also if leaves are linear and outputs are to be monotone."""
        super().validate()
        if self.leaf == "linear" and self.active_constraints:
            raise ValueError(
                "SymmetricTree: leaf must be 'auto' or 'constant' with monotone_constraints, got 'linear'"
            )

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """The constraints that are set."""
        return ("monotone_constraints",) if is_bound(self.monotone_constraints) else ()

    @property
    def has_linear_leaves(self) -> bool:
        """Whether leaves are linear."""
        return self.leaf == "linear" or (self.leaf == "auto" and not self.active_constraints)

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The tree of this round."""
        return self._grower(round).grow(round)

    def refit(self, term: Term, round: Round) -> tuple[Term, Array]:
        """The tree with the splits of `term`, and leaves for this round."""
        return self._grower(round).refit(SymmetricTrees.single(term), round)

    def _grower(self, round: Round) -> SymmetricGrower:
        # The key holds values: a learner that is recreated in each round uses the memory of an equal one.
        return round.design.cache(
            (type(self), pickle.dumps(vars(self))), lambda: SymmetricGrower(self, round, SymmetricTree)
        )
