"""Stand-ins of the interfaces of AutoGluon and AMLB, as far as their documentation describes what a model sees."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any


class AbstractModel:
    """AutoGluon's model: ``fit`` and ``predict_proba`` of a table call the methods of a subclass."""

    seed_name: str

    def __init__(
        self, path: str = "", problem_type: str = "", hyperparameters: dict[str, Any] | None = None
    ) -> None:
        self.problem_type, self._params = problem_type, dict(hyperparameters or {})

    def fit(self, *, random_seed: int = 0, **kwargs: Any) -> AbstractModel:
        self._params.setdefault(self.seed_name, random_seed)
        return self._fit(**kwargs) or self

    def preprocess(self, X: Any, **kwargs: Any) -> Any:
        return X

    def _get_model_params(self) -> dict[str, Any]:
        return dict(self._params)

    def predict_proba(self, X: Any) -> Any:
        X = self.preprocess(X)
        if self.problem_type == "regression":
            return self.model.predict(X)
        found = self.model.predict_proba(X)
        return found[:, 1] if self.problem_type == "binary" else found

    def score(self, X: Any, y: Any) -> float:
        return float(self.model.score(self.preprocess(X), y))


class Real:
    """A range of numbers."""

    def __init__(self, lower: float, upper: float, log: bool = False) -> None:
        self.values = lower, upper


class Categorical:
    """A choice of values."""

    def __init__(self, *values: Any) -> None:
        self.values = values


class Timer(AbstractContextManager["Timer"]):
    """Takes the time of a block."""

    def __enter__(self) -> Timer:
        self._start = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        self.duration = time.monotonic() - self._start


def measure_inference_times(predict: Any, several: Any) -> dict[int, list[float]]:
    """The seconds of predictions by the number of rows."""
    return {size: [len(predict(rows))] for size, rows in several}


MODULES: dict[str, dict[str, Any]] = {
    "autogluon": {},
    "autogluon.common": {},
    "autogluon.common.space": {"Real": Real, "Int": Real, "Categorical": Categorical},
    "autogluon.core": {},
    "autogluon.core.models": {"AbstractModel": AbstractModel},
    "frameworks": {},
    "frameworks.shared": {},
    "frameworks.shared.callee": {
        "call_run": None,
        "measure_inference_times": measure_inference_times,
        "result": dict,
    },
    "frameworks.shared.utils": {"Timer": Timer},
}


def stand_in(name: str) -> ModuleType:
    """The stand-in of a module."""
    module = ModuleType(name)
    vars(module).update(MODULES[name])
    return module
