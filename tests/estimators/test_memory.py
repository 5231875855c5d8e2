"""What fits and predictions allocate, beyond what the caller holds."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rffboost_ext import Cosines, RFFBoostClassifier, presets
from rffboost_ext.inspection.importance import MAX_ROWS

from ..cases import Array
from .memory_of_sparse_rows import process_memory

D = 20
precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def traced_peak(call: Callable[[], Any]) -> int:
    """The most bytes that the call held at once in NumPy's arrays and Python's objects."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def resident_peak(call: Callable[[], Any]) -> int:
    """By how many bytes the call raised the process's memory at most; compiled code's own arrays are in it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError as error:
        pytest.skip(f"the peak of resident memory cannot be reset here: {error}")
    before = process_memory("VmRSS")
    call()
    return process_memory("VmHWM") - before


def make_data(n: int, dtype: type) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D), dtype=np.float32).astype(dtype)
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


@pytest.mark.parametrize(("name", "dtype"), [("gbrff1", np.float64), ("gbrff2", np.float32)])
def test_peak_of_a_fit(name, dtype):
    X, y = make_data(100_000, dtype)
    model = getattr(presets, name)(n_estimators=3, random_state=0)
    model.fit(X[:5000], y[:5000])
    # In shares of X in float32; vectors of n numbers in float64 are 2 / D each.
    assert traced_peak(lambda: model.fit(X, y)) / (4.0 * X.size) <= 2.2


def test_resident_peak_of_a_fit():
    X, y = make_data(200_000, np.float64)
    model = presets.gbrff2(n_estimators=3, random_state=0)
    model.fit(X[:5000], y[:5000])
    # The allocator keeps some of what it is given back: a bound looser than the one above.
    assert resident_peak(lambda: model.fit(X, y)) / (4.0 * X.size) <= 2.6


def test_folds_are_copied_one_at_a_time():
    X, y = make_data(30_000, np.float64)
    model = RFFBoostClassifier("log_loss", "rff_newton", n_estimators=3, n_folds=10, refit=False, random_state=0)
    model.fit(X[:3000], y[:3000])
    # All rows that are held out, those that one model is fitted to, and what its fit makes of them; not ten times.
    assert traced_peak(lambda: model.fit(X, y)) / X.nbytes < 4.5


MODELS = {
    "gbrff2": lambda: presets.gbrff2(n_estimators=3, random_state=0),
    "defaults": lambda: RFFBoostClassifier(n_estimators=3, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_leaves_little_behind(name):
    X, y = make_data(30_000, np.float32)
    model = MODELS[name]()
    # So many that all kernels are loaded, those too that evaluate trees on many held-out rows.
    model.fit(X[:15_000], y[:15_000])
    tracemalloc.start()
    try:
        model.fit(X, y)
        # The standard library's ``inspect``, which writes representations, leaves cycles of 100 KB behind.
        gc.collect()
        # Threads of other tests, such as of a cluster, may allocate some KB, too.
        # Until importances are asked for, the rows that they will be taken over stay.
        assert tracemalloc.get_traced_memory()[0] <= 60_000 + MAX_ROWS * (X.itemsize * X.shape[1] + 8)
    finally:
        tracemalloc.stop()


def make_cosines(M: int) -> Cosines:
    rng = np.random.default_rng(0)
    return Cosines(rng.standard_normal((M, D)), rng.uniform(-3.0, 3.0, M), rng.standard_normal((M, 1)), np.ones(D))


@precisions
@pytest.mark.parametrize("peak", [traced_peak, resident_peak], ids=["traced", "resident"])
def test_prediction_makes_no_array_of_rows_times_cosines(peak, dtype):
    n, M = 100_000, 100
    X, term = make_data(n, dtype)[0], make_cosines(M)
    term(X[:10])
    # The result takes 8 n bytes, and of X there is no copy; rows times cosines would take 4 n M at least.
    assert peak(lambda: term(X)) <= 8 * n + 2**21 < n * M


@precisions
def test_prediction_of_a_booster_keeps_to_the_same(dtype):
    n = 100_000
    X, y = make_data(n, dtype)
    model = presets.gbrff2(n_estimators=50, random_state=0).fit(X[:2000], y[:2000])
    model.decision_function(X[:10])
    # The scores, the block of cosines that is added to them, and what validation needs.
    assert traced_peak(lambda: model.decision_function(X)) <= 5 * 8 * n


@pytest.mark.slow
def test_a_large_sparse_matrix_has_no_dense_copy():
    """Of 100,000 x 20,000 entries 0.2 % are stored: 16 GB as an array."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the peak of resident memory cannot be reset here")
    command = [sys.executable, "-m", "tests.estimators.memory_of_sparse_rows"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    fit, prediction, accuracy = json.loads(run.stdout)
    assert max(fit, prediction) < 1e9
    assert accuracy > 0.7
