"""Trees on their own, with early stopping and a refit, and the default model, beside CatBoost and ChimeraBoost.

    python benchmarks/tree_learners.py --data-dir FOLDER --out FILE.csv [--columns codes categories]
        [--datasets ...] [--systems ...] [--splits 2] [--rows 8000]

For each data set, split and system: the score on a quarter of the rows, R2 or the share of the log loss of class
frequencies that is explained, in percent, and the CPU seconds of the fit on one thread. "codes" are plain matrices
with text as numbers; "categories" leave text as it is, on the data sets that have some. Then come means over data
sets, and the mean difference of each system from the first with its paired standard error. Rows that are in
FILE.csv are not measured again. "no symmetric trees" is the default model without them. Needs
``pip install catboost chimeraboost``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[pool] = "1"
ROOT = Path(__file__).resolve().parents[1]
# The script's own folder, where onnx.py would be taken for the package of that name, makes way for the root.
sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.metrics import log_loss, r2_score  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

from benchmarks.defaults_run import estimator, variants  # noqa: E402
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, SymmetricTree  # noqa: E402
from rffboost_ext.experiments.compare.datasets import find_file  # noqa: E402

REGRESSION = (
    *("abalone", "airbnb_nyc", "elevators", "fuel_economy", "gas_turbine", "loan_interest", "melbourne_housing"),
    *("movie_rating", "seoul_bike", "sulfur", "traffic_volume", "wind", "winequality_white"),
)
CLASSIFICATION = (
    *("cardio", "crash_deaths", "electricity", "gesture_phase", "heloc", "hmeq", "job_change", "kepler_koi"),
    *("letter", "magic", "otto", "phishing", "polish_bankruptcy", "skillcraft", "student_dropout"),
)
KEY = ["columns", "data", "split", "system"]


def main() -> None:
    """Measure what is missing, and print the comparison."""
    warnings.simplefilter("ignore")
    chosen = options().parse_args()
    for columns, name in product(chosen.columns, chosen.datasets):
        for record in measured(columns, name, chosen):
            line = pd.DataFrame([record])
            line.to_csv(chosen.out, mode="a", header=not chosen.out.exists(), index=False)
            print(
                " ".join(f"{value:.2f}" if isinstance(value, float) else str(value) for value in record.values())
            )
    records = pd.read_csv(chosen.out)
    wanted = records.system.isin(chosen.systems) & records.data.isin(chosen.datasets)
    for columns in chosen.columns:
        print(f"\n{columns}")
        compare(records[wanted & (records["columns"] == columns)], chosen.systems)


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [*REGRESSION, *CLASSIFICATION]
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of CSV files")
    parser.add_argument("--out", type=Path, required=True, help="CSV file of the results")
    parser.add_argument("--columns", nargs="+", choices=["codes", "categories"], default=["codes", "categories"])
    parser.add_argument("--datasets", nargs="+", choices=everything, default=everything, metavar="NAME")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, default=8_000, help="most rows of a data set")
    return parser


def measured(columns: str, name: str, chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The records of a data set that are not in the file yet."""
    known = {tuple(row) for row in pd.read_csv(chosen.out)[KEY].to_numpy()} if chosen.out.exists() else set()
    tasks = [
        (split, system)
        for split, system in product(range(chosen.splits), chosen.systems)
        if (columns, name, split, system) not in known
    ]
    X, y = load(name, chosen.data_dir, chosen.rows) if tasks else (pd.DataFrame(), np.empty(0))
    if columns == "codes":
        X = X.apply(coded)
    elif not text_columns(X):
        return
    for split, system in tasks:
        score, seconds = result(system, name, X, y, split)
        yield dict(zip(KEY, (columns, name, split, system), strict=True)) | {"score": score, "seconds": seconds}


def load(name: str, folder: Path, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Features and target of at most so many rows of a data set; text as categories, with the gaps that it has."""
    path = find_file(name, folder)
    if path is None:
        raise SystemExit(f"{name}.csv.gz not found in {folder}")
    frame = pd.read_csv(path)
    frame = frame.sample(n=min(rows, len(frame)), random_state=0, ignore_index=True)
    y = frame.pop("target")
    target = pd.factorize(y, sort=True)[0] if name in CLASSIFICATION else y.to_numpy(np.float64)
    return frame.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else c.astype("category")), target


def text_columns(X: pd.DataFrame) -> list[str]:
    """The names of the columns of categories."""
    return [str(name) for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]


def coded(column: pd.Series) -> pd.Series:
    """A column of numbers; the sorted categories are counted from 0, and gaps remain."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(np.float64)
    return column.cat.codes.where(column.notna()).astype(np.float64)


def result(system: str, name: str, X: pd.DataFrame, y: np.ndarray, split: int) -> tuple[float, float]:
    """Score and CPU seconds of one fit."""
    is_classification = name in CLASSIFICATION
    rows = np.arange(len(y))
    train, test = train_test_split(
        rows, test_size=0.25, random_state=split, stratify=y if is_classification else None
    )
    fit = SYSTEMS[system](is_classification)
    warm_up(system, is_classification)
    start = time.process_time()
    model, prepare = fit(X.iloc[train], y[train])
    seconds = time.process_time() - start
    if not is_classification:
        return 100.0 * r2_score(y[test], model.predict(prepare(X.iloc[test]))), seconds
    shares = np.bincount(y[train]) / len(train)
    found = log_loss(y[test], model.predict_proba(prepare(X.iloc[test])), labels=range(len(shares)))
    least = log_loss(y[test], np.tile(shares, (len(test), 1)), labels=range(len(shares)))
    return 100.0 * (1.0 - found / least), seconds


@cache
def warm_up(system: str, is_classification: bool) -> None:
    """Pay for imports and compilation once per process, so that no measured fit does."""
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.standard_normal((400, 3))).add_prefix("f"), rng.standard_normal(400)
    SYSTEMS[system](is_classification)(X, (y > 0.0).astype(int) if is_classification else y)


Fit = Callable[[pd.DataFrame, np.ndarray], tuple[Any, Callable[[pd.DataFrame], Any]]]
"""Fits a model; returns it with what prepares features for its predictions."""


def ours(learner: Any) -> Callable[[bool], Fit]:
    """A learner in our loop; "auto" is the default model."""

    def system(is_classification: bool) -> Fit:
        make = RFFBoostClassifier if is_classification else RFFBoostRegressor
        return lambda X, y: (
            make(learner=learner, random_state=0, early_stopping=True).fit(X, y),
            lambda rows: rows,
        )

    return system


def variant(name: str) -> Callable[[bool], Fit]:
    """The default model with a member of the stack changed or left out, by its name in ``defaults.py``."""

    def system(is_classification: bool) -> Fit:
        model = estimator("binary" if is_classification else "regression", 1, variants()[name])
        return lambda X, y: (model.fit(X, y), lambda rows: rows)

    return system


def catboost(is_classification: bool) -> Fit:
    """CatBoost's defaults, 1,000 rounds."""
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostClassifier if is_classification else CatBoostRegressor
    model = make(thread_count=1, random_seed=0, verbose=False, allow_writing_files=False)
    return lambda X, y: (model.fit(as_text(X), y, cat_features=text_columns(X)), as_text)


def chimeraboost(is_classification: bool) -> Fit:
    """ChimeraBoost's defaults."""
    from chimeraboost import ChimeraBoostClassifier, ChimeraBoostRegressor

    make = ChimeraBoostClassifier if is_classification else ChimeraBoostRegressor
    model = make(thread_count=1, random_state=0)
    return lambda X, y: (model.fit(as_text(X), y, cat_features=text_columns(X)), as_text)


def as_text(X: pd.DataFrame) -> pd.DataFrame:
    """The features with categories as text, a gap as a category of its own."""
    return X.apply(lambda c: c.astype(object).fillna("") if isinstance(c.dtype, pd.CategoricalDtype) else c)


SYSTEMS: dict[str, Callable[[bool], Fit]] = {
    "symmetric_tree": ours("symmetric_tree"),
    "constant leaves": ours(SymmetricTree(leaf="constant")),
    "linear leaves": ours(SymmetricTree(leaf="linear")),
    "XGBoost's tree": ours("tree"),
    "default model": ours("auto"),
    "no symmetric trees": variant("no symmetric trees"),
    "CatBoost": catboost,
    "ChimeraBoost": chimeraboost,
}


def compare(records: pd.DataFrame, systems: list[str]) -> None:
    """Print means over data sets, and differences of the other systems from the first."""
    complete = records.groupby("data").system.nunique() == len(systems)
    records = records[records.data.isin(complete.index[complete])]
    of_data = records.groupby(["data", "system"])[["score", "seconds"]].mean().unstack()
    print(f"{len(of_data)} data sets")
    for system in systems:
        scores, seconds = of_data["score"][system], of_data["seconds"].sum()[system]
        gap = scores - of_data["score"][systems[0]]
        error = gap.std() / np.sqrt(len(gap))
        print(
            f"{system:16} mean {scores.mean():6.2f}  difference {gap.mean():+.2f} +- {error:.2f}  "
            f"ahead on {(gap > 0).sum():2}  {seconds:6.1f} s"
        )


if __name__ == "__main__":
    main()
