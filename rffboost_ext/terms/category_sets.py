"""Codes of categories that change, and the sets of categories that splits of trees test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..utils.typing import Array
from .stored_fields import require_field, require_range


@dataclass(frozen=True)
class Recoding:
    """New codes for the categories of some columns.

    Parameters
    ----------
    codes : dict of int to ndarray of int
        By column, the new code of each old code.
    sizes : dict of int to int
        By column, the number of new codes, including those of additional categories.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.terms import Recoding
    >>> Recoding(codes={0: np.array([1, 0])}, sizes={0: 3}).unknown(0)
    array([2])
    """

    codes: Mapping[int, Array]
    sizes: Mapping[int, int]

    def unknown(self, column: int) -> Array:
        """The new codes of additional categories, ascending."""
        return np.setdiff1d(np.arange(self.sizes[column]), self.codes[column])


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
    offsets, width = np.cumsum([0, *map(len, members)]), max(table.shape[1] for table in members)
    subset = [np.where(s >= 0, s + o, -1).astype(np.int32) for s, o in zip(subsets, offsets[:-1], strict=True)]
    stacked = np.zeros((offsets[-1], width), dtype=np.uint8)
    for first, table in zip(offsets[:-1], members, strict=True):
        stacked[first : first + len(table), : table.shape[1]] = table
    return np.concatenate(subset), stacked


def recoded_sets(
    feature: Array, missing_right: Array, subset: Array, members: Array, recoding: Recoding
) -> dict[str, Any]:
    """``subset`` and ``members`` of splits, all of one shape, for the new codes; members go right."""
    splits = np.flatnonzero(subset.ravel() >= 0)
    old = np.unpackbits(members, axis=1, bitorder="little")
    new = np.zeros((len(splits), max(recoding.sizes.values(), default=0)), dtype=bool)
    for row, split in enumerate(splits):
        column = int(feature.flat[split])
        new[row, recoding.codes[column][np.flatnonzero(old[subset.flat[split]])]] = True
        # Additional categories go the way of missing values.
        new[row, recoding.unknown(column)] = missing_right.flat[split]
    place = np.full_like(subset, -1)
    place.flat[splits] = np.arange(len(splits))
    return {"subset": place, "members": np.packbits(new, axis=1, bitorder="little")}
