"""Processes that are killed by a signal: the last one ends in the same bits, and leaves no half-written file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .killed_fit import FITS


def after_deaths(folder: Path, name: str, deaths: int, seed: int) -> tuple[int, bool]:
    """How many processes died before they were through, and whether the last one ended in the same bits."""
    command = [sys.executable, "-m", "tests.persistence.killed_fit", str(folder), name, str(deaths), str(seed)]
    root = Path(__file__).parents[2]
    early, same = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=root, check=True).stdout.split()
    # No half-written file is left, nor the temporary one of a process that died while it wrote.
    assert sorted(file.name for file in folder.iterdir()) == ["killed", "warm", "whole"]
    return int(early), same == "True"


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


@forks
def test_processes_that_are_killed(tmp_path):
    early, same = after_deaths(tmp_path, "folds", deaths=3, seed=0)
    assert same
    assert early > 0


@forks
@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("seed", range(3))
def test_twenty_processes_that_are_killed(name, seed, tmp_path):
    early, same = after_deaths(tmp_path, name, deaths=20, seed=seed)
    assert same
    assert early >= 5
