"""What class weights and resampling do to models of a rare class.

    python benchmarks/unbalanced.py [--repeats N] [--rows N] [--share P] [--features D]

Each repeat generates a problem of two classes and fits models to N rows. Average precision judges the ranking of
10,000 new rows, log loss the probabilities. Errors are standard errors over repeats. SMOTE needs imbalanced-learn.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from imblearn.over_sampling import SMOTE, RandomOverSampler
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, log_loss
from xgboost import XGBClassifier

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import describe_machine, machine
from rffboost_ext import RFFBoostClassifier

N_TEST = 10_000
MODELS = {
    "default": lambda: RFFBoostClassifier(random_state=0),
    'quality="fast"': lambda: RFFBoostClassifier(random_state=0, quality="fast"),
    "XGBoost": lambda: XGBClassifier(n_jobs=1),
}
SAMPLERS = {"none": None, "weights": None, "RandomOverSampler": RandomOverSampler, "SMOTE": SMOTE}


def scores(model: Any, remedy: str, options: argparse.Namespace, seed: int) -> tuple[float, float]:
    """Average precision and log loss on new rows."""
    X, y = make_classification(
        options.rows + N_TEST, options.features, weights=[1.0 - options.share], random_state=seed
    )
    given, labels = X[: options.rows], y[: options.rows]
    weight = None
    if remedy == "weights":
        weight = len(labels) / (2.0 * np.bincount(labels))[labels]
    elif SAMPLERS[remedy] is not None:
        given, labels = SAMPLERS[remedy](random_state=seed).fit_resample(given, labels)
    probability = model.fit(given, labels, sample_weight=weight).predict_proba(X[options.rows :])[:, 1]
    target = y[options.rows :]
    return average_precision_score(target, probability), log_loss(target, probability)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--share", type=float, default=0.07)
    parser.add_argument("--features", type=int, default=10)
    options = parser.parse_args(arguments)
    print(describe_machine(machine(1)))
    print("\n| remedy | model | average precision | log loss |\n| --- | --- | --- | --- |")
    for remedy in SAMPLERS:
        for name, make in MODELS.items():
            found = np.array([scores(make(), remedy, options, seed) for seed in range(options.repeats)])
            cells = [
                f"{mean:.3f} ± {error:.3f}"
                for mean, error in zip(found.mean(axis=0), found.std(axis=0) / len(found) ** 0.5, strict=True)
            ]
            print(f"| {remedy} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
