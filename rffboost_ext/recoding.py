"""Ensembles that know different categories, by one coding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from .coding import Coding, as_array, listed
from .ensemble import Ensemble
from .terms.dispatch import by_type
from .terms.recode import Recoding, recode


def joint(codings: Sequence[Coding]) -> Coding:
    """The coding of all categories that several have, which must be of the same columns and kinds."""
    known = zip(*map(listed, codings), strict=True)
    return Coding(tuple(None if e[0] is None else as_array(sorted(set(chain(*e)))) for e in known))


def kinds_of(coding: Coding | None) -> list[str]:
    """What the categories of each column are, and which columns have none; empty where none has any."""
    words = {True: "text", False: "numbers"}
    known = ({isinstance(value, str) for value in entry or ()} for entry in listed(coding))
    return [" and ".join(words[kind] for kind in sorted(kinds)) or "none" for kinds in known]


def recoding_of(old: Coding, new: Coding) -> Recoding:
    """From the codes of one coding to those of another, which has all of its categories."""
    codes, sizes = {}, {}
    for column, (known, wanted) in enumerate(zip(listed(old), listed(new), strict=True)):
        if known is not None and wanted is not None:
            place = {value: code for code, value in enumerate(wanted)}
            codes[column] = np.array([place[value] for value in known], np.int64)
            sizes[column] = len(wanted)
    return Recoding(codes, sizes)


def with_codes(ensemble: Ensemble, recoding: Recoding) -> Ensemble:
    """The ensemble as a function of columns with new codes."""
    return replace(ensemble, terms=tuple(by_type(recode, term, recoding) for term in ensemble.terms))
