"""What the tests of the accuracy benchmark share: the script, quick systems and rows of made-up figures."""

from __future__ import annotations

from pathlib import Path

from benchmarks import accuracy
from benchmarks.accuracy_records import AccuracyRecord

SCRIPT = Path(accuracy.__file__)
FAST = ["xgboost", "lightgbm", "histgb"]
NAMES = ["a", "b", "c"]


def row(
    dataset: str, split: int, system: str, score: float, seconds: float = 1.0, table: str = "ecml"
) -> AccuracyRecord:
    """A row of made-up figures."""
    sizes = {"n_train": 70, "n_test": 30, "n_features": 4, "threads": 1}
    times = {"fit_seconds": seconds, "search_seconds": 0.0, "predict_seconds": 0.1, "chosen": ""}
    return AccuracyRecord(table, dataset, split, system, "config", "binary", **sizes, score=score, **times)
