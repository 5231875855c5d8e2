"""Trees alone, with early stopping and a refit, and the default model, beside CatBoost and ChimeraBoost.

    python -m benchmarks.tree_learners --columns codes --data-dir FOLDER --out FILE.csv [--datasets ...]
        [--systems ...] [--splits 2]

The score on a quarter of the rows is R2 or the share of the log loss of class frequencies that is explained, in
percent; times are CPU seconds of a fit. "codes" are plain matrices with text as numbers; "categories" leave text
as it is, on the data sets that have some. "no symmetric trees" is the default model without them. Needs ``pip
install catboost chimeraboost``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, r2_score

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, SymmetricTree
from rffboost_ext.experiments.study import Task

from .command import Benchmark
from .data import CLASSIFICATION, REGRESSION, Parts, TaskData, coded, load_table, missing_file, text_columns
from .defaults import VARIANTS, estimator

ROWS = 8_000
TEXT = (
    *("abalone", "airbnb_nyc", "crash_deaths", "fuel_economy", "hmeq", "job_change"),
    *("loan_interest", "melbourne_housing", "movie_rating", "seoul_bike", "traffic_volume"),
)
"""The data sets with text."""
MEASURES = {"score": "higher", "seconds": "time"}
Fit = Callable[[pd.DataFrame, np.ndarray], tuple[Any, Callable[[pd.DataFrame], Any]]]
"""Fits a model; returns it with the function that prepares features for its predictions."""


def ours(learner: Any, is_classification: bool) -> Fit:
    """A learner in our loop; "auto" is the default model."""
    make = RFFBoostClassifier if is_classification else RFFBoostRegressor
    model = make(learner=learner, random_state=0, early_stopping=True)
    return lambda X, y: (model.fit(X, y), lambda rows: rows)


def variant(name: str, is_classification: bool) -> Fit:
    """A variant of ``defaults.py``."""
    model = estimator("binary" if is_classification else "regression", VARIANTS[name])
    return lambda X, y: (model.fit(X, y), lambda rows: rows)


def catboost(is_classification: bool) -> Fit:
    """CatBoost's defaults, 1,000 rounds."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostClassifier if is_classification else CatBoostRegressor
    model = make(thread_count=1, random_seed=0, verbose=False, allow_writing_files=False)
    return lambda X, y: (model.fit(as_text(X), y, cat_features=text_columns(X)), as_text)


def chimeraboost(is_classification: bool) -> Fit:
    """ChimeraBoost's defaults."""
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    make = ChimeraBoostClassifier if is_classification else ChimeraBoostRegressor
    model = make(thread_count=1, random_state=0)
    return lambda X, y: (model.fit(as_text(X), y, cat_features=text_columns(X)), as_text)


def as_text(X: pd.DataFrame) -> pd.DataFrame:
    """The features with categories as text, a missing value as a category of its own."""
    return X.apply(lambda c: c.astype(object).fillna("") if isinstance(c.dtype, pd.CategoricalDtype) else c)


SYSTEMS: dict[str, Callable[[bool], Fit]] = {
    "symmetric_tree": partial(ours, "symmetric_tree"),
    "constant leaves": partial(ours, SymmetricTree(leaf="constant")),
    "linear leaves": partial(ours, SymmetricTree(leaf="linear")),
    "XGBoost's tree": partial(ours, "tree"),
    "default model": partial(ours, "auto"),
    "no symmetric trees": partial(variant, "no symmetric trees"),
    "CatBoost": catboost,
    "ChimeraBoost": chimeraboost,
}


@cache
def warm_up(system: Callable[[bool], Fit], is_classification: bool) -> None:
    """Pay for imports and compilation once per process, so that no measured fit does."""
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.standard_normal((400, 3))).add_prefix("f"), rng.standard_normal(400)
    system(is_classification)(X, (y > 0.0).astype(int) if is_classification else y)


def split(codes: bool, data: TaskData, index: int) -> tuple[bool, Parts]:
    """Whether the target is a class, and the parts of split `index`, from 1, whose random state is one less."""
    X, y, X_test, y_test = data.split(0.25, index - 1)
    if codes:
        X, X_test = X.apply(coded), X_test.apply(coded)
    return data.task == "classification", (X, y, X_test, y_test)


def measure(system: Callable[[bool], Fit], parts: tuple[bool, Parts], task: Task) -> list[dict[str, Any]]:
    """Score and CPU seconds of a fit."""
    is_classification, (X, y, X_test, y_test) = parts
    fit = system(is_classification)
    warm_up(system, is_classification)
    start = time.process_time()
    model, prepare = fit(X, y)
    seconds = time.process_time() - start
    if is_classification:
        shares = np.bincount(y) / len(y)
        found = log_loss(y_test, model.predict_proba(prepare(X_test)), labels=range(len(shares)))
        score = 1.0 - found / log_loss(y_test, np.tile(shares, (len(y_test), 1)), labels=range(len(shares)))
    else:
        score = r2_score(y_test, model.predict(prepare(X_test)))
    return [{"score": 100.0 * float(score), "seconds": seconds}]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure plain matrices or tables."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--columns", choices=["codes", "categories"], default="codes")
    given, others = parser.parse_known_args(arguments)
    names = (*REGRESSION, *CLASSIFICATION) if given.columns == "codes" else TEXT
    columns: str = given.columns
    return Benchmark(
        __doc__,
        names,
        SYSTEMS,
        2,
        partial(load_table, ROWS),
        partial(split, columns == "codes"),
        measure,
        MEASURES,
        config=lambda system, dataset: columns,
        missing=missing_file,
    ).main(others)


if __name__ == "__main__":
    sys.exit(main())
