"""The progress of a fit: the finished models, and the model in training."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..learners.stored_state import check_learner_state
from ..terms.ensemble import Ensemble, mean_ensemble
from ..utils.typing import Array
from .callbacks import Callback, ModelLabel, Progress, stops_training
from .evaluation import EvaluationHistory
from .plan import Interrupted


@dataclass
class FitState:
    """A model in training.

    Parameters
    ----------
    ensemble : Ensemble
        Its rounds so far.
    raw : ndarray of shape (n, C), optional
        The scores from which the loop continues; by default those of the ensemble.
    learner_state : dict
        The state of learners across rounds.
    callbacks : sequence of callable
        Called after each round.
    finished : bool
        Whether its training is complete.
    history : EvaluationHistory, optional
        Its metrics, which callbacks can read.
    n_samples : int, optional
        Number of rows, n; None if each round sees a sample of them.
    n_features : int
        Number of features that learners see, imputed and one-hot encoded.
    """

    ensemble: Ensemble
    raw: Array | None
    learner_state: dict[Hashable, Any]
    callbacks: Sequence[Callback]
    finished: bool = False
    history: EvaluationHistory | None = None
    n_samples: int | None = None
    n_features: int = 0

    def state(self) -> dict[str, Any]:
        """The whole state as plain values."""
        states = [[type(callback).__name__, callback.state()] for callback in self._stateful()]
        # Names in files do not change with those of attributes.
        return {
            "ensemble": self.ensemble,
            "raw": self.raw,
            "lasting": self.learner_state,
            "finished": self.finished,
            "callbacks": states,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what :meth:`state` returned; a ValueError if it is of another model or of other callbacks."""
        require_state(state, self.ensemble, [type(one).__name__ for one in self._stateful()], self.n_samples)
        check_learner_state(state["lasting"], self.n_features, self.ensemble.n_outputs)
        self.ensemble, self.raw, self.finished = (state[name] for name in ("ensemble", "raw", "finished"))
        self.learner_state.clear()
        self.learner_state.update(state["lasting"])
        for callback, (_, kept) in zip(self._stateful(), state["callbacks"], strict=True):
            callback.restore(kept)

    def _stateful(self) -> list[Any]:
        """The callbacks that have a state and can restore it."""
        return [one for one in self.callbacks if hasattr(one, "state") and hasattr(one, "restore")]


def require_state(state: Any, ensemble: Ensemble, callbacks: list[str], n_samples: int | None) -> None:
    """Raise a ValueError unless a state is one of a model with this ensemble, these callbacks and so many rows."""
    types = {"ensemble": Ensemble, "lasting": dict, "finished": bool, "callbacks": list, "raw": np.ndarray | None}
    if not isinstance(state, dict) or set(state) != set(types):
        raise ValueError(f"holds a model that must have {', '.join(types)}")
    for name, kind in types.items():
        if not isinstance(state[name], kind):
            raise ValueError(f"holds a model whose {name} is {state[name]!r}")
    state["ensemble"].check(None)
    if state["ensemble"].n_outputs != ensemble.n_outputs:
        raise ValueError(f"holds a model of {state['ensemble'].n_outputs} outputs, not {ensemble.n_outputs}")
    raw = state["raw"]
    if raw is not None:
        shape = len(raw) if n_samples is None and raw.ndim else n_samples, ensemble.n_outputs
        if raw.dtype != np.float64 or raw.shape != shape or not np.isfinite(raw).all():
            raise ValueError(
                f"holds a model whose scores must be finite, float64 and of shape {shape}, got {raw.dtype} and "
                f"{raw.shape}"
            )
    stored = [one[0] if isinstance(one, list) and len(one) == 2 else one for one in state["callbacks"]]
    if stored != callbacks:
        raise ValueError(f"holds the states of the callbacks {stored}, not of {callbacks}")


class FitRecorder:
    """Keeps the progress of a fit in memory, in case it is interrupted."""

    every: int | None = None
    """Rounds between two records of a model in training; None for a record at its end only."""

    def __init__(self) -> None:
        self.results: list[tuple[Ensemble, Array]] = []

    def seeds(self, new: tuple[int, int]) -> tuple[int, int]:
        """The seeds of the fit: the given ones, unless it is resumed."""
        return new

    def resume(self, state: FitState) -> None:
        """Restore the progress of the next model."""

    def inspect(self, progress: Progress) -> None:
        """Inspect a round."""

    def record(self, state: FitState) -> None:
        """Record the state of a model."""

    def close(self) -> None:
        """Record that the fit is done."""

    def keep_result(self, ensemble: Ensemble, scores: Array) -> None:
        """Keep the result of a fit with early stopping, and its curve."""
        if len(ensemble):
            self.results.append((ensemble, scores))

    def partial_result(self, stop: Interrupted) -> tuple[Interrupted, list[Array]]:
        """The interrupt with the model of an interrupted fit, and its curves of early stopping.

        The model is the mean of the models trained with early stopping so far, if any; an incomplete refit is
        discarded.
        """
        if not self.results and not len(stop.ensemble):
            raise stop
        models = [ensemble for ensemble, _ in self.results] or [stop.ensemble]
        return Interrupted(mean_ensemble(models)), [scores for _, scores in self.results]


class CallbackForwarder:
    """Calls the callbacks of a model with what the loop does not know, and keeps the latest scores.

    Parameters
    ----------
    state : FitState
        The callbacks, and the metrics that they can read.
    n_estimators : int
        The total number of rounds, where the loop trains fewer at a time.
    model : ModelLabel
        Which of the models of the fit it is.
    """

    def __init__(self, state: FitState, n_estimators: int, model: ModelLabel) -> None:
        self.callbacks, self.history, self.stopped, self.raw = state.callbacks, state.history, False, state.raw
        self.known: dict[str, Any] = {"n_estimators": n_estimators, "model": model}
        if self.history is not None:
            self.known["evaluations"] = self.history.curves

    def __call__(self, progress: Progress) -> bool:
        if self.history is not None:
            self.history.add(progress)
        self.raw = progress.raw
        progress = replace(progress, **self.known)
        self.stopped = any([stops_training(callback, progress) for callback in self.callbacks])  # noqa: C419 - each is called
        return self.stopped
