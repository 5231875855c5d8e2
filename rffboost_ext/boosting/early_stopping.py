"""Early stopping: the error monitored on held-out rows, and how long it may fail to improve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core import Term
from ..terms import outputs_of_each
from ..utils.typing import Array
from .callbacks import Progress
from .mean_loss import ErrorFunction, batch_errors

# Held-out scores that are evaluated in one batch, counted over rounds, rows and outputs.
MAX_BATCH = 1_000_000


@dataclass(frozen=True)
class Patience:
    """How many rounds early stopping waits for an improvement.

    Parameters
    ----------
    rounds : int
        Minimum number of rounds to wait.
    share : float, default=0.0
        Wait at least this share of the rounds up to the best one: late in a long fit improvements are small and
        rare.
    converged_below, min_gain : float, default=0.0
        Once the error is below the share `converged_below` of its initial value, a fit also ends when a stretch of
        `rounds` rounds reduces it by less than the share `min_gain` of that value. For errors with minimum 0, such
        as log loss: further gains would only raise confidence, not accuracy.
    """

    rounds: int
    share: float = 0.0
    converged_below: float = 0.0
    min_gain: float = 0.0

    def limited_to(self, rounds: int) -> Patience:
        """The same, but waiting for at most so many rounds."""
        return replace(self, rounds=min(self.rounds, rounds), share=0.0)

    def wait_after(self, best_round: int) -> float:
        """Rounds to wait when `best_round` is the best so far."""
        return max(self.rounds, self.share * best_round)

    def checks_convergence(self, done: int) -> bool:
        """Whether `done` is a multiple of `rounds`, at which convergence is checked."""
        return self.converged_below > 0.0 and done % self.rounds == 0

    def has_converged(self, errors: Sequence[float]) -> bool:
        """Whether the last stretch of rounds gained too little; `errors` begin before the first round."""
        if not self.checks_convergence(len(errors) - 1):
            return False
        least, before = min(errors), min(errors[: -self.rounds])
        return least < self.converged_below * errors[0] and before - least < self.min_gain * errors[0]


@dataclass(frozen=True)
class PatienceLimit:
    """Limits to the patience with a model that takes few long steps.

    Parameters
    ----------
    rounds : int
        The most rounds without improvement to wait for.
    tol : float
        The least decrease that counts as an improvement, as a share of the error before the first round.
    """

    rounds: int
    tol: float


def staged_scores(raw: Array, rounds: Sequence[tuple[float, float, Term]], X: Array) -> Array:
    """Scores (T, n, C) of X (n, d) after each of T rounds, each of a keep, a length and a term, from `raw` on."""
    outputs = outputs_of_each([term for _, _, term in rounds], X).astype(np.float64, copy=False)
    raws = np.empty_like(outputs)
    for t, (keep, length, _) in enumerate(rounds):
        raw = raws[t] = keep * raw + length * outputs[t]
    return raws


class EarlyStopping:
    """Stops when an error on held-out rows, such as the loss, has not improved for a while.

    No fit can end before its patience is over, so held-out rows are evaluated only then, and whenever a result is
    requested: many rounds at once, which is cheaper than one by one.

    Parameters
    ----------
    X, y, weight : ndarray
        Held-out rows in original units, their encoded targets, (n, 1) or (n, C), and weights (n,).
    error : callable
        The error to monitor, ``error(y, raw, weight) -> float``; lower is better.
    raw : ndarray of shape (n, C)
        Their scores before the first round.
    patience : Patience
        Rounds without improvement after which the fit ends.
    tol : float
        Smallest decrease that counts as an improvement, as a share of the error before the first round.

    Attributes
    ----------
    scores_ : list of float
        Held-out error before the first and after every round.
    best_round_ : int
        Number of rounds up to the last one that was an improvement; a later error may be lower by less than that.
    best_raw_ : ndarray of shape (n, C)
        Scores of the held-out rows after `best_round_` rounds.

    Raises
    ------
    ValueError
        If the error before the first round is not finite, or that after another one NaN.
    """

    def __init__(
        self, X: Array, y: Array, weight: Array, error: ErrorFunction, raw: Array, patience: Patience, tol: float
    ) -> None:
        self.X, self.y, self.weight, self.error = X, y, weight, error
        self.patience = patience
        first = float(error(y, raw, weight))
        if not np.isfinite(first):
            raise ValueError(
                f"early stopping: loss or eval_metric must be finite on the {len(y)} held-out rows, got {first}"
            )
        self._least = tol * abs(first)
        self._raw, self._scores, self._best, self._best_raw = raw, [first], 0, raw
        self._pending: list[tuple[float, float, Term]] = []
        # Scores of the held-out rows after the rounds that follow the best one, at most a batch of them.
        self._later: list[Array] = []

    def __call__(self, progress: Progress) -> bool:
        self._pending.append((progress.keep, progress.length, progress.term))
        done = len(self._scores) + len(self._pending) - 1
        # A better round in between could only postpone the end, never bring it forward.
        if done - self._best < self.patience.wait_after(self._best) and not self.patience.checks_convergence(done):
            return False
        self._evaluate()
        return done - self._best >= self.patience.wait_after(self._best) or self.patience.has_converged(
            self._scores
        )

    @property
    def scores_(self) -> list[float]:
        """Held-out error before the first and after every round."""
        self._evaluate()
        return self._scores

    @property
    def best_round_(self) -> int:
        """Number of rounds up to the last one that was an improvement."""
        self._evaluate()
        return self._best

    @property
    def best_raw_(self) -> Array:
        """Scores of the held-out rows after `best_round_` rounds."""
        self._evaluate()
        return self._best_raw

    def raw_after(self, later: Sequence[tuple[float, float, Term]]) -> Array:
        """Scores of the held-out rows after the best round and some `later` ones, given as for `staged_scores`."""
        raw, size = self.best_raw_, self._batch_size
        if 0 < len(later) <= len(self._later):
            return self._later[len(later) - 1].copy()
        for start in range(0, len(later), size):
            raw = staged_scores(raw, later[start : start + size], self.X)[-1].copy()
        return raw

    def state(self) -> dict[str, Any]:
        """The state for a checkpoint."""
        self._evaluate()
        raw = {"raw": self._raw, "best_raw": self._best_raw}
        return {"scores": self._scores, "best_round": self._best} | raw

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state from a checkpoint."""
        self._scores, self._best = state["scores"], state["best_round"]
        self._raw, self._best_raw, self._pending, self._later = state["raw"], state["best_raw"], [], []

    def _evaluate(self) -> None:
        """Evaluate the pending rounds."""
        while self._pending:
            self._evaluate_batch(self._pending[: self._batch_size])

    @property
    def _batch_size(self) -> int:
        """Rounds that are evaluated together."""
        return max(1, MAX_BATCH // self._raw.size)

    def _evaluate_batch(self, rounds: list[tuple[float, float, Term]]) -> None:
        raws = staged_scores(self._raw, rounds, self.X)
        errors = batch_errors(self.error, self.y, raws, self.weight)
        self._require_numbers(errors)
        scores, best, best_raw, later = self._scores, self._best, self._best_raw, [*self._later]
        done, least = len(scores), scores[best]
        for t, error in enumerate(errors):
            if error < least - self._least:
                best, least, best_raw, later = done + t, error, raws[t].copy(), []
            elif len(later) < self._batch_size:
                later.append(raws[t])
        # In one statement, so that an interrupt cannot leave it half done.
        self._raw, self._scores, self._best, self._best_raw, self._later, self._pending = (
            *(raws[-1], [*scores, *errors], best, best_raw, later),
            self._pending[len(rounds) :],
        )

    def _require_numbers(self, errors: Sequence[float]) -> None:
        """Raise a ValueError if one of the next errors is NaN, which compares with no other."""
        lost = np.flatnonzero(np.isnan(errors))
        if len(lost):
            raise ValueError(
                f"early stopping: loss or eval_metric must be a number on the {len(self.y)} held-out rows, got "
                f"nan after round {len(self._scores) + int(lost[0])}"
            )
