"""Boosting systems compared under identical loops: same splits, same scaling, same number of rounds.

>>> from rffboost_ext.experiments.compare import Protocol, compare, load, mean_accuracy
>>> outcomes = compare([load("wine")], ["gbrff2", "tree"], Protocol(rounds=20, splits=2))
>>> bool((mean_accuracy([outcome.record for outcome in outcomes]) > 0.9).all(axis=None))
True
"""

from .datasets import Dataset, load
from .protocol import Outcome, Protocol, Record, compare
from .report import mean_accuracy
from .systems import SYSTEMS, System

__all__ = ["SYSTEMS", "Dataset", "Outcome", "Protocol", "Record", "System", "compare", "load", "mean_accuracy"]
