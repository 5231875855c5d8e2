"""The levels of a target, such as classes, of which a sample must keep rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..rows.targets import target_levels
from ..utils.typing import Array
from .core import Batch
from .sketch import uniform

# Of K levels, at least max_rows / (SMALL_LEVEL K) rows of each are kept, and one in any case.
SMALL_LEVEL = 10
# What messages call a level of each kind.
LEVELS = {"labels": "class", "indicators": "label", "events": "event", "bounds": "event"}


@dataclass(frozen=True)
class Levels:
    """The levels of a target, such as classes, of which a sample keeps some rows each.

    Parameters
    ----------
    kind : str
        As in :func:`~rffboost_ext.rows.targets.target_levels`.
    limit : int
        Number of rows of the sample.
    first : mapping
        The number and the target of the first row of each level, a column and a label.
    least : mapping
        The smallest hashes of the rows of each level, ascending: one more than rows are kept in any case.
    """

    kind: str
    limit: int
    first: Mapping[Any, tuple[int, Array]]
    least: Mapping[Any, Array]

    @classmethod
    def of(cls, batch: Batch, kind: str, limit: int, seed: int = 0) -> Levels:
        """The levels of some rows."""
        assert batch.y is not None
        number, hashes = batch.row.astype(np.int64), uniform(seed, batch.row)
        first, least = {}, {}
        for j, column in enumerate(target_levels(batch.y, kind).reshape(len(batch), -1).T):
            if column.dtype.kind == "f":
                check_classification_targets(column)
            labels = column.tolist()
            code = {label: k for k, label in enumerate(dict.fromkeys(labels))}
            codes = np.fromiter(map(code.__getitem__, labels), np.int64, len(labels))
            ends = np.cumsum(np.bincount(codes))[:-1]
            for label, rows in zip(code, np.split(np.lexsort((hashes, codes)), ends), strict=True):
                row = rows[number[rows].argmin()]
                first[j, label] = int(number[row]), batch.y[row : row + 1]
                least[j, label] = hashes[rows]
        return cls(kind, limit, first, least).shortened()

    @property
    def n_kept(self) -> int:
        """The number of rows of each level that are kept in any case."""
        return max(1, self.limit // (SMALL_LEVEL * len(self.least)))

    def shortened(self) -> Levels:
        """The levels without the hashes that cannot be needed."""
        return replace(self, least={level: values[: self.n_kept + 1] for level, values in self.least.items()})

    def merge(self, other: Levels) -> Levels:
        """The levels of the rows of two."""
        first, least = {**self.first, **other.first}, {**self.least, **other.least}
        for level in self.first.keys() & other.first.keys():
            first[level] = min(self.first[level], other.first[level], key=lambda row: row[0])
            least[level] = np.sort(np.concatenate([self.least[level], other.least[level]]))
        return replace(self, first=first, least=least).shortened()

    def floors(self) -> dict[Any, float]:
        """The least probability of the rows of each level: rows of smaller hashes are kept."""
        n = self.n_kept
        return {level: float(values[n]) if len(values) > n else 1.0 for level, values in self.least.items()}

    def absent_from(self, batch: Batch) -> list[Any]:
        """The levels that some rows lack, sorted; that there was no event is none."""
        absent = self.first.keys() - Levels.of(batch, self.kind, self.limit).first.keys()
        return sorted(level for level in absent if level[1] or self.kind in ("labels", "indicators"))
