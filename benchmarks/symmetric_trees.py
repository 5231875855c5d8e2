"""Symmetric trees: boosting rounds, and predictions in Python and by both forms of ONNX files, beside others.

    python -m benchmarks.symmetric_trees [--parts rounds predictions] [--rows 100000] [--trees 500] [--turns 5]

``symmetric_rounds.py`` says how rounds are timed. Predictions are for the same rows of 20 features on one thread,
in turns; the median of the CPU times counts. Peak memory is what a prediction takes in a process of its own, above
what that had before. OnnxPredictor cuts rows into chunks, ONNX Runtime itself does not.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnxruntime
import xgboost

from onnx_export import OnnxPredictor, to_onnx
from rffboost_ext import RFFBoostRegressor, SymmetricTree

from .command import options, positive
from .machine import environment
from .symmetric_rounds import measure_rounds
from .timing import format_duration, in_turns

PARTS = ("rounds", "predictions")
N_FEATURES, N_TRAINING, DEPTH = 20, 5_000, 6
FORMS = {"tensor operators": False, "tree operator": True}
Predict = Callable[[Any], Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rows", type=positive, default=100_000)
    parser.add_argument("--trees", type=positive, default=500)
    parser.add_argument("--turns", type=positive, default=5)
    parsed = parser.parse_args(arguments)
    print(environment())
    if "rounds" in parsed.parts:
        measure_rounds(parsed.turns)
    if "predictions" in parsed.parts:
        measure_predictions(parsed.rows, parsed.trees, parsed.turns)


def measure_predictions(n: int, n_trees: int, turns: int) -> None:
    """Time all systems on n rows, and print their lines."""
    X, y = data(N_TRAINING)
    rows = data(n)[0]
    in_python, files = systems(X, y, n_trees)
    everyone = in_python | {name: open_file() for name, open_file in files.items()}
    times = in_turns(*(partial(run, rows) for run in everyone.values()), turns=turns, clock=time.process_time)
    for name, taken in zip(everyone, times, strict=True):
        line = f"{name:<48}{format_duration(median(taken)):>10}{n / median(taken):>12,.0f} rows/s"
        print(line + (f"{peak_memory(files[name], rows) / 1e6:>8,.0f} MB" if name in files else ""))


def data(n: int) -> tuple[Any, Any]:
    """Features (n, 20), float32, and targets (n,) that trees can learn."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    return X, X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.5 * rng.standard_normal(n)


def systems(X: Any, y: Any, n_trees: int) -> tuple[dict[str, Predict], dict[str, Callable[[], Predict]]]:
    """Predictions in Python, and functions that open ONNX files for prediction."""
    in_python: dict[str, Predict] = {}
    files: dict[str, Callable[[], Predict]] = {}
    fixed: dict[str, Any] = {"n_estimators": n_trees, "n_jobs": 1, "random_state": 0}
    models = {
        f"{leaf} leaves": RFFBoostRegressor(learner=SymmetricTree(DEPTH, leaf), early_stopping=False, **fixed)
        for leaf in ("constant", "linear")
    }
    models["XGBoost"] = xgboost.XGBRegressor(max_depth=DEPTH, learning_rate=0.1, **fixed)
    for name, model in models.items():
        model.fit(X, y)
        native = model.get_booster().inplace_predict if name == "XGBoost" else model.predict
        in_python[f"{name}, Python"] = native
        for form, tree_operators in FORMS.items():
            if name != "linear leaves" or not tree_operators:
                file = to_onnx(model, tree_operators=tree_operators).SerializeToString()
                files[f"{name}, {form}, ONNX Runtime"] = partial(session, file)
                files[f"{name}, {form}, OnnxPredictor"] = partial(predictor, file)
    if find_spec("catboost"):
        in_python["CatBoost, Python"] = catboost_prediction(X, y, n_trees)
    return in_python, files


def catboost_prediction(X: Any, y: Any, n_trees: int) -> Predict:
    """Predictions by CatBoost on one thread."""
    import catboost

    fixed = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(iterations=n_trees, depth=DEPTH, **fixed).fit(X, y)
    return partial(model.predict, thread_count=1)


def session(file: bytes) -> Predict:
    """Predictions of all rows by one call of ONNX Runtime on one thread."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    made = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
    return lambda X: made.run(["variable"], {"X": X})


def predictor(file: bytes) -> Predict:
    """Predictions by ``OnnxPredictor`` on one thread."""
    return OnnxPredictor(file, n_jobs=1).predict


def peak_memory(open_file: Callable[[], Predict], rows: Any) -> int:
    """Bytes that a prediction takes at most in a process of its own, above what that had before."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(added_memory, (open_file, rows))


def added_memory(open_file: Callable[[], Predict], rows: Any) -> int:
    """Bytes that this process has at most during a prediction, above what it had before."""
    run = open_file()
    run(rows[:1])
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    run(rows)
    return resident("VmHWM") - before


def resident(field: str) -> int:
    """Memory of this process by a field of Linux's status file, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


if __name__ == "__main__":
    main()
