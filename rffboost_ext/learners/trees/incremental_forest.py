"""Trees of a booster in training, as terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._signals import defer_signals
from ...core import Term
from ...terms import Trees
from ...terms.batch_evaluation import outputs_of_each
from ...utils.sparse import SparseRows
from ...utils.typing import Array
from .single_precision import lower_thresholds, shift_thresholds

if TYPE_CHECKING:
    from xgboost import Booster

# Rounds times levels of a category that are extracted at once: each split may have a set of nearly all levels.
MAX_CATEGORIES = 2**18
# Up to so many rounds it takes less time to read known ones again than to slice the booster.
AGAIN = 16


class IncrementalForest:
    """A booster in training on X (n, d), and the trees of ``X + center`` extracted from it so far, by round.

    If X has some `columns` (d,) only, the trees are functions of all of them.
    """

    def __init__(
        self, booster: Booster, X: Array, center: Array | None = None, columns: Array | None = None
    ) -> None:
        self.booster, self.X, self.center, self.columns = booster, X, center, columns
        self._rounds: list[Trees] = []
        coded = np.flatnonzero([kind == "c" for kind in booster.feature_types or ()])
        levels = int(np.fmax.reduce(X[:, coded], axis=None, initial=0.0)) + 1
        self._n_at_once = max(1, MAX_CATEGORIES // levels)

    def round(self, index: int) -> Trees:
        """The trees of one round."""
        while index >= len(self._rounds):
            self._extract()
        return self._rounds[index]

    @defer_signals()
    def _extract(self) -> None:
        """Extract several new rounds at once, because each call has a fixed cost."""
        from .xgboost_model import parse_model, read_trees

        n_extracted, stop = len(self._rounds), self.booster.num_boosted_rounds()
        end = min(stop, n_extracted + self._n_at_once)
        start = 0 if end == stop <= AGAIN else n_extracted
        booster = self.booster if (start, end) == (0, stop) else self.booster[start:end]
        trees, counts = read_trees(parse_model(booster))
        trees = lower_thresholds(trees, self.X)
        trees = trees if self.center is None else shift_thresholds(trees, self.center)
        if self.columns is not None:
            trees = replace(trees, feature=self.columns[trees.feature].astype(np.int32))
        self._rounds = self._rounds + trees.split(counts)[n_extracted - start :]


@dataclass(frozen=True, eq=False)
class GrownTree(Term):
    """The trees of one round of a booster in training; they are extracted when the fit ends."""

    # They handle missing values and codes themselves.
    on_original = True
    forest: IncrementalForest
    index: int
    factor: float | Array = 1.0

    def __call__(self, X: Array) -> Array:
        # XGBoost predicts with the original thresholds.
        return self.materialized()(X)

    def at_sparse(self, X: SparseRows) -> Array:
        return self.materialized().at_sparse(X)

    def scaled(self, factor: float) -> GrownTree:
        return replace(self, factor=factor * self.factor)

    @classmethod
    def stack(cls, terms: Sequence[Term]) -> Any:
        return Trees.stack([term.materialized() for term in terms])  # type: ignore[misc]

    @classmethod
    def outputs_of(cls, terms: Sequence[GrownTree], X: Array) -> Array:
        # Extracted trees predict at a lower fixed cost than XGBoost.
        return outputs_of_each([term.materialized() for term in terms], X)

    def materialized(self) -> Trees:
        trees = self.forest.round(self.index)
        return trees if np.all(self.factor == 1.0) else trees.scaled(self.factor)
