"""The trainings of one objective, as of the folds of a host's cross-validation."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from .cosine_training import CosineSum, CosineTraining


class Trainings:
    """Trainings in the order of their starts, their matrices, and the sums of cosines on these."""

    def __init__(self) -> None:
        self.started: list[CosineTraining] = []
        self.sums: WeakKeyDictionary[Any, CosineSum] = WeakKeyDictionary()
        self._trained: WeakKeyDictionary[Any, CosineTraining] = WeakKeyDictionary()
        self._evaluated: WeakKeyDictionary[Any, CosineTraining] = WeakKeyDictionary()
        self._latest: CosineTraining | None = None

    def add(self, matrix: Any, training: CosineTraining) -> None:
        """Add a training that has started on a matrix."""
        self.started.append(training)
        self._trained[matrix] = self._latest = training

    def of_training_matrix(self, matrix: Any) -> CosineTraining | None:
        """The training on a matrix, if there is one."""
        training = self._trained.get(matrix)
        self._latest = training or self._latest
        return training

    def of_evaluation_matrix(self, matrix: Any) -> CosineTraining:
        """The training that a matrix evaluates; a ValueError without any.

        Hosts do not say which. In a cross-validation, all folds take a round before their evaluation, in the same
        order: a new matrix belongs to the first of them without one.
        """
        if self._latest is None:
            raise ValueError("the cosines' metric has no meaning without their objective: pass both to train()")
        if matrix not in self._evaluated:
            known = {id(training) for training in self._evaluated.values()}
            round_done = (t for t in self.started if t.n_calls == self._latest.n_calls and id(t) not in known)
            self._evaluated[matrix] = next(round_done, self._latest)
        return self._evaluated[matrix]

    def __getstate__(self) -> dict[str, Any]:
        # Matrices cannot be pickled.
        return {"started": self.started}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.started = state["started"]
