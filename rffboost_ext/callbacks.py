"""What happens after each round: progress, and the decision to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .checks import Integer, require
from .core import Array, Loss, Round, Term
from .terms import outputs_of_each

Error: TypeAlias = Callable[[Array, Array, Array], float]
# Rounds without a word from a fit that is to print.
LONGEST_SILENCE = 50
# Held-out scores that are looked at together, counted over rounds, rows and outputs.
AT_ONCE = 1_000_000


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
or storable objects, the other gets when the fit is resumed. One with a method ``close()`` is told by an estimator
that the fit is over, however it ends.
"""


@dataclass(frozen=True)
class Patience:
    """How many rounds early stopping waits for an improvement.

    Parameters
    ----------
    rounds : int
        So many at least.
    share : float, default=0.0
        And this share of the rounds up to the best one: late in a long fit improvements are small and rare.
    settled, worth : float, default=0.0
        Where the error has fallen below the share `settled` of what it was before the first round, a fit also ends
        with a stretch of so many rounds that takes less than the share `worth` off it. For errors that are 0 where
        nothing is wrong, such as the losses of a classifier: what is left to gain is then certainty of what is
        known already.
    """

    rounds: int
    share: float = 0.0
    settled: float = 0.0
    worth: float = 0.0

    def after(self, best_round: int) -> float:
        """Rounds to wait when `best_round` is the best so far."""
        return max(self.rounds, self.share * best_round)

    def looks(self, done: int) -> bool:
        """Whether a stretch of rounds is over after so many."""
        return self.settled > 0.0 and done % self.rounds == 0

    def is_settled(self, errors: Sequence[float]) -> bool:
        """Whether the last stretch of rounds was not worth it, given the error before the first and after each."""
        if not self.looks(len(errors) - 1):
            return False
        least, before = min(errors), min(errors[: -self.rounds])
        return least < self.settled * errors[0] and before - least < self.worth * errors[0]


@dataclass(frozen=True)
class MeanLoss:
    """The weighted mean of a loss, as an error.

    Parameters
    ----------
    loss : Loss
    """

    loss: Loss

    def __call__(self, y: Array, raw: Array, weight: Array) -> float:
        return float(np.average(self.loss.value(y, raw), weights=weight))

    def several(self, y: Array, raw: Array, weight: Array) -> list[float]:
        """That of each of several scores, raw (T, n, C); a loss is of single rows, so one call serves them all."""
        count, n, n_outputs = raw.shape
        values = self.loss.value(np.tile(y, (count, 1)), raw.reshape(count * n, n_outputs))
        means: list[float] = np.average(values.reshape(count, n), axis=1, weights=weight).tolist()
        return means


def errors_of(error: Error, y: Array, raw: Array, weight: Array) -> list[float]:
    """The error of each of several scores, raw (T, n, C)."""
    if hasattr(error, "several"):
        several: list[float] = error.several(y, raw, weight)
        return several
    return [float(error(y, one, weight)) for one in raw]


class EarlyStopping:
    """Stops when an error on held-out rows, such as the loss, has not improved for a while.

    No fit can end before its patience is over, so that held-out rows are looked at only then, and whenever a
    result is asked for: many rounds at once, which costs a part of what they would one by one.

    Parameters
    ----------
    X, y, weight : ndarray
        Held-out rows in the user's own units, their encoded targets (n, 1) and weights (n,).
    error : callable
        What is watched, ``error(y, raw, weight) -> float``; less is better. One with a method ``several`` gets the
        scores of several rounds at once, (T, n, C), and returns a list.
    raw : ndarray of shape (n, C)
        Their scores before the first round.
    patience : Patience
        Rounds without improvement after which the fit ends.
    tol : float
        What counts as an improvement, as a share of the error before the first round.

    Attributes
    ----------
    scores_ : list of float
        Held-out error before the first and after every round.
    best_round_ : int
        Number of rounds with the lowest held-out error.
    best_raw_ : ndarray of shape (n, C)
        Scores of the held-out rows after these.

    Raises
    ------
    ValueError
        If the error before the first round is not finite.
    """

    def __init__(
        self, X: Array, y: Array, weight: Array, error: Error, raw: Array, patience: Patience, tol: float
    ) -> None:
        self.X, self.y, self.weight, self.error = X, y, weight, error
        self.patience = patience
        first = float(error(y, raw, weight))
        if not np.isfinite(first):
            raise ValueError(
                f"early stopping: eval_metric must be finite on the {len(y)} held-out rows, got {first}"
            )
        self._least = tol * abs(first)
        self._raw, self._scores, self._best, self._best_raw = raw, [first], 0, raw
        self._waiting: list[tuple[float, float, Term]] = []

    def __call__(self, progress: Progress) -> bool:
        self._waiting.append((progress.keep, progress.length, progress.term))
        done = len(self._scores) + len(self._waiting) - 1
        # The best round so far may be followed by a better one, but not by an earlier end.
        if done - self._best < self.patience.after(self._best) and not self.patience.looks(done):
            return False
        self._look()
        return done - self._best >= self.patience.after(self._best) or self.patience.is_settled(self._scores)

    @property
    def scores_(self) -> list[float]:
        """Held-out error before the first and after every round."""
        self._look()
        return self._scores

    @property
    def best_round_(self) -> int:
        """Number of rounds with the lowest held-out error."""
        self._look()
        return self._best

    @property
    def best_raw_(self) -> Array:
        """Scores of the held-out rows after these."""
        self._look()
        return self._best_raw

    def state(self) -> dict[str, Any]:
        """What it knows, for a checkpoint."""
        self._look()
        raw = {"raw": self._raw, "best_raw": self._best_raw}
        return {"scores": self._scores, "best_round": self._best} | raw

    def restore(self, state: dict[str, Any]) -> None:
        """Know it again."""
        self._scores, self._best = state["scores"], state["best_round"]
        self._raw, self._best_raw, self._waiting = state["raw"], state["best_raw"], []

    def _look(self) -> None:
        """Score the rounds that have been waiting."""
        size = max(1, AT_ONCE // self._raw.size)
        while self._waiting:
            self._score(self._waiting[:size])

    def _score(self, rounds: list[tuple[float, float, Term]]) -> None:
        outputs = outputs_of_each([term for _, _, term in rounds], self.X)
        raw, raws = self._raw, np.empty_like(outputs)
        for t, (keep, length, _) in enumerate(rounds):
            raw = raws[t] = keep * raw + length * outputs[t]
        errors = errors_of(self.error, self.y, raws, self.weight)
        scores, best, best_raw = self._scores, self._best, self._best_raw
        done, least = len(scores), scores[best]
        for t, error in enumerate(errors):
            if error < least - self._least:
                best, least, best_raw = done + t, error, raws[t].copy()
        # In one statement: an interrupt comes before or after it.
        self._raw, self._scores, self._best, self._best_raw, self._waiting = (
            *(raw, [*scores, *errors], best, best_raw),
            self._waiting[len(rounds) :],
        )


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


@contextmanager
def told_of_the_end(callbacks: Sequence[Callback]) -> Iterator[None]:
    """A context at whose end callbacks with a method ``close()`` are told that the fit is over."""
    try:
        yield
    finally:
        for callback in callbacks:
            if hasattr(callback, "close"):
                callback.close()


class ProgressBar:
    """Shows the rounds of each model of a fit as a bar, with the training loss; needs tqdm.

    For the ``callbacks`` of an estimator. Where a fit trains several models, as early stopping by folds does, each
    has a bar of its own, whose end is the ceiling on its rounds.

    Parameters
    ----------
    every : int, default=10
        Rounds between two looks at the training loss, which takes a pass over the rows.
    **options
        For tqdm, such as ``leave=False`` or ``file=sys.stdout``.

    Raises
    ------
    ImportError
        In fit, if tqdm is not installed.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from rffboost_ext import ProgressBar, RFFBoostRegressor
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> bar = ProgressBar(file=io.StringIO())
    >>> model = RFFBoostRegressor(n_estimators=30, callbacks=[bar]).fit(X, np.sin(X[:, 0]))
    """

    def __init__(self, every: int = 10, **options: Any) -> None:
        require("ProgressBar", "every", every, Integer(1))
        self.every, self.options = every, options
        self._bar: Any = None
        self._next = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> ProgressBar:
        # scikit-learn copies what it clones, and a file cannot be copied.
        return ProgressBar(self.every, **self.options)

    def __call__(self, progress: Progress) -> None:
        index = progress.round.index
        if self._bar is None or index != self._next:
            self.close()
            self._bar = self._begun(index, progress.n_estimators)
        self._next = index + 1
        if index % self.every == 0:
            self._bar.set_postfix_str(f"training loss {progress.train_loss():.6g}", refresh=False)
        self._bar.update()
        if self._next >= progress.n_estimators:
            self.close()

    def _begun(self, index: int, total: int) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError(
                "ProgressBar needs tqdm, which is not installed: pip install 'rffboost-ext[progress]'"
            ) from error
        return tqdm(**({"total": total, "initial": index, "unit": " rounds"} | self.options))

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Printer:
    """Prints the training loss, and what else is known, every few rounds, on standard error.

    Parameters
    ----------
    verbose : int
        1 for ten times in a fit, and every 50 rounds at least; more for that many rounds between two lines.
    latest : callable, optional
        Further numbers by name: those of the newest round.
    """

    def __init__(self, verbose: int, latest: Callable[[], Mapping[str, float]] = dict) -> None:
        self.verbose, self.latest = int(verbose), latest

    def __call__(self, progress: Progress) -> None:
        done, total = progress.round.index + 1, progress.n_estimators
        every = self.verbose if self.verbose > 1 else min(max(1, total // 10), LONGEST_SILENCE)
        if done % every and done != total:
            return
        numbers = {"training loss": progress.train_loss(), **self.latest()}
        text = ", ".join(f"{name} {value:.6g}" for name, value in numbers.items())
        print(f"[rffboost] round {done:>{len(str(total))}} of {total}: {text}", file=sys.stderr)
