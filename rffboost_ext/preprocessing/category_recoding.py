"""Recoding of categories: from a host's order to sorted order, and to the union of several encodings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from ..terms.ensemble import Ensemble
from ..terms.recoding import Recoding, recode_ensemble
from ..utils.typing import Array
from .category_encoding import CategoryEncoding, category_array, category_lists


def sorted_codes(ensemble: Ensemble, known: Sequence[Array | None]) -> tuple[Ensemble, CategoryEncoding | None]:
    """The ensemble in sorted codes and their encoding; the ensemble itself and None without categories.

    Parameters
    ----------
    ensemble : Ensemble
        Trees that split on the host's codes.
    known : sequence of ndarray or None
        The categories of each column in the order of the host's codes, None for numbers; empty if it has none.
    """
    if not known:
        return ensemble, None
    codes = {j: np.argsort(np.argsort(entry)) for j, entry in enumerate(known) if entry is not None}
    encoding = CategoryEncoding(tuple(None if entry is None else np.sort(entry) for entry in known))
    return recode_ensemble(ensemble, Recoding(codes, {j: len(entry) for j, entry in codes.items()})), encoding


def joint_encoding(encodings: Sequence[CategoryEncoding]) -> CategoryEncoding:
    """The encoding of the union of categories of several encodings, which must have the same columns and kinds."""
    known = zip(*map(category_lists, encodings), strict=True)
    return CategoryEncoding(tuple(None if e[0] is None else category_array(sorted(set(chain(*e)))) for e in known))


def category_kinds(encoding: CategoryEncoding | None) -> list[str]:
    """The kinds of categories of each column: text, numbers, both, or none; empty without an encoding."""
    words = {True: "text", False: "numbers"}
    known = ({isinstance(value, str) for value in entry or ()} for entry in category_lists(encoding))
    return [" and ".join(words[kind] for kind in sorted(kinds)) or "none" for kinds in known]


def recoding_of(old: CategoryEncoding, new: CategoryEncoding) -> Recoding:
    """The recoding from one encoding to another that includes it."""
    codes, sizes = {}, {}
    for column, (known, wanted) in enumerate(zip(category_lists(old), category_lists(new), strict=True)):
        if known is not None and wanted is not None:
            place = {value: code for code, value in enumerate(wanted)}
            codes[column] = np.array([place[value] for value in known], np.int64)
            sizes[column] = len(wanted)
    return Recoding(codes, sizes)
