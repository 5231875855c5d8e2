"""Fits to sparse matrices, beside LightGBM, XGBoost and logistic regression with their defaults.

    python -m benchmarks.sparse --out FILE.csv [--data-dir FOLDER] [--datasets ...] [--splits N]

`farm` are the words of 4,143 advertisements, weighted by tf-idf with sublinear counts, from `farm.svm.gz`, an
svmlight file. `words` are 100,000 generated rows for the fit and 25,000 others of 20,000 columns, 0.2 % of whose
entries are not 0: columns are as frequent as words, and classes follow a linear function and products of frequent
columns. `adult` are the one-hot codes of `adult_raw.csv.gz`, and `codes` those of two generated categories of
5,000 levels, beside standardized numbers.

A process of its own for each fit measures accuracy in percent and log loss on a fifth of the rows, CPU seconds of
the fit on one thread, and the peak of memory in fit and prediction above that of the imports. XGBoost takes absent
entries for missing values. Differences are from the first system, on the same rows.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, random
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rffboost_ext.experiments.datasets import find_file
from rffboost_ext.experiments.report import markdown, number, plus_minus

from .command import Benchmark, signed
from .splits import Rows
from .study import Task
from .symmetric_trees import resident
from .systems import lightgbm, rffboost, xgboost

MEASURES = {"accuracy": "higher", "log loss": "lower", "megabytes": "lower", "seconds": "time"}
DIGITS = {"accuracy": 2, "log loss": 4}
SYSTEMS: dict[str, Callable[[str], Any]] = {
    "RFFBoost": rffboost,
    "RFFBoost-fast": partial(rffboost, quality="fast"),
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "LogisticRegression": lambda task: LogisticRegression(max_iter=1_000),
}
FILES = {"farm": ("farm", (".svm.gz",)), "adult": ("adult_raw", (".csv", ".csv.gz"))}
"""Stems and suffixes."""
POOL: Any = multiprocessing.get_context("spawn").Pool
TEST_SHARE = 0.2
WORDS, CODES = (125_000, 20_000, 40), (50_000, 5_000)
"""Rows, columns and entries of a row; rows and levels."""
WARM_UP = 2_000, 20_000
"""As many rows and columns have all parts of a fit to a large matrix."""


def missing(name: str, folder: Path | None) -> str:
    """Why a data set is not available; empty if it is."""
    stem, suffixes = FILES.get(name, ("", ()))
    return f"there is no {stem}{suffixes[-1]}" if stem and find_file(stem, folder, suffixes) is None else ""


def labels(score: Any, rng: np.random.Generator) -> Any:
    """Two classes whose log odds are the scores (n,)."""
    return (score + rng.logistic(size=len(score)) > 0.0).astype(int)


def words() -> tuple[Any, Any]:
    """Rows of words, and classes."""
    n, d, per_row = WORDS
    rng = np.random.default_rng(0)
    frequency = (np.arange(d) + 20.0) ** -0.7
    columns = rng.choice(d, (n, per_row), p=frequency / frequency.sum())
    counts = rng.lognormal(0.0, 0.5, n * per_row)
    X = csr_matrix((counts, (np.repeat(np.arange(n), per_row), columns.ravel())), (n, d))
    line = X @ (rng.normal(size=d) * (rng.random(d) < 0.3))
    frequent = X[:, :60].toarray() > 0.0
    pairs = sum(rng.normal() * frequent[:, a] * frequent[:, b] for a, b in rng.integers(0, 60, (60, 2)))
    return X, labels(line / line.std() + pairs / np.std(pairs), rng)


def codes() -> tuple[Any, Any]:
    """A table of two wide categories and three numbers, and classes."""
    n, levels = CODES
    rng = np.random.default_rng(0)
    level, Z, effect = (
        rng.integers(0, levels, (2, n)),
        rng.standard_normal((3, n)),
        rng.standard_normal((2, levels)),
    )
    score = np.take_along_axis(effect, level, axis=1).sum(axis=0) + 2.0 * np.sin(2.0 * Z[0]) + Z[1] * Z[2]
    categories = pd.DataFrame(dict(zip("ab", level, strict=True))).astype("category")
    return categories.assign(**dict(zip("xyz", Z, strict=True))), labels(score, rng)


@lru_cache(maxsize=1)
def load(name: str, folder: Path | None) -> tuple[str, Any, Any]:
    """The name, features and classes of a data set."""
    if name not in FILES:
        return name, *(words() if name == "words" else codes())
    path = find_file(FILES[name][0], folder, FILES[name][1])
    if name == "farm":
        X, target = load_svmlight_file(str(path))
    else:
        X = pd.read_csv(path).drop(columns="split")
        target = X.pop("target")
        X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
    return name, X, np.unique(target, return_inverse=True)[1]


def split(data: tuple[str, Any, Any], index: int) -> Rows:
    """The rows of split `index`; weights and codes are those of its training rows."""
    name, X, y = data
    train, test, y, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=index - 1, stratify=y)
    if name == "farm":
        weights = TfidfTransformer(sublinear_tf=True).fit(train)
        train, test = weights.transform(train), weights.transform(test)
    elif name != "words":
        wide = train.columns[train.dtypes == "category"]
        encoders = (OneHotEncoder(handle_unknown="ignore"), wide), (StandardScaler(), train.columns.drop(wide))
        encoder = make_column_transformer(*encoders, sparse_threshold=1.0).fit(train)
        train, test = encoder.transform(train), encoder.transform(test)
    return Rows("binary", train, y, test, y_test)


def measure(system: Callable[[str], Any], rows: Rows, task: Task) -> list[dict[str, Any]]:
    """Accuracy, log loss, memory and time of a fit in a process of its own."""
    with POOL(1) as pool:
        before = pool.apply(warm_up, (task.system,))
        return [pool.apply(measured, (task.system, rows, before))]


def warm_up(system: str) -> int:
    """Import and compile; the memory of the process then, in bytes."""
    X = random(*WARM_UP, density=0.002, format="csr", rng=0)
    SYSTEMS[system]("binary").fit(X, np.arange(len(X.indptr) - 1) % 2)
    return resident("VmRSS")


def measured(system: str, rows: Rows, before: int) -> dict[str, float]:
    """The measures in this process."""
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    model = SYSTEMS[system](rows.task).fit(rows.X, rows.y)
    seconds = time.process_time() - start
    probability = model.predict_proba(rows.X_test)
    right = 100.0 * accuracy_score(rows.y_test, probability.argmax(axis=1))
    memory = (resident("VmHWM") - before) / 1e6
    values = right, log_loss(rows.y_test, probability), memory, seconds
    return dict(zip(MEASURES, map(float, values), strict=True))


def show(frame: pd.DataFrame) -> str:
    """A table for each data set: means and medians over splits, and differences with standard errors."""
    parts = []
    for name, records in frame.groupby("dataset", sort=False):
        tables = {measure: records.pivot(index="split", columns="system", values=measure) for measure in MEASURES}
        first, *_ = systems = records["system"].unique()
        lines = [
            [
                system,
                *(beside(tables[measure], system, first, digits) for measure, digits in DIGITS.items()),
                *(number(tables[measure][system].median()) for measure in ("seconds", "megabytes")),
            ]
            for system in systems
        ]
        header = ["system", *DIGITS, "CPU seconds", "MB"]
        parts += [f"## {name}, {len(tables['seconds'])} splits", markdown(header, lines)]
    return "\n".join(parts)


def beside(values: pd.DataFrame, system: str, first: str, digits: int) -> str:
    """The mean of a system over splits, and its difference from another with its standard error."""
    text = f"{values[system].mean():.{digits}f}"
    if system == first:
        return text
    gaps = values[system] - values[first]
    return f"{text} ({signed(gaps.mean(), digits)}{plus_minus(gaps.sem())})"


BENCHMARK = Benchmark(
    __doc__,
    ["farm", "words", "adult", "codes"],
    SYSTEMS,
    5,
    load,
    split,
    measure,
    MEASURES,
    show=show,
    missing=missing,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
