"""Data sets for binary classification, by name or from CSV files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..utils.choices import choices_text
from ..utils.csv_tables import read_csv
from ..utils.typing import Array

SUFFIXES = (".csv", ".csv.gz")
CATEGORIES = (20, 100)
"""Bounds on the number of categories of a column; between them, a tenth of the rows is the limit."""


@dataclass(frozen=True)
class NamedDataset:
    """A data set for binary classification.

    Attributes
    ----------
    name : str
        Its name in tables.
    X : ndarray of shape (n, d)
        Features, float64, finite, unscaled.
    y : ndarray of shape (n,)
        1 for the positive class, else 0.
    """

    name: str
    X: Array
    y: Array


SHIPPED = {
    "breast_cancer": ("load_breast_cancer", [0]),
    "digits": ("load_digits", [1, 3, 5, 7, 9]),
    "wdbc": ("load_breast_cancer", [0]),
    "wine": ("load_wine", [0]),
}
"""The sets that scikit-learn ships: the function that loads each, and the positive classes.

These are malignant tumours and the first cultivar, as in the papers, and odd digits.
"""


def shipped(name: str) -> NamedDataset:
    """A set that scikit-learn ships."""
    from sklearn import datasets

    loader, positive = SHIPPED[name]
    X, y = getattr(datasets, loader)(return_X_y=True)
    return NamedDataset(name, X, np.isin(y, positive).astype(np.int64))


def load(name: str | os.PathLike[str], data_dir: str | Path | None = None, target: str = "target") -> NamedDataset:
    """Load one data set.

    Parameters
    ----------
    name : str or path
        The path of a CSV or CSV.gz file, the stem of one in `data_dir`, or one of ``wine``, ``digits`` and
        ``wdbc`` (also called ``breast_cancer``), which scikit-learn ships. A file in `data_dir` takes precedence
        over a shipped set of the same name.
    data_dir : path, optional
        Folder of the files, which are in it or directly below it.
    target : str, default="target"
        Column of a file that holds the labels: two distinct values, the larger one positive.

    Returns
    -------
    NamedDataset
        Text is one-hot encoded, one column per value, after the numeric columns. A column of text may have as
        many values as a tenth of the rows, 20 in any case and 100 at most: more are names or dates.

    Raises
    ------
    ValueError
        If there is no such data set, the file is not a CSV table, two columns have the same name, the first column
        is an index without a name, or it holds missing or infinite values, a text column with too many values, or
        a target without exactly two values. The message names the data set and the column.
    """
    if data_dir is not None and not Path(data_dir).is_dir():
        raise ValueError(f"data_dir {str(data_dir)!r} is not a folder")
    name = os.fspath(name)
    path = resolve_path(name, data_dir)
    if path is not None:
        return from_csv(stem(path), path, target)
    if name in SHIPPED:
        return shipped(name)
    choices = choices_text(repr(name), name, sorted({*SHIPPED, *stems(data_dir)}))
    raise ValueError(f"unknown data set {choices}, or the path of a CSV file")


def resolve_path(name: str, data_dir: str | Path | None) -> Path | None:
    """The file that `name` refers to, if it is a path, which must exist, or a stem in `data_dir`."""
    if os.sep in name or name.endswith(SUFFIXES):
        if not Path(name).is_file():
            raise ValueError(f"data set {name!r}: there is no such file")
        return Path(name)
    return find_file(name, data_dir)


def find_file(stem: str, data_dir: str | Path | None, suffixes: Sequence[str] = SUFFIXES) -> Path | None:
    """The file of that stem in a folder or, if there is none, directly below it."""
    candidates = (folder / (stem + suffix) for folder in search_folders(data_dir) for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def search_folders(data_dir: str | Path | None) -> list[Path]:
    """A folder and those directly below it."""
    if data_dir is None:
        return []
    return [Path(data_dir), *sorted(path for path in Path(data_dir).iterdir() if path.is_dir())]


def stem(path: Path) -> str:
    """The file's name without .csv or .csv.gz."""
    return path.name.removesuffix(".gz").removesuffix(".csv")


def stems(data_dir: str | Path | None) -> list[str]:
    """The names of the CSV files in a folder and directly below it."""
    files = (path for folder in search_folders(data_dir) for path in folder.iterdir() if path.is_file())
    return [stem(path) for path in files if path.name.endswith(SUFFIXES)]


def from_csv(name: str, path: Path, target: str = "target") -> NamedDataset:
    """The set in a CSV file; see :func:`load`."""
    frame, column = read_features_target(name, path, target)
    return NamedDataset(name, numeric_features(name, frame), binary_labels(name, column))


def read_features_target(name: str, path: Path, target: str, missing_values: bool = False) -> tuple[Any, Any]:
    """Features, a data frame, and target of a CSV file; features may lack values if `missing_values`.

    Any other table raises a ValueError that names the data set, and the column.
    """
    frame = read_csv(path)
    require_no_index(path, frame)
    if min(frame.shape) < 2:
        raise ValueError(
            f"{str(path)!r} must have at least 2 rows and 2 columns, separated by commas, got {frame.shape}"
        )
    frame = frame.rename(columns=str)
    if target not in frame.columns:
        raise ValueError(f"data set {name!r} has no {choices_text(f'column {target!r}', target, frame.columns)}")
    missing = (frame[[target]] if missing_values else frame).isna().any()
    if missing.any():
        raise ValueError(
            f"data set {name!r}: column {missing.idxmax()!r} has missing values: empty cells, or words like "
            f"NA, None and null"
        )
    return frame.drop(columns=target), frame[target]


def require_no_index(path: Path, frame: Any) -> None:
    """Raise a ValueError if a first column without a name has a number of its own for each row, an index."""
    first = frame.columns[0]
    if str(first).startswith("Unnamed: 0") and frame[first].dtype.kind == "i" and frame[first].is_unique:
        raise ValueError(
            f"{str(path)!r} has a first column without a name that numbers the rows, an index and no feature: "
            f"leave it out, as DataFrame.to_csv(index=False) does"
        )


def binary_labels(name: str, column: Any) -> Array:
    """1 where the target has the larger one of its two values, else 0."""
    values, codes = np.unique(column.to_numpy(), return_inverse=True)
    if len(values) != 2:
        raise ValueError(
            f"data set {name!r}: column {column.name!r} must have 2 classes, got {len(values)}: "
            f"{', '.join(map(str, values[:5]))}{', ...' if len(values) > 5 else ''}"
        )
    return codes.astype(np.int64)


def numeric_features(name: str, frame: Any) -> Array:
    """The features as numbers, (n, d): numeric columns first, then one column per category."""
    import pandas as pd

    categorical = list(frame.select_dtypes(exclude=["number", "bool"]).columns)
    least, most = CATEGORIES
    limit = min(most, max(least, len(frame) // 10))
    for column in categorical:
        if (n_values := frame[column].nunique()) > limit:
            raise ValueError(
                f"data set {name!r}: column {column!r} has {n_values} distinct values that are no numbers of 64 "
                f"bits, such as {frame[column].dropna().iloc[0]!r}, at most {limit} can be "
                f"categories of {len(frame)} rows"
            )
    encoded = pd.get_dummies(frame, columns=categorical, dtype=np.float64)
    X = np.ascontiguousarray(encoded.to_numpy(dtype=np.float64))
    finite = np.isfinite(X).all(axis=0)
    if not finite.all():
        raise ValueError(f"data set {name!r}: column {encoded.columns[~finite][0]!r} has infinite values")
    return X
