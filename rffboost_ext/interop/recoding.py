"""Trees that know categories by other codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..core import Array, Term
from ..terms import Trees


def recoded(trees: Term, codes: Mapping[int, Array]) -> Term:
    """The same trees where the category of code c in column j has the code ``codes[j][c]`` instead."""
    if not isinstance(trees, Trees) or trees.subset is None or trees.members is None:
        return trees
    nodes = np.flatnonzero(trees.subset >= 0)
    old = np.unpackbits(trees.members, axis=1, bitorder="little")
    new = np.zeros((len(nodes), max(map(len, codes.values()), default=0)), dtype=bool)
    for row, node in enumerate(nodes):
        known = codes[int(trees.feature[node])]
        new[row, known[np.flatnonzero(old[trees.subset[node]])]] = True
    subset = np.full_like(trees.subset, -1)
    subset[nodes] = np.arange(len(nodes))
    return replace(trees, subset=subset, members=np.packbits(new, axis=1, bitorder="little"))
