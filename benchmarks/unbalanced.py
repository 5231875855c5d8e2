"""Class weights and resampling for models of a rare class.

    python -m benchmarks.unbalanced --out FILE.csv [--systems ...] [--splits 20]

Each split is a generated problem of two classes, 1,000 rows with 7 % in the rare class. Average precision
evaluates the ranking of 10,000 new rows, log loss the probabilities. Errors are standard errors over problems.
SMOTE needs ``pip install imbalanced-learn``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, log_loss
from xgboost import XGBClassifier

from rffboost_ext import RFFBoostClassifier

from .command import Benchmark
from .study import Task

ROWS, TEST_ROWS, FEATURES, SHARE = 1_000, 10_000, 10, 0.07
MEASURES = {"average precision": "higher", "log loss": "lower"}
MODELS: dict[str, Callable[[], Any]] = {
    "default": lambda: RFFBoostClassifier(random_state=0),
    'quality="fast"': lambda: RFFBoostClassifier(random_state=0, quality="fast"),
    "XGBoost": lambda: XGBClassifier(n_jobs=1),
}
REMEDIES = ("none", "weights", "RandomOverSampler", "SMOTE")
SYSTEMS = {f"{remedy}, {name}": (remedy, name) for remedy, name in product(REMEDIES, MODELS)}


def load(name: str, folder: Path | None) -> None:
    """Nothing: each split generates its rows."""


def problem(data: None, index: int) -> tuple[Any, Any]:
    """The rows of problem `index`, from 1, whose random state is one less."""
    share = [1.0 - SHARE]
    return make_classification(ROWS + TEST_ROWS, FEATURES, weights=share, random_state=index - 1)


def measure(system: tuple[str, str], rows: tuple[Any, Any], task: Task) -> list[dict[str, Any]]:
    """Average precision and log loss on new rows."""
    (remedy, name), (X, y) = system, rows
    features, labels, weight = X[:ROWS], y[:ROWS], None
    if remedy == "weights":
        weight = len(labels) / (2.0 * np.bincount(labels))[labels]
    elif remedy != "none":
        from imblearn import over_sampling

        sampler = getattr(over_sampling, remedy)(random_state=task.split - 1)
        features, labels = sampler.fit_resample(features, labels)
    probability = MODELS[name]().fit(features, labels, sample_weight=weight).predict_proba(X[ROWS:])[:, 1]
    scores = average_precision_score(y[ROWS:], probability), log_loss(y[ROWS:], probability)
    return [dict(zip(MEASURES, map(float, scores), strict=True))]


BENCHMARK = Benchmark(__doc__, ["generated"], SYSTEMS, 20, load, problem, measure, MEASURES)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
