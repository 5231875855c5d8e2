"""The data sets of the three papers: CSV files, what scikit-learn ships, and OpenML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rffboost_ext.experiments.datasets import (
    SUFFIXES,
    NamedDataset,
    binary_labels,
    find_file,
    numeric_features,
    read_features_target,
    shipped,
)
from rffboost_ext.utils.typing import Array

SVMLIGHT = ".svm.gz"
FORMATS = (*SUFFIXES, SVMLIGHT)


@dataclass(frozen=True)
class PublishedDataset(NamedDataset):
    """A data set, whose first `train_rows` rows are the published training part, if there is one."""

    train_rows: int | None = None


@dataclass(frozen=True)
class OpenML:
    """A data set on OpenML: its number and the target values of the positive class, as text.

    If there are `kept` values, rows with other target values are dropped. The first `train_rows` rows are the
    published training part.
    """

    id: int
    positive: tuple[str, ...]
    kept: tuple[str, ...] = ()
    train_rows: int | None = None


@dataclass(frozen=True)
class DataSource:
    """The source of a data set of n rows and d features.

    The file is named after `stem`, `shipped` is the name of scikit-learn's copy, and `unit` a divisor of the
    features. A set from OpenML must have the size (n, d).
    """

    n: int
    d: int
    stem: str
    shipped: str | None = None
    openml: OpenML | None = None
    unit: float = 1.0


SOURCES: dict[str, DataSource] = {
    "wine": DataSource(178, 13, "wine", "wine"),
    "sonar": DataSource(208, 60, "sonar", openml=OpenML(40, ("Rock",))),
    "newthyroid": DataSource(215, 5, "newthyroid", openml=OpenML(40682, ("2", "3"))),
    "heart": DataSource(270, 13, "heart", openml=OpenML(53, ("present",))),
    "bupa": DataSource(345, 6, "bupa"),
    "iono": DataSource(351, 34, "iono", openml=OpenML(59, ("b",))),
    "wdbc": DataSource(569, 30, "wdbc", "wdbc"),
    "balance": DataSource(625, 4, "balance", openml=OpenML(11, ("L",))),
    "australian": DataSource(690, 14, "australian"),
    "pima": DataSource(768, 8, "pima", openml=OpenML(37, ("tested_positive",))),
    "vehicle": DataSource(846, 18, "vehicle", openml=OpenML(54, ("van",))),
    "german": DataSource(1000, 23, "german"),
    "splice": DataSource(3175, 60, "splice"),
    "spambase": DataSource(4601, 57, "spambase", openml=OpenML(44, ("1",))),
    "occupancy": DataSource(20560, 5, "occupancy"),
    "bankmarketing": DataSource(45211, 51, "bankmarketing_raw", openml=OpenML(1461, ("2",))),
    "glass": DataSource(214, 9, "glass", openml=OpenML(41, ("build wind float",))),
    "breast": DataSource(569, 30, "breast", "wdbc"),
    "adult": DataSource(48842, 108, "adult_raw", openml=OpenML(1590, (">50K",), train_rows=32561)),
    "mnist17": DataSource(15170, 784, "mnist17", openml=OpenML(554, ("7",), ("1", "7")), unit=255.0),
    "mnist49": DataSource(13782, 784, "mnist49", openml=OpenML(554, ("9",), ("4", "9")), unit=255.0),
    "mnist56": DataSource(13189, 784, "mnist56", openml=OpenML(554, ("6",), ("5", "6")), unit=255.0),
    "farm": DataSource(4143, 54877, "farm"),
    "ads": DataSource(3279, 1554, "ads"),
}


class MissingData(LookupError):
    """A data set is not available; the message says why."""


def file_of(name: str, data_dir: Path | None) -> Path | None:
    """The file of a data set, if there is one."""
    return find_file(SOURCES[name].stem, data_dir, FORMATS) if name in SOURCES else None


def load_published(name: str, data_dir: Path | None = None) -> PublishedDataset:
    """The data set of that name, cached as long as its file does not change.

    Parameters
    ----------
    name : str
        A key of :data:`SOURCES`.
    data_dir : Path, optional
        Folder of ``NAME.csv``, ``NAME.csv.gz`` or svmlight ``NAME.svm.gz`` files, in it or directly below it.
        Files take precedence over scikit-learn's copies, and these over OpenML.

    Returns
    -------
    PublishedDataset
        A set with more features than rows is rotated into the span of its rows, which keeps all distances and
        therefore the Gaussian kernel.

    Raises
    ------
    MissingData
        If it is not available.
    """
    path = file_of(name, data_dir)
    return read_published(name, data_dir, path, path.stat().st_mtime_ns if path else 0)


@lru_cache(maxsize=2)
def read_published(name: str, data_dir: Path | None, path: Path | None, changed: int) -> PublishedDataset:
    """The data set in a file that was changed at that time, or else from scikit-learn or OpenML."""
    source = SOURCES[name]
    if path is not None:
        dataset = from_svmlight(name, path) if path.name.endswith(SVMLIGHT) else from_csv(name, path)
    elif source.shipped is not None:
        same = shipped(source.shipped)
        dataset = PublishedDataset(name, same.X, same.y)
    else:
        dataset = from_openml(name, source, data_dir)
    return replace(dataset, X=dataset.X / source.unit)


def from_csv(name: str, path: Path) -> PublishedDataset:
    """The set in a CSV file. A column `split`, if there is one, says "train" for the published training part."""
    frame, target = read_features_target(name, path, "target")
    parts = frame.pop("split") if "split" in frame.columns else None
    X, y = numeric_features(name, frame), binary_labels(name, target)
    if parts is None:
        return PublishedDataset(name, X, y)
    later = (parts != "train").to_numpy()
    # A stable sort: training rows first.
    order = np.argsort(later, kind="stable")
    return PublishedDataset(name, X[order], y[order], int((~later).sum()))


def from_svmlight(name: str, path: Path) -> PublishedDataset:
    """A file in svmlight's format, of fewer rows than features."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return PublishedDataset(name, span_coordinates(X), (y > 0).astype(np.int64))


def span_coordinates(X: Any) -> Array:
    """Coordinates of the rows of X (n, d) in their own span, (n, at most n): all distances are kept.

    From the Gram matrix ``X X^T = V S V^T`` they are ``V S^(1/2)``.
    """
    values, vectors = np.linalg.eigh(np.asarray((X @ X.T).todense()) if hasattr(X, "todense") else X @ X.T)
    kept = values > values[-1] * 1e-12
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


def from_openml(name: str, source: DataSource, data_dir: Path | None) -> PublishedDataset:
    """The set from OpenML, if it has the expected size."""
    where = "no --data-dir is given" if data_dir is None else f"there is no {source.stem}.csv in {str(data_dir)!r}"
    if source.openml is None:
        raise MissingData(f"{where}, and OpenML does not have it")
    try:
        frame, target = fetch_openml_data(source.openml.id)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else ""
        raise MissingData(f"{where}, and OpenML failed: {type(error).__name__}: {reason}") from error
    dataset = binarize(name, source.openml, frame, target)
    if dataset.X.shape != (source.n, source.d):
        shape, expected = (" x ".join(map(str, s)) for s in (dataset.X.shape, (source.n, source.d)))
        raise MissingData(f"{where}, and the set on OpenML has another size: {shape} instead of {expected}")
    return dataset


def fetch_openml_data(number: int) -> tuple[Any, Any]:
    """Features, as a data frame, and target of a set on OpenML; scikit-learn caches it."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(data_id=number, as_frame=True, parser="auto", n_retries=1)
    return bunch.data, bunch.target


def binarize(name: str, openml: OpenML, frame: Any, target: Any) -> PublishedDataset:
    """Numeric features and labels 0 and 1 of a set from OpenML; missing values become a category."""
    text = target.astype(str).reset_index(drop=True)
    frame = frame.reset_index(drop=True)
    if openml.kept:
        rows = text.isin(openml.kept)
        frame, text = frame[rows], text[rows]
    gaps = {column: frame[column].astype(object).fillna("?") for column in frame if frame[column].isna().any()}
    y = text.isin(openml.positive).to_numpy().astype(np.int64)
    return PublishedDataset(name, numeric_features(name, frame.assign(**gaps)), y, openml.train_rows)


def unavailable_datasets(names: Iterable[str], data_dir: Path | None) -> dict[str, str]:
    """The data sets that are not available, and the reasons."""
    reasons: dict[str, str] = {}
    for name in names:
        # Errors in a file are those of its tasks.
        if SOURCES[name].shipped is None and file_of(name, data_dir) is None:
            try:
                load_published(name, data_dir)
            except MissingData as error:
                reasons[name] = str(error)
    return reasons
