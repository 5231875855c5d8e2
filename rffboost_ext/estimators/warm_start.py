"""What a fit leaves behind for a later one that continues from it."""

from __future__ import annotations

from collections.abc import Hashable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ..core import Loss
from ..core.spec import full_repr
from ..data.dataset import Dataset
from ..terms.ensemble import Ensemble
from ..utils.typing import Array


@dataclass(frozen=True)
class WarmStart:
    """The state of a fit that a later fit with ``warm_start=True`` continues from.

    Parameters
    ----------
    seed : int
        Seed of the rounds.
    loss : str
        Text of the loss before it was prepared.
    n_initial : int
        Rounds of a model that the fit itself continued from.
    data_key : str or None
        A hash of the rows.
    raw : ndarray of shape (n, C), optional
        The training scores.
    learner_state : dict
        The state of learners across rounds.
    """

    seed: int = 0
    loss: str = ""
    n_initial: int = 0
    data_key: str | None = None
    raw: Array | None = None
    learner_state: dict[Hashable, Any] = field(default_factory=dict)

    def training_scores(self, data: Dataset) -> Array | None:
        """The training scores, if they are of these rows."""
        if self.data_key is None or self.data_key != key_of(data) or self.raw is None:
            return None
        # A fit on samples of the rows leaves the scores of its last sample.
        return self.raw if len(self.raw) == len(data) else None

    def copied_learner_state(self) -> dict[Hashable, Any]:
        """The state of learners, for another fit to change."""
        return deepcopy(self.learner_state)


def key_of(data: Dataset) -> str:
    """A hash that identifies the rows of a fit."""
    from joblib import hash

    return str(hash((data.X, data.labels, data.weight)))


def require_same_fit(owner: str, loss: Loss, previous: Loss) -> None:
    """Raise a ValueError if a warm start would continue with another loss."""
    if full_repr(loss) != full_repr(previous):
        raise ValueError(
            f"{owner}: loss must be that of the previous fit, {previous!r}, when warm_start is set, got {loss!r}"
        )


def require_same_outputs(owner: str, n_scores: int, ensemble: Ensemble) -> None:
    """Raise a ValueError if a target does not make the scores of the fit that a warm start continues."""
    if n_scores != ensemble.n_outputs:
        raise ValueError(
            f"{owner}: y must have the {ensemble.n_outputs} raw scores of the previous fit when warm_start is "
            f"set, got {n_scores}"
        )


def require_room(owner: str, init: Ensemble | None, n_estimators: int | None, n_rounds: int) -> None:
    """Raise a ValueError if the model to continue from has more rounds than requested."""
    if init is not None and len(init) > n_rounds:
        given = n_estimators or f"None, for {n_rounds}"
        raise ValueError(
            f"{owner}: n_estimators must be at least the {len(init)} rounds already fitted when warm_start is set "
            f"(all models of a fit with early stopping counted), got {given}"
        )
