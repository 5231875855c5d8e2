"""What happens after each round: progress, and the decision to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .core import Array, Loss, Round, Term


@dataclass(frozen=True)
class Progress:
    """What a callback sees after a round.

    Attributes
    ----------
    round : Round
        The round as it began: ``round.index`` counts from 0, ``round.raw`` are the scores before it. Its rows
        are those that are trained on: held-out rows are left out, and equal rows may be merged.
    n_estimators : int
        The number of rounds that were asked for.
    term : Term
        What the learner found, in the user's own units.
    keep, length : float
        How the step used it.
    raw : ndarray of shape (n, C)
        The scores after the round.
    baseline : ndarray of shape (C,)
        The scores before the first round of this fit.
    """

    round: Round
    n_estimators: int
    term: Term
    keep: float
    length: float
    raw: Array
    baseline: Array

    def train_loss(self) -> float:
        """Weighted mean of the training loss after the round."""
        return float(self.round.mean(self.round.loss.value(self.round.y, self.raw)))


Callback: TypeAlias = Callable[[Progress], object]
"""Called after each round; a true result ends the fit.

One with methods ``state()`` and ``restore(state)`` is part of a checkpoint: what the one returns, values, arrays
or storable objects, the other gets when the fit is resumed.
"""


class EarlyStopping:
    """Stops when the loss on held-out rows has not improved for a while.

    Parameters
    ----------
    X, y, weight : ndarray
        Held-out rows in the user's own units, their encoded targets (n, 1) and weights (n,).
    loss : Loss
        The loss that is watched.
    raw : ndarray of shape (n, C)
        Their scores before the first round.
    patience : int
        Rounds without improvement after which the fit ends.
    tol : float
        What counts as an improvement, as a share of the loss before the first round.

    Attributes
    ----------
    scores_ : list of float
        Held-out loss before the first and after every round.
    best_round_ : int
        Number of rounds with the lowest held-out loss.
    """

    def __init__(
        self, X: Array, y: Array, weight: Array, loss: Loss, raw: Array, patience: int, tol: float
    ) -> None:
        self.X, self.y, self.weight, self.loss, self.raw = X, y, weight, loss, raw
        self.patience = patience
        self.scores_ = [self._score()]
        self.best_round_ = 0
        self._least = tol * abs(self.scores_[0])

    def __call__(self, progress: Progress) -> bool:
        self.raw = progress.keep * self.raw + progress.length * progress.term(self.X)
        self.scores_.append(self._score())
        if self.scores_[-1] < self.scores_[self.best_round_] - self._least:
            self.best_round_ = len(self.scores_) - 1
        return len(self.scores_) - 1 - self.best_round_ >= self.patience

    def state(self) -> dict[str, Any]:
        """What it knows, for a checkpoint."""
        return {"scores": self.scores_, "best_round": self.best_round_, "raw": self.raw}

    def restore(self, state: dict[str, Any]) -> None:
        """Know it again."""
        self.scores_, self.best_round_, self.raw = (state[name] for name in ("scores", "best_round", "raw"))

    def _score(self) -> float:
        return float(np.average(self.loss.value(self.y, self.raw), weights=self.weight))


class KeepScores:
    """Keeps the training scores of the last round, from which a later fit on the same rows can go on.

    Parameters
    ----------
    raw : ndarray of shape (n, C), optional
        The scores that the fit starts from, if they are known.
    """

    def __init__(self, raw: Array | None = None) -> None:
        self.raw = raw

    def __call__(self, progress: Progress) -> None:
        self.raw = progress.raw

    def state(self) -> Array | None:
        """The scores, for a checkpoint."""
        return self.raw

    def restore(self, state: Array | None) -> None:
        """Take them from there."""
        self.raw = state


def print_progress(progress: Progress) -> None:
    """Print the training loss ten times in a fit, on standard error."""
    done = progress.round.index + 1
    if done % max(1, progress.n_estimators // 10) == 0 or done == progress.n_estimators:
        text = f"round {done:>{len(str(progress.n_estimators))}} of {progress.n_estimators}"
        print(f"[rffboost] {text}: training loss {progress.train_loss():.6g}", file=sys.stderr)
