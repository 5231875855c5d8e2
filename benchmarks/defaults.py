"""Variants of the defaults of the estimators, on splits that no other table uses.

    python -m benchmarks.defaults --out FILE.csv [--systems ...] [--datasets ...] [--splits N] [--data-dir DIR]

The score is the accuracy or R2 in percent on 30 % of the rows; splits have random states from 1001 on. defaults.md
has the table and defaults.csv its rows, of one split. Variants of the rate have five folds and the patience of
short steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from time import process_time
from typing import Any, TypeAlias

from sklearn.base import clone

from rffboost_ext import Learner
from rffboost_ext.recipes import Facts, Recipe, choose_recipe

from .command import Benchmark
from .data import load_source, missing_source, source_split
from .splits import Rows
from .study import Task
from .systems import SYSTEMS, rffboost, warm_up

FIRST_SPLIT = 1001
MEASURES = {"score": "higher", "seconds": "time", "rounds": ""}
# Names of members of the default recipes.
TREES, RIDGE, LOGISTIC = "trees", "kernel ridge regression", "kernel logistic regression"

Variant: TypeAlias = Mapping[str, Any] | Callable[[Recipe], Recipe]
"""Parameters of the estimators, or a function from the default recipe to another one."""


def without(*names: str) -> Callable[[Recipe], Recipe]:
    """The variant without the members of these names."""
    return lambda recipe: recipe.without(*{*names} & {*recipe.names})


def changing(parameters: Mapping[str, Mapping[str, Any]]) -> Callable[[Recipe], Recipe]:
    """The variant with other parameters of the learners of members, by the name of the member."""

    def change(recipe: Recipe) -> Recipe:
        for member in recipe.members:
            if member.name in parameters and isinstance(member.learner, Learner):
                learner = clone(member.learner).set_params(**parameters[member.name])
                recipe = recipe.changed(member.name, learner=learner)
        return recipe

    return change


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
VARIANTS: dict[str, Variant] = {
    "defaults": {},
    "fast": {"quality": "fast"},
    "short steps": {"learning_rate": 0.1},
    "8 folds": {"n_folds": 8},
    "one part, refit": {"n_folds": 1, "refit": True},
    "rff_newton only": {"learner": "rff_newton"},
    "rff_ridge only": {"learner": "rff_ridge"},
    "symmetric_tree only": {"learner": "symmetric_tree"},
    "rate 0.05": {"learning_rate": 0.05},
    "rate 0.3": {"learning_rate": 0.3},
    "patience 80": {"n_iter_no_change": 80},
    "kernels of standardised features": changing({RIDGE: {"compare_scales": False}}),
    "no reweighted kernels": without(LOGISTIC),
    "no symmetric trees": without(TREES),
    "no kernels": without(RIDGE, LOGISTIC),
    "no cosines": without("cosines"),
    "no lasso": without("lasso"),
    "constant leaves": changing({TREES: {"leaf": "constant"}}),
    "differences and products": changing({TREES: {"crosses": 6}}),
    "features as they are": {"standardize": True},
    "random frequencies": changing(
        {RIDGE: {"n_directions": 1, "per_degree": None}, LOGISTIC: {"n_directions": 1}}
    ),
}
"""Variants by name."""


def estimator(rows: Rows, variant: Variant) -> Any:
    """The estimator of a variant for some rows."""
    if not callable(variant):
        return rffboost(rows.task, **variant)
    n_classes = None if rows.task == "regression" else int(rows.y.max()) + 1
    return rffboost(rows.task, quality=variant(choose_recipe(Facts(*rows.X.shape, n_classes))))


def measure(variant: Variant, rows: Rows, task: Task) -> list[dict[str, Any]]:
    """Score, processor time of the fit and rounds of a variant."""
    warm_up(SYSTEMS["RFFBoost"], rows.task, False)
    model = estimator(rows, variant)
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
