"""Boosting systems compared under identical loops: same splits, same scaling, same number of rounds.

>>> from rffboost_ext.experiments.compare import Protocol, compare, load, mean_accuracy
>>> records = compare([load("wine")], ["gbrff2", "tree"], Protocol(rounds=20, splits=2))
>>> bool((mean_accuracy(records) > 0.9).all(axis=None))
True
"""

from ..datasets import NamedDataset, load
from ..records import Record
from .protocol import Protocol, compare
from .report import mean_accuracy
from .systems import SYSTEMS, System

__all__ = ["SYSTEMS", "NamedDataset", "Protocol", "Record", "System", "compare", "load", "mean_accuracy"]
