"""Targets of several columns in a fit of LightGBM's estimators, whose labels hold one column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..utils.typing import Array
from .attachments import attach, host_labels
from .queries import replace_eval_targets


class TargetColumns:
    """Callback of ``lightgbm.train``: before the first round, the Datasets of a fit get their targets.

    Parameters
    ----------
    X, y : array-like of shape (n, d), (n,) or (n, K)
        Training data as the user gave them: an evaluation set of the same objects shares their Dataset.
    read : callable
        Returns a target as an array (n, K), or raises a ValueError.
    """

    before_iteration = True

    def __init__(self, X: Any, y: Any, read: Callable[[Any], Array]) -> None:
        self.X, self.y, self.read = X, y, read
        self.targets = [read(y)]
        self.labels = host_labels(self.targets[0])

    def without_columns(self, options: dict[str, Any]) -> dict[str, Any]:
        """Arguments of ``fit`` with labels in place of the targets of evaluation sets."""
        return replace_eval_targets(options, self._labels_of_set)

    def _labels_of_set(self, number: int, X: Any, y: Any) -> Array:
        if X is self.X and y is self.y:
            return self.labels
        self.targets.append(self.read(y))
        return host_labels(self.targets[-1])

    def __call__(self, env: Any) -> None:
        if env.iteration == env.begin_iteration:
            for data, target in zip([env.model.train_set, *env.model.valid_sets], self.targets, strict=True):
                attach(data, y=target)
