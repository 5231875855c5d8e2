"""The callback that monitors an error on held-out rows, such as the mean loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...contracts.fit import is_foreign
from ...core import CoupledLoss, Loss, Observations, Term
from ...losses.links import LARGEST_EXPONENT
from ...rows.dataset import Dataset
from ...terms.batch_evaluation import outputs_of_each
from ...utils.sparse import Rows
from ...utils.typing import Array
from ..callbacks import Progress
from .patience import Patience, improves

# Newton steps to the least loss of a row, each twice as long as the one before while they lower the loss.
N_STEPS = 8

ErrorFunction: TypeAlias = Callable[[Observations, Array], float]
"""``error(rows, raw)`` of rows with encoded targets (n, K), and raw scores (n, C) without their offset."""


@dataclass(frozen=True)
class MeanLoss:
    """The weighted mean of a loss, as an error."""

    loss: Loss

    def __call__(self, rows: Observations, raw: Array) -> float:
        return self.batch(rows, raw[None])[0]

    def batch(self, rows: Observations, raw: Array) -> list[float]:
        """The error of each of T score arrays, raw (T, n, C), in one call of a loss of independent rows."""
        (count, n, n_outputs), weight = raw.shape, rows.weight
        if self.loss.rows == "independent":
            every = np.tile(np.arange(n), count)
            values = rows.take(every).losses(self.loss, raw.reshape(count * n, n_outputs))
        else:
            values = np.stack([rows.losses(self.loss, one) for one in raw])
        # As np.average, which is slow for few rows.
        means: list[float] = ((values.reshape(count, n) * weight).sum(axis=1) / weight.sum()).tolist()
        return means


def least_error(error: ErrorFunction, rows: Observations, raw: Array) -> float:
    """The least error possible, from which relative errors of classifiers are counted.

    For the mean loss of a classification it is the mean of the least loss of each row over all scores. For other
    errors it is 0, as it is for the losses of this package. The search starts from scores `raw` (n, C).
    """
    if not isinstance(error, MeanLoss) or error.loss.task != "classification" or not is_foreign(error.loss):
        return 0.0
    loss, weight, length = error.loss, rows.weight, np.ones(1)
    values = rows.losses(loss, raw)
    with np.errstate(all="ignore"):
        for _ in range(N_STEPS):
            gradient, hessian = rows.derivatives(loss, raw)
            step = (-length[:, None] * gradient / hessian).clip(-LARGEST_EXPONENT, LARGEST_EXPONENT)
            moved = raw + np.nan_to_num(step)
            losses = rows.losses(loss, moved)
            # Coupled rows move together.
            is_lower = [weight @ losses < weight @ values] if isinstance(loss, CoupledLoss) else losses < values
            length = np.where(is_lower, 2.0, 0.25) * length
            raw, values = np.where(np.reshape(is_lower, (-1, 1)), moved, raw), np.where(is_lower, losses, values)
    return float(np.average(values, weights=weight))


# Scores that are evaluated in one batch: rounds times rows times outputs.
MAX_BATCH = 1_000_000


def staged_scores(raw: Array, rounds: Sequence[tuple[float, float, Term]], X: Rows) -> Array:
    """Scores (T, n, C) of X (n, d) after each of T rounds (keep, length, term), starting from `raw`."""
    outputs = outputs_of_each([term for _, _, term in rounds], X).astype(np.float64, copy=False)
    raws = np.empty_like(outputs)
    for t, (keep, length, _) in enumerate(rounds):
        raw = raws[t] = keep * raw + length * outputs[t]
    return raws


class EarlyStopping:
    """Stops when an error on held-out rows, such as the loss, has not improved for a while.

    Rounds are evaluated in batches, which is cheaper than one by one: when patience could end the fit, and when a
    result is requested.

    Parameters
    ----------
    rows : Dataset
        Held-out rows, in original units.
    error : callable
        The error to monitor, ``error(observations, raw) -> float``; lower is better.
    raw : ndarray of shape (n, C)
        Their scores before the first round.
    patience : Patience
        Rounds without improvement after which the fit ends.
    tol : float
        Smallest decrease that counts as an improvement, as a share of the decrease so far, from the error before
        the first round.
    floor : float, default=0.0
        The least error possible.
    rival : float, default=inf
        The error of another model.
    trailing_tol : float, default=0.0
        At least this takes the place of `tol` as long as the error is above that of the other model.

    Raises
    ------
    ValueError
        If the error is not finite before the first round, or NaN after a later one.
    """

    def __init__(
        self,
        rows: Dataset,
        error: ErrorFunction,
        raw: Array,
        patience: Patience,
        tol: float,
        floor: float = 0.0,
        rival: float = np.inf,
        trailing_tol: float = 0.0,
    ) -> None:
        self.rows, self.error = rows, error
        self.patience, self.tol, self.floor = patience, tol, floor
        self.rival, self.trailing_tol = rival, max(tol, trailing_tol)
        first = float(error(rows.observations, raw))
        if not np.isfinite(first):
            raise ValueError(
                f"early stopping: loss or eval_metric must be finite on the {len(rows)} held-out rows, got {first}"
            )
        self._raw, self._scores, self._best, self._best_raw = raw, [first], 0, raw
        self._pending: list[tuple[float, float, Term]] = []
        # Scores after the rounds that follow the best one, at most a batch of them.
        self._later: list[Array] = []

    def __call__(self, progress: Progress) -> bool:
        self._pending.append((progress.keep, progress.length, progress.term))
        done = len(self._scores) + len(self._pending) - 1
        # A better round in between could only postpone the end, never bring it forward.
        if done - self._best < self.patience.wait_after(self._best) and not self.patience.checks_convergence(done):
            return False
        self._evaluate()
        return done - self._best >= self.patience.wait_after(self._best) or self.patience.has_converged(
            self._scores, self.floor
        )

    @property
    def scores_(self) -> list[float]:
        """Held-out error before the first and after every round."""
        self._evaluate()
        return self._scores

    @property
    def best_round_(self) -> int:
        """Number of rounds up to the last improvement; a later error may be lower by less than that."""
        self._evaluate()
        return self._best

    def raw_after(self, later: Sequence[tuple[float, float, Term]]) -> Array:
        """Scores of the held-out rows after the best round and some `later` ones, given as for `staged_scores`."""
        self._evaluate()
        raw, size = self._best_raw, self._batch_size
        if 0 < len(later) <= len(self._later):
            return self._later[len(later) - 1].copy()
        for start in range(0, len(later), size):
            raw = staged_scores(raw, later[start : start + size], self.rows.X)[-1].copy()
        return raw

    def _evaluate(self) -> None:
        """Evaluate the pending rounds."""
        while self._pending:
            self._evaluate_batch(self._pending[: self._batch_size])

    @property
    def _batch_size(self) -> int:
        """Rounds that are evaluated together."""
        return max(1, MAX_BATCH // self._raw.size)

    def _evaluate_batch(self, rounds: list[tuple[float, float, Term]]) -> None:
        raws = staged_scores(self._raw, rounds, self.rows.X)
        monitored, rows = self.error, self.rows.observations
        if isinstance(monitored, MeanLoss):
            errors = monitored.batch(rows, raws)
        else:
            errors = [float(monitored(rows, one)) for one in raws]
        if np.isnan(errors).any():
            raise ValueError(
                f"early stopping: loss or eval_metric must be a number on the {len(self.rows)} held-out rows, got "
                f"nan after round {len(self._scores) + int(np.isnan(errors).argmax())}"
            )
        scores, best, best_raw, later = self._scores, self._best, self._best_raw, [*self._later]
        done, least = len(scores), scores[best]
        for t, error in enumerate(errors):
            if improves(error, least, self._scores[0], self.tol if least <= self.rival else self.trailing_tol):
                best, least, best_raw, later = done + t, error, raws[t].copy(), []
            elif len(later) < self._batch_size:
                later.append(raws[t])
        # In one statement, so that an interrupt cannot leave it half done.
        self._raw, self._scores, self._best, self._best_raw, self._later, self._pending = (
            *(raws[-1], [*scores, *errors], best, best_raw, later),
            self._pending[len(rounds) :],
        )
