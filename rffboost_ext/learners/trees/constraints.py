"""Monotone and interaction constraints of trees: allowed values, and checks against the number of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core import Loss
from ...utils.param_validation import Check, Integer, SequenceOf
from ...utils.typing import Array


class SignsByName(Check):
    """A mapping from names of columns to -1, 0 or 1."""

    def fits(self, value: object) -> bool:
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)

    def accepts(self, value: object) -> bool:
        return self.fits(value) and all(map(Integer(-1, 1).accepts, value.values()))  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return "a mapping from names of columns to these"


SIGNS = SequenceOf(Integer(-1, 1), "-1, 0 and 1, one per feature") | SignsByName()
FEATURE_GROUPS = SequenceOf(
    SequenceOf(Integer(0), "indices"), "groups of features, each a sequence of indices from 0"
)


def require_signs(owner: str, signs: Sequence[int], n_features: int) -> None:
    """Raise a ValueError unless there is one sign per feature."""
    if isinstance(signs, Mapping):
        raise ValueError(
            f"{owner}: monotone_constraints by name need an estimator, which knows names; got {signs}"
        )
    if len(signs) != n_features:
        raise ValueError(
            f"{owner}: monotone_constraints must have one entry for each of the {n_features} features, "
            f"got {len(signs)}"
        )


def signs_of_scores(loss: Loss, n_outputs: int) -> Array:
    """The signs of scores that monotone constraints bind, (C,), 0 for those that do not change predictions."""
    return np.ones(n_outputs) if loss.monotone is None else np.asarray(loss.monotone, dtype=np.float64)


def is_bound(signs: Any) -> bool:
    """Whether some of the signs, by position or by name, constrain a feature."""
    return signs is not None and any(signs.values() if isinstance(signs, Mapping) else signs)


def require_groups(groups: Sequence[Sequence[int]], n_features: int) -> None:
    """Raise a ValueError if a group names a feature that does not exist."""
    largest = max((int(index) for group in groups for index in group), default=0)
    if largest >= n_features:
        raise ValueError(
            f"Tree: interaction_constraints must hold indices from 0 to {n_features - 1}, got {largest}"
        )
