"""Random draws of a tree from the generator of the round: column samples, and the seed of other draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ...utils.typing import Array

# XGBoost draws the columns of largest log(u) / weight, u uniform in [0, 1) with 24 bits. With these weights the
# value is at least -2e-5 for a sampled column (except for u = 0), and at most -0.06 for another one.
SAMPLED, NOT_SAMPLED = 1e6, 1e-6
# Placeholder for the state of the random generator in a configuration.
PLACEHOLDER = "the state of a stream of random numbers"


def sample_columns(rng: np.random.Generator, n_features: int, share: float) -> Array:
    """Feature weights, (d,), with which XGBoost's ``colsample_bytree`` selects columns that are drawn here.

    XGBoost's own stream of draws continues from tree to tree, so that a round would depend on earlier rounds.

    Parameters
    ----------
    rng : Generator
        The generator of the round.
    n_features : int
        Number of columns, d.
    share : float
        ``colsample_bytree``. As in XGBoost, the number of columns is rounded down in float32, but never to 0.
    """
    size = max(1, int(np.float32(share) * np.float32(n_features)))
    weight = np.full(n_features, NOT_SAMPLED, dtype=np.float32)
    weight[rng.permutation(n_features)[:size]] = SAMPLED
    return weight


def seed_configuration(config: str) -> Callable[[int], str]:
    """Return a function from a seed to the configuration of a booster whose draws depend on this seed only.

    Loading a configuration restarts the stream of the tree updater: from the state in the configuration or, before
    version 3.4, from the index of the iteration.
    """
    content = json.loads(config)
    params = content["learner"]["generic_param"]
    if "rng_state" not in params:
        return lambda seed: config
    params |= {"rng_state": PLACEHOLDER, "seed_per_iteration": "0"}
    before, after = json.dumps(content).split(PLACEHOLDER)
    return lambda seed: f"{before}{mersenne_twister_state(seed)}{after}"


def mersenne_twister_state(seed: int) -> str:
    """The state of a seeded Mersenne Twister in C++'s text format: the words, then the position."""
    state: Any = np.random.RandomState(seed).get_state(legacy=False)["state"]
    return " ".join(map(str, [*state["key"].tolist(), state["pos"]]))
