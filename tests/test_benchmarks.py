"""The speed benchmark: every row is produced, its peers compute the same, its clock takes turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import figure4, plain, speed, workloads
from benchmarks.machine import cores, machine
from benchmarks.timing import AtLeast, AtMost, Row, in_turns, shown
from benchmarks.workloads import MEASURES, Sizes

from .oracles import gbrff as oracle

SCRIPT = Path(speed.__file__)
TINY = Sizes(
    passes=((64, 20), (64, 100)),
    in_cache=64,
    figure=100,
    large=120,
    landmark=(80, 100),
    predicted=300,
    small=60,
    parallel=64,
    rounds=2,
    growth_rows=(100, 150),
    growth_features=(2, 4, 8),
    growth_rounds=1,
    calls=2,
)
TREES = "XGBoost, 100 trees of depth 6"
# What must be in the table: the start of the first column, the workload, the peer and the target.
REQUIRED = [
    ("objective and gradient of rff_1", "1,000,000 x 20", "plain sum", AtLeast(0.5)),
    ("objective and gradient of rff_1", "400,000 x 100", "plain sum", AtLeast(0.7)),
    ("sincos per element, float64", "8,192", "NumPy", AtLeast(8.0)),
    ("sincos per element, float32", "8,192", "NumPy", AtLeast(2.0)),
    ("gbrff2, 100 rounds", "50,000 x 20", "gbrff2, plain", AtLeast(10.0)),
    ("gbrff2, 100 rounds", "50,000 x 20", "LightGBM", AtMost(0.7)),
    ("gbrff2, 100 rounds", "1,000,000 x 20", "LightGBM", AtMost(0.9)),
    ("gbrff2, 100 rounds", "1,000,000 x 20", "XGBoost", AtMost(0.9)),
    ("gbrff1, 100 rounds", "5,000 x 20", "gbrff1, plain", AtLeast(10.0)),
    ("gbrff1, 100 rounds", "50,000 x 20", "gbrff1, plain", AtLeast(10.0)),
    ("predict, 100 cosines", "100,000 x 30", TREES, AtLeast(8.0)),
    ("predict, 100 cosines", "100,000 x 30", "onnxruntime", AtLeast(2.5)),
    ("predict, 1,000 cosines", "100,000 x 30", TREES, AtLeast(1.0)),
    ("predict, 1,000 cosines", "100,000 x 30", "onnxruntime", AtLeast(3.0)),
    ("one row, 100 cosines", "decision_function", TREES, AtLeast(1.0)),
    ("gbrff2, 100 rounds", "300 x 13", "gbrff2, plain", AtLeast(3.0)),
    ("two threads", "200,000 rows, K = 10", "one thread", AtLeast(1.7)),
    ("growth in n", "10,000 to 4,000,000 x 20", "fastest", AtMost(2.0)),
    ("growth in d", "10,000 x 5 to 200", "straight line", AtMost(1.25)),
]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """All rows, of tiny workloads."""
    return [row for measure in MEASURES for row in measure(TINY, 1)]


def scaled_down(text: str) -> str:
    """What a full workload's name becomes with the sizes of TINY."""
    full = Sizes()
    pairs = [
        *((f"{n:,} x {d}", f"{m:,} x {e}") for (n, d), (m, e) in zip(full.passes, TINY.passes, strict=True)),
        (f"{full.growth_rows[0]:,} to {full.growth_rows[-1]:,}", "100 to 150"),
        (f"{full.growth_rows[0]:,} x 5 to 200", "100 x 2 to 8"),
        (f"{full.figure:,} x 20", f"{TINY.figure:,} x 20"),
        (f"{full.large:,} x 20", f"{TINY.large:,} x 20"),
        *((f"{n:,} x 20", f"{m:,} x 20") for n, m in zip(full.landmark, TINY.landmark, strict=True)),
        (f"{full.predicted:,} x 30", f"{TINY.predicted:,} x 30"),
        (f"{full.small:,} x 13", f"{TINY.small:,} x 13"),
        (f"{full.parallel:,} rows", f"{TINY.parallel:,} rows"),
        (f"{full.in_cache:,}", f"{TINY.in_cache:,}"),
        (f"{full.rounds} rounds", f"{TINY.rounds} rounds"),
    ]
    return next((text.replace(large, small) for large, small in pairs if large in text), text)
