"""The tree learner in our loop beside ``xgboost.train``: seconds per round, and how far the margins are apart.

    python benchmarks/xgboost_loop.py [--rounds 100] [--turns 5] [--json F]

Both bin the same features, take the same 100 rounds of log loss at depth 5 on one thread, and are timed in turns.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WORKLOADS = ((20_000, 20), (200_000, 50))
TARGET = 1.10
PARAMS = {"max_depth": 5}
RATE = 0.1


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a table, and write JSON where asked to."""
    # The script's own folder, where onnx.py would be taken for the package of that name, makes way for the root.
    sys.path[0] = str(ROOT)
    from benchmarks.speed import positive, require_writable

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=positive, default=100, help="boosting rounds of a fit")
    parser.add_argument("--turns", type=positive, default=5, help="fits of each system")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    chosen = parser.parse_args(arguments)
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    require_writable(parser, json=chosen.json)
    records = [measured(*workload, chosen.rounds, chosen.turns) for workload in WORKLOADS]
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(records, indent=1) + "\n")


def measured(n: int, d: int, rounds: int, turns: int) -> dict[str, Any]:
    """Time one workload, print its line and return it."""
    import numpy as np

    from benchmarks.timing import AtMost, TimingRow, in_turns

    X, y = data(n, d)
    times = in_turns(lambda: ours(X, y, rounds), lambda: theirs(X, y, rounds), turns=turns)
    per_round = ([t / rounds for t in side] for side in times)
    row = TimingRow("a round of trees", f"{n} x {d}", "xgboost.train", *per_round, AtMost(TARGET))
    apart = np.abs(ours(X, y, 50) - theirs(X, y, 50)).max()
    print("  ".join(row.cells()), f" margins apart by {apart:.1e} after 50 rounds")
    return row.record() | {"margins apart": float(apart)}


def data(n: int, d: int) -> tuple[Any, Any]:
    """Features (n, d), float32, and labels (n,) that trees can learn."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(np.float32)
    signal = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.5 * rng.standard_normal(n)
    return X, (signal > 0.0).astype(float)


def ours(X: Any, y: Any, rounds: int) -> Any:
    """Margins of our loop, (n,)."""
    from rffboost_ext import STEPS, Shrunk, Tree, boost

    last: list[Any] = []
    step = Shrunk(STEPS.create("unit"), RATE)
    keep = [lambda progress: last.__setitem__(slice(None), [progress.raw])]
    parts = {"loss": "log_loss", "learner": Tree(**PARAMS), "step": step, "callbacks": keep}
    boost(X, y[:, None], **parts, n_estimators=rounds, random_state=0)
    return last[0][:, 0]


def theirs(X: Any, y: Any, rounds: int) -> Any:
    """Margins of XGBoost's loop, (n,)."""
    from xgboost import QuantileDMatrix, train

    matrix = QuantileDMatrix(X, y, max_bin=256, nthread=1)
    fixed = {"objective": "binary:logistic", "eta": RATE, "base_score": float(y.mean()), "nthread": 1}
    return train(fixed | PARAMS, matrix, rounds).predict(matrix, output_margin=True)


if __name__ == "__main__":
    main()
