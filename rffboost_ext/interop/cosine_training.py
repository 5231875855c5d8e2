"""What a training of a host's trees and our cosines has grown, and the ensemble of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..boosting.steps import take_step
from ..core import Learner, Loss, Round, Step, Term
from ..learners.design import Design
from ..learners.validation import fit_term
from ..losses.validation import check_derivatives, check_pair, scale_derivatives
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .trace import Trace


@dataclass
class Part:
    """The sum of the cosines on the rows of one matrix, as far as they have been added up."""

    X: Array
    raw: Array
    added: int = 0

    def with_all(self, terms: Sequence[Term], lengths: Sequence[float]) -> Array:
        """The sum over all terms so far, (n, C)."""
        for term, length in zip(terms[self.added :], lengths[self.added :], strict=True):
            self.raw = self.raw + length * term(self.X)
        self.added = len(terms)
        return self.raw


@dataclass
class Training:
    """What one training knows: its rows, where it started, and the cosines so far."""

    loss: Loss
    step: Step
    design: Design
    y: Array
    weight: Array
    start: Array
    baseline: Array
    raw: Array
    trace: Trace
    calls: int = 0
    last: Array | None = None
    terms: list[Term] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    grew: list[bool] = field(default_factory=list)
    """Whether the host's scores have changed, for each round whose end was seen."""

    def total(self, scores: Array) -> Array:
        """The raw scores of both parts, given the host's: its start makes way for the baseline."""
        return scores - self.start + self.baseline + self.raw

    def proceed(self, scores: Array) -> None:
        """Note one more call; a ValueError if the host has gone back to where it started."""
        if self.last is not None and not (self.last == self.start).all() and (scores == self.start).all():
            raise ValueError("a CosineObjective serves one training; make a new one for the next")
        if self.last is not None:
            self.grew.append(not np.array_equal(scores, self.last))
        # A host may hand over the same memory each time.
        self.last = scores.copy()
        self.trace.note(scores)
        self.calls += 1

    def grow(self, learner: Learner, host: Array, seed: int) -> None:
        """Add a cosine, given the host's scores: a round as in our own loop."""
        index, raw = len(self.terms), self.total(host)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))
        derivatives = scale_derivatives(self.loss, check_pair(self.loss, self.loss.derivatives(self.y, raw)))
        check_derivatives(self.loss, derivatives, raw, index)
        state = self.design, self.loss, self.y, raw, *derivatives, self.weight
        round = Round(*state, index, rng, self.step.shrinkage(index))
        fitted, output = fit_term(learner, round)
        keep, length = take_step(self.step, round, output)
        if keep != 1.0:
            raise ValueError(f"CosineObjective: step {self.step!r} shortens earlier rounds, which are the host's")
        self.raw = self.raw + length * output
        self.terms.append(self.design.restore(fitted).settled())
        self.lengths.append(length)


def by_round(trees: Sequence[Term], grew: Sequence[bool], best: int | None) -> list[Term | None]:
    """The tree of each round up to the best, None where the host has found no split and dropped the round.

    Parameters
    ----------
    trees : sequence of Term
        The rounds that a booster has kept, the first among them whatever it holds; or the first few of these.
    grew : sequence of bool
        Whether each round but the last has changed the host's scores.
    best : int, optional
        Rounds of the training to take, where it has stopped early.
    """
    calls = len(grew) + 1
    if len(trees) >= calls:
        return list(trees[:best])
    kept = [index for index, changed in enumerate(grew) if changed or index == 0]
    if len(trees) > len(kept):
        kept.append(calls - 1)
    if len(trees) > len(kept):
        raise ValueError(
            f"bind: the booster has {len(trees)} rounds, at most {len(kept)} of this objective's have grown a "
            f"tree: it comes from another training"
        )
    # Where all that is known to have grown is there, the last rounds had none.
    n_rounds = calls if len(trees) >= len(kept) else kept[len(trees)]
    known = dict(zip(kept, trees, strict=False))
    return [known.get(index) for index in range(n_rounds)][:best]


def interleaved(training: Training, trees: Sequence[Term | None], every: int) -> Ensemble:
    """The ensemble of both parts in the order in which they grew."""
    terms: list[Term] = []
    lengths: list[float] = []
    for index, tree in enumerate(trees):
        if index % every == 0:
            terms.append(training.terms[index // every])
            lengths.append(training.lengths[index // every])
        if tree is not None:
            terms.append(tree)
            lengths.append(1.0)
    return Ensemble(training.baseline, tuple(terms), np.column_stack([np.ones(len(terms)), lengths]))
