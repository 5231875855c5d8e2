"""The names of the estimators, for messages."""

from __future__ import annotations

BOOSTERS = (
    "RFFBoostClassifier",
    "RFFBoostRegressor",
    "RFFBoostDistribution",
    "RFFBoostSurvival",
    "RFFBoostRanker",
)
"""The estimators of one ensemble."""


def one_of(*names: str) -> str:
    """The names of the boosters, and further ones, as alternatives."""
    *others, last = BOOSTERS + names
    return f"{', '.join(others)} or {last}"
