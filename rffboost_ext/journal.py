"""What one call of ``fit`` has got done so far: the models that are finished, and the one that is growing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .boosting import Interrupted
from .callbacks import Callback, Progress
from .core import Array
from .ensemble import Ensemble, mean


@dataclass
class Growth:
    """A model that grows.

    Parameters
    ----------
    ensemble : Ensemble
        Its rounds so far.
    raw : ndarray of shape (n, C), optional
        The scores from which the loop goes on; those of the ensemble where there are none.
    lasting : dict
        What learners remember.
    callbacks : sequence of callable
        What is called after each round.
    finished : bool
        Whether it is grown.
    """

    ensemble: Ensemble
    raw: Array | None
    lasting: dict[Hashable, Any]
    callbacks: Sequence[Callback]
    finished: bool = False

    def state(self) -> dict[str, Any]:
        """All of it as values."""
        states = [[type(callback).__name__, callback.state()] for callback in self._stateful()]
        values = {name: getattr(self, name) for name in ("ensemble", "raw", "lasting", "finished")}
        return values | {"callbacks": states}

    def restore(self, state: dict[str, Any]) -> None:
        """Become what :meth:`state` was taken of."""
        self.ensemble, self.raw, self.finished = (state[name] for name in ("ensemble", "raw", "finished"))
        self.lasting.clear()
        self.lasting.update(state["lasting"])
        for callback, (_, kept) in zip(self._stateful(), state["callbacks"], strict=True):
            callback.restore(kept)

    def _stateful(self) -> list[Any]:
        """The callbacks that say what they know, and can be told."""
        return [one for one in self.callbacks if hasattr(one, "state") and hasattr(one, "restore")]


class Journal:
    """What a fit has got done, kept in memory: for whoever interrupts it."""

    every: int | None = None
    """Rounds after which a model that grows is noted."""

    def __init__(self) -> None:
        self.results: list[tuple[Ensemble, Array]] = []

    def seeds(self, drawn: tuple[int, int]) -> tuple[int, int]:
        """The seeds of the fit, if these have been drawn for it."""
        return drawn

    def resume(self, growth: Growth) -> None:
        """Let a model that is about to grow be as far as it has been before."""

    def watch(self, progress: Progress) -> None:
        """Look at a round."""

    def note(self, growth: Growth) -> None:
        """Note how far a model has grown."""

    def close(self) -> None:
        """Note that the fit is done."""

    def keep(self, ensemble: Ensemble, scores: Array) -> None:
        """Keep the result of a fit with early stopping, and its curve."""
        if len(ensemble):
            self.results.append((ensemble, scores))

    def usable(self, stop: Interrupted) -> tuple[Interrupted, list[Array]]:
        """The interrupt with the model, and the curves of early stopping, that an interrupted fit leaves.

        That is the mean of the models that it has made with early stopping, where there are any: a refit that is
        not complete falls behind them.
        """
        if not self.results and not len(stop.ensemble):
            raise stop
        models = [ensemble for ensemble, _ in self.results] or [stop.ensemble]
        return Interrupted(mean(models)), [scores for _, scores in self.results]


class Relay:
    """Calls callbacks as in a fit of so many rounds, where a stretch of it has fewer, and notes what they say."""

    def __init__(self, callbacks: Sequence[Callback], n_estimators: int) -> None:
        self.callbacks, self.n_estimators, self.stopped = callbacks, n_estimators, False

    def __call__(self, progress: Progress) -> bool:
        if progress.n_estimators != self.n_estimators:
            progress = replace(progress, n_estimators=self.n_estimators)
        self.stopped = any([callback(progress) for callback in self.callbacks])  # noqa: C419 - each is to be called
        return self.stopped
