"""The systems of the benchmarks, each at its own defaults, on one thread."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.model_selection import PredefinedSplit

from .splits import Rows

SEED = 1


@dataclass(frozen=True)
class System:
    """How a system is fitted and used.

    Attributes
    ----------
    build : callable
        ``build(task)`` is the estimator for a task, with a seed and without messages.
    package : str
        The distribution that it needs.
    is_text : bool, default=False
        Whether categories are given as text, with their columns as `cat_features`.
    has_groups : bool, default=False
        Whether `fit` takes `groups`, so that early stopping holds out whole groups.
    has_splitters : bool, default=False
        Whether `validation_fraction` takes a splitter, so that early stopping holds out the last rows.
    is_compiled : bool, default=False
        Whether first fits compile.
    limits : mapping, optional
        Parameters of a prediction that keep it on one thread.
    """

    build: Callable[[str], Any]
    package: str
    is_text: bool = False
    has_groups: bool = False
    has_splitters: bool = False
    is_compiled: bool = False
    limits: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def fit(self, rows: Rows) -> Any:
        """A model of the training rows."""
        model, fit_params = self.build(rows.task), {}
        if self.is_text:
            fit_params["cat_features"] = text_columns(rows.X)
        if self.has_groups and rows.groups is not None:
            fit_params["groups"] = rows.groups
        if self.has_splitters and rows.ordered:
            later = np.arange(len(rows.y)) >= 0.8 * len(rows.y)
            model.set_params(validation_fraction=PredefinedSplit(np.where(later, 0, -1)))
        return model.fit(self.features(rows.X), rows.y, **fit_params)

    def features(self, X: Any) -> Any:
        """Features as the system takes them; a missing value is a category of its own where these are text."""
        if not self.is_text or isinstance(X, np.ndarray):
            return X
        return X.astype(dict.fromkeys(text_columns(X), object)).fillna(dict.fromkeys(text_columns(X), ""))


def text_columns(X: Any) -> list[str]:
    """The names of the columns of categories."""
    return [] if isinstance(X, np.ndarray) else [*X.columns[[dtype == "category" for dtype in X.dtypes]]]


def size(model: Any) -> int:
    """Bytes of the model's own file, or of its pickle if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        path, owner = Path(folder, "model.ubj"), getattr(model, "booster_", model)
        if hasattr(owner, "save_model"):
            owner.save_model(str(path))
        else:
            joblib.dump(owner, path)
        return path.stat().st_size


@cache
def warm_up(system: System, task: str, has_text: bool) -> None:
    """Pay for imports and compilation once per process, so that no measured fit does.

    A fit of few rows and one of many have all parts of ours.
    """
    rng = np.random.default_rng(0)
    for n in (300, 5_000) if system.is_compiled else (300,):
        X: Any = rng.standard_normal((n, 5))
        targets = {"binary": X[:, 0] > 0.0, "multiclass": np.digitize(X[:, 0], [-0.5, 0.5])}
        y = targets[task].astype(int) if task in targets else X[:, 0]
        if has_text:
            kind = pd.Categorical.from_codes(rng.integers(-1, 3, n), list("abc"))
            X = pd.DataFrame(X).add_prefix("f").assign(kind=kind)
        system.fit(Rows(task, X, y, X, y)).predict(system.features(X))


def xgboost(task: str, n_jobs: int = 1) -> Any:
    """XGBoost; categories must be allowed."""
    from xgboost import XGBClassifier, XGBRegressor

    make = XGBRegressor if task == "regression" else XGBClassifier
    return make(random_state=SEED, n_jobs=n_jobs, verbosity=0, enable_categorical=True)


def lightgbm(task: str, n_jobs: int = 1) -> Any:
    """LightGBM."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMRegressor if task == "regression" else LGBMClassifier
    return make(random_state=SEED, n_jobs=n_jobs, verbose=-1)


def histgb(task: str) -> Any:
    """scikit-learn's HistGradientBoosting; the environment limits its threads."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    make = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    return make(random_state=SEED)


def catboost(task: str, n_jobs: int = 1) -> Any:
    """CatBoost."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostRegressor if task == "regression" else CatBoostClassifier
    return make(random_state=SEED, thread_count=n_jobs, verbose=False, allow_writing_files=False)


def chimeraboost(task: str) -> Any:
    """ChimeraBoost."""
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    make = ChimeraBoostRegressor if task == "regression" else ChimeraBoostClassifier
    return make(random_state=SEED, thread_count=1)


def rffboost(task: str, n_jobs: int = 1, **parameters: Any) -> Any:
    """This package with its defaults."""
    from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

    make = RFFBoostRegressor if task == "regression" else RFFBoostClassifier
    return make(random_state=SEED, n_jobs=n_jobs, **parameters)


def ours(**parameters: Any) -> System:
    """This package."""
    shared = {"has_groups": True, "has_splitters": True, "is_compiled": True}
    return System(partial(rffboost, **parameters), "rffboost-ext", **shared)


SYSTEMS: dict[str, System] = {
    "RFFBoost": ours(),
    "RFFBoost-fast": ours(quality="fast"),
    "CatBoost": System(catboost, "catboost", is_text=True, limits={"thread_count": 1}),
    "ChimeraBoost": System(chimeraboost, "chimeraboost", is_text=True, has_groups=True, is_compiled=True),
    "LightGBM": System(lightgbm, "lightgbm"),
    "HistGB": System(histgb, "scikit-learn"),
    "XGBoost": System(xgboost, "xgboost"),
    # Early stopping holds out random rows even where these have groups or an order.
    "RFFBoost-random": replace(ours(), has_groups=False, has_splitters=False),
    "RFFBoost-cosines": ours(learner="rff_newton", n_estimators=100, n_folds=1),
    "RFFBoost-symmetric_tree": ours(learner="symmetric_tree"),
    "RFFBoost-tree": ours(learner="tree", early_stopping=True, n_estimators=2_000),
}
"""Systems by name; those after XGBoost are measured if they are named."""
