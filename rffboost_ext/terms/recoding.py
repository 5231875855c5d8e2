"""The same functions of categories that have other codes, or of which there are more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .ensemble import Ensemble
from .expanded import Expanded, ImputeAndEncode
from .trees import Trees


@dataclass(frozen=True)
class Recoding:
    """New codes for the categories of some columns.

    Parameters
    ----------
    codes : dict of int to ndarray of int
        The new code of each old one, by column.
    sizes : dict of int to int
        How many new codes each column has; those that no old one becomes are of categories not known before.
    """

    codes: Mapping[int, Array]
    sizes: Mapping[int, int]

    def unknown(self, column: int) -> Array:
        """The new codes of categories that were not known, ascending."""
        return np.setdiff1d(np.arange(self.sizes[column]), self.codes[column])


@singledispatch
def recode(term: Term, recoding: Recoding) -> Term:
    """The term as a function of columns with new codes; categories that it does not know count as missing.

    Types of terms that act on codes register their own rule here, as trees do.

    Raises
    ------
    TypeError
        If there is no rule for this type of term.
    """
    raise TypeError(
        f"categories cannot be given other codes in a {type(term).__name__}: register a rule with "
        f"rffboost_ext.terms.recoding.recode"
    )


@recode.register
def _(term: Expanded, recoding: Recoding) -> Term:
    if len(term.expansion.coded):
        return replace(term, expansion=recoded_tables(term.expansion, recoding))
    # What imputes numbers for trees leaves the codes in their columns.
    return replace(term, term=recode(term.term, recoding))


def recoded_tables(expansion: ImputeAndEncode, recoding: Recoding) -> ImputeAndEncode:
    """An expansion whose tables have a row for each new code, and that of missing values for unknown ones."""
    tables = []
    for column, table in zip(expansion.coded.tolist(), expansion.tables, strict=True):
        wide = np.tile(table[-1], (recoding.sizes[column] + 1, 1))
        # A table ends with the largest code that its rows had.
        wide[recoding.codes[column][: len(table) - 1]] = table[:-1]
        tables.append(wide)
    return replace(expansion, tables=tuple(tables))


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
        # Members go right, as missing values do here.
        new[row, recoding.unknown(column)] = not term.missing_left[node]
    subset = np.full_like(term.subset, -1)
    subset[nodes] = np.arange(len(nodes))
    return replace(term, subset=subset, members=np.packbits(new, axis=1, bitorder="little"))


def recoded_ensemble(ensemble: Ensemble, recoding: Recoding) -> Ensemble:
    """The ensemble as a function of columns with new codes."""
    return replace(ensemble, terms=tuple(recode(term, recoding) for term in ensemble.terms))
