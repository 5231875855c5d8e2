"""What happens after each round: progress, and the decision to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .checks import Integer, require
from .core import Array, Round, Term

Error: TypeAlias = Callable[[Array, Array, Array], float]
# Rounds without a word from a fit that is to print.
LONGEST_SILENCE = 50


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
    """

    rounds: int
    share: float = 0.0

    def after(self, best_round: int) -> float:
        """Rounds to wait when `best_round` is the best so far."""
        return max(self.rounds, self.share * best_round)


class EarlyStopping:
    """Stops when an error on held-out rows, such as the loss, has not improved for a while.

    Parameters
    ----------
    X, y, weight : ndarray
        Held-out rows in the user's own units, their encoded targets (n, 1) and weights (n,).
    error : callable
        What is watched, ``error(y, raw, weight) -> float``; less is better.
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

    Raises
    ------
    ValueError
        If the error before the first round is not finite.
    """

    def __init__(
        self, X: Array, y: Array, weight: Array, error: Error, raw: Array, patience: Patience, tol: float
    ) -> None:
        self.X, self.y, self.weight, self.error, self.raw = X, y, weight, error, raw
        self.patience = patience
        self.scores_ = [self._score()]
        if not np.isfinite(self.scores_[0]):
            raise ValueError(
                f"early stopping: eval_metric must be finite on the {len(y)} held-out rows, got {self.scores_[0]}"
            )
        self.best_round_ = 0
        self._least = tol * abs(self.scores_[0])

    def __call__(self, progress: Progress) -> bool:
        self.raw = progress.keep * self.raw + progress.length * progress.term(self.X)
        self.scores_.append(self._score())
        if self.scores_[-1] < self.scores_[self.best_round_] - self._least:
            self.best_round_ = len(self.scores_) - 1
        return len(self.scores_) - 1 - self.best_round_ >= self.patience.after(self.best_round_)

    def state(self) -> dict[str, Any]:
        """What it knows, for a checkpoint."""
        return {"scores": self.scores_, "best_round": self.best_round_, "raw": self.raw}

    def restore(self, state: dict[str, Any]) -> None:
        """Know it again."""
        self.scores_, self.best_round_, self.raw = (state[name] for name in ("scores", "best_round", "raw"))

    def _score(self) -> float:
        return float(self.error(self.y, self.raw, self.weight))


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
