"""A script: the peak of memory of a default fit in a fresh process, and its estimate, in bytes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import random_array

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, estimate_memory, warmup


def process_memory(name: str) -> int:
    """A figure of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def table(n: int, d: int, n_classes: int, levels: list[int] | float, dtype: str):
    """Rows of numbers and categories, or of a sparse matrix of a share of entries, and a target."""
    rng = np.random.default_rng(0)
    if isinstance(levels, float):
        X = random_array((n, d), density=levels, rng=rng, format="csr", dtype=dtype)
        return X, X @ rng.standard_normal(d)
    X = rng.standard_normal((n, d)).astype(dtype)
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * rng.standard_normal(n)
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    if levels:
        X = pd.DataFrame(X).add_prefix("x")
        X["x2"] = X["x2"].where(rng.random(n) > 0.2)
        X = X.assign(**{f"c{k}": pd.Categorical(rng.integers(0, size, n)) for k, size in enumerate(levels)})
    return X, y


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    X, y = table(**given)
    model = (RFFBoostClassifier if given["n_classes"] else RFFBoostRegressor)(n_estimators=60, random_state=0)
    estimate = sum(estimate_memory(model, X, y).values())
    warmup()
    Path("/proc/self/clear_refs").write_text("5")
    before = process_memory("VmRSS")
    model.fit(X, y)
    print(json.dumps([process_memory("VmHWM") - before, estimate]))
