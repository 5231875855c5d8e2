"""What happens after each round."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from .checks import Functions, Integer, require
from .core import Array, Round, Term

# Rounds without a word from a fit that is to print.
LONGEST_SILENCE = 50
CALLBACKS = Functions("the progress")


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
