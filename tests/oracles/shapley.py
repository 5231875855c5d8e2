"""Shapley values from their definition, by all coalitions, and of cosines by an integral."""

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
    worth_of = {s: worth(list(s)) for s in sets}
    out = np.zeros((*worth_of[()].shape, d))
    for s in sets:
        for j in set(range(d)) - set(s):
            gain = worth_of[tuple(sorted((*s, j)))] - worth_of[s]
            out[:, :, j] += gain / (d * comb(d - 1, len(s)))
    return out


def owen_integral(term, X, background, source, n_features):
    """Shapley values (n, C, d) of cosines by Owen's integral; column j belongs to feature ``source[j]``."""
    columns = source[:, None] == np.arange(n_features)
    ours, theirs = (np.exp(1j * ((part[:, None] * term.omega) @ columns)) for part in (X, background))
    ours, out = ours[:, None], 0.0
    for node, share in zip(*np.polynomial.legendre.leggauss(150), strict=True):
        t = 0.5 * (node + 1.0)
        factors = t * ours + (1.0 - t) * theirs
        out = out + 0.5 * share * (ours - theirs) * factors.prod(axis=-1, keepdims=True) / factors
    values = (np.exp(-1j * term.phase)[:, None] * out.mean(axis=1)).real
    return np.einsum("nmd,mc->ncd", values, term.weight)
