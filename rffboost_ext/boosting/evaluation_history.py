"""Metrics on evaluation sets, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..data.dataset import Dataset
from ..terms.ensemble import Ensemble
from .callbacks import Progress
from .metrics import EvaluationMetric

Curves = dict[str, dict[str, list[float]]]


class EvaluationHistory:
    """Evaluates each metric on each set after every round of a model, in a stack of the first model.

    Parameters
    ----------
    sets : mapping of str to Dataset
        The sets by name.
    metrics : sequence of EvaluationMetric
        The metrics to evaluate.
    start : Ensemble
        The ensemble that the fit starts from.

    Attributes
    ----------
    curves : dict of str to dict of str to list of float
        By set and metric, a number for each round of this fit.
    """

    def __init__(self, sets: Mapping[str, Dataset], metrics: Sequence[EvaluationMetric], start: Ensemble) -> None:
        self.sets = sets
        self.metrics = metrics
        self.curves: Curves = {name: {metric.name: [] for metric in metrics} for name in sets}
        self._raw = {name: start.raw(rows.X) for name, rows in sets.items()}
        self._next: int | None = len(start)
        for name in sets:
            # A metric that cannot be computed fails here, not after a round.
            self._scores(name)

    def __call__(self, progress: Progress) -> None:
        # If the index is not consecutive another model has begun: only the first one is evaluated.
        self._next = progress.round.index + 1 if progress.round.index == self._next else None
        if self._next is None:
            return
        for name, rows in self.sets.items():
            self._raw[name] = progress.keep * self._raw[name] + progress.length * progress.term(rows.X)
            for metric, score in self._scores(name).items():
                self.curves[name][metric].append(score)

    def _scores(self, name: str) -> dict[str, float]:
        """The current value of each metric on a set."""
        rows, raw = self.sets[name], self._raw[name]
        return {metric.name: float(metric.score(rows.y, raw, rows.weight)) for metric in self.metrics}

    def latest(self) -> dict[str, float]:
        """The latest values, by set and metric; empty in the training of later models."""
        if self._next is None:
            return {}
        return {
            f"{name} {metric}": curve[-1]
            for name, curves in self.curves.items()
            for metric, curve in curves.items()
            if curve
        }

    def state(self) -> dict[str, Any]:
        """The state for a checkpoint."""
        return {"curves": self.curves, "raw": self._raw, "next": self._next}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state from a checkpoint."""
        self.curves, self._raw, self._next = (state[name] for name in ("curves", "raw", "next"))
