"""Which features are crossed: the most important ones, by trees of few rounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from ....core import Learner, Round
from ....terms import SymmetricTrees
from ....terms.crosses import Crosses
from ....utils.typing import Array

PROBE_ROUNDS, PROBE_RATE = 25, 0.1
# Rows from which importances are computed.
PROBE_SAMPLE = 1_000


def probed_importances(learner: Learner, round: Round) -> Array:
    """The variance of trees that is due to each feature, (d,).

    The trees are those of the first rounds for the quadratic approximation of the loss at the scores of a round.
    """
    trees = []
    for index in range(PROBE_ROUNDS):
        tree, output = round.evaluated(learner.fit(replace(round, index=index)))
        trees.append(SymmetricTrees.of(tree))
        round = replace(round, gradient=round.gradient + PROBE_RATE * round.hessian * output)
    rows = np.flatnonzero(round.weight)
    rows = rows[:: -(-len(rows) // PROBE_SAMPLE)]
    weight = round.weight[rows] / round.weight[rows].sum()
    return np.asarray(SymmetricTrees.stack(trees).variances(round.design.original[rows], weight))


def crosses_of(features: Array) -> Crosses:
    """The differences and the products of all pairs of some features."""
    pairs = list(combinations(features.tolist(), 2))
    table = [(*pair, is_product) for is_product in (0, 1) for pair in pairs]
    return Crosses(np.array(table, dtype=np.int32).reshape(-1, 3))
