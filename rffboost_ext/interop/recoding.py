"""Remap category codes from the host's order to sorted order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..coding import Coding
from ..core import Array
from ..ensemble import Ensemble
from ..recoding import with_codes
from ..terms.recode import Recoding


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
