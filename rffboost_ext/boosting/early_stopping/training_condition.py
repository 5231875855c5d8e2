"""When a further member of a stack is trained, depending on the losses of the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...utils.typing import Array


class TrainedModel(Protocol):
    """A model with its validation losses before the first and after every round, and its validation scores."""

    @property
    def floor(self) -> float:
        """The least validation loss possible."""

    @property
    def scores(self) -> Array:
        """The losses, (T + 1,)."""

    @property
    def raw(self) -> Array:
        """The scores, (n, C)."""


@dataclass(frozen=True)
class TrainingCondition:
    """When a further member of a stack is trained.

    Parameters
    ----------
    min_loss, max_loss : float
        The loss of the best other member, relative to the initial loss, is between these. All losses are less the
        least one possible.
    max_ratio : float
        The remaining folds are skipped if the loss of the first model is more than this multiple of that of the
        best other member.
    max_outputs : int
        Maximum number of outputs.
    max_similar_ratio : float, default=inf
        The best model of the second other member, which is the most similar one, has at most this multiple of the
        loss of the best member.
    """

    min_loss: float
    max_loss: float
    max_ratio: float
    max_outputs: int
    max_similar_ratio: float = math.inf

    def is_met(self, runs: Sequence[TrainedModel], others: Sequence[Sequence[TrainedModel]]) -> bool:
        """Whether to train one more model, from the `runs` of this member so far and the runs of the others."""
        if others[0][0].raw.shape[1] > self.max_outputs:
            return False
        shares = [float(np.mean([relative_loss(run) for run in row])) for row in others]
        best = min(shares)
        if not self.min_loss < best < self.max_loss:
            return False
        if any(min(map(relative_loss, row)) > self.max_similar_ratio * best for row in others[1:2]):
            return False
        return not runs or relative_loss(runs[0]) <= self.max_ratio * min(relative_loss(row[0]) for row in others)


def relative_loss(run: TrainedModel) -> float:
    """The lowest loss relative to that before the first round, less the least one possible; 1 if that is 0."""
    first = run.scores[0] - run.floor
    return float((run.scores.min() - run.floor) / first) if first > 0.0 else 1.0
