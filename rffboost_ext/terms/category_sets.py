"""Sets of categories that splits of trees test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..utils.typing import Array
from .stored_fields import require_field, require_range


def check_category_sets(subset: Any, members: Any, shape: tuple[int, ...]) -> None:
    """Raise a ValueError unless splits of some shape have sets of categories, as rows of bits, or none has."""
    if (subset is None) != (members is None):
        raise ValueError("trees must have both subset and members, or neither")
    if subset is None:
        return
    require_field("subset", subset, shape, "i")
    if getattr(members, "dtype", None) != np.uint8 or members.ndim != 2:
        raise ValueError(f"members must be of type uint8 with two dimensions, got {members!r}")
    require_range("subset", subset, -1, len(members))


def stack_sets(terms: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """``subset`` and ``members`` of stacked trees, from both arrays of each term."""
    subsets, members = zip(*terms, strict=True)
    offsets = np.cumsum([0, *map(len, members[:-1])])
    width = max(table.shape[1] for table in members)
    subset = [np.where(s >= 0, s + o, -1).astype(np.int32) for s, o in zip(subsets, offsets, strict=True)]
    padded = [np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in members]
    return np.concatenate(subset), np.concatenate(padded)
