"""One boosting round: derivatives, a fitted term, a step, and the new raw scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core import Learner, Loss, Observations, Round, Step, Term
from ..learners.design import Design
from ..learners.validation import fit_term
from ..losses.units import scale_derivatives
from ..losses.validation import check_derivatives, compute_derivatives
from ..utils.typing import Array
from .steps import take_step


@dataclass(frozen=True)
class RoundUpdate:
    """The result of a boosting round.

    Attributes
    ----------
    round : Round
        The state before the update.
    term : Term
        The fitted term, in the original units of the features.
    output : ndarray of shape (n, C)
        Its outputs on the training rows.
    keep, length : float
        The result of the step: ``raw <- keep * raw + length * output``.
    """

    round: Round
    term: Term
    output: Array
    keep: float
    length: float

    def raw(self) -> Array:
        """The raw scores after the round, (n, C)."""
        raw = self.round.raw
        return (raw if self.keep == 1.0 else self.keep * raw) + self.length * self.output


@dataclass(frozen=True)
class RoundFitter:
    """Fits the rounds of a model; round t draws from ``SeedSequence(seed, spawn_key=(t,))``."""

    design: Design
    rows: Observations
    loss: Loss
    learner: Learner
    step: Step
    seed: int | Sequence[int] | None
    replay: Sequence[Term] = ()
    """Terms of the rounds of another fit, which are fitted again."""

    def fit(self, index: int, raw: Array) -> RoundUpdate:
        """Fit round `index` at raw scores (n, C), with checks of what loss, learner and step return."""
        derivatives = scale_derivatives(self.loss, compute_derivatives(self.loss, self.rows, raw, index))
        check_derivatives(self.loss, derivatives, raw, index)
        # As default_rng, which takes twice the time.
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(index,))))
        shrinkage = self.step.shrinkage(index)
        y, weight, offset = self.rows.y, self.rows.weight, self.rows.offset
        round = Round(self.design, self.loss, y, raw, *derivatives, weight, index, rng, shrinkage, offset=offset)
        fitted, output = fit_term(self.learner, round, self.replay[index] if self.replay else None)
        keep, length = take_step(self.step, round, output)
        return RoundUpdate(round, self.design.restore(fitted), output, keep, length)
