"""A model in training, and its state in a checkpoint."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..learners.stored_state import check_learner_state
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
