"""Data and rows that the tests of the papers' tables and figures share."""

from __future__ import annotations

from sklearn.datasets import load_wine

from rffboost_ext.experiments.reproduce.data import Data
from rffboost_ext.experiments.reproduce.rows import Row

WINE = Data("wine", load_wine().data, (load_wine().target == 0).astype(int))


def row(dataset: str, system: str, split: int, score: float, x: float = 1.0, config: str = "") -> Row:
    """A row of a journal."""
    return Row(dataset, system, split, x, config, score, 0.5, 10, 5, 2, "{}")
