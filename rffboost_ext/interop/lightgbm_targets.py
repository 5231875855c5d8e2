"""Targets of several columns in a fit of LightGBM's estimators, whose labels hold one column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..utils.typing import Array
from .attachments import attach, host_labels


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
        if options.get("eval_set") is not None:
            sets = options["eval_set"]
            return options | {"eval_set": list(self._with_labels([sets] if isinstance(sets, tuple) else sets))}
        if options.get("eval_y") is None:
            return options
        many = isinstance(options["eval_y"], tuple)
        sets = (
            zip(options["eval_X"], options["eval_y"], strict=True)
            if many
            else [(options["eval_X"], options["eval_y"])]
        )
        labels = tuple(label for _, label in self._with_labels(sets))
        return options | {"eval_y": labels if many else labels[0]}

    def _with_labels(self, sets: Any) -> Iterator[tuple[Any, Array]]:
        for X, y in sets:
            if X is self.X and y is self.y:
                yield X, self.labels
                continue
            self.targets.append(self.read(y))
            yield X, host_labels(self.targets[-1])

    def __call__(self, env: Any) -> None:
        if env.iteration == env.begin_iteration:
            for data, target in zip([env.model.train_set, *env.model.valid_sets], self.targets, strict=True):
                attach(data, y=target)
