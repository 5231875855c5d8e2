"""Trees in other codes of categories, for those of XGBoost and LightGBM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .linear_trees import LinearTrees
from .trees import Trees


def with_codes(term: Term, codes: Mapping[int, Array]) -> Term:
    """Trees in new codes: by column, the new code of each old code, a permutation."""
    trees = term.coefficients if isinstance(term, LinearTrees) else term
    assert isinstance(trees, Trees)
    if trees.subset is None or trees.members is None:
        return term
    trees = replace(trees, **sets_with_codes(trees.feature, trees.subset, trees.members, codes))
    return replace(term, coefficients=trees) if isinstance(term, LinearTrees) else trees


def sets_with_codes(feature: Array, subset: Array, members: Array, codes: Mapping[int, Array]) -> dict[str, Any]:
    """``subset`` and ``members`` of nodes in new codes, with a set of its own for each split."""
    splits = np.flatnonzero(subset >= 0)
    old = np.unpackbits(members, axis=1, bitorder="little")
    new = np.zeros((len(splits), max(map(len, codes.values()), default=0)), dtype=bool)
    for row, split in enumerate(splits):
        new[row, codes[int(feature[split])][np.flatnonzero(old[subset[split]])]] = True
    place = np.full_like(subset, -1)
    place[splits] = np.arange(len(splits))
    return {"subset": place, "members": np.packbits(new, axis=1, bitorder="little")}
