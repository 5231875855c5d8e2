"""Categories of many levels: XGBoost tells the most frequent ones apart, and takes the others for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array

MOST_LEVELS = 2_000
"""Levels that are told apart. The time of a node grows with their number, and rare ones hardly enter its sets."""


def merged_codes(X: Array, weight: Array, n_levels: Mapping[int, int]) -> dict[int, Array]:
    """By column of X (n, d) with more than :data:`MOST_LEVELS` levels, the code of each level for XGBoost.

    The code is the rank of a level by the weight (n,) of its rows, and :data:`MOST_LEVELS` for all rarer ones.
    """
    codes = {}
    for column, size in n_levels.items():
        if size > MOST_LEVELS:
            known = ~np.isnan(X[:, column])
            total = np.bincount(X[known, column].astype(np.intp), weight[known], size)
            codes[column] = np.full(size, MOST_LEVELS)
            codes[column][np.argsort(-total, kind="stable")[:MOST_LEVELS]] = np.arange(MOST_LEVELS)
    return codes


def merge_levels(X: Array, codes: Mapping[int, Array]) -> Array:
    """The features X (n, d) with the codes of :func:`merged_codes`."""
    X = X.copy() if codes else X
    for column, code in codes.items():
        known = ~np.isnan(X[:, column])
        X[known, column] = code[X[known, column].astype(np.intp)]
    return X


def separate_levels(trees: Trees, codes: Mapping[int, Array]) -> Trees:
    """Trees of features with the codes of :func:`merged_codes` as trees of all levels."""
    if trees.subset is None or trees.members is None or not codes:
        return trees
    nodes = np.flatnonzero(trees.subset >= 0)
    columns = dict(zip(trees.subset[nodes].tolist(), trees.feature[nodes].tolist(), strict=True))
    width = max(8 * trees.members.shape[1], *map(len, codes.values()))
    members = np.zeros((len(trees.members), -(-width // 8)), dtype=np.uint8)
    for row, merged in enumerate(trees.members):
        member = np.unpackbits(merged, count=max(MOST_LEVELS + 1, 8 * len(merged)), bitorder="little")
        code = codes.get(columns[row])
        packed = np.packbits(member if code is None else member[code], bitorder="little")[: members.shape[1]]
        members[row, : len(packed)] = packed
    return replace(trees, members=members)
