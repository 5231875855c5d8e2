"""How long early stopping waits for an improvement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


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
    """Limits to the patience with a model that takes few long steps.

    Parameters
    ----------
    rounds : int
        The most rounds without improvement to wait for.
    tol : float
        The least decrease that counts as an improvement, as in :func:`improves`.
    """

    rounds: int
    tol: float


def improves(error: float, least: float, first: float, tol: float) -> bool:
    """Whether an error is less than the least one so far by more than the share `tol` of the progress so far.

    The progress is the decrease from the first error to the least one: an error with a constant added to it gives
    the same answer.
    """
    return error < least - tol * (first - least)
