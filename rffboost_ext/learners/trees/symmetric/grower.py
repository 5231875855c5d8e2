"""Grows symmetric trees: which rows and columns, splits, and leaves."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ....core import Round, Term
from ....kernels import compiled
from ....terms import SymmetricTrees
from ....terms.crosses import NO_CROSSES, Crosses
from ....utils.parallel import MIN_ROWS_PER_THREAD, run_over_tiles
from ....utils.sparse import SparseRows
from ....utils.typing import Array
from ...design import Design
from ...subsampling import draw_by_gradient, sample_rows
from ..constraints import require_signs, signs_of_scores
from ..learner import weighted_derivatives
from .binned_features import BinnedFeatures
from .crosses import crosses_of, probed_importances
from .growth import exact_derivatives, grown_tree, sampled_columns, split_derivatives
from .leaves import TINY, constant_leaves, leaf_sums, monotone_leaves
from .lines import Lines, central_range, row_width
from .search import DenseSearch, Search
from .sparse_columns import SparseFeatures, SparseSearch

# Share of the rows that a tree is fitted to, if the others order the levels of categories.
ORDERED_SUBSAMPLE = 0.5
# Average rows that are added to each level of a category when levels are ordered.
CAT_SMOOTH = 10.0
# Share of the rows on which splits are searched that is drawn by weight alone.
BY_WEIGHT = 1.0 / 3.0
# With more outputs than this, splits are found for this number of random projections of the gradients.
N_PROJECTIONS = 5


class SymmetricGrower:
    """Grows the trees of a fit, on features in bins.

    Parameters
    ----------
    learner : SymmetricTree
    round : Round
        The first round.
    kind : type
        The class of learners that shares crosses.
    """

    def __init__(self, learner: Any, round: Round, kind: type) -> None:
        self.learner, self.kind, design = learner, kind, round.design
        if learner.monotone_constraints is not None:
            require_signs(type(learner).__name__, learner.monotone_constraints, design.original.shape[1])
        self.features = self._binned(round, NO_CROSSES)
        self.features.require_numbers(type(learner).__name__, learner.monotone_constraints)
        self.search: DenseSearch | SparseSearch | None = None
        self.memory = np.empty(0)

    def _binned(self, round: Round, crosses: Crosses) -> BinnedFeatures | SparseFeatures:
        """The features of a round and crosses, in bins."""
        design, max_bin = round.design, self.learner.max_bin
        kind = SparseFeatures if isinstance(design.original, SparseRows) else BinnedFeatures
        return round.design.cache(
            (kind, max_bin, crosses.table.tobytes()),
            lambda: kind.of(design, round.loss_weight, max_bin, crosses),
        )

    def _search(self, round: Round) -> DenseSearch | SparseSearch:
        """The search for splits, and from the first round on crosses among the features."""
        learner, design = self.learner, round.design
        most = int(learner.crosses)
        if most > 1:
            self.features = self._binned(round, self._important_crosses(round, most))
        n_gradients = min(round.raw.shape[1], N_PROJECTIONS)
        # Sums are added in pairs: gradients and the hessian.
        size = learner.max_depth, 2 * (n_gradients // 2 + 1)
        key = DenseSearch, learner.max_bin, self.features.crosses.table.tobytes(), size
        return design.cache(key, lambda: self.features.search(*size, design.n_jobs))

    def _important_crosses(self, round: Round, most: int) -> Crosses:
        """The crosses of the most important numbers in the first round of a fit."""
        learner, columns = self.learner, self.features.columns
        signs = [0] * len(columns) if learner.monotone_constraints is None else learner.monotone_constraints
        free = np.array([column.is_number and not sign for column, sign in zip(columns, signs, strict=True)])
        plain = copy(learner)
        plain.crosses, plain.leaf = 0, "constant"

        def most_important() -> Array:
            importances = np.where(free, probed_importances(plain, round), 0.0)
            n_crossed = min(most, np.count_nonzero(importances))
            return np.sort(np.argsort(-importances, kind="stable")[:n_crossed])

        return crosses_of(round.design.learner_state((self.kind, most, "crosses"), most_important))

    def grow(self, round: Round) -> tuple[Term, Array]:
        """The tree of a round."""
        learner = self.learner
        self.search = self.search or self._search(round)
        sample, left_out = self._divided(round)
        if self.features.level_orders is not None:
            self.features.level_orders.reorder(round, left_out if learner.ordered else round.weight, CAT_SMOOTH)
        drawn, derivatives, searched = self._derivatives(sample)
        searched = split_derivatives(searched, sample.output_weights, N_PROJECTIONS, round.rng)
        limits = learner.reg_lambda, learner.min_child_weight
        splits, leaf = self.search.find_splits(Search(searched, drawn, *self._columns(round), *limits))
        return self._finished(sample, grown_tree(self.features, splits), leaf, derivatives)

    def _columns(self, round: Round) -> tuple[Array, Array]:
        """The columns (c,) that a tree may split, and those (D, c) that it may split at each level."""
        learner, features = self.learner, self.features
        columns = sampled_columns(round.rng, features.usable, learner.colsample_bytree, features.chances)
        share, shape = learner.colsample_bylevel, (learner.max_depth, len(columns))
        if share == 1.0:
            return columns, np.ones(shape, dtype=np.bool_)
        allowed = np.zeros(shape, dtype=np.bool_)
        for level in allowed:
            level[sampled_columns(round.rng, np.arange(len(columns)), share)] = True
        return columns, allowed

    def _derivatives(self, round: Round) -> tuple[Array | None, Array, Array]:
        """The rows that splits are searched on, None for all, and the derivatives of all rows and of those."""
        most = self.learner.max_samples
        if np.count_nonzero(round.weight) <= most:
            every = exact_derivatives(round)
            return None, every, every
        rows, factor = draw_by_gradient(round.rng, round.balanced_gradient, round.weight, most, BY_WEIGHT)
        assert factor is not None
        every = np.hstack(weighted_derivatives(round))
        return rows, every, exact_derivatives(round, rows, factor)

    def refit(self, tree: SymmetricTrees, round: Round) -> tuple[Term, Array]:
        """A tree with the splits of another one, and leaves for a round."""
        sample, _ = self._divided(round)
        return self._finished(sample, tree, self._leaves(round.design, tree), exact_derivatives(sample))

    def _leaves(self, design: Design, tree: SymmetricTrees) -> Array:
        """The leaf of each training row in a tree, (n,), int32."""
        columns, feature = self._tested_columns(design, tree)
        (subset, members), leaf = tree.category_sets, np.empty(design.n_samples, dtype=np.int32)
        splits = feature, tree.threshold[0], tree.missing_right[0], subset[0], members
        kernel = compiled("symmetric_tree_evaluation").find_leaves_by_column
        run_over_tiles(kernel, len(leaf), design.n_jobs, columns, *splits, leaf, least=MIN_ROWS_PER_THREAD)
        return leaf

    def _divided(self, round: Round) -> tuple[Round, Array]:
        """The round on the rows that a tree is fitted to, and the weights (n,) of the others."""
        ordered = self.learner.ordered and self.features.level_orders is not None
        share = min(self.learner.subsample, ORDERED_SUBSAMPLE if ordered else 1.0)
        return (round, np.zeros(0)) if share == 1.0 else sample_rows(round, share, whole=ordered)

    def _finished(self, round: Round, tree: SymmetricTrees, leaf: Array, derivatives: Array) -> tuple[Term, Array]:
        """The tree with the splits of `tree`, and its outputs on the training rows, of leaves (n,)."""
        learner = self.learner
        if learner.has_linear_leaves and tree.depth > 0:
            return self._with_lines(round, tree, leaf, derivatives)
        sums = leaf_sums(leaf, tree.depth, derivatives)
        value, _ = self._constants(round, sums, old_coefficients(tree, None) if round.prior_weight else None)
        if learner.monotone_constraints is not None:
            features = np.asarray(learner.monotone_constraints)[tree.feature[0]]
            signs = signs_of_scores(round.loss, value.shape[1])
            nearest = signs * monotone_leaves(signs * value, sums[:, :, 1], tree, features)
            value = np.where(signs == 0.0, value, nearest)
        constant: dict[str, Any] = dict.fromkeys(("slope", "low", "high", "center"))
        return replace(tree, value=value[None], **constant), value.take(leaf, axis=0)

    def _with_lines(
        self, round: Round, tree: SymmetricTrees, leaf: Array, derivatives: Array
    ) -> tuple[Term, Array]:
        """As :meth:`_finished`, of linear leaves."""
        learner, lines = self.learner, self._lines(round, tree)
        old = old_coefficients(tree, lines) if round.prior_weight else None
        penalties = learner.reg_lambda, learner.linear_lambda, max(learner.min_child_weight, TINY)
        rows = leaf, derivatives, round.weight
        coefficients, output = lines.fitted(*rows, penalties, old, round.prior, round.design.n_jobs)
        return replace(tree, **lines.fields(coefficients)), output

    def _constants(self, round: Round, sums: Array, old: Array | None) -> tuple[Array, Array]:
        """Values of constant leaves of sums (2**D, C, 2), with a prior added, and whether each has enough."""
        if old is not None:
            sums[..., 0] -= round.prior * old[..., -1]
            sums[..., 1] += round.prior
        return constant_leaves(sums, self.learner.reg_lambda, self.learner.min_child_weight)

    def _lines(self, round: Round, tree: SymmetricTrees) -> Lines:
        """The features of the levels, their ranges, centers and scales."""
        design = round.design
        original, d = design.original, design.original.shape[1]
        plain, crosses = tree.split_columns(d)
        columns, listed = self.features.columns, plain.feature[0].tolist()
        is_number = [f >= d or columns[f].is_number for f in listed]
        # A feature of several levels has one slope.
        has_slope = np.array([is_number[level] and f not in listed[:level] for level, f in enumerate(listed)])

        def range_of(f: int) -> tuple[float, float, float, float]:
            key = SymmetricGrower, "range", *([f] if f < d else crosses.table[f - d].tolist())
            return design.cache(key, lambda: central_range(crosses.column(original, f), round.loss_weight))

        low, high, center, scale = np.array(list(map(range_of, listed))).T.copy()
        tested = self._tested_columns(design, tree)
        return Lines(*tested, low, high, center, np.where(has_slope, scale, np.inf), self._factors(tree.depth))

    def _tested_columns(self, design: Design, tree: SymmetricTrees) -> tuple[Array, Array]:
        """Columns of the training rows, (m, n), and the one that each level of a tree tests, (D,), int32."""
        plain, crosses = tree.split_columns(design.original.shape[1])
        if not len(crosses):
            return self.features.originals(design, plain.feature[0])
        columns = [crosses.column(design.original, f) for f in plain.feature[0].tolist()]
        return np.stack(columns), np.arange(tree.depth, dtype=np.int32)

    def _factors(self, depth: int) -> Array:
        """Memory for the factors of a tree, (n, P)."""
        width = row_width(depth + 1)
        if len(self.memory) < (size := self.features.n_samples * width):
            self.memory = np.empty(size)
        return self.memory[:size].reshape(-1, width)


def old_coefficients(tree: SymmetricTrees, lines: Lines | None) -> Array:
    """The coefficients (2**D, C, D + 1) of a tree, for the centers and scales of lines, if leaves have any."""
    value, depth = tree.value[0], 0 if lines is None else tree.depth
    if tree.slope is None or tree.center is None or lines is None:
        return np.concatenate([np.zeros((*value.shape, depth)), value[..., None]], axis=-1)
    # Levels without a slope have an infinite scale.
    slope, finite = tree.slope[0], np.where(np.isfinite(lines.scale), lines.scale, 0.0)
    moved = value + slope @ (lines.center - tree.center[0])
    return np.concatenate([np.where(slope == 0.0, 0.0, slope * finite), moved[..., None]], axis=-1)
