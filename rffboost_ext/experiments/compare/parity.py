"""The same loss in our loop and in XGBoost's: differences in accuracy and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .protocol import Record

PAIRS = {"tree": "xgboost", "tree_logistic": "xgboost_logistic"}
"""A system with XGBoost's trees in our loop, and the one with the same loss in XGBoost's."""


@dataclass(frozen=True)
class Parity:
    """One pair of systems.

    Attributes
    ----------
    ours, theirs : str
        Names of the systems.
    accuracy : float
        Mean test accuracy of ours minus theirs.
    seconds, their_seconds : float
        Mean time of a round.
    """

    ours: str
    theirs: str
    accuracy: float
    seconds: float
    their_seconds: float

    def __str__(self) -> str:
        times = f"{1e3 * self.seconds:.3g} and {1e3 * self.their_seconds:.3g} ms per round"
        return f"{self.ours} and {self.theirs}: {100 * self.accuracy:+.2f} points of accuracy, {times}"


def parities(records: Sequence[Record]) -> list[Parity]:
    """The pairs of which both systems were compared.

    Parameters
    ----------
    records : sequence of Record
        Of one comparison, in which both had the same splits.
    """
    present = {record.system for record in records}
    return [parity(records, *pair) for pair in PAIRS.items() if set(pair) <= present]


def parity(records: Sequence[Record], ours: str, theirs: str) -> Parity:
    """The differences within one pair."""

    def mean(system: str, per_round: bool) -> float:
        kept = [record for record in records if record.system == system]
        values = [r.fit_seconds / r.rounds if per_round else r.accuracy for r in kept]
        return sum(values) / len(values)

    difference = mean(ours, False) - mean(theirs, False)
    return Parity(ours, theirs, difference, mean(ours, True), mean(theirs, True))
