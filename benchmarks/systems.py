"""The systems of the accuracy benchmark, each at its own defaults, and the grids they are tuned on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rffboost_ext.experiments.compare.protocol import SYSTEM_SEED, plain_params
from rffboost_ext.experiments.compare.systems import SYSTEMS, Grid, System, constant
from rffboost_ext.experiments.study import settings_digest

TASKS = ("binary", "multiclass", "regression")
Array = np.ndarray


def configuration(system: System, task: str, tune: bool) -> str:
    """The version of a system, and a digest of its hyperparameters and its grid."""
    searched = [system.grid(EXAMPLE), SCORING[task]] if tune else []
    return settings_digest(plain_params(system.build(task)), searched, package=system.package)


def applies(system: str, task: str) -> bool:
    """Whether a system can do a task: GBRFF2 is for two classes."""
    return system != "gbrff2" or task == "binary"


@cache
def warm_up(build: Callable[[str], Any], task: str) -> None:
    """Pay for imports and compilation once per process, so that no measured fit does."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    targets = {"binary": X[:, 0] > 0.0, "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]), "regression": X[:, 0]}
    y = targets[task] if task == "regression" else targets[task].astype(int)
    build(task).fit(X, y).predict(X)


def xgboost(task: str) -> Any:
    """XGBoost."""
    from xgboost import XGBClassifier, XGBRegressor

    make = XGBRegressor if task == "regression" else XGBClassifier
    return make(random_state=SYSTEM_SEED, n_jobs=1, verbosity=0)


def lightgbm(task: str) -> Any:
    """LightGBM."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMRegressor if task == "regression" else LGBMClassifier
    return make(random_state=SYSTEM_SEED, n_jobs=1, verbose=-1)


def histgb(task: str) -> Any:
    """scikit-learn's HistGradientBoosting; the environment limits its threads."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    return make(random_state=SYSTEM_SEED)


def catboost(task: str) -> Any:
    """CatBoost."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostRegressor if task == "regression" else CatBoostClassifier
    return make(random_state=SYSTEM_SEED, thread_count=1, verbose=False, allow_writing_files=False)


def gbrff2(task: str) -> Any:
    """GBRFF2 of the ECML paper, by its preset."""
    from rffboost_ext import presets

    return presets.gbrff2(random_state=SYSTEM_SEED, n_jobs=1)


def rffboost(task: str, **parameters: Any) -> Any:
    """This package with its defaults."""
    from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

    make = RFFBoostRegressor if task == "regression" else RFFBoostClassifier
    return make(random_state=SYSTEM_SEED, n_jobs=1, **parameters)


def rffboost_high(task: str) -> Any:
    """This package with the highest quality."""
    return rffboost(task, quality="high")


# A hundred rows decide little by how many of them are right, more by the log loss.
SCORING = {"binary": "neg_log_loss", "multiclass": "neg_log_loss", "regression": "r2"}
# Shrinkage, and the size of a tree as each peer measures it.
RATES = [0.03, 0.1]
MOST_CODES = 10
# One column of codes, for grids that depend on the features.
EXAMPLE = np.arange(3.0)[:, None]


def published_grid(X: Array) -> Grid:
    """The grid of the paper for GBRFF2."""
    return SYSTEMS["gbrff2"].grid(X.shape[1])


def rffboost_grid(X: Array) -> Grid:
    """The defaults or more models, and columns of codes as numbers or categories, if there are any.

    The data files do not say whether a column of few whole numbers holds categories.
    """
    grid: dict[str, list[Any]] = {"quality": ["auto", "high"]}
    codes = code_columns(X)
    return [{**grid, "categorical_features": ["from_dtype", codes]} if codes else grid]


def code_columns(X: Array) -> list[int]:
    """The columns of three to `MOST_CODES` different values, all of them whole numbers."""
    return [
        j
        for j, column in enumerate(X.T)
        if 2 < len(np.unique(column)) <= MOST_CODES and (column == np.round(column)).all()
    ]


DEFAULTS: dict[str, System] = {
    "xgboost": System(xgboost, constant(learning_rate=RATES, max_depth=[3, 6]), "XGBoost", package="xgboost"),
    "lightgbm": System(
        lightgbm, constant(learning_rate=RATES, num_leaves=[7, 31]), "LightGBM", package="lightgbm"
    ),
    "histgb": System(
        histgb, constant(learning_rate=RATES, max_leaf_nodes=[7, 31]), "HistGB", package="scikit-learn"
    ),
    "catboost": System(catboost, constant(learning_rate=RATES, depth=[4, 6]), "CatBoost", package="catboost"),
    "gbrff2": System(gbrff2, published_grid, "GBRFF2", package="rffboost-ext"),
    "rffboost": System(rffboost, rffboost_grid, "RFFBoost", package="rffboost-ext"),
    "rffboost_high": System(
        rffboost_high, constant(learning_rate=[0.05, 0.1]), "RFFBoost high", package="rffboost-ext"
    ),
}
"""Systems whose ``build(task)`` is the estimator for a task, on one thread, with a seed and without messages, and
whose ``grid(X)`` is what is searched for the features of the rows to fit to, (n, d)."""
