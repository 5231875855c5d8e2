"""A model in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .callbacks import Callback
from .evaluation import EvaluationHistory


@dataclass
class FitState:
    """A model in training.

    Parameters
    ----------
    ensemble : Ensemble
        Its rounds so far.
    raw : ndarray of shape (n, C), optional
        The scores from which the loop continues; by default those of the ensemble.
    callbacks : sequence of callable
        Called after each round.
    finished : bool
        Whether its training is complete.
    history : EvaluationHistory, optional
        Its metrics, which callbacks can read.
    """

    ensemble: Ensemble
    raw: Array | None
    callbacks: Sequence[Callback]
    finished: bool = False
    history: EvaluationHistory | None = None
