"""Data sets of the benchmarks: CSV files, what scikit-learn ships, and generated rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from rffboost_ext.experiments.datasets import SHIPPED, find_file, read_features_target, shipped

from .generated import Arrays, Drawn, classification, jagged, smooth, sparse_linear
from .splits import Array, Rows, TaskData

TARGET = "target"


def source_split(first: int, data: TaskData | Drawn, index: int) -> Rows:
    """Split `index`, from 1, of a data set; the first has the random state `first`."""
    return data.split(first + index - 1)


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
    train : int, optional
        Most training rows of a split.
    group : str, optional
        The column of the groups that splits keep whole; it is no feature.
    time : callable, optional
        What rows are sorted by, given the features.
    """

    task: str
    load: Callable[[Path | None], tuple[Any, Array]]
    rows: int | None = None
    stem: str | None = None
    train: int | None = None
    group: str | None = None
    time: Callable[[Any], Any] | None = None

    def missing(self, data_dir: Path | None) -> str:
        """Why it is not available; empty if it is."""
        if self.stem is None or self.stem in SHIPPED or find_file(self.stem, data_dir) is not None:
            return ""
        where = "and no folder of data is given" if data_dir is None else f"not found in {str(data_dir)!r}"
        return f"it is in {self.stem}.csv or {self.stem}.csv.gz, {where}"

    def read(self, name: str, data_dir: Path | None) -> TaskData:
        """The data set."""
        X, y = self.load(data_dir)
        if self.rows is not None and self.rows < len(y):
            kept = np.random.RandomState(0).choice(len(y), self.rows, replace=False)
            X, y = X[kept] if isinstance(X, np.ndarray) else X.iloc[kept], y[kept]
        if self.time is not None:
            order = np.argsort(np.asarray(self.time(X)), kind="stable")
            X, y = X.iloc[order], y[order]
        groups = None if self.group is None else pd.factorize(X.pop(self.group))[0]
        rows = TaskData(self.task, plain(X), y, self.train, groups, self.time is not None)
        if self.task == "regression":
            return replace(rows, y=y.astype(np.float64))
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2 or (self.task == "binary" and len(classes) > 2):
            raise ValueError(f"data set {name!r} must be {self.task}, got {len(classes)} classes")
        return replace(rows, y=codes)


def plain(X: Any) -> Any:
    """Features as an array of numbers, if all of them are, or else a data frame with columns f0, f1, ..."""
    if isinstance(X, np.ndarray):
        return X
    if all(dtype.kind in "iufb" for dtype in X.dtypes):
        return X.to_numpy(np.float64)
    names = [f"f{j}" for j in range(X.shape[1])]
    return X.set_axis(names, axis=1).reset_index(drop=True)


def from_file(stem: str, drop: tuple[str, ...], data_dir: Path | None) -> tuple[Any, Array]:
    """Features, text as categories, and target of a CSV file, or of what scikit-learn ships under that name."""
    path = find_file(stem, data_dir)
    if path is None:
        dataset = shipped(stem)
        return dataset.X, dataset.y
    frame, target = read_features_target(stem, path, TARGET, missing_values=True)
    numbers = frame.columns[[dtype.kind in "iufb" for dtype in frame.dtypes]]
    texts = frame.columns.difference([*numbers, *drop], sort=False)
    return frame.drop(columns=list(drop)).astype(dict.fromkeys(texts, "category")), target.to_numpy()


def from_csv(task: str, stem: str, rows: int | None = None, drop: tuple[str, ...] = (), **others: Any) -> Source:
    """A data set in a CSV file."""
    return Source(task, partial(from_file, stem, drop), rows, stem, **others)


def from_csvs(task: str, stems: str, rows: int | None = None) -> dict[str, Source]:
    """Data sets in CSV files by their names in one line."""
    return {stem: from_csv(task, stem, rows) for stem in stems.split()}


def from_generator(task: str, make: Callable[..., Arrays], **parameters: object) -> Source:
    """A data set that scikit-learn ships or generates."""
    return Source(task, lambda data_dir: make(**parameters))


SMALL = (
    *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
    *("vehicle", "german", "splice", "spambase", "occupancy"),
)
"""The data sets of the ECML protocol, in the papers' order, without bankmarketing."""

FURTHER: dict[str, Source] = {
    **from_csvs(
        "binary",
        "ad attrition biopsy cells churn_mlc churn_wa crabs credit dhfr flchain income lending_club musk "
        "pd_speech stackoverflow ticdata votes",
        12_000,
    ),
    **from_csvs("multiclass", "dna glass_types hpc penguins satellite soybean vehicle_types vowel", 12_000),
    **from_csvs(
        "regression",
        "airquality ames biomass car_prices check_times chicago college_scores concrete cpus diamonds "
        "doctor_visits house_prices meats nlschools nmes_visits ozone quakes sacramento salaries servo solder "
        "wages_cps wages_slid",
        12_000,
    ),
}
"""Real data sets that come with R packages. Those of few rows had a say, on other splits, in folds and stacks."""

REGRESSION = from_csvs(
    "regression",
    "abalone airbnb_nyc elevators fuel_economy gas_turbine loan_interest melbourne_housing movie_rating "
    "seoul_bike sulfur traffic_volume wind winequality_white",
    12_000,
)
DEVELOPMENT: dict[str, Source] = {
    **REGRESSION,
    **from_csvs(
        "binary",
        "cardio crash_deaths electricity heloc hmeq job_change magic phishing polish_bankruptcy",
        12_000,
    ),
    **from_csvs("multiclass", "gesture_phase kepler_koi letter otto skillcraft student_dropout", 12_000),
}
"""The data sets on which the defaults were developed."""

FEW, MEDIUM = (
    {f"{name}-{train}": replace(source, rows=None, train=train) for name, source in DEVELOPMENT.items()}
    for train in (1_000, 4_000)
)
"""The same with fewer training rows."""

LARGE: dict[str, Source] = {
    **from_csvs("binary", "hotel_bookings weather_aus"),
    **from_csvs("multiclass", "diabetes_130"),
    **from_csvs("regression", "beijing_pm25 green_taxi"),
}
"""Real data sets of more than 100,000 rows."""

STRUCTURED: dict[str, Source] = {
    **{
        f"{stem}-time": from_csv(task, stem, 8_000, time=time)
        for task, stem, time in (
            ("binary", "electricity", lambda X: X.index),
            ("binary", "occupancy", lambda X: X.index),
            # From December to November.
            ("regression", "seoul_bike", lambda X: X["month"] % 12),
            ("regression", "wind", lambda X: 372 * X["year"] + 31 * X["month"] + X["day"]),
            ("regression", "melbourne_housing", lambda X: 12 * X["sale_year"] + X["sale_month"]),
            ("regression", "green_taxi", lambda X: 12 * X["year"] + X["month"]),
        )
    },
    **{
        f"{stem}-group": from_csv(task, stem, 8_000, group=group)
        for task, stem, group in (
            ("binary", "weather_aus", "Location"),
            ("binary", "job_change", "city"),
            ("regression", "beijing_pm25", "station"),
            ("regression", "airbnb_nyc", "neighbourhood"),
        )
    },
}
"""Data sets whose test rows are later than the training rows, or of other groups."""

GENERATED: dict[str, Drawn] = {
    f"{draw.__name__}-{train}": Drawn(task, draw, train, 100_000)
    for train in (400_000, 1_000_000)
    for task, draw in (("regression", jagged), ("regression", smooth), ("binary", classification))
}
"""Many rows, drawn anew for each split."""

# Noise of Friedman's second and third function as in his paper: a third of the signal's spread.
SOURCES: dict[str, Source | Drawn] = {
    **from_csvs("binary", " ".join(SMALL)),
    **FURTHER,
    **DEVELOPMENT,
    **FEW,
    **MEDIUM,
    **LARGE,
    **STRUCTURED,
    **GENERATED,
    "sparse_wide": Drawn("regression", sparse_linear, 140, 2_000),
    "classification-10000": Drawn("binary", classification, 10_000, 100_000),
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
}


@lru_cache(maxsize=2)
def load_source(name: str, data_dir: Path | None, rows: int | None = None) -> TaskData | Drawn:
    """The data set of that name, kept while it is in use; at most `rows` of its rows, if given."""
    source = SOURCES[name]
    return (source if rows is None else replace(source, rows=rows)).read(name, data_dir)


def missing_source(name: str, data_dir: Path | None) -> str:
    """Why a data set is not available; empty if it is."""
    return SOURCES[name].missing(data_dir)
