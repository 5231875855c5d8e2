"""The splits of one symmetric tree, and the leaves of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....terms import SymmetricTrees
from ....utils.typing import Array
from .columns import Condition


@dataclass(frozen=True)
class Structure:
    """The splits of a tree, from the root on.

    Parameters
    ----------
    fields : dict
        The splits as fields of :class:`SymmetricTrees` with one tree.
    leaf : ndarray of shape (n,), int32
        The leaf of each row: bit l is 1 if it goes right at level l.
    """

    fields: dict[str, Any]
    leaf: Array

    @classmethod
    def of_conditions(cls, features: Sequence[int], conditions: Sequence[Condition], leaf: Array) -> Structure:
        """From the feature of each level and what goes right there."""
        fields: dict[str, Any] = {
            "feature": np.array([features], dtype=np.int32),
            "threshold": np.array([[one.threshold for one in conditions]], dtype=np.float64),
            "missing_right": np.array([[one.missing_right for one in conditions]], dtype=np.bool_),
        }
        sets = [one.levels for one in conditions if one.levels is not None]
        if sets:
            is_set = np.array([one.levels is not None for one in conditions])
            member = np.zeros((len(sets), max(map(len, sets))), dtype=np.bool_)
            for row, levels in zip(member, sets, strict=True):
                row[: len(levels)] = levels
            fields["subset"] = np.where(is_set, np.cumsum(is_set) - 1, -1).astype(np.int32)[None]
            fields["members"] = np.packbits(member, axis=1, bitorder="little")
        return cls(fields, leaf)

    @classmethod
    def of_tree(cls, tree: SymmetricTrees, X: Array) -> Structure:
        """The splits of a tree, and the leaves of the rows X (n, d)."""
        names = "feature", "threshold", "missing_right", "subset", "members"
        fields = {name: getattr(tree, name) for name in names if getattr(tree, name) is not None}
        return cls(fields, tree.leaves(X)[:, 0].astype(np.int32))

    @property
    def feature(self) -> Array:
        """The feature of each level, (D,)."""
        return np.asarray(self.fields["feature"][0])

    @property
    def threshold(self) -> Array:
        """The split value of each level, (D,)."""
        return np.asarray(self.fields["threshold"][0])

    @property
    def depth(self) -> int:
        """The number of levels, D."""
        return len(self.feature)
