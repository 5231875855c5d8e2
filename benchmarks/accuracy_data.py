"""The data sets of the accuracy benchmark: CSV files, and what scikit-learn ships or generates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from sklearn import datasets

from rffboost_ext.experiments.compare.datasets import (
    SHIPPED,
    choices_text,
    features,
    find_file,
    read_features_target,
)

Array = np.ndarray
Arrays = tuple[Array, Array]
Load = Callable[[Path | None], Arrays]
TEST_SIZE = 0.3
TARGET = "target"


@dataclass(frozen=True)
class AccuracyDataset:
    """One data set as the systems meet it.

    Attributes
    ----------
    name, task : str
        Its name and "binary", "multiclass" or "regression".
    X, y : ndarray of shape (n, d) and (n,)
        Features as they come, and classes counted from 0 or targets.
    """

    name: str
    task: str
    X: Array
    y: Array

    def split(self, index: int) -> tuple[Array, Array]:
        """Training and test rows of split `index`, from 1: 70/30, stratified by class, random state `index`."""
        from sklearn.model_selection import train_test_split

        classes = None if self.task == "regression" else self.y
        rows = np.arange(len(self.y))
        return train_test_split(rows, test_size=TEST_SIZE, stratify=classes, random_state=index)


@dataclass(frozen=True)
class AccuracySource:
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
    load: Load
    rows: int | None = None
    stem: str | None = None

    def missing(self, data_dir: Path | None) -> str:
        """Why it cannot be had; nothing if it can."""
        if self.stem is None or self.stem in SHIPPED or find_file(self.stem, data_dir) is not None:
            return ""
        where = "and no folder of data is given" if data_dir is None else f"not found in {str(data_dir)!r}"
        return f"it is in {self.stem}.csv or {self.stem}.csv.gz, {where}"

    def problem(self, name: str, data_dir: Path | None) -> AccuracyDataset:
        """The data set, of at most so many rows."""
        X, y = self.load(data_dir)
        if self.rows is not None and self.rows < len(y):
            kept = np.random.RandomState(0).choice(len(y), self.rows, replace=False)
            X, y = X[kept], y[kept]
        if self.task == "regression":
            return AccuracyDataset(name, self.task, X, y.astype(np.float64))
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2 or (self.task == "binary" and len(classes) > 2):
            raise ValueError(f"data set {name!r} must be {self.task}, got {len(classes)} classes")
        return AccuracyDataset(name, self.task, X, codes)


def from_file(stem: str, data_dir: Path | None, drop: tuple[str, ...] = ()) -> Arrays:
    """Features, text one-hot encoded, and target of a CSV file in the folder or directly below it.

    Without such a file, it is what scikit-learn ships under that name.
    """
    path = find_file(stem, data_dir)
    if path is None:
        shipped = SHIPPED[stem](stem)
        return shipped.X, shipped.y
    frame, target = read_features_target(stem, path, TARGET)
    return features(stem, frame.drop(columns=list(drop))), target.to_numpy()


def from_table(stem: str, data_dir: Path | None) -> Arrays:
    """Features, with the gaps that they have, and target of a CSV file in the folder or directly below it."""
    import pandas as pd

    path = find_file(stem, data_dir)
    assert path is not None
    frame, target = read_features_target(stem, path, TARGET, missing_values=True)
    return pd.get_dummies(frame, dtype=np.float64).to_numpy(np.float64), target.to_numpy()


def with_missing_values(task: str, stems: str) -> dict[str, AccuracySource]:
    """Data sets in CSV files, which may have gaps, by their names in one line."""
    return {stem: AccuracySource(task, partial(from_table, stem), 12_000, stem) for stem in stems.split()}


def from_csv(task: str, stem: str, rows: int | None = None, drop: tuple[str, ...] = ()) -> AccuracySource:
    """A data set in a CSV file."""
    return AccuracySource(task, partial(from_file, stem, drop=drop), rows, stem)


def from_generator(task: str, make: Callable[..., Arrays], **parameters: object) -> AccuracySource:
    """A data set that scikit-learn ships or generates."""
    return AccuracySource(task, lambda data_dir: make(**parameters))


SMALL = (
    *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
    *("vehicle", "german", "splice", "spambase", "occupancy"),
)
"""The data sets of the ECML protocol, in the papers' order, without bankmarketing."""

FURTHER: dict[str, AccuracySource] = {
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
SOURCES: dict[str, AccuracySource] = {
    **{stem: from_csv("binary", stem) for stem in SMALL},
    "bankmarketing": from_csv("binary", "bankmarketing_raw"),
    "adult": from_csv("binary", "adult_raw", 8_000, drop=("split",)),
    "adult_full": from_csv("binary", "adult_raw", drop=("split",)),
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


def check_names(names: list[str]) -> None:
    """Raise a ValueError that lists the choices if one of the names is no data set."""
    for name in names:
        if name not in SOURCES:
            raise ValueError(f"unknown data set {choices_text(repr(name), name, sorted(SOURCES))}")


@lru_cache(maxsize=2)
def load_dataset(name: str, data_dir: Path | None) -> AccuracyDataset:
    """The data set of that name, kept while it is at work."""
    return SOURCES[name].problem(name, data_dir)
