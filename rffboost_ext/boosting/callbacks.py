"""Callbacks, which are called after each round."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeAlias

from ..core import Round, Term
from ..utils.param_validation import POSITIVE, Function, SequenceOf, require
from ..utils.typing import Array

# Maximum number of rounds between two lines with verbose=1.
MAX_INTERVAL = 50
CALLBACKS = SequenceOf(Function("the progress"), "functions of the progress")

Curves: TypeAlias = dict[str, dict[str, list[float]]]
"""A list with a number for each round, by set and metric."""


@dataclass(frozen=True)
class ModelLabel:
    """Which of the models of a fit is trained; its text is empty if there is only one.

    Parameters
    ----------
    member, n_members : int
        The number of the member of a stack, from 0, and of members at most.
    learner : str
        The name of the learner of the member.
    fold, n_folds : int
        The number of the held-out fold, from 0, and of folds.
    """

    member: int = 0
    n_members: int = 1
    learner: str = ""
    fold: int = 0
    n_folds: int = 1

    def __str__(self) -> str:
        member = f"member {self.member + 1} of {self.n_members} ({self.learner})" if self.n_members > 1 else ""
        fold = f"fold {self.fold + 1} of {self.n_folds}" if self.n_folds > 1 else ""
        return ", ".join(filter(None, (member, fold)))


@dataclass(frozen=True)
class Progress:
    """The state of a fit after a round, which callbacks receive.

    Attributes
    ----------
    round : Round
        The state before the round: ``round.index`` counts the rounds of this model from 0, ``round.raw`` are the
        scores. Its rows are the training rows, without held-out rows; equal rows may be merged.
    n_estimators : int
        The requested number of rounds.
    term : Term
        The fitted term, in the original units of the features.
    keep, length : float
        The result of the step: ``raw <- keep * raw + length * term(X)``.
    raw : ndarray of shape (n, C)
        The scores after the round, without an offset.
    baseline : ndarray of shape (C,)
        The scores before the first round of this fit.
    model : ModelLabel
        Which of several models is trained: ``model.member`` of a stack and ``model.fold``, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X, errors = np.arange(50.0)[:, None], []
    >>> def watch(progress):
    ...     errors.append(np.abs(progress.raw).max())
    ...     return len(errors) == 3  # ends the fit
    >>> RFFBoostRegressor(learner="tree", n_estimators=10, callbacks=[watch]).fit(X, X[:, 0]).n_estimators_
    3
    """

    round: Round
    n_estimators: int
    term: Term
    keep: float
    length: float
    raw: Array
    baseline: Array
    model: ModelLabel = field(default_factory=ModelLabel)
    evaluations: Callable[[], Curves] = field(default=dict, repr=False)

    @property
    def evals_result(self) -> Curves:
        """The metrics of this model so far: ``evals_result[set][metric]`` is a list with a number for each round.

        The sets are those of ``eval_set``, or "validation" where early stopping holds out rows. Metrics are
        computed when the property is first read; :func:`~rffboost_ext.boost` by itself has none.
        """
        return self.evaluations()

    def share_done(self, n_rounds: int) -> float:
        """The share of the rounds of all models that is done after so many rounds of this one, at most 1."""
        model = self.model
        within = (model.fold + n_rounds / self.n_estimators) / model.n_folds
        return (model.member + within) / model.n_members

    def train_loss(self) -> float:
        """Weighted mean of the training loss after the round."""
        return float(self.round.mean(self.round.observations.losses(self.round.loss, self.raw)))


Callback: TypeAlias = Callable[[Progress], object]
"""Called after each round; a true result ends the training of the model.

Estimators call a method ``begin()`` of a callback when the fit begins, and ``close()`` when it ends, also if it
fails. A method ``ends_fit()`` says between two models whether the whole fit ends; a callback that has it is called
in refits too. Once models are weighted, a method ``held_out(pairs)`` gets the rows that early stopping has held
out: a list of the ``Observations`` of each split and their raw scores (n, C), by models of other rows.

With callbacks the models of a fit are trained one after another. A true attribute ``concurrent`` says that several
threads may call a callback at once, each for a model of its own: models are trained side by side if all have it.
"""


def stops_training(callback: Callback, progress: Progress) -> bool:
    """Whether a callback ends the fit, or a TypeError if it does not return a truth value."""
    answer = callback(progress)
    try:
        return bool(answer)
    except (TypeError, ValueError) as error:
        raise TypeError(f"callbacks: {callback!r} must return a truth value or None, got {answer!r}") from error


def ending(callbacks: Sequence[Callback]) -> list[Any]:
    """The callbacks that may end a fit of several models."""
    return [callback for callback in callbacks if hasattr(callback, "ends_fit")]


def ends_fit(callbacks: Sequence[Callback]) -> bool:
    """Whether a callback ends the fit: no further model of it is trained."""
    return any(callback.ends_fit() for callback in ending(callbacks))


class TimeBudget:
    """Ends a fit at the first round after some seconds, with a valid model.

    For the ``callbacks`` of an estimator. The time counts from the start of each fit. When it is over, the fit
    ends with what has been trained. A single model has its best round so far. Of a stack the remaining members
    are left out, and the others are weighted by held-out rows. An average of folds has the models that are
    complete. Models that are not yet refitted to all rows stay as early stopping left them. If the time suffices,
    the fit gives the same bits as without a budget.

    Parameters
    ----------
    seconds : float
        The time, above 0. A fit takes longer by a round at most, and by what follows the last round: the weights
        of a stack and the metrics on each ``eval_set``. At least one round is trained.

    Notes
    -----
    In :func:`~rffboost_ext.boost` the time counts from the construction of the callback. A search over parameters
    gives each of its fits the whole time.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, TimeBudget
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> model = RFFBoostRegressor(callbacks=[TimeBudget(60.0)], random_state=0).fit(X, np.sin(X[:, 0]))
    """

    def __init__(self, seconds: float) -> None:
        require("TimeBudget", "seconds", seconds, POSITIVE)
        self.seconds = seconds
        self.begin()

    def __repr__(self) -> str:
        return f"TimeBudget({self.seconds!r})"

    def __call__(self, progress: Progress) -> bool:
        return self.ends_fit()

    def begin(self) -> None:
        """Start the clock."""
        self._end = monotonic() + self.seconds

    def ends_fit(self) -> bool:
        """Whether the time is over."""
        return monotonic() >= self._end


class ProgressPrinter:
    """Prints the model, the time, the training loss and the metrics on evaluation sets every few rounds.

    Lines go to standard error. The time left is that of all models at their maximum number of rounds, at the pace
    so far: early stopping mostly needs far less. Refits come on top.

    Parameters
    ----------
    verbose : int
        1 prints about ten times per model, and at least every 50 rounds; k > 1 prints every k rounds.
    """

    def __init__(self, verbose: int) -> None:
        self.verbose = int(verbose)
        self._start = monotonic()
        self._first: tuple[float, float] | None = None

    def __call__(self, progress: Progress) -> None:
        done, total = progress.round.index + 1, progress.n_estimators
        if self._first is None:
            # The first round takes longer than others.
            self._first = monotonic(), progress.share_done(done)
        every = self.verbose if self.verbose > 1 else min(max(1, total // 10), MAX_INTERVAL)
        if done % every and done != total:
            return
        numbers = {"training loss": progress.train_loss()}
        for name, curves in progress.evals_result.items():
            numbers |= {f"{name} {metric}": curve[-1] for metric, curve in curves.items()}
        text = ", ".join(f"{name} {value:.6g}" for name, value in numbers.items())
        model = f"{progress.model}, " * bool(str(progress.model))
        rounds = f"round {done:>{len(str(total))}} of {total}"
        print(
            f"[rffboost] {model}{rounds}, {self._times(*self._first, progress.share_done(done))}: {text}",
            file=sys.stderr,
        )

    def _times(self, since: float, share_then: float, share: float) -> str:
        """The time since the start and, from the pace since a time, the time left, in seconds."""
        now = monotonic()
        text = f"{now - self._start:.1f} s"
        if share_then < share < 1.0:
            text += f", at most {(now - since) * (1.0 - share) / (share - share_then):.1f} s left"
        return text

    def close(self) -> None:
        """Print the time of the fit."""
        print(f"[rffboost] {monotonic() - self._start:.1f} s in total", file=sys.stderr)


def report_rows(n_rows: int, kept: int, n_copies: int | None = None) -> None:
    """Print the number of rows of a fit, of those kept, and of copies among these, to standard error."""
    sample = f", a sample of {kept:,} in memory" if kept < n_rows else ""
    copies = f", {n_copies:,} of them copies of an earlier row" if n_copies else ""
    print(f"[rffboost] {n_rows:,} rows{sample}{copies}", file=sys.stderr)
