"""The registry of jobs, and the data and models that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor


@dataclass(frozen=True)
class Job:
    """One job of a program.

    Parameters
    ----------
    kind : str
        What the program is for.
    library : str
        Name of its distribution.
    check : callable
        Does the job and asserts the result. The first line of its docstring says what works.
    hint : str
        What a user should know, for the documentation.
    """

    kind: str
    library: str
    check: Callable[[Any], None]
    hint: str = ""

    @property
    def works(self) -> str:
        """What works."""
        assert self.check.__doc__ is not None
        return self.check.__doc__.splitlines()[0].rstrip(".")

    @property
    def version(self) -> str:
        """The version that is installed."""
        return version(self.library)


JOBS: list[Job] = []


def job(kind: str, library: str, hint: str = "") -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Decorator: the function, which takes a temporary folder, is the job of a library."""

    def register(check: Callable[[Any], None]) -> Callable[[Any], None]:
        JOBS.append(Job(kind, library, check, hint))
        return check

    return register


def classifier(**params: Any) -> RFFBoostClassifier:
    """A fast classifier."""
    return RFFBoostClassifier(**{"quality": "fast", "random_state": 0} | params)


def regressor(**params: Any) -> RFFBoostRegressor:
    """A fast regressor."""
    return RFFBoostRegressor(**{"quality": "fast", "random_state": 0} | params)


@cache
def classes() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series, pd.Series]:
    """Training and test parts of a table with two classes and eight columns."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return tuple(train_test_split(X.iloc[:, :8], y, random_state=0))


@cache
def numbers() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series, pd.Series]:
    """Training and test parts of a table with a real target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return tuple(train_test_split(X, y, random_state=0))
