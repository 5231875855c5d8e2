"""The data sets of the three papers: CSV files, what scikit-learn ships, and OpenML."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...utils.typing import Array
from ..compare.datasets import SHIPPED, SUFFIXES, Dataset, features, labels, located, parted, unknown

TARGET, SPLIT = "target", "split"
SVMLIGHT = ".svm.gz"
FORMATS = (*SUFFIXES, SVMLIGHT)
BLOCK = 2**20


@dataclass(frozen=True)
class OpenML:
    """A data set on OpenML and its positive class.

    Attributes
    ----------
    id : int
        Its number.
    positive : tuple of str
        The values of the target, as text, of the positive class.
    kept : tuple of str
        The values whose rows are kept; all if there are none.
    train_rows : int, optional
        How many of its first rows are the published training part.
    """

    id: int
    positive: tuple[str, ...]
    kept: tuple[str, ...] = ()
    train_rows: int | None = None


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, and what size it must have.

    Attributes
    ----------
    n, d : int
        Rows and features; a set from OpenML of another size is not the same and is rejected.
    stem : str
        The name of its file, without the suffix.
    shipped : str, optional
        Name of scikit-learn's copy in :data:`rffboost_ext.experiments.compare.datasets.SHIPPED`.
    openml : OpenML, optional
        Where OpenML has it.
    unit : float
        Divisor of the features.
    """

    n: int
    d: int
    stem: str
    shipped: str | None = None
    openml: OpenML | None = None
    unit: float = 1.0


@dataclass(frozen=True)
class Data(Dataset):
    """A data set and its published split.

    Attributes
    ----------
    train_rows : int, optional
        Number of leading rows that are the published training part; None without a published split.
    """

    train_rows: int | None = None


SOURCES: dict[str, Source] = {
    "wine": Source(178, 13, "wine", "wine"),
    "sonar": Source(208, 60, "sonar", openml=OpenML(40, ("Rock",))),
    "newthyroid": Source(215, 5, "newthyroid", openml=OpenML(40682, ("2", "3"))),
    "heart": Source(270, 13, "heart", openml=OpenML(53, ("present",))),
    "bupa": Source(345, 6, "bupa"),
    "iono": Source(351, 34, "iono", openml=OpenML(59, ("b",))),
    "wdbc": Source(569, 30, "wdbc", "wdbc"),
    "balance": Source(625, 4, "balance", openml=OpenML(11, ("L",))),
    "australian": Source(690, 14, "australian"),
    "pima": Source(768, 8, "pima", openml=OpenML(37, ("tested_positive",))),
    "vehicle": Source(846, 18, "vehicle", openml=OpenML(54, ("van",))),
    "german": Source(1000, 23, "german"),
    "splice": Source(3175, 60, "splice"),
    "spambase": Source(4601, 57, "spambase", openml=OpenML(44, ("1",))),
    "occupancy": Source(20560, 5, "occupancy"),
    "bankmarketing": Source(45211, 51, "bankmarketing_raw", openml=OpenML(1461, ("2",))),
    "glass": Source(214, 9, "glass", openml=OpenML(41, ("build wind float",))),
    "breast": Source(569, 30, "breast", "wdbc"),
    "adult": Source(48842, 108, "adult_raw", openml=OpenML(1590, (">50K",), train_rows=32561)),
    "mnist17": Source(15170, 784, "mnist17", openml=OpenML(554, ("7",), ("1", "7")), unit=255.0),
    "mnist49": Source(13782, 784, "mnist49", openml=OpenML(554, ("9",), ("4", "9")), unit=255.0),
    "mnist56": Source(13189, 784, "mnist56", openml=OpenML(554, ("6",), ("5", "6")), unit=255.0),
    "farm": Source(4143, 54877, "farm"),
    "ads": Source(3279, 1554, "ads"),
}


class MissingData(LookupError):
    """A data set is not available; the message says why."""


def check_names(names: list[str]) -> None:
    """Raise a ValueError that lists the choices if one of the names is not a data set."""
    for name in names:
        if name not in SOURCES:
            raise ValueError(f"--datasets: unknown data set {unknown(repr(name), name, sorted(SOURCES))}")


def fingerprint(name: str, data_dir: Path | None) -> str:
    """What the file of a data set holds, as text; nothing where there is no file, or the set is a toy."""
    path = located(SOURCES[name].stem, data_dir, FORMATS) if name in SOURCES else None
    if path is None:
        return ""
    facts = path.stat()
    return digest(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=64)
def digest(path: Path, changed: int, size: int) -> str:
    """A checksum of a file, taken once as long as the file is what it was."""
    with path.open("rb") as file:
        found = 0
        for block in iter(lambda: file.read(BLOCK), b""):
            found = zlib.crc32(block, found)
    return f"{found:08x}"


def load(name: str, data_dir: Path | None = None) -> Data:
    """The data set of that name, cached as long as its file does not change.

    Parameters
    ----------
    name : str
        A key of :data:`SOURCES`.
    data_dir : Path, optional
        Folder of ``NAME.csv``, ``NAME.csv.gz`` or svmlight ``NAME.svm.gz`` files, in it or directly below it.
        Files take precedence over what scikit-learn ships, and that over OpenML.

    Returns
    -------
    Data
        Where there are more features than rows, the features are the coordinates of the rows in their own span,
        which keeps all distances; the Gaussian kernel and Gaussian frequencies are not affected.

    Raises
    ------
    MissingData
        If it is not available.
    """
    return kept(name, data_dir, fingerprint(name, data_dir))


@lru_cache(maxsize=2)
def kept(name: str, data_dir: Path | None, content: str) -> Data:
    """The data set, of which `content` is the fingerprint."""
    source = SOURCES[name]
    path = located(source.stem, data_dir, FORMATS)
    if path is not None:
        found = from_svmlight(name, path) if path.name.endswith(SVMLIGHT) else from_csv(name, path)
    elif source.shipped is not None:
        found = Data(*vars(SHIPPED[source.shipped](name)).values())
    else:
        found = from_openml(name, source, data_dir)
    return Data(name, found.X / source.unit, found.y, found.train_rows)


def from_csv(name: str, path: Path) -> Data:
    """A CSV file with labels in the column "target", and the published split in "split": "train" or "test"."""
    frame, target = parted(name, path, TARGET)
    X, y = features(name, frame.drop(columns=SPLIT, errors="ignore")), labels(name, target)
    if SPLIT not in frame.columns:
        return Data(name, X, y)
    later = (frame[SPLIT] != "train").to_numpy()
    # A stable sort: training rows first.
    order = np.argsort(later, kind="stable")
    return Data(name, X[order], y[order], int((~later).sum()))


def from_svmlight(name: str, path: Path) -> Data:
    """A file in svmlight's format, of fewer rows than features."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return Data(name, span_coordinates(X), (y > 0).astype(np.int64))


def span_coordinates(X: Any) -> Array:
    """Coordinates of the rows of X (n, d) in their own span, (n, at most n): all distances are kept.

    From the Gram matrix ``X X^T = V S V^T`` they are ``V S^(1/2)``.
    """
    values, vectors = np.linalg.eigh(np.asarray((X @ X.T).todense()) if hasattr(X, "todense") else X @ X.T)
    kept = values > values[-1] * 1e-12
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


def from_openml(name: str, source: Source, data_dir: Path | None) -> Data:
    """The set from OpenML, if it has the expected size."""
    where = "no --data-dir is given" if data_dir is None else f"there is no {source.stem}.csv in {str(data_dir)!r}"
    if source.openml is None:
        raise MissingData(f"{where}, and OpenML has no set that is known to be the same")
    try:
        frame, target = fetched(source.openml.id)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else ""
        raise MissingData(f"{where}, and OpenML failed: {type(error).__name__}: {reason}") from error
    found = binary(name, source.openml, frame, target)
    if found.X.shape != (source.n, source.d):
        shape, expected = (" x ".join(map(str, s)) for s in (found.X.shape, (source.n, source.d)))
        raise MissingData(f"{where}, and what OpenML has is another set: {shape} instead of {expected}")
    return found


def fetched(number: int) -> tuple[Any, Any]:
    """Features, as a data frame, and target of a set on OpenML; scikit-learn caches it."""
    from sklearn.datasets import fetch_openml

    bunch = fetch_openml(data_id=number, as_frame=True, parser="auto", n_retries=1)
    return bunch.data, bunch.target


def binary(name: str, openml: OpenML, frame: Any, target: Any) -> Data:
    """Numeric features and labels 0 and 1 of a set from OpenML; missing values become a category."""
    text = target.astype(str).reset_index(drop=True)
    frame = frame.reset_index(drop=True)
    if openml.kept:
        rows = text.isin(openml.kept)
        frame, text = frame[rows], text[rows]
    gaps = {column: frame[column].astype(object).fillna("?") for column in frame if frame[column].isna().any()}
    y = text.isin(openml.positive).to_numpy().astype(np.int64)
    return Data(name, features(name, frame.assign(**gaps)), y, openml.train_rows)


Loader = Callable[[str, Path | None], Data]


def obtain(names: list[str], data_dir: Path | None, loader: Loader = load) -> tuple[list[str], dict[str, str]]:
    """The sets that are available, and why the others are not."""
    reasons: dict[str, str] = {}
    for name in names:
        source = SOURCES[name]
        if source.shipped is not None or located(source.stem, data_dir, FORMATS) is not None:
            continue
        try:
            loader(name, data_dir)
        except MissingData as error:
            reasons[name] = str(error)
    return [name for name in names if name not in reasons], reasons
