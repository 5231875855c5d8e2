"""Ensembles under new category codes, as of a table with additional categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .ensemble import Ensemble
from .expanded import Expanded, ImputeAndEncode
from .linear_trees import LinearTrees
from .symmetric_trees import SymmetricTrees
from .trees import Trees


@dataclass(frozen=True)
class Recoding:
    """New codes for the categories of some columns.

    Parameters
    ----------
    codes : dict of int to ndarray of int
        By column, the new code of each old code.
    sizes : dict of int to int
        By column, the number of new codes, including those of additional categories.
    """

    codes: Mapping[int, Array]
    sizes: Mapping[int, int]

    def unknown(self, column: int) -> Array:
        """The new codes of additional categories, ascending."""
        return np.setdiff1d(np.arange(self.sizes[column]), self.codes[column])


@singledispatch
def recode(term: Term, recoding: Recoding) -> Term:
    """The term as a function of the new codes; additional categories count as missing.

    Types of terms that act on codes register a rule here, as trees do.

    Raises
    ------
    TypeError
        If no rule is registered for the type of `term`.
    """
    raise TypeError(
        f"new category codes: there is no rule for a {type(term).__name__}; register one with "
        f"rffboost_ext.terms.recoding.recode.register"
    )


@recode.register
def _(term: Expanded, recoding: Recoding) -> Term:
    if len(term.expansion.categorical):
        return replace(term, expansion=recode_one_hot(term.expansion, recoding))
    # Imputation for trees leaves the codes in their columns.
    return replace(term, term=recode(term.term, recoding))


def recode_one_hot(expansion: ImputeAndEncode, recoding: Recoding) -> ImputeAndEncode:
    """The expansion of the new codes; additional categories have the encoding of missing values."""
    tables = []
    for column, table in zip(expansion.categorical.tolist(), expansion.one_hot, strict=True):
        wide = np.tile(table[-1], (recoding.sizes[column] + 1, 1))
        # A table has rows up to the largest code in training.
        wide[recoding.codes[column][: len(table) - 1]] = table[:-1]
        tables.append(wide)
    return replace(expansion, one_hot=tuple(tables))


@recode.register
def _(term: Trees, recoding: Recoding) -> Term:
    if term.subset is None or term.members is None:
        return term
    return replace(term, **recoded_sets(term.feature, ~term.missing_left, term.subset, term.members, recoding))


@recode.register
def _(term: SymmetricTrees, recoding: Recoding) -> Term:
    if term.subset is None or term.members is None:
        return term
    return replace(term, **recoded_sets(term.feature, term.missing_right, term.subset, term.members, recoding))


def recoded_sets(
    feature: Array, missing_right: Array, subset: Array, members: Array, recoding: Recoding
) -> dict[str, Any]:
    """``subset`` and ``members`` of splits, all of one shape, for the new codes; members go right."""
    splits = np.flatnonzero(subset.ravel() >= 0)
    old = np.unpackbits(members, axis=1, bitorder="little")
    new = np.zeros((len(splits), max(recoding.sizes.values(), default=0)), dtype=bool)
    for row, split in enumerate(splits):
        column = int(feature.flat[split])
        new[row, recoding.codes[column][np.flatnonzero(old[subset.flat[split]])]] = True
        # Additional categories go the way of missing values.
        new[row, recoding.unknown(column)] = missing_right.flat[split]
    place = np.full_like(subset, -1)
    place.flat[splits] = np.arange(len(splits))
    return {"subset": place, "members": np.packbits(new, axis=1, bitorder="little")}


@recode.register
def _(term: LinearTrees, recoding: Recoding) -> Term:
    return LinearTrees(recode(term.coefficients, recoding), term.n_outputs)  # type: ignore[arg-type]


def recode_ensemble(ensemble: Ensemble, recoding: Recoding) -> Ensemble:
    """The ensemble as a function of the new codes."""
    return replace(ensemble, terms=tuple(recode(term, recoding) for term in ensemble.terms))
