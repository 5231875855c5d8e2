"""The columns that a tree sees, drawn by a round for XGBoost."""

from __future__ import annotations

import numpy as np

from ..core import Array

# XGBoost draws the columns of largest log(u) / weight, u uniform in [0, 1) with 24 bits. With these weights a
# column of the first kind is at -2e-5 at the least (but for u = 0), one of the second kind at -0.06 at the most.
SEEN, UNSEEN = 1e6, 1e-6


def seen_columns(rng: np.random.Generator, n_features: int, share: float) -> Array:
    """Weights of features, (d,), by which XGBoost's ``colsample_bytree`` draws the columns that are drawn here.

    Its own draws are from a stream that goes on from tree to tree, so that a round would depend on those before it
    unless all that grows trees were made anew, which takes as long as a tree of 1,000 rows.

    Parameters
    ----------
    rng : Generator
        The round's.
    n_features : int
        d.
    share : float
        ``colsample_bytree``. As in XGBoost, the number of columns is rounded down in float32, but never to 0.
    """
    size = max(1, int(np.float32(share) * np.float32(n_features)))
    weight = np.full(n_features, UNSEEN, dtype=np.float32)
    weight[rng.permutation(n_features)[:size]] = SEEN
    return weight
