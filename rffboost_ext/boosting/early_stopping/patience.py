"""The rules of early stopping: when a fit ends, and when a further member of a stack is trained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...terms.ensemble import Ensemble
from ...utils.typing import Array


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
        Once the error, less the least one possible, is below the share `converged_below` of its initial value, a
        fit also ends when a stretch of `rounds` rounds reduces it by less than the share `min_gain` of that value.
        For errors with a minimum, such as log loss: further gains would only raise confidence, not accuracy.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from rffboost_ext.recipes import Facts, Patience, choose_recipe
    >>> recipe = choose_recipe(Facts(n_samples=600, n_features=10))
    >>> replace(recipe, patience=Patience(rounds=40)).patience.rounds
    40
    """

    rounds: int
    share: float = 0.0
    converged_below: float = 0.0
    min_gain: float = 0.0

    def wait_after(self, best_round: int) -> float:
        """Rounds to wait when `best_round` is the best so far."""
        return max(self.rounds, self.share * best_round)

    def checks_convergence(self, done: int) -> bool:
        """Whether `done` is a multiple of `rounds`, at which convergence is checked."""
        return self.converged_below > 0.0 and done % self.rounds == 0

    def has_converged(self, errors: Sequence[float], floor: float = 0.0) -> bool:
        """Whether the last stretch of rounds gained too little.

        Parameters
        ----------
        errors : sequence of float
            Errors before the first and after every round.
        floor : float, default=0.0
            The least error possible.
        """
        if not self.checks_convergence(len(errors) - 1):
            return False
        least, before, first = min(errors), min(errors[: -self.rounds]), errors[0] - floor
        return least - floor < self.converged_below * first and before - least < self.min_gain * first


@dataclass(frozen=True)
class PatienceLimit:
    """Limits to the patience with the models of a member.

    Parameters
    ----------
    rounds : float, default=inf
        The largest minimum of rounds without improvement to wait for.
    tol : float, default=0.0
        The least decrease that counts as an improvement, as a share of the decrease so far.
    trailing_tol : float, default=0.0
        The same as long as the error is above the least one of the members before. If it is above 0, the member is
        trained after these.

    Examples
    --------
    >>> from rffboost_ext.recipes import MemberRule, PatienceLimit
    >>> MemberRule("linear", "ridge", limit=PatienceLimit(rounds=5, tol=1e-3)).limit.rounds
    5
    """

    rounds: float = math.inf
    tol: float = 0.0
    trailing_tol: float = 0.0


def improves(error: float, least: float, first: float, tol: float) -> bool:
    """Whether an error is less than the least one so far by more than the share `tol` of the progress so far.

    The progress is the decrease from the first error to the least one: an error with a constant added to it gives
    the same answer.
    """
    return error < least - tol * (first - least)


@dataclass(frozen=True)
class Model:
    """A model trained with early stopping.

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble with the best number of rounds, or with more.
    scores : ndarray of shape (T + 1,)
        The error on the held-out rows before the first and after every round.
    raw : ndarray of shape (n, C)
        The raw scores of the held-out rows by that ensemble.
    floor : float, default=0.0
        The least error possible on the held-out rows.
    """

    ensemble: Ensemble
    scores: Array
    raw: Array
    floor: float = 0.0


class Condition(Protocol):
    """When a further member of a stack is trained."""

    def is_met(self, runs: Sequence[Model], others: Sequence[Sequence[Model]]) -> bool:
        """Whether to train one more model.

        Parameters
        ----------
        runs : sequence of Model
            The models of this member so far, one for each fold.
        others : sequence of sequences of Model
            Those of each member before.
        """


@dataclass(frozen=True)
class TrainingCondition:
    """When a further member of a stack is trained.

    Parameters
    ----------
    min_loss, max_loss : float, default=0, inf
        The loss of the best other member, relative to the initial loss, is between these. All losses are less the
        least one possible.
    max_ratio : float, default=inf
        The remaining folds are skipped if the loss of the first model is more than this multiple of that of the
        best other member.
    max_outputs : int, default=inf
        Maximum number of outputs.
    max_similar_ratio : float, default=inf
        The best model of the second other member, which is the most similar one, has at most this multiple of the
        loss of the best member.

    Examples
    --------
    >>> from rffboost_ext.recipes import MemberRule, TrainingCondition
    >>> rule = MemberRule("cosines", "rff_newton", when=TrainingCondition(max_ratio=1.1, max_outputs=3))
    >>> rule.when.max_ratio
    1.1
    """

    min_loss: float = 0.0
    max_loss: float = math.inf
    max_ratio: float = math.inf
    max_outputs: float = math.inf
    max_similar_ratio: float = math.inf

    def is_met(self, runs: Sequence[Model], others: Sequence[Sequence[Model]]) -> bool:
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


def relative_loss(run: Model) -> float:
    """The lowest loss relative to that before the first round, less the least one possible; 1 if that is 0."""
    first = run.scores[0] - run.floor
    return float((run.scores.min() - run.floor) / first) if first > 0.0 else 1.0
