"""Predicted distributions beside NGBoost, CatBoost and a constant standard deviation, on standardised targets.

    python -m benchmarks.distributions --data-dir FOLDER --out FILE.csv [--datasets ...] [--systems ...]
        [--splits 3] [--rows 2000]

The mean negative log-likelihood, the mean CRPS and the CPU seconds of each system with its defaults. Text is coded
by numbers, missing values are medians. Needs ``pip install catboost`` and, as NGBoost asks for an earlier scikit-
learn, ``pip install --no-deps ngboost autograd``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.model_selection import train_test_split

from rffboost_ext import RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.metrics import crps, nll

from .command import Benchmark, positive
from .data import REGRESSION, load_source, missing_source
from .splits import TaskData
from .study import Measures, Task

Array = np.ndarray
MEASURES = {"nll": "lower", "crps": "lower", "seconds": "time"}


def ours(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """RFFBoostDistribution with its defaults."""
    return RFFBoostDistribution("normal", random_state=seed).fit(X, y).predict_dist(X_test)


def squared_error(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """RFFBoostRegressor with its defaults, and the standard deviation of its errors on a fifth of the rows."""
    kept, held = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    error = y[held] - RFFBoostRegressor(random_state=seed).fit(X[kept], y[kept]).predict(X[held])
    mean = RFFBoostRegressor(random_state=seed).fit(X, y).predict(X_test)
    return norm(loc=mean, scale=np.sqrt(np.mean(np.square(error))))


def ngboost(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """NGBoost with its defaults: a normal distribution, 500 rounds of trees of depth 3."""
    from ngboost import NGBRegressor

    predicted = NGBRegressor(verbose=False, random_state=seed).fit(X, y).pred_dist(X_test)
    return norm(loc=predicted.loc, scale=predicted.scale)


def catboost(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """CatBoost with its defaults for RMSEWithUncertainty."""
    from catboost import CatBoostRegressor

    fixed = {"verbose": False, "thread_count": 1, "allow_writing_files": False}
    model = CatBoostRegressor(loss_function="RMSEWithUncertainty", random_seed=seed, **fixed)
    mean, variance = model.fit(X, y).predict(X_test).T
    return norm(loc=mean, scale=np.sqrt(variance))


SYSTEMS: dict[str, Callable[..., Any]] = {
    "RFFBoostDistribution": ours,
    "squared error": squared_error,
    "NGBoost": ngboost,
    "CatBoost": catboost,
}


def split(data: TaskData, index: int) -> tuple[Array, Array, Array, Array]:
    """Numbers, and targets standardised on the training part, whose random state is `index` less one."""
    codes = pd.DataFrame(data.X).apply(lambda c: c if c.dtype.kind in "iufb" else pd.factorize(c)[0])
    X = codes.fillna(codes.median()).to_numpy(np.float64)
    train, test = train_test_split(np.arange(len(X)), test_size=0.3, random_state=index - 1)
    z = (data.y - data.y[train].mean()) / data.y[train].std()
    return X[train], z[train], X[test], z[test]


def measure(system: Callable[..., Any], parts: Any, task: Task) -> list[dict[str, Any]]:
    """Likelihood, CRPS and time."""
    X, y, X_test, y_test = parts
    start = time.process_time()
    predicted = system(X, y, X_test, task.split - 1)
    seconds = time.process_time() - start
    return [{"nll": float(nll(y_test, predicted)), "crps": float(crps(y_test, predicted)), "seconds": seconds}]


def main(
    arguments: Sequence[str] | None = None,
    doc: str | None = __doc__,
    systems: Mapping[str, Callable[..., Any]] = SYSTEMS,
    measure: Measures = measure,
    measures: Mapping[str, str] = MEASURES,
) -> int:
    """Measure systems on some rows of the regression sets."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--rows", type=positive, default=2_000)
    own, others = parser.parse_known_args(arguments)
    rows: int = own.rows
    return Benchmark(
        doc,
        [*REGRESSION],
        systems,
        3,
        partial(load_source, rows=rows),
        split,
        measure,
        measures,
        config=lambda system, dataset: f"{rows} rows",
        missing=missing_source,
    ).main(others)


if __name__ == "__main__":
    sys.exit(main())
