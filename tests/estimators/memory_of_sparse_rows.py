"""A script: the peak of memory of a default fit to a sparse matrix and of predictions, above imports, in bytes."""

import json
from pathlib import Path

import numpy as np
from scipy.sparse import random_array

from rffboost_ext import RFFBoostClassifier, warmup


def process_memory(name: str) -> int:
    """A figure of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    warmup()
    Path("/proc/self/clear_refs").write_text("5")
    before = process_memory("VmRSS")
    rng = np.random.default_rng(0)
    X = random_array((100_000, 20_000), density=0.002, rng=rng, format="csr")
    y = X @ rng.standard_normal(20_000) > 0.0
    model = RFFBoostClassifier(n_estimators=200, random_state=0).fit(X, y)
    fitted = process_memory("VmHWM") - before
    Path("/proc/self/clear_refs").write_text("5")
    accuracy = model.score(X, y)
    print(json.dumps([fitted, process_memory("VmHWM") - before, accuracy]))
