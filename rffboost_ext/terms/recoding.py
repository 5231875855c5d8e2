"""New category codes, as of a table with additional categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..utils.typing import Array


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
