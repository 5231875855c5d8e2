"""What a tree draws, by a round for XGBoost: the columns that it sees, and the seed of all else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Array

# XGBoost draws the columns of largest log(u) / weight, u uniform in [0, 1) with 24 bits. With these weights a
# column of the first kind is at -2e-5 at the least (but for u = 0), one of the second kind at -0.06 at the most.
SEEN, UNSEEN = 1e6, 1e-6
# Stands for what differs between configurations.
MARK = "the state of a stream of random numbers"


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


def seeded(config: str) -> Callable[[int], str]:
    """From a seed to the configuration of a booster that draws by that seed alone, whatever it has drawn before.

    What grows trees draws from a stream of its own. A booster that is configured anew makes another one: of the
    state that its configuration holds or, before version 3.4, of the iteration that a tree is grown in.
    """
    content = json.loads(config)
    params = content["learner"]["generic_param"]
    if "rng_state" not in params:
        return lambda seed: config
    params |= {"rng_state": MARK, "seed_per_iteration": "0"}
    before, after = json.dumps(content).split(MARK)
    return lambda seed: f"{before}{state_of(seed)}{after}"


def state_of(seed: int) -> str:
    """The state of the Mersenne Twister of a seed as C++ writes it: its words, and where in them it is."""
    state: Any = np.random.RandomState(seed).get_state(legacy=False)["state"]
    return " ".join(map(str, [*state["key"].tolist(), state["pos"]]))
