"""Models that a fit of a host's estimator continues, and their initial scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Link, Loss
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .score_conversion import link_of_host_scores, slope_of


@dataclass(frozen=True)
class PreviousModel:
    """A model that a fit continues.

    `name` is the parameter that it was passed as, `start` its initial score, (C,), in the host's units, `link` the
    link of its scores, the start included, or None if unknown.
    """

    name: str
    start: Array
    link: Link | None = None

    def baseline(self, owner: str, loss: Loss, n_outputs: int) -> Array:
        """The baseline of a fit that continues it with a loss, or a ValueError if they are incompatible."""
        if len(self.start) != n_outputs:
            raise ValueError(f"{owner}: {self.name} must have {n_outputs} outputs, got {len(self.start)}")
        if self.link is not None and self.link != link_of_host_scores(loss):
            raise ValueError(
                f"{owner}: {self.name} must have the link of loss {loss!r}; use the loss that it was trained with"
            )
        return self.start / slope_of(loss)


def warn_if_objective_differs(objective: str, link: Link | None, loss: Loss) -> None:
    """Warn if the objective that a booster records has another link than a loss, or an unknown one (None)."""
    if link == loss.link:
        return
    reason = f"whose link differs from that of loss {loss!r}" if link else "whose link is unknown"
    warn_user(
        f"bind: the booster records the objective {objective!r}, {reason}; predictions are right only if its "
        f"scores are raw scores of loss {loss!r}"
    )


def ranks_by_score(loss: Loss, n_outputs: int) -> bool:
    """Whether the one raw score orders rows as the mean, or the probability of the second class, does."""
    return n_outputs == 1 and loss.link.inverse(np.zeros((1, 1))).shape[1] <= 2
