"""Checks of the monotone and interaction constraints of trees."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...utils.param_validation import Check


def is_index(value: object) -> bool:
    """Whether `value` is an integer, and not a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_list(value: object) -> bool:
    """Whether `value` is a sequence or an array, and not a string."""
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


@dataclass(frozen=True)
class Signs(Check):
    """A sequence of -1, 0 and 1."""

    def fits(self, value: object) -> bool:
        return is_list(value) and all(map(is_index, value))  # type: ignore[call-overload]

    def accepts(self, value: object) -> bool:
        return all(abs(sign) <= 1 for sign in value)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return "a sequence of -1, 0 and 1, one per feature"


@dataclass(frozen=True)
class Groups(Check):
    """A sequence of sequences of indices."""

    def fits(self, value: object) -> bool:
        return is_list(value) and all(is_list(group) and all(map(is_index, group)) for group in value)  # type: ignore[attr-defined]

    def accepts(self, value: object) -> bool:
        return all(index >= 0 for group in value for index in group)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return "a sequence of groups of features, each a sequence of indices from 0"


def require_signs(signs: Sequence[int], n_features: int) -> None:
    """Raise a ValueError unless there is one sign per feature."""
    if len(signs) != n_features:
        raise ValueError(
            f"Tree: monotone_constraints must have one entry for each of the {n_features} features, "
            f"got {len(signs)}"
        )


def require_groups(groups: Sequence[Sequence[int]], n_features: int) -> None:
    """Raise a ValueError if a group names a feature that does not exist."""
    largest = max((int(index) for group in groups for index in group), default=0)
    if largest >= n_features:
        raise ValueError(
            f"Tree: interaction_constraints must hold indices from 0 to {n_features - 1}, got {largest}"
        )
