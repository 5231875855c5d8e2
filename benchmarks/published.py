"""The default estimator by the protocols of two papers, beside their published figures.

    python -m benchmarks.published --out FILE.csv --data-dir FOLDER [--datasets ...] [--systems ...] [--again]

"erbf" are 11 data sets of arXiv 2602.22422. The measure is R2. "rfrboost" are 14 data sets of arXiv 2501.18283,
of at most 5,000 rows. As in that paper, categories are one-hot encoded, and features and targets are
standardized over these rows and clipped to [-3, 3]. The measures are the root mean squared error and the
accuracy. Both papers report means over KFold(5, shuffle=True, random_state=42). No parameter is tuned. Seconds
are CPU seconds on one thread.

docs/benchmarks.md lists the files. Their rows have the order of their source, so that the folds are those of
the papers. `--systems linear` checks this: both papers publish linear models (ridge or logistic regression).
published_figures.csv has the published figures, means over folds of the results in the papers' repositories.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rffboost_ext.experiments.datasets import find_file
from rffboost_ext.experiments.report import markdown

from .command import Benchmark
from .splits import Array, Rows, TaskData
from .study import Task
from .systems import System, ours, warm_up

FIGURES = Path(__file__).with_name("published_figures.csv")
SEED, FOLDS, MOST_ROWS, CLIP, TIE = 42, 5, 5_000, 3.0, 1e-6
MEASURES = ("score", "seconds")
PEERS = {
    ("erbf", "R2"): ("ERBF", "XGBoost", "TabPFN"),
    ("rfrboost", "RMSE"): ("XGBoost", "RFRBoost, best", "MLP ResNet"),
    ("rfrboost", "accuracy"): ("XGBoost", "RFRBoost, best", "MLP ResNet"),
}
"""The published systems by table and measure. The best variant of RFRBoost is that of each set."""


def linear(task: str) -> Any:
    """Ridge regression or logistic regression."""
    model = Ridge() if task == "regression" else LogisticRegression(max_iter=1_000)
    return make_pipeline(StandardScaler(), model)


SYSTEMS = {"RFFBoost": ours(), "linear": System(linear, "scikit-learn")}


@dataclass(frozen=True)
class File:
    """Files of rows.

    Attributes
    ----------
    names : sequence of str
        Their names, also with ".gz"; rows of several files follow each other.
    header : int, optional
        The line of the column names; None without one.
    columns : sequence of int, optional
        The columns that are read; the last one is the target.
    sort : sequence of str
        What rows are sorted by.
    drop, codes : sequence of str
        Columns without use, and columns of numbers that are categories.
    """

    names: Sequence[str]
    header: int | None = 0
    columns: Sequence[int] | None = None
    sort: Sequence[str] = ()
    drop: Sequence[str] = ()
    codes: Sequence[str] = ()

    def missing(self, folder: Path | None) -> str:
        """Why they are not available; empty if they are."""
        absent = [name for name in self.names if find_file(name, folder, ("", ".gz")) is None]
        return f"there is no {', '.join(absent)}" if absent else ""

    def read(self, folder: Path | None) -> tuple[Any, Array]:
        """Features, with categories, and target."""
        frames = []
        for name in self.names:
            path, sep = find_file(name, folder, ("", ".gz")), "\t" if name.endswith(".dat") else ","
            frame = pd.read_csv(path, sep=sep, header=self.header, na_values="?")
            frames.append(frame if self.columns is None else frame.iloc[:, [*self.columns]])
        frame = pd.concat(frames).rename(columns=str)
        if self.sort:
            frame = frame.sort_values([*self.sort], kind="stable")
        target = frame.pop(frame.columns[-1]).to_numpy()
        frame = frame.drop(columns=[*self.drop])
        texts = [*frame.select_dtypes(exclude="number"), *self.codes]
        return frame.astype(dict.fromkeys(texts, "category")), target


def friedman1(irrelevant: int) -> tuple[Array, Array]:
    """Friedman's first function with normal columns that do not matter."""
    X, y = datasets.make_friedman1(2_000, 5, noise=0.1, random_state=SEED)
    return np.hstack([X, np.random.RandomState(SEED).randn(2_000, irrelevant)]), y


def drawn(n: int, d: int, noise: float, function: Callable[..., Any]) -> tuple[Array, Array]:
    """A function of normal columns, and normal noise."""
    rng = np.random.RandomState(SEED)
    X = rng.randn(n, d)
    return X, function(*X.T[:4]) + noise * rng.randn(n)


def step(a: Array, b: Array, c: Array, *others: Array) -> Any:
    """Steps, and one of two columns."""
    return 2.0 * (a > 0.0) + 3.0 * (b > 0.5) - 1.5 * (c < -0.5) + ((a > 0.0) & (b > 0.0))


def piecewise(a: Array, b: Array, c: Array, *others: Array) -> Any:
    """A piecewise linear function."""
    hinges = (np.maximum(0.0, part) for part in (a, -b, c - 0.5, a + b))
    return np.dot([2.0, 1.5, 1.0, -1.0], [*hinges])


def multithreshold(a: Array, b: Array, c: Array, d: Array) -> Any:
    """Steps, an interval, and a step of two columns."""
    steps = 3.0 * (a > 0.0) + 2.0 * (b > 0.5) + 1.5 * (c < -0.3)
    return steps + (np.abs(d) < 1.0) + 0.5 * ((a > 0.0) & (b > 0.0))


AIRFOIL = File(["airfoil_self_noise.dat"], header=None)
CONCRETE = File(["concrete_data.csv"], header=None)
ENERGY = File(["ENB2012_data.csv"], columns=range(9))
Source = File | Callable[[], tuple[Array, Array]]
SETS: dict[tuple[str, str], dict[str, Source]] = {
    ("erbf", "R2"): {
        "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
        "friedman1": lambda: friedman1(0),
        "friedman1_d100": lambda: friedman1(95),
        "multithreshold": lambda: drawn(750, 6, 0.3, multithreshold),
        "piecewise": lambda: drawn(2_000, 5, 0.3, piecewise),
        "step": lambda: drawn(2_000, 8, 0.5, step),
        "concrete": CONCRETE,
        "airfoil": AIRFOIL,
        "energy": ENERGY,
        "wind": File(["wind.csv"], sort=["year", "month", "day"]),
        "abalone": File(["abalone.data"], None, range(1, 9)),
    },
    ("rfrboost", "RMSE"): {
        "airfoil": AIRFOIL,
        "concrete": CONCRETE,
        "energy": ENERGY,
        "abalone": File(["abalone.data"], None),
        "protein": File(["CASP.csv"], columns=(*range(1, 10), 0)),
        "white_wine": File(["winequality_white.csv"]),
    },
    ("rfrboost", "accuracy"): {
        "pima": File(["pima.csv"]),
        "wdbc": lambda: datasets.load_breast_cancer(return_X_y=True),
        "spambase": File(["spambase.data"], None),
        "letter": File(["letter.csv"]),
        "electricity": File(["electricity.csv"], codes=["f1"]),
        "bank": File(["bankmarketing_raw.csv"]),
        "gesture": File([f"{video}_va3.csv" for video in ("a1", "a2", "a3", "b1", "b3", "c1", "c3")]),
        # Test rows come first.
        "adult": File(["adult_raw.csv"], sort=["split"], drop=["split"]),
    },
}
"""Data sets by table and measure."""
SOURCES = {f"{table}-{name}": source for (table, _), sets in SETS.items() for name, source in sets.items()}
MEASURE_OF = {f"{table}-{name}": measure for (table, measure), sets in SETS.items() for name in sets}
SCORES: dict[str, Callable[[Array, Array], float]] = {
    "R2": r2_score,
    "RMSE": root_mean_squared_error,
    "accuracy": accuracy_score,
}


def missing(name: str, folder: Path | None) -> str:
    """Why a data set is not available; empty if it is."""
    source = SOURCES[name]
    return source.missing(folder) if isinstance(source, File) else ""


@lru_cache(maxsize=1)
def load(name: str, folder: Path | None) -> TaskData:
    """A data set, prepared as in its paper."""
    source, is_class = SOURCES[name], MEASURE_OF[name] == "accuracy"
    X, y = source.read(folder) if isinstance(source, File) else source()
    if name.startswith("rfrboost"):
        X = numbers(pd.DataFrame(X))
        rows = np.random.RandomState(SEED).permutation(len(y))[:MOST_ROWS]
        X, y = standardized(X[rows]), y[rows]
        y = y if is_class else standardized(y.astype(float))
    if not is_class:
        return TaskData("regression", np.asarray(X, float), y.astype(float))
    classes, codes = np.unique(y, return_inverse=True)
    return TaskData("binary" if len(classes) == 2 else "multiclass", X, codes)


def numbers(frame: pd.DataFrame) -> Array:
    """Numbers and one-hot codes; missing values get the most frequent category."""
    texts = frame.select_dtypes("category")
    filled = frame.assign(**{name: column.fillna(column.mode()[0]) for name, column in texts.items()})
    return pd.get_dummies(filled).to_numpy(float)


def standardized(values: Array) -> Array:
    """Columns of mean 0 and standard deviation 1, clipped."""
    return np.clip((values - values.mean(axis=0)) / (values.std(axis=0) + 1e-5), -CLIP, CLIP)


def split(data: TaskData, index: int) -> Rows:
    """Fold `index`, from 1, of both papers."""
    folds = [*KFold(FOLDS, shuffle=True, random_state=SEED).split(data.X)]
    return data.parts(*folds[index - 1])


def measure(system: System, rows: Rows, task: Task) -> list[dict[str, Any]]:
    """The score of a fold, and the time of its fit."""
    warm_up(system, rows.task, False)
    start = process_time()
    model = system.fit(rows)
    seconds = process_time() - start
    score = SCORES[MEASURE_OF[task.dataset]](rows.y_test, np.ravel(model.predict(rows.X_test)))
    return [dict(zip(MEASURES, (float(score), seconds), strict=True))]


@lru_cache(maxsize=1)
def published() -> pd.DataFrame:
    """The published figures: a line per data set, a column per system."""
    figures = pd.read_csv(FIGURES)
    wide = figures.pivot(index=["table", "set"], columns="system", values="value")
    wide.index = [f"{table}-{name}" for table, name in wide.index]
    variants = wide[[name for name in wide if name.startswith("RFRBoost")]]
    lower = np.array([MEASURE_OF[name] == "RMSE" for name in wide.index])
    return wide.assign(**{"RFRBoost, best": variants.min(axis=1).where(lower, variants.max(axis=1))})


def show(frame: pd.DataFrame) -> str:
    """A table for each paper and measure: means over folds, measured and published."""
    means, parts = frame.pivot_table("score", "dataset", "system"), []
    measured = [name for name in SYSTEMS if name in means]
    for (table, name), peers in PEERS.items():
        sets = [key for key in (f"{table}-{part}" for part in SETS[table, name]) if key in means.index]
        if sets:
            both = means.loc[sets, measured].join(published()[[*peers]])
            parts.append(table_of_sets(both, f"{table}, {name}", peers, name == "RMSE"))
    return "\n".join(parts)


def table_of_sets(both: pd.DataFrame, title: str, peers: Sequence[str], lower: bool) -> str:
    """A line per set, the means, and on how many sets the first system is better than each peer."""
    lines = [
        [name, *(f"{value:.4f}" for value in values)]
        for name, values in zip(both.index.str.split("-").str[1], both.to_numpy(), strict=True)
    ]
    lines.append(["mean", *(f"{value:.4f}" for value in both.mean())])
    gaps = both[[*peers]].sub(both.iloc[:, 0], axis=0) * (1.0 if lower else -1.0)
    ahead = [f"{(gaps[name] > TIE).sum()} of {len(both)}" if name in peers else "" for name in both]
    lines.append([f"{both.columns[0]} is better", *ahead])
    return markdown([title, *both.columns], lines)


BENCHMARK = Benchmark(
    __doc__,
    [*SOURCES],
    SYSTEMS,
    FOLDS,
    load,
    split,
    measure,
    dict.fromkeys(MEASURES, ""),
    show=show,
    missing=missing,
    optional=["linear"],
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
