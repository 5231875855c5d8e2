"""Cosines and trees of one training in another library's loop, and their sum as an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..boosting.loop import RoundFitter
from ..contracts.fit import check_terms_of_fit
from ..core import Term
from ..terms.ensemble import Ensemble
from ..utils.typing import Array

N_ROWS = 16
"""Rows on which the host's scores are recorded."""
TOLERANCE = 1e-4
"""Relative to the magnitude of all summands: a host may sum in float32."""


@dataclass
class CosineSum:
    """The sum of the cosines on the rows of one matrix, updated on demand."""

    X: Array
    raw: Array
    n_terms: int = 0

    def update(self, terms: Sequence[Term], lengths: Sequence[float]) -> Array:
        """Add the terms that are new since the last call, and return the sum, (n, C)."""
        for term, length in zip(terms[self.n_terms :], lengths[self.n_terms :], strict=True):
            self.raw = self.raw + length * term(self.X)
        self.n_terms = len(terms)
        return self.raw


@dataclass
class CosineTraining:
    """The state of one training.

    The host starts from the score `start`, (C,), which `baseline` replaces in the sum of both parts. `raw`, (n,
    C), is the sum of the cosines on the training rows. `trace` has the host's scores of a few rows before each
    round. `last` are its scores of all rows before the latest round, and `tree_grown` says for each completed
    round whether it has changed them.
    """

    fitter: RoundFitter
    start: Array
    baseline: Array
    raw: Array
    trace: list[Array] = field(default_factory=list)
    last: Array | None = None
    terms: list[Term] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    tree_grown: list[bool] = field(default_factory=list)

    @property
    def n_calls(self) -> int:
        """The number of rounds that have started."""
        return len(self.trace)

    def total(self, scores: Array, cosines: Array) -> Array:
        """The raw scores of both parts, for the host's scores and the sum of the cosines on the same rows."""
        return scores - self.start + self.baseline + cosines

    def start_round(self, scores: Array) -> None:
        """Record the host's scores; raise a ValueError if they are back at the initial score."""
        if self.last is not None:
            if not (self.last == self.start).all() and (scores == self.start).all():
                raise ValueError("a CosineObjective serves one training of a matrix; make a new one for the next")
            self.tree_grown.append(not np.array_equal(scores, self.last))
        # Copied because a host may reuse the memory.
        self.last = scores.copy()
        self.trace.append(scores[evenly_spaced_rows(len(scores))])

    def add_cosine(self, scores: Array) -> None:
        """Fit a term to the derivatives at the sum of the host's scores and the cosines."""
        _, term, output, keep, length = self.fitter.fit(len(self.terms), self.total(scores, self.raw))
        if keep != 1.0:
            step = self.fitter.parts.step
            raise ValueError(f"CosineObjective: step {step!r} shortens earlier rounds, which are the host's")
        self.raw = self.raw + length * output
        self.terms.append(term.materialized())
        self.lengths.append(length)
        if len(self.terms) == 2:
            check_terms_of_fit(self.terms, self.fitter.design.original, output)

    def require_trees(self, trees: Sequence[Term | None]) -> None:
        """Raise a ValueError unless these trees, one term or None per round, are those of this training.

        The recorded scores must be sums of the trees. The tree of the last round is not checked, as the scores
        after it are not recorded.
        """
        if len(trees) > self.n_calls:
            raise ValueError(
                f"bind: the booster has {len(trees)} rounds, the training of this objective {self.n_calls}: it "
                f"comes from another training"
            )
        X = self.fitter.design.original
        inputs = X[evenly_spaced_rows(len(X))]
        outputs = [np.zeros_like(self.trace[0]) if tree is None else tree(inputs) for tree in trees]
        steps = [self.trace[0], *outputs][: self.n_calls]
        total, size = np.cumsum(steps, axis=0), np.cumsum([np.abs(step).max() for step in steps])
        wrong = np.abs(total - self.trace[: len(steps)]).max(axis=(1, 2)) > TOLERANCE * size
        if wrong.any():
            raise ValueError(
                f"bind: the booster must be the one trained with this objective, from its first round on; round "
                f"{wrong.argmax() - 1} differs: the booster is a slice or comes from another training"
            )

    def ensemble(self, trees: Sequence[Term | None], every: int) -> Ensemble:
        """The cosines and the trees, one term or None per round, in the order of training."""
        if len(self.terms) == 1:
            check_terms_of_fit(self.terms, self.fitter.design.original)
        terms: list[Term] = []
        lengths: list[float] = []
        for index, tree in enumerate(trees):
            if index % every == 0:
                terms.append(self.terms[index // every])
                lengths.append(self.lengths[index // every])
            if tree is not None:
                terms.append(tree)
                lengths.append(1.0)
        return Ensemble(self.baseline, tuple(terms), np.column_stack([np.ones(len(terms)), lengths]))


class Trainings:
    """Trainings in the order of their starts, their matrices, and the sums of cosines on these."""

    def __init__(self) -> None:
        self.started: list[CosineTraining] = []
        self.sums: WeakKeyDictionary[Any, CosineSum] = WeakKeyDictionary()
        self._trained: WeakKeyDictionary[Any, CosineTraining] = WeakKeyDictionary()
        self._evaluated: WeakKeyDictionary[Any, CosineTraining] = WeakKeyDictionary()
        self._latest: CosineTraining | None = None

    def add(self, matrix: Any, training: CosineTraining) -> None:
        """Add a training that has started on a matrix."""
        self.started.append(training)
        self._trained[matrix] = self._latest = training

    def of_training_matrix(self, matrix: Any) -> CosineTraining | None:
        """The training on a matrix, if there is one."""
        training = self._trained.get(matrix)
        self._latest = training or self._latest
        return training

    def of_evaluation_matrix(self, matrix: Any) -> CosineTraining:
        """The training that a matrix evaluates; a ValueError without any.

        Hosts do not say which. In a cross-validation, all folds take a round before their evaluation, in the same
        order: a new matrix belongs to the first of them without one.
        """
        if self._latest is None:
            raise ValueError("the cosines' metric has no meaning without their objective: pass both to train()")
        if matrix not in self._evaluated:
            assigned = {id(training) for training in self._evaluated.values()}
            round_done = (t for t in self.started if t.n_calls == self._latest.n_calls and id(t) not in assigned)
            self._evaluated[matrix] = next(round_done, self._latest)
        return self._evaluated[matrix]

    def __getstate__(self) -> dict[str, Any]:
        # Matrices cannot be pickled.
        return {"started": self.started}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.started = state["started"]


def assign_trees(trees: Sequence[Term], tree_grown: Sequence[bool], best: int | None) -> list[Term | None]:
    """The tree of each round up to the best, None for a round that the host has dropped for lack of a split.

    `trees` are the rounds that a booster has kept, or the first few of them: the first round is always kept.
    `tree_grown` says for each round but the last whether it has changed the host's scores. `best` is the number of
    rounds up to the best after early stopping.
    """
    n_calls = len(tree_grown) + 1
    if len(trees) >= n_calls:
        return list(trees[:best])
    kept = [index for index, grown in enumerate(tree_grown) if grown or index == 0]
    if len(trees) > len(kept):
        kept.append(n_calls - 1)
    # If no grown tree is missing, the remaining rounds had none.
    n_rounds = n_calls if len(trees) >= len(kept) else kept[len(trees)]
    by_round = dict(zip(kept, trees, strict=False))
    return [by_round.get(index) for index in range(n_rounds)][:best]


def evenly_spaced_rows(n_samples: int) -> Array:
    """The indices of at most `N_ROWS` rows."""
    return np.unique(np.linspace(0, n_samples - 1, N_ROWS).astype(np.intp))
