"""Shapley values from their definition, by all coalitions."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np


def by_definition(function, X, background):
    """Shapley values (n, C, d) from the mean of the score over the background, for each of 2^d coalitions."""
    d = X.shape[1]

    def worth(members):
        mixed = np.repeat(background[None], len(X), axis=0)
        mixed[:, :, members] = X[:, None, members]
        return function(mixed.reshape(-1, d)).reshape(len(X), len(background), -1).mean(axis=1)

    sets = [s for size in range(d + 1) for s in combinations(range(d), size)]
    known = {s: worth(list(s)) for s in sets}
    out = np.zeros((*known[()].shape, d))
    for s in sets:
        for j in set(range(d)) - set(s):
            gain = known[tuple(sorted((*s, j)))] - known[s]
            out[:, :, j] += gain / (d * comb(d - 1, len(s)))
    return out
