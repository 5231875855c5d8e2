"""Remap category codes from the host's order to sorted order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..terms.ensemble import Ensemble
from ..terms.recoding import Recoding, with_codes
from ..utils.typing import Array
from .category_encoding import Coding, as_array, listed


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
    return with_codes(ensemble, Recoding(codes, {j: len(entry) for j, entry in codes.items()})), coding


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
