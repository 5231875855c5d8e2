"""Fits and predictions in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from rffboost_ext import RFFBoostRegressor, sources

from ..estimators.test_memory import traced_peak
from .memory_of_scale import blocks

SCRIPT = Path(__file__).with_name("memory_of_scale.py")


def memory(n_rows, path):
    """The largest resident memory of a process above its imports, in MB."""
    call = [sys.executable, str(SCRIPT), str(n_rows), str(path)]
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_number_of_rows(tmp_path):
    assert memory(20_000_000, tmp_path / "model") < 1500.0
    assert memory(20_000_000, tmp_path / "model") < 500.0


def test_sample_and_predictions_hold_few_rows():
    """At most four times the sample and a few batches, where all rows have 16 MB."""
    rows = sources.batches(partial(blocks, 200_000, 5_000), max_rows=10_000)
    model = RFFBoostRegressor(learner="tree", n_estimators=5, random_state=0).fit(rows)
    batch, sample = 5_000 * 100, 10_000 * 100
    assert traced_peak(lambda: model.draw(rows)) < 4 * sample + 5 * batch
    next(iter(sources.predict(model, rows)))
    assert traced_peak(lambda: sum(map(len, sources.predict(model, rows)))) < 10 * batch
