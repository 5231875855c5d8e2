"""The systems of the accuracy benchmark, each at its own defaults, and the grids they are tuned on."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from rffboost_ext.experiments.compare.datasets import choices_text
from rffboost_ext.experiments.compare.protocol import SYSTEM_SEED, plain_params
from rffboost_ext.experiments.compare.systems import SYSTEMS as COMPARED

ALL_TASKS = ("binary", "multiclass", "regression")
Grid = list[dict[str, list[Any]]]
Array = np.ndarray
Build = Callable[[str, int], Any]
"""A scikit-learn estimator for a task and a number of threads; nothing else but a seed and silence is set."""


@dataclass(frozen=True)
class AccuracySystem:
    """One system.

    Attributes
    ----------
    name, title, package : str
        As in options and files, as in tables, and the distribution whose version counts.
    build : callable
        The estimator for a task and a number of threads.
    grid : callable
        What is searched where systems are tuned, given the features of the rows to fit to, (n, d).
    tasks : tuple of str
        What it can do.
    """

    name: str
    title: str
    package: str
    build: Build
    grid: Callable[[Array], Grid]
    tasks: tuple[str, ...] = ALL_TASKS

    def missing(self) -> str:
        """Why it cannot be made; nothing if it can."""
        return missing_requirement(self.build, self.tasks[0])

    def config(self, task: str, threads: int, tune: bool) -> str:
        """Version, and a digest of hyperparameters and grid: rows of another configuration do not count."""
        settings = [plain_params(self.build(task, threads)), [self.grid(EXAMPLE), SCORING[task]] if tune else []]
        digest = zlib.crc32(json.dumps(settings, sort_keys=True, default=repr).encode())
        return f"{self.package} {version(self.package)} {digest:08x}"


@cache
def missing_requirement(build: Build, task: str) -> str:
    """What keeps an estimator from being made."""
    try:
        build(task, 1)
    except (ImportError, TypeError) as error:
        return str(error)
    return ""


def xgboost(task: str, threads: int) -> Any:
    """XGBoost."""
    from xgboost import XGBClassifier, XGBRegressor

    make = XGBRegressor if task == "regression" else XGBClassifier
    return make(random_state=SYSTEM_SEED, n_jobs=threads, verbosity=0)


def lightgbm(task: str, threads: int) -> Any:
    """LightGBM."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMRegressor if task == "regression" else LGBMClassifier
    return make(random_state=SYSTEM_SEED, n_jobs=threads, verbose=-1)


def histgb(task: str, threads: int) -> Any:
    """scikit-learn's HistGradientBoosting; the environment holds it to the threads."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    return make(random_state=SYSTEM_SEED)


def catboost(task: str, threads: int) -> Any:
    """CatBoost."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostRegressor if task == "regression" else CatBoostClassifier
    return make(random_state=SYSTEM_SEED, thread_count=threads, verbose=False, allow_writing_files=False)


def gbrff2(task: str, threads: int) -> Any:
    """GBRFF2 of the ECML paper, by its preset."""
    from rffboost_ext import presets

    return presets.gbrff2(random_state=SYSTEM_SEED, n_jobs=threads)


def rffboost(task: str, threads: int, **parameters: Any) -> Any:
    """This package with nothing set."""
    from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

    make = RFFBoostRegressor if task == "regression" else RFFBoostClassifier
    return make(random_state=SYSTEM_SEED, n_jobs=threads, **parameters)


def rffboost_high(task: str, threads: int) -> Any:
    """This package with all that it can do."""
    return rffboost(task, threads, quality="high")


# What grids are searched by. A hundred rows decide little by how many of them are right, more by the log loss.
SCORING = {"binary": "neg_log_loss", "multiclass": "neg_log_loss", "regression": "r2"}
# Shrinkage, and the size of a tree as each peer measures it. GBRFF2 has the paper's grid, this package one of its
# own below. One learner alone, features as they are and more folds are not in that: where they are better depends
# on chance as much as on the data (72 fits of 12 sets each, on splits that no table uses).
RATES = [0.03, 0.1]
MOST_CODES = 10
# One column of codes, by which grids that depend on the features are told apart.
EXAMPLE = np.arange(3.0)[:, None]
GRIDS: dict[str, Grid] = {
    "xgboost": [{"learning_rate": RATES, "max_depth": [3, 6]}],
    "lightgbm": [{"learning_rate": RATES, "num_leaves": [7, 31]}],
    "histgb": [{"learning_rate": RATES, "max_leaf_nodes": [7, 31]}],
    "catboost": [{"learning_rate": RATES, "depth": [4, 6]}],
    "rffboost_high": [{"learning_rate": [0.05, 0.1]}],
}


def constant_grid(name: str) -> Callable[[Array], Grid]:
    """A grid that does not depend on the features."""
    return lambda X: GRIDS[name]


def published_grid(X: Array) -> Grid:
    """The grid of the paper for GBRFF2."""
    return COMPARED.create("gbrff2").grid(X.shape[1])


def rffboost_grid(X: Array) -> Grid:
    """That of this package: its defaults or more models, and columns of codes as numbers or categories, if any.

    What a column of few whole numbers stands for is in no file of these data sets.
    """
    grid: dict[str, list[Any]] = {"quality": ["auto", "high"]}
    codes = code_columns(X)
    return [{**grid, "categorical_features": ["from_dtype", codes]} if codes else grid]


def code_columns(X: Array) -> list[int]:
    """The columns of three to `MOST_CODES` different values, all of them whole numbers."""
    return [j for j, column in enumerate(X.T) if 2 < len(np.unique(column)) <= MOST_CODES and is_whole(column)]


def is_whole(column: Array) -> bool:
    """Whether all values are whole numbers."""
    return bool((column == np.round(column)).all())


SYSTEMS: dict[str, AccuracySystem] = {
    system.name: system
    for system in (
        AccuracySystem("xgboost", "XGBoost", "xgboost", xgboost, constant_grid("xgboost")),
        AccuracySystem("lightgbm", "LightGBM", "lightgbm", lightgbm, constant_grid("lightgbm")),
        AccuracySystem("histgb", "HistGB", "scikit-learn", histgb, constant_grid("histgb")),
        AccuracySystem("catboost", "CatBoost", "catboost", catboost, constant_grid("catboost")),
        AccuracySystem("gbrff2", "GBRFF2", "rffboost-ext", gbrff2, published_grid, ("binary",)),
        AccuracySystem("rffboost", "RFFBoost", "rffboost-ext", rffboost, rffboost_grid),
        AccuracySystem(
            "rffboost_high", "RFFBoost high", "rffboost-ext", rffboost_high, constant_grid("rffboost_high")
        ),
    )
}


def check_names(names: list[str]) -> None:
    """Raise a ValueError that lists the choices if one of the names is no system."""
    for name in names:
        if name not in SYSTEMS:
            raise ValueError(f"unknown system {choices_text(repr(name), name, list(SYSTEMS))}")
