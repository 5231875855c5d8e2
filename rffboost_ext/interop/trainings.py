"""The trainings of one objective, as of the folds of a host's cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from .cosine_training import CosineTraining

T = TypeVar("T")


class Trainings:
    """Trainings in the order of their starts, and the matrices that they are trained and evaluated on."""

    def __init__(self) -> None:
        self._all: list[CosineTraining] = []
        self._trained: WeakKeyDictionary[Any, CosineTraining] = WeakKeyDictionary()
        self._evaluated: WeakKeyDictionary[Any, CosineTraining] = WeakKeyDictionary()
        self._latest: CosineTraining | None = None

    def __len__(self) -> int:
        return len(self._all)

    def add(self, matrix: Any, training: CosineTraining) -> None:
        """Add a training that has started on a matrix."""
        self._all.append(training)
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
            round_done = (t for t in self._all if t.n_calls == self._latest.n_calls and id(t) not in known)
            self._evaluated[matrix] = next(round_done, self._latest)
        return self._evaluated[matrix]

    def first_that_fits(self, bind: Callable[[CosineTraining], T]) -> T:
        """The result of a function for the first training for which it raises no ValueError, or the last error."""
        for training in self._all[:-1]:
            try:
                return bind(training)
            except ValueError:
                continue
        return bind(self._all[-1])

    def __getstate__(self) -> dict[str, Any]:
        # Matrices cannot be pickled.
        return {"_all": self._all}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self._all = state["_all"]
