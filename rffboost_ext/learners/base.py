"""The base of learners that fit the second-order expansion of any loss."""

from __future__ import annotations

from ..core import Learner

# Rows per pool: many times the sample of a round, but few enough to bound the cost of a round.
POOL_SIZE = 65_536
# Maximum number of rows of which duplicates are merged.
MAX_MERGED_ROWS = 20_000


class SecondOrderLearner(Learner):
    """A learner whose outputs are Newton steps; it fits several outputs, on samples of many rows."""

    step = "unit"
    multi_output = True
    stops_early = True
    pool_size = POOL_SIZE

    def merges_rows(self, n_samples: int) -> bool:
        """Whether duplicates are merged: up to 20,000 rows."""
        return n_samples <= MAX_MERGED_ROWS
