"""Models that a fit of a host's estimator continues, and their initial scores."""

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
    """A model that a fit continues.

    `name` is the parameter that it was passed as, `start` its initial score, (C,), in the host's units, `response`
    the function from its scores, the start included, to probabilities or means, None if unknown.
    """

    name: str
    start: Array
    response: Callable[[Array], Array] | None = None

    def baseline(self, owner: str, loss: Loss, n_outputs: int) -> Array:
        """The baseline of a fit that continues it with a loss, or a ValueError if they are incompatible."""
        if len(self.start) != n_outputs:
            raise ValueError(f"{owner}: {self.name} must have {n_outputs} outputs, got {len(self.start)}")
        slope = slope_of(loss, n_outputs)
        if self.response is not None and not has_same_response(self.response, loss, n_outputs, slope):
            raise ValueError(
                f"{owner}: {self.name} must have the link of loss {loss!r}; use the loss that it was trained with"
            )
        return self.start / slope


def warn_if_objective_differs(
    objective: str, response: Callable[[Array], Array] | None, loss: Loss, n_outputs: int
) -> None:
    """Warn if the objective that a booster records has another link than a loss, or an unknown one (None)."""
    if response is not None and has_same_response(response, loss, n_outputs):
        return
    reason = f"whose link differs from that of loss {loss!r}" if response else "whose link is unknown"
    warn_user(
        f"bind: the booster records the objective {objective!r}, {reason}; predictions are right only if its "
        f"scores are raw scores of loss {loss!r}"
    )


def has_increasing_link(loss: Loss, n_outputs: int) -> bool:
    """Whether the probability of the second of two classes increases with the one raw score."""
    if n_outputs > 1:
        return False
    response = np.asarray(loss.inverse_link(np.linspace(-3.0, 3.0, 65)[:, None]))
    if response.shape[1] > 2:
        return False
    probability = response[:, -1]
    # It may saturate at 0 and 1.
    return bool(probability[-1] > probability[0] and (np.diff(probability) >= 0.0).all())


def response_on_host_scores(loss: Loss, n_outputs: int) -> Callable[[Array], Array]:
    """The response of a loss as a function of a host's scores, (n, C)."""
    slope = slope_of(loss, n_outputs)
    return lambda scores: np.asarray(loss.inverse_link(scores / slope))
