"""Compiled code is kept on disk: a second process compiles nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

COUNT = """
import importlib, json, pkgutil
from numba.core.dispatcher import Dispatcher
import rffboost_ext.kernels as kernels

modules = [importlib.import_module(f"{kernels.__name__}.{m.name}") for m in pkgutil.iter_modules(kernels.__path__)]
found = {d for module in modules for d in vars(module).values() if isinstance(d, Dispatcher)}
found = {d for d in found if not d.targetoptions.get("no_cpython_wrapper")}
stats = [d.stats for d in found]
counts = {name: sum(sum(getattr(s, name).values()) for s in stats) for name in ("cache_hits", "cache_misses")}
cached = all(type(d._cache).__name__ == "FunctionCache" for d in found)
print(json.dumps(counts | {"kernels": len(found), "cached": cached}))
"""
# A few kernels that compile in about a second each.
FEW = """
import numpy as np
from rffboost_ext.kernels.vector_math import exp_array
from rffboost_ext.kernels.tiles import fill_pass

x = np.zeros(5)
exp_array(x, x)
fill_pass(np.zeros((3, 1)), np.zeros(1), np.ones(1), np.zeros((1, 1, 16)), 0, 1)
"""
FIT = """
import numpy as np
from rffboost_ext import presets

X = np.random.default_rng(0).standard_normal((300, 3))
y = X[:, 0] > X[:, 1]
for preset in (presets.gbrff1, presets.gbrff2):
    preset(n_estimators=2, random_state=0).fit(X, y).predict(X)
"""


# Sums in float32 over more than one tile: where one is reordered, the last bits show it.
BITS = """
from rffboost_ext import RFF1, RFFBoostClassifier
import numpy as np

X = np.random.default_rng(0).standard_normal((3000, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0.0
model = RFFBoostClassifier("exponential", RFF1(), n_estimators=3, random_state=0).fit(X, y)
print(model.decision_function(X).tobytes().hex())
"""


def run(script: str, folder: Path) -> Counter[str]:
    """Counts over all kernels that Python calls, after the script."""
    return Counter(json.loads(printed(script + COUNT, folder)))


def printed(script: str, folder: Path) -> str:
    """What the script prints, in a process of its own with the cache in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", [FEW, pytest.param(FIT, marks=pytest.mark.slow)], ids=["kernels", "fit"])
def test_a_second_process_compiles_nothing(script, tmp_path):
    first = run(script, tmp_path)
    assert first["cache_misses"] > 0
    second = run(script, tmp_path)
    assert second["cache_misses"] == 0
    assert second["cache_hits"] > 0


def test_every_kernel_is_cached(tmp_path):
    counts = run("", tmp_path)
    assert counts["kernels"] > 10
    assert counts["cached"]


@pytest.mark.slow
def test_a_fit_has_the_same_bits_whether_it_compiles_or_not(tmp_path):
    assert printed(BITS, tmp_path) == printed(BITS, tmp_path)
