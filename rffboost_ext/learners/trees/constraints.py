"""Monotone and interaction constraints of trees: allowed values, and checks against the number of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core import Loss
from ...utils.param_validation import Integer, SequenceOf
from ...utils.typing import Array

SIGNS = SequenceOf(Integer(-1, 1), "-1, 0 and 1, one per feature")
FEATURE_GROUPS = SequenceOf(
    SequenceOf(Integer(0), "indices"), "groups of features, each a sequence of indices from 0"
)


def require_signs(owner: str, signs: Sequence[int], n_features: int) -> None:
    """Raise a ValueError unless there is one sign per feature."""
    if len(signs) != n_features:
        raise ValueError(
            f"{owner}: monotone_constraints must have one entry for each of the {n_features} features, "
            f"got {len(signs)}"
        )


def signs_of_scores(loss: Loss, n_outputs: int) -> Array:
    """The signs of scores that monotone constraints bind, (C,), 0 for those that do not change predictions."""
    return np.ones(n_outputs) if loss.monotone is None else np.asarray(loss.monotone, dtype=np.float64)


def require_groups(groups: Sequence[Sequence[int]], n_features: int) -> None:
    """Raise a ValueError if a group names a feature that does not exist."""
    largest = max((int(index) for group in groups for index in group), default=0)
    if largest >= n_features:
        raise ValueError(
            f"Tree: interaction_constraints must hold indices from 0 to {n_features - 1}, got {largest}"
        )
