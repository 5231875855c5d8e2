"""Fits with a checkpoint in processes that are killed at random moments, resumed, and compared with a whole one.

Run as a script of its own, so that it can fork: the test suite has threads. Arguments: a folder, the name of one
of the fits below, how many processes to kill, a seed. Prints how many of them died before they were through, and
whether the last one ended in the same bits.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from rffboost_ext import Checkpoint, RFFBoostRegressor

X = np.random.default_rng(0).standard_normal((120, 3))
Y = np.sin(2.0 * X[:, 0]) + (X[:, 1] > 0.3)

FITS = {
    "one model": {"learner": "mixture", "early_stopping": False, "n_estimators": 60},
    "folds": {"learner": "mixture", "early_stopping": True, "n_folds": 3, "n_estimators": 60},
    "refit": {"learner": "rff_newton", "early_stopping": True, "n_folds": 1, "refit": True, "n_estimators": 30},
}


def fit(path: Path, name: str) -> bytes:
    """All bits of a model."""
    model = RFFBoostRegressor(random_state=0, callbacks=[Checkpoint(path, every=3)], **FITS[name]).fit(X, Y)
    ensemble = model.ensemble_
    return ensemble.raw(X).tobytes() + ensemble.moves.tobytes()


def killed(path: Path, name: str, patience: float) -> bool:
    """Start a process that fits, and kill it after so many seconds; whether it was still at it."""
    child = os.fork()
    if child == 0:
        fit(path, name)
        os._exit(0)
    time.sleep(patience)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main() -> None:
    """Kill, resume, and compare."""
    folder, name, deaths, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    fit(folder / "warm", name)
    start = time.perf_counter()
    whole = fit(folder / "whole", name)
    longest = min(0.5, 5.0 / deaths) * (time.perf_counter() - start)
    rng = random.Random(seed)
    early = sum(killed(folder / "killed", name, rng.uniform(0.0, longest)) for _ in range(deaths))
    print(early, fit(folder / "killed", name) == whole)


if __name__ == "__main__":
    main()
