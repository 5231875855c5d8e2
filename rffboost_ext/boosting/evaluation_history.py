"""Metrics on evaluation sets, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..data.dataset import Dataset
from ..terms.ensemble import Ensemble
from .callbacks import Curves, Progress
from .early_stopping.monitor import MAX_BATCH, staged_scores
from .metrics import EvaluationMetric


class EvaluationHistory:
    """Each metric on each set after every round of one model, evaluated when the curves are asked for.

    Parameters
    ----------
    sets : mapping of str to Dataset
        The sets by name.
    metrics : sequence of EvaluationMetric
        The metrics to evaluate.
    ensemble : Ensemble
        The rounds so far; entry i of a curve is the metric after round i.
    """

    def __init__(
        self, sets: Mapping[str, Dataset], metrics: Sequence[EvaluationMetric], ensemble: Ensemble
    ) -> None:
        self.sets = sets
        self.metrics = metrics
        self._curves: Curves = {name: {metric.name: [] for metric in metrics} for name in sets}
        self._raw = {name: np.tile(ensemble.baseline, (len(rows), 1)) for name, rows in sets.items()}
        self._pending = list(ensemble.rounds)

    def add(self, progress: Progress) -> None:
        """Add a round."""
        self._pending.append((progress.keep, progress.length, progress.term))

    def curves(self) -> Curves:
        """A list of numbers by set and metric, up to the present round."""
        size = max([1, *(raw.size for raw in self._raw.values())])
        count = max(1, MAX_BATCH // size)
        while self._pending:
            rounds, self._pending = self._pending[:count], self._pending[count:]
            for name, rows in self.sets.items():
                stages = staged_scores(self._raw[name], rounds, rows.X)
                self._raw[name] = stages[-1].copy()
                for metric in self.metrics:
                    scores = (float(metric.score(rows.observations, raw)) for raw in stages)
                    self._curves[name][metric.name].extend(scores)
        return self._curves
