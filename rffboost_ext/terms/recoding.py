"""Ensembles under new category codes, as of a table with additional categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .ensemble import Ensemble
from .expanded import Expanded, ImputeAndEncode
from .linear_trees import LinearTrees
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
    nodes = np.flatnonzero(term.subset >= 0)
    old = np.unpackbits(term.members, axis=1, bitorder="little")
    new = np.zeros((len(nodes), max(recoding.sizes.values(), default=0)), dtype=bool)
    for row, node in enumerate(nodes):
        column = int(term.feature[node])
        new[row, recoding.codes[column][np.flatnonzero(old[term.subset[node]])]] = True
        # Additional categories go the way of missing values; members go right.
        new[row, recoding.unknown(column)] = not term.missing_left[node]
    subset = np.full_like(term.subset, -1)
    subset[nodes] = np.arange(len(nodes))
    return replace(term, subset=subset, members=np.packbits(new, axis=1, bitorder="little"))


@recode.register
def _(term: LinearTrees, recoding: Recoding) -> Term:
    return LinearTrees(recode(term.coefficients, recoding), term.n_outputs)  # type: ignore[arg-type]


def recode_ensemble(ensemble: Ensemble, recoding: Recoding) -> Ensemble:
    """The ensemble as a function of the new codes."""
    return replace(ensemble, terms=tuple(recode(term, recoding) for term in ensemble.terms))
