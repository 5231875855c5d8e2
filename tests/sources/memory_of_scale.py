"""The memory of a fit, or of predictions, on rows that are generated on the fly, in MB above the imports.

``python memory_of_scale.py N_ROWS PATH`` fits a model and writes it to a file, or predicts with that of a file.
"""

from __future__ import annotations

import os
import sys
from functools import partial

import numpy as np
import xgboost  # noqa: F401 - one of the imports

from rffboost_ext import RFFBoostRegressor, load_model, sources


def blocks(n_rows, size=100_000):
    for start in range(0, n_rows, size):
        rng = np.random.default_rng(start)
        X = rng.random((min(size, n_rows - start), 20), dtype=np.float32)
        yield X, np.sin(9.0 * X[:, 0]) + np.sign(X[:, 1] - X[:, 2]) + 0.3 * rng.standard_normal(len(X))


def peak():
    """The largest resident memory so far, in MB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1000 for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    n_rows, path = int(sys.argv[1]), sys.argv[2]
    rows, before = sources.batches(partial(blocks, n_rows)), peak()
    if os.path.exists(path):
        model = load_model(path)
        assert sum(map(len, sources.predict(model, rows))) == n_rows
    else:
        model = RFFBoostRegressor(random_state=0).fit(rows)
        model.save_model(path)
    print(peak() - before)
