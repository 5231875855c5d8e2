"""A source of rows in memory that are cut in any way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rffboost_ext.sources import Batch, Source


@dataclass
class Cut:
    """A part in batches of `size` rows; without rows one empty batch."""

    rows: Batch
    size: int

    def batches(self, features: bool = True) -> Iterator[Batch]:
        for start in range(0, max(1, len(self.rows)), self.size):
            batch = self.rows.take(np.arange(start, min(start + self.size, len(self.rows))))
            yield batch if features else Batch(None, batch.row, batch.y, batch.weight, batch.group)


class CutRows(Source):
    """Rows that are divided at `cuts` into parts, which are merged pair by pair or one by one, last ones first."""

    def __init__(
        self,
        X: Any,
        y: Any = None,
        weight: Any = None,
        group: Any = None,
        *,
        cuts: Sequence[int] = (),
        size: int = 1000,
        is_tree: bool = False,
        knows_rows: bool = False,
        max_rows: int | str = "auto",
    ) -> None:
        super().__init__(max_rows)
        self.rows = Batch(X, np.arange(np.shape(X)[0], dtype=np.uint64), y, weight, group)
        self.cuts, self.size, self.is_tree = [0, *cuts, np.shape(X)[0]], size, is_tree
        self.n_rows = np.shape(X)[0] if knows_rows else None

    def parts(self) -> list[Cut]:
        pairs = zip(self.cuts, self.cuts[1:], strict=False)
        return [Cut(self.rows.take(np.arange(first, last)), self.size) for first, last in pairs]

    def reduce(self, read, merge, features=True):
        if not self.is_tree:
            return super().reduce(read, merge, features)
        results = [read(part) for part in self.parts()][::-1]
        while len(results) > 1:
            results = (
                [merge(*results[:2]), *results[2:]]
                if len(results) % 2
                else [merge(a, b) for a, b in zip(results[::2], results[1::2], strict=True)]
            )
        return results[0]


WAYS = {
    "one part": {"size": 10_000},
    "known number of rows": {"size": 999, "knows_rows": True},
    "parts and batches": {"cuts": [500, 500, 2117], "size": 333},
    "a tree of parts": {"cuts": [1, 2, 700, 700, 1500, 2999], "size": 64, "is_tree": True},
}
"""Ways to cut and to merge 3,000 rows."""
