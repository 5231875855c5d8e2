"""Where a fit of a host's estimator starts that goes on from an earlier model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..core import Loss
from ..losses.validation import has_same_response
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .score_conversion import slope_of


@dataclass(frozen=True)
class PreviousModel:
    """A model that a fit goes on from.

    Attributes
    ----------
    name : str
        The parameter that it came as.
    start : ndarray of shape (C,)
        Where its scores start, in units of the host.
    response : callable, optional
        From its scores, the start included, to probabilities or means; None where it does not tell.
    """

    name: str
    start: Array
    response: Callable[[Array], Array] | None = None

    def baseline(self, owner: str, loss: Loss, n_outputs: int) -> Array:
        """The baseline of a fit with a loss that goes on from it, or a ValueError if such a fit cannot."""
        if len(self.start) != n_outputs:
            raise ValueError(f"{owner}: {self.name} must have {n_outputs} outputs, got {len(self.start)}")
        slope = slope_of(loss, n_outputs)
        if self.response is not None and not has_same_response(self.response, loss, n_outputs, slope):
            raise ValueError(
                f"{owner}: {self.name} reads its scores otherwise than loss {loss!r} does: take the loss that it "
                f"was trained with"
            )
        return self.start / slope


def warn_of_other(objective: str, response: Callable[[Array], Array] | None, loss: Loss, n_outputs: int) -> None:
    """Warn where the objective that a booster records, of an unknown response if None, is not that of a loss."""
    if response is not None and has_same_response(response, loss, n_outputs):
        return
    told = f"which reads scores otherwise than loss {loss!r} does" if response else "whose link is not known here"
    warn_user(
        f"bind: the booster records the objective {objective!r}, {told}; predictions are right only if its scores "
        f"are those of loss {loss!r}"
    )


def increases(loss: Loss, n_outputs: int) -> bool:
    """Whether the probability of the second of two classes increases with the one raw score."""
    if n_outputs > 1:
        return False
    found = np.asarray(loss.inverse_link(np.linspace(-3.0, 3.0, 65)[:, None]))[:, -1]
    # Far out it may be 0 or 1 exactly.
    return bool(found[-1] > found[0] and (np.diff(found) >= 0.0).all())


def in_scores(loss: Loss, n_outputs: int) -> Callable[[Array], Array]:
    """The response of a loss as a function of a host's scores, (n, C)."""
    slope = slope_of(loss, n_outputs)
    return lambda scores: np.asarray(loss.inverse_link(scores / slope))
