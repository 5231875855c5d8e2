"""Data and records that the tests of the papers' tables and figures share."""

from __future__ import annotations

from sklearn.datasets import load_wine

from benchmarks.papers.reproduce.target import values
from rffboost_ext.experiments.compare import NamedDataset, Record

WINE = NamedDataset("wine", load_wine().data, (load_wine().target == 0).astype(int))


def row(dataset: str, system: str, split: int, score: float, x: float = 1.0, config: str = "") -> Record:
    """A record of a target."""
    return Record(dataset, system, split, x, config, values(score, 0.5, (10, 5, 2)))
