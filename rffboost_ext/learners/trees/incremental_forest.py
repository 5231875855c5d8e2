"""Trees of a booster that is still growing, as terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core import Term
from ...terms import Expanded, ImputeAndEncode, Trees, expand, outputs_of_each, restore
from ...terms.batch_evaluation import BATCHED, map_groups
from ...utils.typing import Array
from .centering import decentred
from .thresholds import lowered
from .ubjson import Known

if TYPE_CHECKING:
    from xgboost import Booster

# Up to this number of trees it takes less time to have all of them written, of which new ones are read, than to
# have these cut out: 1 ms for six of 36, instead of 1.3.
WRITTEN = 64


class Forest:
    """A booster that may still be growing on X (n, d), and the trees extracted from it so far, by round.

    They are trees of ``X + center``.
    """

    def __init__(self, booster: Booster, X: Array, center: Array | None = None) -> None:
        self.booster, self.X, self.center = booster, X, center
        # How many rounds were extracted, and how many trees these have.
        self._known, self._size = 0, 0
        # The first rounds, taken apart, and the others as they were extracted, with the number of trees in each.
        self._rounds: list[Trees] = []
        self._whole: list[tuple[Trees, Array]] = []
        # What was read of the booster's format, by which it is read faster the next time.
        self._format = Known()

    def round(self, index: int) -> Trees:
        """The trees of one round."""
        if index >= self._known:
            self._extract()
        while self._whole:
            trees, counts = self._whole[0]
            # In one statement, so that an interrupt cannot leave it half done.
            self._rounds, self._whole = self._rounds + trees.split(counts), self._whole[1:]
        return self._rounds[index]

    def outputs(self, first: int, count: int, X: Array) -> Array | None:
        """Outputs (count, n, C) of the rounds from `first` on, if they are the new ones, else None.

        They are not taken apart for it: that takes time, and predictions would put them together again.
        """
        if first != self._known:
            return None
        self._extract()
        trees, counts = self._whole[-1]
        return trees.group_outputs(X, np.repeat(np.arange(count), counts), count) if count == len(counts) else None

    def _extract(self) -> None:
        """Extract all new rounds at once: each call has a fixed cost."""
        from .xgboost_model import parsed, read_trees

        start = self._known if self._size > WRITTEN else 0
        booster = self.booster[start:] if start else self.booster
        trees, counts = read_trees(parsed(booster, self._format), first=self._known - start)
        trees = lowered(trees, self.X)
        whole = (trees if self.center is None else decentred(trees, self.center)), counts
        self._whole, self._known, self._size = (
            [*self._whole, whole],
            self._known + len(counts),
            self._size + len(trees.roots),
        )


@dataclass(frozen=True, eq=False)
class GrownTree(Term):
    """The trees of one round inside a booster that is still growing: extracted when the fit is over."""

    forest: Forest
    index: int
    factor: float | Array = 1.0

    def __call__(self, X: Array) -> Array:
        # Not by XGBoost, whose thresholds are those before they are moved.
        return self.materialized()(X)

    def scaled(self, factor: float) -> GrownTree:
        return replace(self, factor=factor * self.factor)

    @classmethod
    def stack(cls, terms: Sequence[Term]) -> Any:
        return Trees.stack([term.materialized() for term in terms])  # type: ignore[misc]

    def materialized(self) -> Trees:
        trees = self.forest.round(self.index)
        return trees if np.all(self.factor == 1.0) else replace(trees, value=self.factor * trees.value)


@restore.register
def _(term: GrownTree, center: Array, scale: Array) -> Term:
    # Grown on the original features: a split is the same in any unit up to rounding, and in the original ones the
    # thresholds are exactly XGBoost's.
    return term


@expand.register
def _(term: GrownTree, expansion: ImputeAndEncode) -> Term:
    # It handles missing values and codes, unless some values are imputed for trees too.
    return term if expansion.for_trees is None else Expanded(term, expansion.for_trees)


def grown_together(terms: Sequence[GrownTree], X: Array) -> Sequence[Array]:
    """By extracted trees: XGBoost's own prediction has a fixed cost per call, and they are needed in any case."""
    return map_groups(terms, lambda term: id(term.forest), lambda group: of_one_forest(group, X))


def of_one_forest(terms: Sequence[GrownTree], X: Array) -> Sequence[Array] | Array:
    """Outputs (n, C) of each of several terms of a forest."""
    forest, first = terms[0].forest, terms[0].index
    if all(term.index == first + k for k, term in enumerate(terms)):
        outputs = forest.outputs(first, len(terms), X)
        if outputs is not None:
            # A row has the value of one leaf in each output: its product is the same before and after.
            return [term.factor * output for term, output in zip(terms, outputs, strict=True)]
    return outputs_of_each([term.materialized() for term in terms], X)


BATCHED[GrownTree] = grown_together
