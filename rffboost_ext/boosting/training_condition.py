"""Whether a further kind of models is worth its time, by what others have come to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..utils.typing import Array


class TrainedModel(Protocol):
    """A finished model: the held-out loss before the first and after every round, and the held-out scores."""

    @property
    def scores(self) -> Array:
        """The losses, (T + 1,)."""

    @property
    def raw(self) -> Array:
        """The scores, (n, C)."""


@dataclass(frozen=True)
class TrainingCondition:
    """What calls for a further kind of models.

    Parameters
    ----------
    least, most : float
        The best other kind leaves a share of the initial loss that is between these.
    behind : float
        The kind is given up if its first model leaves more than so many times the loss of the best other one: it
        has been trained by then, so that this matters where there are several folds.
    n_outputs : int
        There are at most so many outputs, each of which takes its time.
    akin : float, default=inf
        The best model of the second of the other kinds, which is most like this one, leaves at most so many times
        the loss of the best kind: where kernels are hard to find, some of its models fail, and tell nothing.
    """

    least: float
    most: float
    behind: float
    n_outputs: int
    akin: float = math.inf

    def is_met(self, runs: Sequence[TrainedModel], others: Sequence[Sequence[TrainedModel]]) -> bool:
        """Whether to train one more model of this kind, given its own so far and those of other kinds."""
        if others[0][0].raw.shape[1] > self.n_outputs:
            return False
        shares = [float(np.mean([relative_loss(run) for run in row])) for row in others]
        best = min(shares)
        if not self.least < best < self.most:
            return False
        if any(min(map(relative_loss, row)) > self.akin * best for row in others[1:2]):
            return False
        return not runs or relative_loss(runs[0]) <= self.behind * min(relative_loss(row[0]) for row in others)


def relative_loss(run: TrainedModel) -> float:
    """The least loss as a share of that before the first round; 1 where that is not positive."""
    return float(run.scores.min() / run.scores[0]) if run.scores[0] > 0.0 else 1.0
