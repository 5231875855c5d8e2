"""The progress of one call of ``fit``: the finished models, and the one that is being trained."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..terms.ensemble import Ensemble, mean_ensemble
from ..utils.typing import Array
from .callbacks import Callback, Progress, stops_training
from .interruption import Interrupted


@dataclass
class FitState:
    """A model that is being trained.

    Parameters
    ----------
    ensemble : Ensemble
        Its rounds so far.
    raw : ndarray of shape (n, C), optional
        The scores from which the loop continues; by default those of the ensemble.
    learner_state : dict
        The state that learners keep across rounds.
    callbacks : sequence of callable
        To be called after each round.
    finished : bool
        Whether its training is complete.
    """

    ensemble: Ensemble
    raw: Array | None
    learner_state: dict[Hashable, Any]
    callbacks: Sequence[Callback]
    finished: bool = False

    def state(self) -> dict[str, Any]:
        """The whole state as plain values."""
        states = [[type(callback).__name__, callback.state()] for callback in self._stateful()]
        # The names are those in files.
        return {
            "ensemble": self.ensemble,
            "raw": self.raw,
            "lasting": self.learner_state,
            "finished": self.finished,
            "callbacks": states,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what :meth:`state` returned."""
        self.ensemble, self.raw, self.finished = (state[name] for name in ("ensemble", "raw", "finished"))
        self.learner_state.clear()
        self.learner_state.update(state["lasting"])
        for callback, (_, kept) in zip(self._stateful(), state["callbacks"], strict=True):
            callback.restore(kept)

    def _stateful(self) -> list[Any]:
        """The callbacks that have a state and can restore it."""
        return [one for one in self.callbacks if hasattr(one, "state") and hasattr(one, "restore")]


class FitRecorder:
    """The progress of a fit, kept in memory in case it is interrupted."""

    every: int | None = None
    """Rounds between two notes of a model in training; None for no notes in between."""

    def __init__(self) -> None:
        self.results: list[tuple[Ensemble, Array]] = []

    def seeds(self, drawn: tuple[int, int]) -> tuple[int, int]:
        """The seeds of the fit: those just drawn, unless it is resumed."""
        return drawn

    def resume(self, growth: FitState) -> None:
        """Restore the progress of a model that is about to be trained."""

    def watch(self, progress: Progress) -> None:
        """Inspect a round."""

    def note(self, growth: FitState) -> None:
        """Note the state of a model."""

    def close(self) -> None:
        """Note that the fit is done."""

    def keep(self, ensemble: Ensemble, scores: Array) -> None:
        """Keep the result of a fit with early stopping, and its curve."""
        if len(ensemble):
            self.results.append((ensemble, scores))

    def usable(self, stop: Interrupted) -> tuple[Interrupted, list[Array]]:
        """The interrupt with the model, and the curves of early stopping, that an interrupted fit leaves.

        That is the mean of the models trained with early stopping so far, if any: an incomplete refit is
        discarded.
        """
        if not self.results and not len(stop.ensemble):
            raise stop
        models = [ensemble for ensemble, _ in self.results] or [stop.ensemble]
        return Interrupted(mean_ensemble(models)), [scores for _, scores in self.results]


class CallbackForwarder:
    """Calls callbacks with the total number of rounds in a shorter stretch, and notes whether one ends the fit."""

    def __init__(self, callbacks: Sequence[Callback], n_estimators: int) -> None:
        self.callbacks, self.n_estimators, self.stopped = callbacks, n_estimators, False

    def __call__(self, progress: Progress) -> bool:
        if progress.n_estimators != self.n_estimators:
            progress = replace(progress, n_estimators=self.n_estimators)
        self.stopped = any([stops_training(callback, progress) for callback in self.callbacks])  # noqa: C419 - each is called
        return self.stopped
