"""Prediction speed of exported models beside XGBoost and LightGBM: rows per second, one row, bytes.

    python benchmarks/onnx.py [--rows 10000] [--repeats 15] [--json F]

All contenders are timed in one run and in turns, so that a busy machine slows all of them; the best time of each
counts. Trees are 100 of depth 6. LightGBM in ONNX Runtime needs onnxmltools.
"""

from __future__ import annotations

import sys
from pathlib import Path

# A script's own folder comes first on the path, and there this file is called like the package onnx.
HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(entry for entry in sys.path if Path(entry or ".").resolve() != HERE)]

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import asdict, dataclass  # noqa: E402
from typing import Any  # noqa: E402

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import xgboost  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402

from benchmarks.speed import positive, require_writable  # noqa: E402
from onnx_export import OnnxPredictor, to_onnx  # noqa: E402
from rffboost_ext import RFF1, RFFBoostClassifier  # noqa: E402

FEATURES = 30
Predict = Callable[[np.ndarray], Any]


@dataclass
class Contender:
    """A way to predict: a function of X (n, 30) float32, the threads it uses, the size of its file."""

    name: str
    threads: int
    size: int
    predict: Predict
    one_row: Predict
    best: float = float("inf")
    single: float = float("inf")


@dataclass
class OnnxRow:
    """One line of the result; speeds in rows per second, times in seconds."""

    name: str
    threads: int
    rows_per_second: float
    one_row: float
    bytes: int


def contenders(X: np.ndarray, y: np.ndarray) -> list[Contender]:
    """Everyone, fitted, on one thread and on two."""
    found = []
    for m in (100, 1000):
        learner = RFF1(learn_frequency=False)
        model = to_onnx(RFFBoostClassifier(learner=learner, n_estimators=m, random_state=0).fit(X[:500], y[:500]))
        found += in_onnx(f"{m} cosines, ONNX", model.SerializeToString())
        found += [chunked(f"{m} cosines, OnnxPredictor", model.SerializeToString(), n) for n in (1, 2)]
    return found + from_xgboost(X, y) + from_lightgbm(X, y)


def in_onnx(name: str, content: bytes) -> list[Contender]:
    """A model in ONNX Runtime, as it is."""
    return [Contender(name, n, len(content), *2 * [session(content, n)]) for n in (1, 2)]


def session(content: bytes, threads: int) -> Predict:
    """A function that runs a model on so many threads of ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    made = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    name, output = made.get_inputs()[0].name, [made.get_outputs()[1].name]
    return lambda X: made.run(output, {name: X})


def chunked(name: str, content: bytes, threads: int) -> Contender:
    """A model in OnnxPredictor."""
    predict = OnnxPredictor(content, n_jobs=threads).predict_proba
    return Contender(name, threads, len(content), predict, predict)


def from_xgboost(X: np.ndarray, y: np.ndarray) -> list[Contender]:
    """XGBoost in ONNX Runtime and by its fastest native call."""
    found: list[Contender] = []
    for threads in (1, 2):
        model = xgboost.XGBClassifier(n_estimators=100, max_depth=6, n_jobs=threads).fit(X, y)
        booster = model.get_booster()
        if threads == 1:
            found += in_onnx("100 trees, XGBoost in ONNX", to_onnx(model).SerializeToString())
        size = len(booster.save_raw("ubj"))
        found.append(Contender("100 trees, XGBoost", threads, size, *2 * [booster.inplace_predict]))
    return found


def from_lightgbm(X: np.ndarray, y: np.ndarray) -> list[Contender]:
    """LightGBM natively and, where onnxmltools is installed, in ONNX Runtime."""
    model = lightgbm.LGBMClassifier(n_estimators=100, max_depth=6, num_leaves=64, verbose=-1).fit(X, y)
    booster = model.booster_
    size = len(booster.model_to_string().encode())

    def native(threads: int) -> Predict:
        return lambda rows: booster.predict(rows, num_threads=threads)

    found = [Contender("100 trees, LightGBM", n, size, *2 * [native(n)]) for n in (1, 2)]
    try:
        from onnxmltools import convert_lightgbm
        from onnxmltools.convert.common.data_types import FloatTensorType
    except ImportError:
        print("onnxmltools is not installed: LightGBM is not timed in ONNX Runtime", file=sys.stderr)
        return found
    inputs = [("X", FloatTensorType([None, FEATURES]))]
    content = convert_lightgbm(model, initial_types=inputs, zipmap=False, target_opset=13).SerializeToString()
    return found + in_onnx("100 trees, LightGBM in ONNX", content)


def measure(everyone: list[Contender], X: np.ndarray, repeats: int) -> None:
    """Time all contenders in turns and keep the best time of each."""
    one = X[:1].copy()
    for _ in range(repeats):
        for contender in everyone:
            contender.best = min(contender.best, seconds(contender.predict, X, 1))
            contender.single = min(contender.single, seconds(contender.one_row, one, 100) / 100)


def seconds(predict: Predict, X: np.ndarray, calls: int) -> float:
    """How long so many calls take."""
    start = time.perf_counter()
    for _ in range(calls):
        predict(X)
    return time.perf_counter() - start


def ratios(rows: list[OnnxRow]) -> dict[str, float]:
    """The quotients of speeds that matter."""
    speed = {(row.name, row.threads): row.rows_per_second for row in rows}
    cosines = speed["100 cosines, OnnxPredictor", 1]
    return {
        "100 cosines / XGBoost in ONNX, one thread": cosines / speed["100 trees, XGBoost in ONNX", 1],
        "100 cosines / XGBoost native, one thread": cosines / speed["100 trees, XGBoost", 1],
        "100 cosines / LightGBM native, one thread": cosines / speed["100 trees, LightGBM", 1],
        "1000 cosines, two threads / one": speed["1000 cosines, OnnxPredictor", 2]
        / speed["1000 cosines, OnnxPredictor", 1],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Time everyone, print the table and the ratios, and write them as JSON if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=positive, default=10_000)
    parser.add_argument("--repeats", type=positive, default=15)
    parser.add_argument("--json", type=Path, help="write rows and ratios to this file")
    given = parser.parse_args(arguments)
    require_writable(parser, json=given.json)
    X, y = make_classification(max(given.rows, 5_000), FEATURES, n_informative=15, flip_y=0.1, random_state=0)
    X = X.astype(np.float32)
    everyone = contenders(X[:5_000], y[:5_000])
    measure(everyone, X[: given.rows], given.repeats)
    rows = [OnnxRow(c.name, c.threads, given.rows / c.best, c.single, c.size) for c in everyone]
    print(f"{'':<32}{'threads':>8}{'rows/s':>12}{'one row':>12}{'bytes':>10}")
    for row in rows:
        print(
            f"{row.name:<32}{row.threads:>8}{row.rows_per_second:>12,.0f}"
            f"{1e6 * row.one_row:>9.1f} us{row.bytes:>10,}"
        )
    for name, value in ratios(rows).items():
        print(f"{name:<46}{value:>6.2f}")
    if given.json is not None:
        result = {"rows": [asdict(row) for row in rows], "ratios": ratios(rows)}
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
