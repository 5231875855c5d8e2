"""Survival analysis beside scikit-survival and XGBoost: concordance, integrated Brier score and time.

    OMP_NUM_THREADS=1 python benchmarks/survival.py [--sets gbsg2 veteran] [--splits 5] [--systems ours CoxPH]

Each split fits to three quarters of the rows and scores the others. Differences to the first system are paired by
set and split; their standard errors are over all of these. The times of the Brier score are 50 quantiles, from the
10th to the 90th percentile, of those of the rows to score. All systems use one thread and their defaults.
Times are processor times of a fit, without the first of a process, which loads compiled code. Needs
scikit-survival.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
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

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import describe_machine, machine
from rffboost_ext import RFFBoostSurvival

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


def load(name: str) -> tuple[Any, Any]:
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


def score(system: str, X: Any, y: Any, train: Any, test: Any) -> tuple[float, float, float]:
    """Concordance, integrated Brier score, and the processor time of the fit."""
    make, encode = SYSTEMS[system]
    X, (event, observed) = encode(X), y.dtype.names
    start = time.process_time()
    model = make().fit(X.iloc[train], y[train])
    seconds = time.process_time() - start
    inside = test[y[observed][test] < y[observed][train][y[event][train]].max()]
    times = np.unique(np.percentile(y[observed][inside], np.linspace(10, 90, 50)))
    found = survival(model, X.iloc[inside], times)
    risk = model.predict(X.iloc[test])
    concordance = concordance_index_censored(y[event][test].astype(bool), y[observed][test], risk)[0]
    return concordance, integrated_brier_score(y[train], y[inside], found, times), seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Print means by set, and differences with their standard errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args(arguments)
    print(describe_machine(machine(threads=1)))
    X, y = load("veteran")
    for make, encode in (SYSTEMS[system] for system in options.systems):
        make().fit(encode(X), y)
    results = []
    for name in options.sets:
        X, y = load(name)
        splits = StratifiedShuffleSplit(options.splits, test_size=0.25, random_state=0)
        for split, (train, test) in enumerate(splits.split(X, y[y.dtype.names[0]])):
            for system in options.systems:
                found = score(system, X, y, train, test)
                results.append((name, split, system, *found))
                print(name, split, system, *(f"{value:.4f}" for value in found), file=sys.stderr)
    columns = ["set", "split", "system", "concordance", "brier", "seconds"]
    table = pd.DataFrame(results, columns=columns)
    print(table.groupby(["set", "system"], sort=False)[columns[3:]].mean().round(4).to_string(), "\n")
    wide = table.pivot(index=["set", "split"], columns="system", values=columns[3:])
    for system in options.systems:
        line = f"{system:20}"
        for measure in columns[3:5]:
            found = wide[measure]
            difference = found[system] - found[options.systems[0]]
            line += f"  {measure} {found[system].mean():.4f} ({difference.mean():+.4f} +- {difference.sem():.4f})"
        print(f"{line}  {wide['seconds'][system].sum():.1f} s")


if __name__ == "__main__":
    main()
