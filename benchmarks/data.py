"""Data sets of the benchmarks: CSV files, and what scikit-learn ships or generates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import train_test_split

from rffboost_ext.experiments.datasets import SHIPPED, find_file, numeric_features, read_features_target, shipped

Array = np.ndarray
Arrays = tuple[Array, Array]
Parts = tuple[Any, Array, Any, Array]
TARGET = "target"


@dataclass(frozen=True)
class TaskData:
    """A data set: features (n, d), and classes counted from 0 or targets (n,).

    `task` is "binary", "multiclass" or "regression".
    """

    task: str
    X: Any
    y: Array

    def split(self, test_size: float, seed: int) -> Parts:
        """Features and targets of the training and of the test part, stratified by class."""
        classes = None if self.task == "regression" else self.y
        rows = np.arange(len(self.y))
        train, test = train_test_split(rows, test_size=test_size, stratify=classes, random_state=seed)
        X = self.X if isinstance(self.X, np.ndarray) else self.X.iloc
        return X[train], self.y[train], X[test], self.y[test]


def task_split(test_size: float, first: int, data: TaskData, index: int) -> tuple[str, Parts]:
    """The task, and the parts of split `index`, from 1; the first has the random state `first`."""
    return data.task, data.split(test_size, first + index - 1)


@dataclass(frozen=True)
class Source:
    """Where a data set comes from.

    Attributes
    ----------
    task : str
        "binary", "multiclass" or "regression".
    load : callable
        Features and target, given the folder of CSV files.
    rows : int, optional
        Most rows that are kept: ``RandomState(0).choice(n, rows, replace=False)``.
    stem : str, optional
        The CSV file that it is in, without its suffix.
    """

    task: str
    load: Callable[[Path | None], Arrays]
    rows: int | None = None
    stem: str | None = None

    def missing(self, data_dir: Path | None) -> str:
        """Why it is not available; empty if it is."""
        return "" if self.stem is None or self.stem in SHIPPED else missing_file(self.stem, data_dir)

    def read(self, name: str, data_dir: Path | None) -> TaskData:
        """The data set."""
        X, y = self.load(data_dir)
        if self.rows is not None and self.rows < len(y):
            kept = np.random.RandomState(0).choice(len(y), self.rows, replace=False)
            X, y = X[kept], y[kept]
        if self.task == "regression":
            return TaskData(self.task, X, y.astype(np.float64))
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2 or (self.task == "binary" and len(classes) > 2):
            raise ValueError(f"data set {name!r} must be {self.task}, got {len(classes)} classes")
        return TaskData(self.task, X, codes)


def missing_file(stem: str, data_dir: Path | None) -> str:
    """Why a CSV file is not available; empty if it is."""
    if find_file(stem, data_dir) is not None:
        return ""
    where = "and no folder of data is given" if data_dir is None else f"not found in {str(data_dir)!r}"
    return f"it is in {stem}.csv or {stem}.csv.gz, {where}"


def from_file(stem: str, data_dir: Path | None, drop: tuple[str, ...] = ()) -> Arrays:
    """Features, text one-hot encoded, and target of a CSV file, or of what scikit-learn ships under that name."""
    path = find_file(stem, data_dir)
    if path is None:
        found = shipped(stem)
        return found.X, found.y
    frame, target = read_features_target(stem, path, TARGET)
    return numeric_features(stem, frame.drop(columns=list(drop))), target.to_numpy()


def from_table(stem: str, data_dir: Path | None) -> Arrays:
    """Features, with the gaps that they have, and target of a CSV file."""
    path = find_file(stem, data_dir)
    assert path is not None
    frame, target = read_features_target(stem, path, TARGET, missing_values=True)
    return pd.get_dummies(frame, dtype=np.float64).to_numpy(np.float64), target.to_numpy()


def with_missing_values(task: str, stems: str) -> dict[str, Source]:
    """Data sets in CSV files, which may have gaps, by their names in one line."""
    return {stem: Source(task, partial(from_table, stem), 12_000, stem) for stem in stems.split()}


def from_csv(task: str, stem: str, rows: int | None = None, drop: tuple[str, ...] = ()) -> Source:
    """A data set in a CSV file."""
    return Source(task, partial(from_file, stem, drop=drop), rows, stem)


def from_generator(task: str, make: Callable[..., Arrays], **parameters: object) -> Source:
    """A data set that scikit-learn ships or generates."""
    return Source(task, lambda data_dir: make(**parameters))


SMALL = (
    *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
    *("vehicle", "german", "splice", "spambase", "occupancy"),
)
"""The data sets of the ECML protocol, in the papers' order, without bankmarketing."""

FURTHER: dict[str, Source] = {
    **with_missing_values(
        "binary",
        "ad attrition biopsy cells churn_mlc churn_wa crabs credit dhfr flchain income lending_club musk "
        "pd_speech stackoverflow ticdata votes",
    ),
    **with_missing_values("multiclass", "dna glass_types hpc penguins satellite soybean vehicle_types vowel"),
    **with_missing_values(
        "regression",
        "airquality ames biomass car_prices check_times chicago college_scores concrete cpus diamonds "
        "doctor_visits house_prices meats nlschools nmes_visits ozone quakes sacramento salaries servo solder "
        "wages_cps wages_slid",
    ),
}
"""Real data sets that come with R packages. Those of few rows had a say, on other splits, in folds and stacks."""

# Noise of Friedman's second and third function as in his paper: a third of the signal's spread.
SOURCES: dict[str, Source] = {
    **{stem: from_csv("binary", stem) for stem in SMALL},
    "bankmarketing": from_csv("binary", "bankmarketing_raw"),
    "adult": from_csv("binary", "adult_raw", 8_000, drop=("split",)),
    **{stem: from_csv("binary", stem, 4_000) for stem in ("mnist17", "mnist49", "mnist56")},
    "electricity": from_csv("binary", "electricity", 12_000),
    "magic": from_csv("binary", "magic", 12_000),
    "letter": from_csv("multiclass", "letter", 12_000),
    "elevators": from_csv("regression", "elevators", 12_000),
    "winequality_white": from_csv("regression", "winequality_white", 12_000),
    "classification_2": from_generator(
        "binary",
        datasets.make_classification,
        n_samples=3_000,
        n_features=20,
        n_informative=8,
        n_clusters_per_class=4,
        flip_y=0.05,
        random_state=11,
    ),
    "classification_5": from_generator(
        "multiclass",
        datasets.make_classification,
        n_samples=3_000,
        n_features=30,
        n_informative=10,
        n_classes=5,
        flip_y=0.05,
        random_state=12,
    ),
    "gaussian_quantiles": from_generator(
        "multiclass",
        datasets.make_gaussian_quantiles,
        n_samples=3_000,
        n_features=10,
        n_classes=3,
        random_state=13,
    ),
    "digits": from_generator("multiclass", datasets.load_digits, return_X_y=True),
    "diabetes": from_generator("regression", datasets.load_diabetes, return_X_y=True),
    "friedman1": from_generator(
        "regression", datasets.make_friedman1, n_samples=2_000, noise=1.0, random_state=14
    ),
    "friedman2": from_generator(
        "regression", datasets.make_friedman2, n_samples=2_000, noise=125.0, random_state=15
    ),
    "friedman3": from_generator(
        "regression", datasets.make_friedman3, n_samples=2_000, noise=0.1, random_state=16
    ),
    "sparse_uncorrelated": from_generator(
        "regression", datasets.make_sparse_uncorrelated, n_samples=2_000, random_state=17
    ),
    "classification_wide": from_generator(
        "binary",
        datasets.make_classification,
        n_samples=1_000,
        n_features=100,
        n_informative=10,
        n_redundant=10,
        random_state=18,
    ),
    "clusters_wide": from_generator(
        "binary",
        datasets.make_classification,
        n_samples=2_000,
        n_features=300,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=8,
        random_state=19,
    ),
    "friedman1_wide": from_generator(
        "regression", datasets.make_friedman1, n_samples=700, n_features=200, noise=1.0, random_state=20
    ),
    "linear_wide": from_generator(
        "regression",
        datasets.make_regression,
        n_samples=1_000,
        n_features=300,
        n_informative=30,
        noise=50.0,
        random_state=21,
    ),
    **FURTHER,
}


@lru_cache(maxsize=2)
def load_source(name: str, data_dir: Path | None) -> TaskData:
    """The data set of that name, kept while it is in use."""
    return SOURCES[name].read(name, data_dir)


def missing_source(name: str, data_dir: Path | None) -> str:
    """Why a data set is not available; empty if it is."""
    return SOURCES[name].missing(data_dir)


REGRESSION = (
    *("abalone", "airbnb_nyc", "elevators", "fuel_economy", "gas_turbine", "loan_interest", "melbourne_housing"),
    *("movie_rating", "seoul_bike", "sulfur", "traffic_volume", "wind", "winequality_white"),
)
CLASSIFICATION = (
    *("cardio", "crash_deaths", "electricity", "gesture_phase", "heloc", "hmeq", "job_change", "kepler_koi"),
    *("letter", "magic", "otto", "phishing", "polish_bankruptcy", "skillcraft", "student_dropout"),
)
"""Tables of the benchmarks of trees and of distributions, as :func:`load_table` reads them."""


@lru_cache(maxsize=2)
def load_table(rows: int, name: str, data_dir: Path | None) -> TaskData:
    """At most that many rows of one of these sets, a data frame: text as categories, with its missing values."""
    path = find_file(name, data_dir)
    assert path is not None
    frame = pd.read_csv(path)
    frame = frame.sample(n=min(rows, len(frame)), random_state=0, ignore_index=True)
    y = frame.pop(TARGET)
    classes = name in CLASSIFICATION
    target = pd.factorize(y, sort=True)[0] if classes else y.to_numpy(np.float64)
    X = frame.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else c.astype("category"))
    return TaskData("classification" if classes else "regression", X, target)


def text_columns(X: pd.DataFrame) -> list[str]:
    """The names of the columns of categories."""
    return [str(name) for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]


def coded(column: pd.Series) -> pd.Series:
    """A column of numbers; the sorted categories are counted from 0, and missing values remain."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(np.float64)
    return column.cat.codes.where(column.notna()).astype(np.float64)
