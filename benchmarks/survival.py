"""Survival analysis beside scikit-survival and XGBoost: concordance, integrated Brier score and time.

    python -m benchmarks.survival --out FILE.csv [--datasets gbsg2 ...] [--splits 5] [--systems ours CoxPH ...]

Each split fits to three quarters of the rows and scores the others. The times of the Brier score are 50 quantiles,
from the 10th to the 90th percentile, of those of the rows to score. All systems have their defaults. Times are
processor times of a fit, without the first of a process, which loads compiled code. Needs ``pip install scikit-
survival``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sksurv import datasets
from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.linear_model.coxph import BreslowEstimator
from sksurv.metrics import concordance_index_censored, integrated_brier_score

from rffboost_ext import RFFBoostSurvival

from .command import Benchmark
from .study import Task

MEASURES = {"concordance": "higher", "brier": "lower", "seconds": "time"}
SETS = {
    "gbsg2": datasets.load_gbsg2,
    "whas500": datasets.load_whas500,
    "flchain": datasets.load_flchain,
    "veteran": datasets.load_veterans_lung_cancer,
}


class XGBoostSurvival(BaseEstimator):
    """XGBoost's objectives, with Breslow's estimator of the baseline hazard or the normal distribution."""

    def __init__(self, objective: str) -> None:
        self.objective = objective

    def fit(self, X: Any, y: Any) -> XGBoostSurvival:
        event, observed = (y[name] for name in y.dtype.names)
        matrix = xgb.DMatrix(X)
        if self.objective == "survival:cox":
            matrix.set_label(np.where(event, observed, -observed))
        else:
            matrix.set_float_info("label_lower_bound", observed)
            matrix.set_float_info("label_upper_bound", np.where(event, observed, np.inf))
        self.booster_ = xgb.train({"objective": self.objective, "nthread": 1}, matrix, 100)
        if self.objective == "survival:cox":
            self.baseline_ = BreslowEstimator().fit(self.predict(X), event, observed)
        return self

    def predict(self, X: Any) -> Any:
        margin = self.booster_.predict(xgb.DMatrix(X), output_margin=True)
        return margin if self.objective == "survival:cox" else -margin

    def survival(self, X: Any, times: Any) -> Any:
        if self.objective == "survival:aft":
            return norm.sf(np.log(times) + self.predict(X)[:, None])
        return np.stack([function(times) for function in self.baseline_.get_survival_function(self.predict(X))])


def numeric(X: Any) -> Any:
    """Categories one-hot encoded, for the systems that take numbers only."""
    return pd.get_dummies(X, drop_first=True, dtype=float).astype(float)


def imputed(model: Any) -> Any:
    """A model of scikit-survival behind imputation by the median."""
    return make_pipeline(SimpleImputer(strategy="median"), model)


SYSTEMS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "ours": (lambda: RFFBoostSurvival(random_state=0), lambda X: X),
    "ours, aft_normal": (lambda: RFFBoostSurvival("aft_normal", random_state=0), lambda X: X),
    "ours, aft_logistic": (lambda: RFFBoostSurvival("aft_logistic", random_state=0), lambda X: X),
    "ours, aft_extreme": (lambda: RFFBoostSurvival("aft_extreme", random_state=0), lambda X: X),
    "GradientBoosting": (lambda: imputed(GradientBoostingSurvivalAnalysis(random_state=0)), numeric),
    "RandomForest": (lambda: imputed(RandomSurvivalForest(random_state=0)), numeric),
    "CoxPH": (lambda: imputed(CoxPHSurvivalAnalysis(alpha=1e-4)), numeric),
    "XGBoost cox": (lambda: XGBoostSurvival("survival:cox"), numeric),
    "XGBoost aft": (lambda: XGBoostSurvival("survival:aft"), numeric),
}


def load(name: str, folder: Path | None = None) -> tuple[Any, Any]:
    """Table and target; XGBoost's and our accelerated failure times must be positive."""
    X, y = SETS[name]()
    observed = y.dtype.names[1]
    keep = y[observed] > 0.0
    return X[keep].reset_index(drop=True), y[keep]


def survival(model: Any, X: Any, times: Any) -> Any:
    """The probabilities to survive times."""
    if isinstance(model, XGBoostSurvival):
        return model.survival(X, times)
    return np.stack([function(times) for function in model.predict_survival_function(X)])


def split(data: Any, index: int) -> Any:
    """Table, target and the rows of both parts of split `index`, from 1."""
    X, y = data
    splits = StratifiedShuffleSplit(index, test_size=0.25, random_state=0).split(X, y[y.dtype.names[0]])
    return X, y, *next(islice(splits, index - 1, None))


@cache
def warm_up(name: str) -> None:
    """Pay for imports and compilation once per process, so that no measured fit does."""
    make, encode = SYSTEMS[name]
    X, y = load("veteran")
    make().fit(encode(X), y)


def measure(system: Any, parts: Any, task: Task) -> list[dict[str, Any]]:
    """Concordance, integrated Brier score, and the processor time of the fit."""
    (make, encode), (X, y, train, test) = system, parts
    warm_up(task.system)
    X, (event, observed) = encode(X), y.dtype.names
    start = time.process_time()
    model = make().fit(X.iloc[train], y[train])
    seconds = time.process_time() - start
    inside = test[y[observed][test] < y[observed][train][y[event][train]].max()]
    times = np.unique(np.percentile(y[observed][inside], np.linspace(10, 90, 50)))
    probability = survival(model, X.iloc[inside], times)
    risk = model.predict(X.iloc[test])
    concordance = concordance_index_censored(y[event][test].astype(bool), y[observed][test], risk)[0]
    brier = integrated_brier_score(y[train], y[inside], probability, times)
    return [{"concordance": float(concordance), "brier": float(brier), "seconds": seconds}]


BENCHMARK = Benchmark(__doc__, list(SETS), SYSTEMS, 5, load, split, measure, MEASURES)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
