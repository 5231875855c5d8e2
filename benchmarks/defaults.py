"""Variants of the defaults of the estimators, on splits that no other table uses.

    python -m benchmarks.defaults --out FILE.csv [--systems ...] [--datasets ...] [--splits N] [--data-dir DIR]

The score is the accuracy or R2 in percent on 30 % of the rows; splits have random states from 1001 on. defaults.md
has the table and defaults.csv its rows, of one split. Variants of the rate have five folds and the patience of
short steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any
from unittest.mock import patch

from sklearn.base import clone

from rffboost_ext.estimators.planning import plan_fit
from rffboost_ext.experiments.study import Task

from .command import Benchmark
from .data import load_source, missing_source, source_split
from .splits import Rows
from .systems import SYSTEMS, rffboost, warm_up

FIRST_SPLIT = 1001
MEASURES = {"score": "higher", "seconds": "time", "rounds": ""}
# Parameters of one kind of learner in a stack instead of parameters of the estimator; None removes that learner.
SYMMETRIC, KERNELS, COSINES, NEWTON, LASSO = "SymmetricTree", "RFFRidge", "RFFNewton", "RFFIRLS", "LassoPath"

GROUPS: dict[str, tuple[str, ...]] = {
    "small": (
        *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
        *("vehicle", "german", "splice", "spambase"),
    ),
    "larger": ("electricity", "magic", "elevators", "winequality_white"),
    "made": ("classification_2", "classification_5", "gaussian_quantiles", "friedman1", "friedman2", "friedman3"),
    "wide": ("classification_wide", "clusters_wide", "friedman1_wide", "linear_wide"),
    # Of the table `further`, where three quarters of the columns of numbers have a skewness beyond 1.
    "skewed": ("biopsy", "cells", "credit", "hpc", "biomass", "check_times", "cpus", "nmes_visits"),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "fast": {"quality": "fast"},
    "high": {"quality": "high"},
    "short steps": {"learning_rate": 0.1},
    "8 folds": {"n_folds": 8},
    "one part, refit": {"n_folds": 1, "refit": True},
    "rff_newton only": {"learner": "rff_newton"},
    "rff_ridge only": {"learner": "rff_ridge"},
    "symmetric_tree only": {"learner": "symmetric_tree"},
    "rate 0.05": {"learning_rate": 0.05},
    "rate 0.3": {"learning_rate": 0.3},
    "patience 80": {"n_iter_no_change": 80},
    "kernels of standardised features": {KERNELS: {"compare_scales": False}},
    "no reweighted kernels": {NEWTON: None},
    "no symmetric trees": {SYMMETRIC: None},
    "no kernels": {KERNELS: None, NEWTON: None},
    "no cosines": {COSINES: None},
    "no lasso": {LASSO: None},
    "constant leaves": {SYMMETRIC: {"leaf": "constant"}},
    "differences and products": {SYMMETRIC: {"crosses": 6}},
    "features as they are": {"standardize": True},
    "random frequencies": {KERNELS: {"n_directions": 1, "per_degree": None}, NEWTON: {"n_directions": 1}},
}
"""Parameters of the estimators by the name of the variant."""


def estimator(task: str, parameters: Mapping[str, Any]) -> Any:
    """The estimator of a variant."""
    given = dict(parameters)
    changed = {kind: given.pop(kind) for kind in (SYMMETRIC, KERNELS, COSINES, NEWTON, LASSO) if kind in given}
    model = rffboost(task, **given)
    if changed:
        model.fit = partial(fit_changed, model.fit, changed)
    return model


def fit_changed(fit: Callable[..., Any], changed: Mapping[str, Mapping[str, Any] | None], *data: Any) -> Any:
    """Fit with changed parameters of the planned learners; None removes a learner."""

    def plan(*given: Any) -> Any:
        planned = plan_fit(*given)
        wanted = [(member, changed.get(type(member.learner).__name__, {})) for member in planned.members]
        members = [
            replace(member, learner=clone(member.learner).set_params(**params))
            for member, params in wanted
            if params is not None
        ]
        return replace(planned, members=members)

    with patch("rffboost_ext.estimators.base.plan_fit", plan):
        return fit(*data)


def measure(parameters: Mapping[str, Any], rows: Rows, task: Task) -> list[dict[str, Any]]:
    """Score, processor time of the fit and rounds of a variant."""
    warm_up(SYSTEMS["RFFBoost"], rows.task, False)
    model = estimator(rows.task, parameters)
    start = process_time()
    model.fit(rows.X, rows.y)
    seconds = process_time() - start
    score = 100.0 * float(model.score(rows.X_test, rows.y_test))
    return [{"score": score, "seconds": seconds, "rounds": float(model.n_estimators_)}]


BENCHMARK = Benchmark(
    __doc__,
    [name for group in GROUPS.values() for name in group],
    VARIANTS,
    3,
    load_source,
    partial(source_split, FIRST_SPLIT),
    measure,
    MEASURES,
    config=lambda system, dataset: "",
    groups=GROUPS,
    missing=missing_source,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
