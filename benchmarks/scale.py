"""Fits by the number of rows, generated on the fly, in files and in memory, beside XGBoost and LightGBM.

    python -m benchmarks.scale --out FILE.csv [--datasets 100000 1000000 ...] [--systems ...] [--splits N]

Rows have 20 features of float32. The target is the sum of a sine, a step, 512 random steps and noise; the best R2
is 96 %. A process of its own for each fit measures R2 on 100,000 other rows, CPU seconds from the generator or the
file to the fitted model, and the peak of memory above that of the imports. Each system has its defaults and one
thread. LightGBM's text file of 20,000,000 rows takes 4 GB of disk.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from rffboost_ext import sources

from .command import Benchmark
from .study import Task
from .symmetric_trees import resident
from .systems import lightgbm, rffboost, xgboost

Array = np.ndarray
# A function that fits and returns predictions of features.
Fit = Callable[[], Callable[[Array], Array]]
MEASURES = {"score": "higher", "megabytes": "lower", "seconds": "time"}
SIZES = ("100000", "1000000", "5000000", "20000000")
WIDTH, STEPS, BLOCK = 20, 8, 100_000
# Rows to compile with before a fit is measured: as many have all members of a default fit.
FEW = 5_000
TEST_SEED = 1_000_000
PEER_ROUNDS = 100


def blocks(n_rows: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Features (m, 20) and targets (m,) of 100,000 rows at a time."""
    height = np.random.default_rng(0).standard_normal((STEPS,) * 3)
    for start in range(0, n_rows, BLOCK):
        rng = np.random.default_rng((seed, start))
        X = rng.random((min(BLOCK, n_rows - start), WIDTH), dtype=np.float32)
        cell = (STEPS * X[:, 3:6]).astype(np.intp).T
        signal = np.sin(9.0 * X[:, 0]) + np.sign(X[:, 1] - X[:, 2]) + height[tuple(cell)]
        yield X, signal + 0.3 * rng.standard_normal(len(X))


def in_memory(make: Callable[[str], Any], n_rows: int, seed: int, folder: Path) -> Fit:
    """An estimator on arrays."""

    def fit() -> Callable[[Array], Array]:
        X, y = np.empty((n_rows, WIDTH), np.float32), np.empty(n_rows)
        for k, (rows, target) in enumerate(blocks(n_rows, seed)):
            X[k * BLOCK : (k + 1) * BLOCK], y[k * BLOCK : (k + 1) * BLOCK] = rows, target
        return make("regression").fit(X, y).predict

    return fit


def generated(n_rows: int, seed: int, folder: Path) -> Fit:
    """This package on batches."""
    rows = sources.batches(partial(blocks, n_rows, seed))
    return lambda: rffboost("regression").fit(rows).predict


def parquet(n_rows: int, seed: int, folder: Path) -> Fit:
    """This package on a parquet file."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    names = [*map(str, range(WIDTH)), "y"]
    path, schema = folder / f"{n_rows}.parquet", pa.schema([(name, pa.float32()) for name in names[:-1]])
    schema = schema.append(pa.field("y", pa.float64()))
    with ParquetWriter(path, schema) as writer:
        for X, y in blocks(n_rows, seed):
            writer.write_table(pa.table([pa.array(column) for column in (*X.T, y)], schema))

    def fit() -> Callable[[Array], Array]:
        model = rffboost("regression").fit(sources.parquet(path, target="y"))
        return lambda X: model.predict(pa.table(list(X.T), names=names[:-1]))

    return fit


def external_memory(n_rows: int, seed: int, folder: Path) -> Fit:
    """XGBoost on a cache on disk of batches."""
    from xgboost import DataIter, DMatrix, ExtMemQuantileDMatrix, train

    class Blocks(DataIter):
        def reset(self) -> None:
            self.left = blocks(n_rows, seed)

        def next(self, input_data: Callable[..., None]) -> bool:
            rows = next(self.left, None)
            if rows is not None:
                input_data(data=rows[0], label=rows[1])
            return rows is not None

    def fit() -> Callable[[Array], Array]:
        matrix = ExtMemQuantileDMatrix(Blocks(cache_prefix=str(folder / f"{n_rows}")), nthread=1)
        model = train({"nthread": 1, "verbosity": 0}, matrix, PEER_ROUNDS)
        return lambda X: model.predict(DMatrix(X, nthread=1))

    return fit


def two_rounds(n_rows: int, seed: int, folder: Path) -> Fit:
    """LightGBM on a text file that is read twice."""
    from lightgbm import Dataset, train

    path = folder / f"{n_rows}.csv"
    with path.open("w") as file:
        for X, y in blocks(n_rows, seed):
            np.savetxt(file, np.column_stack([y, X]), fmt="%.7g", delimiter=",")
    params = {"two_round": True, "num_threads": 1, "verbose": -1, "objective": "regression"}
    return lambda: train(params, Dataset(str(path), params=params), PEER_ROUNDS).predict


SYSTEMS: dict[str, Callable[[int, int, Path], Fit]] = {
    "RFFBoost, memory": partial(in_memory, rffboost),
    "RFFBoost, batches": generated,
    "RFFBoost, parquet": parquet,
    "XGBoost, memory": partial(in_memory, xgboost),
    "XGBoost, external memory": external_memory,
    "LightGBM, memory": partial(in_memory, lightgbm),
    "LightGBM, two rounds": two_rounds,
}


def measure(system: Callable[[int, int, Path], Fit], n_rows: int, task: Task) -> list[dict[str, Any]]:
    """R2, memory and time of a fit in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return [pool.apply(measured, (task.system, n_rows, task.split))]


def measured(system: str, n_rows: int, seed: int) -> dict[str, float]:
    """The same in this process."""
    with TemporaryDirectory() as folder:
        SYSTEMS[system](FEW, seed, Path(folder))()
        fit, before = SYSTEMS[system](n_rows, seed, Path(folder)), resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        start = time.process_time()
        predict = fit()
        seconds, memory = time.process_time() - start, resident("VmHWM") - before
        X, y = next(blocks(BLOCK, TEST_SEED))
        return {"score": 100.0 * r2_score(y, predict(X)), "megabytes": memory / 1e6, "seconds": seconds}


BENCHMARK = Benchmark(
    __doc__,
    SIZES,
    SYSTEMS,
    1,
    lambda name, folder: int(name),
    lambda n_rows, split: n_rows,
    measure,
    MEASURES,
    config=lambda system, dataset: "",
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
