"""Trees of a booster in training, as terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._signals import defer_signals
from ...core import Term
from ...terms import FeatureMap, Trees, outputs_of_each
from ...terms.batch_evaluation import map_groups
from ...utils.typing import Array
from .single_precision import lower_thresholds, shift_thresholds

if TYPE_CHECKING:
    from xgboost import Booster

# Up to this number of trees it takes less time to serialise all of them than to slice the booster.
MAX_FULL_READ = 64


class IncrementalForest:
    """A booster in training on X (n, d), and the trees of ``X + center`` extracted from it so far, by round."""

    def __init__(self, booster: Booster, X: Array, center: Array | None = None) -> None:
        self.booster, self.X, self.center = booster, X, center
        self._n_rounds, self._n_trees = 0, 0
        # The first rounds as single terms, and batches of later rounds with the number of trees in each round.
        self._rounds: list[Trees] = []
        self._batches: list[tuple[Trees, Array]] = []

    def round(self, index: int) -> Trees:
        """The trees of one round."""
        if index >= self._n_rounds:
            self._extract()
        while self._batches:
            trees, counts = self._batches[0]
            # One statement: an interrupt leaves a consistent state.
            self._rounds, self._batches = self._rounds + trees.split(counts), self._batches[1:]
        return self._rounds[index]

    def outputs(self, first: int, count: int, X: Array) -> Array | None:
        """Outputs (count, n, C) of the rounds from `first` on if they are the new ones, else None."""
        if first != self._n_rounds:
            return None
        self._extract()
        trees, counts = self._batches[-1]
        return trees.group_outputs(X, np.repeat(np.arange(count), counts), count) if count == len(counts) else None

    @defer_signals()
    def _extract(self) -> None:
        """Extract all new rounds at once, because each call has a fixed cost."""
        from .xgboost_model import parse_model, read_trees

        start = self._n_rounds if self._n_trees > MAX_FULL_READ else 0
        booster = self.booster[start:] if start else self.booster
        trees, counts = read_trees(parse_model(booster), first=self._n_rounds - start)
        trees = lower_thresholds(trees, self.X)
        batch = (trees if self.center is None else shift_thresholds(trees, self.center)), counts
        # One statement: an interrupt leaves a consistent state.
        self._batches, self._n_rounds, self._n_trees = (
            [*self._batches, batch],
            self._n_rounds + len(counts),
            self._n_trees + len(trees.roots),
        )


@dataclass(frozen=True, eq=False)
class GrownTree(Term):
    """The trees of one round of a booster in training; they are extracted when the fit ends."""

    forest: IncrementalForest
    index: int
    factor: float | Array = 1.0

    def __call__(self, X: Array) -> Array:
        # XGBoost predicts with the original thresholds.
        return self.materialized()(X)

    def scaled(self, factor: float) -> GrownTree:
        return replace(self, factor=factor * self.factor)

    @classmethod
    def stack(cls, terms: Sequence[Term]) -> Any:
        return Trees.stack([term.materialized() for term in terms])  # type: ignore[misc]

    @classmethod
    def outputs_of(cls, terms: Sequence[GrownTree], X: Array) -> Sequence[Array]:
        # Extracted trees predict at a lower fixed cost than XGBoost.
        return map_groups(terms, lambda term: id(term.forest), lambda group: forest_outputs(group, X))

    def on_features(self, features: FeatureMap) -> GrownTree:
        # Trees are grown on the original columns, and handle missing values and codes themselves.
        return self

    def materialized(self) -> Trees:
        trees = self.forest.round(self.index)
        return trees if np.all(self.factor == 1.0) else trees.scaled(self.factor)


def forest_outputs(terms: Sequence[GrownTree], X: Array) -> Sequence[Array] | Array:
    """Outputs (n, C) of each of several terms of one forest."""
    forest, first = terms[0].forest, terms[0].index
    if all(term.index == first + k for k, term in enumerate(terms)):
        outputs = forest.outputs(first, len(terms), X)
        if outputs is not None:
            # A row gets one leaf value per output, so scaling the output is exact.
            return [term.factor * output for term, output in zip(terms, outputs, strict=True)]
    return outputs_of_each([term.materialized() for term in terms], X)
