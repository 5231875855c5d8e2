"""The papers' data sets, which some tests read: CSV files in the folder $RFFBOOST_DATA or directly below it."""

from __future__ import annotations

import os

import pytest

from benchmarks.command import data_folder
from rffboost_ext.experiments.compare import NamedDataset, load
from rffboost_ext.experiments.datasets import find_file

FOLDER = data_folder(None) if os.environ.get("RFFBOOST_DATA") else None


def papers_set(name: str) -> NamedDataset:
    """One of them; where it is not there, the test is skipped."""
    if find_file(name, FOLDER) is None:
        pytest.skip(
            f"no {name}.csv in {FOLDER}" if FOLDER else "set RFFBOOST_DATA to a folder of the papers' sets"
        )
    return load(name, FOLDER)
