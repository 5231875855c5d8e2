"""Random draws of a tree, made by a round for XGBoost: its columns, and the seed of all other draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ...utils.typing import Array

# XGBoost draws the columns of largest log(u) / weight, u uniform in [0, 1) with 24 bits. With these weights that
# is at least -2e-5 for a column that is seen (except for u = 0), and at most -0.06 for one that is not.
SEEN, UNSEEN = 1e6, 1e-6
# Placeholder for what differs between configurations.
MARK = "the state of a stream of random numbers"


def seen_columns(rng: np.random.Generator, n_features: int, share: float) -> Array:
    """Feature weights, (d,), that make XGBoost's ``colsample_bytree`` choose the columns that are drawn here.

    Its own draws are from a stream that continues from tree to tree, so that a round would depend on those before
    it unless the tree updater were recreated, which takes as long as a tree of 1,000 rows.

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


def seeded(config: str) -> Callable[[int], str]:
    """From a seed to the configuration of a booster whose draws depend on that seed only.

    The tree updater draws from a stream of its own. Loading a configuration restarts it: from the state in the
    configuration or, before version 3.4, from the iteration that a tree is grown in.
    """
    content = json.loads(config)
    params = content["learner"]["generic_param"]
    if "rng_state" not in params:
        return lambda seed: config
    params |= {"rng_state": MARK, "seed_per_iteration": "0"}
    before, after = json.dumps(content).split(MARK)
    return lambda seed: f"{before}{state_of(seed)}{after}"


def state_of(seed: int) -> str:
    """The state of the Mersenne Twister of a seed in C++'s text format: its words, and its position in them."""
    state: Any = np.random.RandomState(seed).get_state(legacy=False)["state"]
    return " ".join(map(str, [*state["key"].tolist(), state["pos"]]))
