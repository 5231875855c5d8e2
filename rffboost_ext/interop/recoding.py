"""Remap category codes from the host's order to sorted order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..coding import Coding
from ..core import Array, Term
from ..ensemble import Ensemble
from ..terms import Trees


def with_coding(ensemble: Ensemble, known: Sequence[Array | None]) -> tuple[Ensemble, Coding | None]:
    """The ensemble remapped from a host's codes to ours, and our coding; unchanged if the host has no categories.

    Parameters
    ----------
    ensemble : Ensemble
        Trees that act on the host's codes.
    known : sequence of ndarray or None
        The categories of each column in the order of the host's codes, None for numbers; empty if it has none.
    """
    if not known:
        return ensemble, None
    codes = {j: np.argsort(np.argsort(entry)) for j, entry in enumerate(known) if entry is not None}
    coding = Coding(tuple(None if entry is None else np.sort(entry) for entry in known))
    return replace(ensemble, terms=tuple(recoded(term, codes) for term in ensemble.terms)), coding


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
