"""Scores recorded in a host's training, to check that trees come from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core import Term
from ..utils.typing import Array

N_ROWS = 16
TOLERANCE = 1e-4
"""Relative to the magnitude of all that was summed: a host may sum in float32."""


@dataclass
class Trace:
    """Some rows of a training, and the host's scores there before each round.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Their indices.
    X : ndarray of shape (m, d), optional
        Their features as the host's trees see them; None where the host does not give them back.
    scores : list of ndarray of shape (m, C)
        One entry for each round that was started.
    """

    rows: Array
    X: Array | None
    scores: list[Array] = field(default_factory=list)

    def note(self, scores: Array) -> None:
        """Keep the scores, (n, C), with which a round begins."""
        self.scores.append(scores[self.rows])

    def require_own(self, trees: Sequence[Term | None]) -> None:
        """Raise a ValueError unless the scores came from these trees, one term per round or None.

        The scores after the last round that was started were never seen, so its tree is not checked.
        """
        if self.X is None:
            return
        total, size = self.scores[0], np.abs(self.scores[0]).max()
        for index, (tree, wanted) in enumerate(zip(trees, self.scores[1:], strict=False)):
            output = np.zeros_like(total) if tree is None else tree(self.X)
            total, size = total + output, size + np.abs(output).max()
            if np.abs(total - wanted).max() > TOLERANCE * size:
                raise ValueError(
                    f"bind: the booster must be the one that was trained with this objective, from its first "
                    f"round on, got one whose round {index} is another: a slice of it, or from another training"
                )


def spread(n_samples: int) -> Array:
    """The indices of a few evenly spaced rows."""
    return np.unique(np.linspace(0, n_samples - 1, N_ROWS).astype(np.intp))
