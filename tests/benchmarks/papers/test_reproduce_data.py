"""What the papers' tables and figures are measured on: splits, generated toys, files and OpenML."""

from __future__ import annotations

from dataclasses import replace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.command import data_folder
from benchmarks.papers import data as papers_data
from benchmarks.papers.data import (
    SOURCES,
    MissingData,
    PublishedDataset,
    fetch_openml_data,
    load_published,
    span_coordinates,
)
from benchmarks.papers.reproduce.ecml2020 import EcmlTable2
from benchmarks.papers.reproduce.request import Request, reproduce
from benchmarks.papers.reproduce.splits import TOYS, CrossValidated, Validated
from benchmarks.papers.reproduce.target import COLUMNS, Scope
from benchmarks.records import Records

from .reproduce_cases import WINE


@pytest.mark.parametrize("index", [1, 7])
def test_splits_are_those_of_the_published_seed(index):
    parts = CrossValidated(0.3).parts(WINE, index)
    X, X_test, y, y_test = train_test_split(WINE.X, WINE.y, test_size=0.3, stratify=WINE.y, random_state=index)
    scaler = StandardScaler().fit(X)
    np.testing.assert_allclose(parts.train[0], scaler.transform(X))
    np.testing.assert_allclose(parts.test[0], scaler.transform(X_test))
    np.testing.assert_array_equal(parts.test[1], y_test)
    assert sum(len(held[1]) for _, held in parts.folds) == len(y)
    for (fitted, labels), (held, _) in parts.folds:
        np.testing.assert_allclose(fitted.mean(axis=0), 0.0, atol=1e-9)
        assert len(labels) + len(held) == len(y)


def test_validation_rows_are_not_fitted_on():
    data = PublishedDataset("toy", np.arange(200.0)[:, None], np.arange(200) % 2)
    parts = Validated().parts(data, 1)
    (fitted, held), *rest = parts.folds
    assert not rest
    assert fitted is parts.train
    rows = [set(part[0].ravel()) for part in (fitted, held, parts.test)]
    assert [len(part) for part in rows] == [120, 30, 50]
    assert len(set.union(*rows)) == 200
    cut = Validated().parts(replace(data, train_rows=150), 1)
    assert set(cut.test[0].ravel()) == set(range(150, 200))


def test_span_coordinates_keep_distances():
    X = np.random.default_rng(0).standard_normal((12, 40))
    X[3] = X[5]
    made = span_coordinates(X)
    assert made.shape == (12, 11)
    np.testing.assert_allclose(pairwise_distances(made), pairwise_distances(X), atol=1e-6)


@pytest.mark.parametrize("name", TOYS)
def test_toys_are_what_they_are_called(name):
    X, y = TOYS[name](400, np.random.RandomState(1))
    assert X.shape == (400, 2)
    assert set(y) == {0, 1}
    radius = np.hypot(*X.T)
    if name == "circles":
        assert np.mean((np.rint(radius).astype(int) - 1) % 2 == y) > 0.9
    elif name == "board":
        assert np.array_equal((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2, y)
    else:
        turns = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi)
        away = [np.abs((radius / (2 * np.pi * factor) - turns + 0.5) % 1.0 - 0.5) for factor in (1.0, 0.9)]
        assert np.median(np.where(y == 0, *away)) < 0.05


def frames(rows: int):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((rows, 8)), columns=[f"v{i}" for i in range(8)])
    return frame, pd.Series(np.where(np.arange(rows) % 3 == 0, "tested_positive", "tested_negative"))


def test_openml_must_have_the_same_set(monkeypatch):
    papers_data.read_published.cache_clear()
    monkeypatch.setattr(papers_data, "fetch_openml_data", lambda number: frames(768))
    loaded = load_published("pima", None)
    assert loaded.X.shape == (768, 8)
    assert loaded.y.sum() == 256
    papers_data.read_published.cache_clear()
    monkeypatch.setattr(papers_data, "fetch_openml_data", lambda number: frames(700))
    with pytest.raises(MissingData, match="another size: 700 x 8 instead of 768 x 8"):
        load_published("pima", None)
    papers_data.read_published.cache_clear()


@pytest.mark.filterwarnings("ignore:A network error")
def test_openml_is_asked(monkeypatch, tmp_path):
    asked = []

    def urlopen(request, *args, **kwargs):
        asked.append(request.full_url)
        raise URLError("no network")

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    with pytest.raises(URLError, match="no network"):
        fetch_openml_data(37)
    assert all("/37" in url for url in asked)
    assert asked


def test_files_come_first_and_below_the_folder(tmp_path):
    (tmp_path / "below").mkdir()
    values = "".join(f"{i},{'train' if i % 3 else 'test'},{i % 2}\n" for i in range(30))
    (tmp_path / "below" / "adult_raw.csv").write_text("a,split,target\n" + values)
    loaded = load_published("adult", tmp_path)
    assert loaded.train_rows == 20
    assert loaded.X[:, 0].tolist() == [i for i in range(30) if i % 3] + [*range(0, 30, 3)]
    np.testing.assert_array_equal(loaded.y, loaded.X[:, 0] % 2)
    assert load_published("wine", tmp_path).X.shape == (SOURCES["wine"].n, SOURCES["wine"].d)
    np.testing.assert_array_equal(load_published("breast").X, load_breast_cancer().data)


@pytest.mark.parametrize(
    ("name", "positive"), [("wine", 33.1), ("wdbc", 37.3), ("german", 30.0), ("bankmarketing", 11.7)]
)
def test_sizes_are_those_of_the_papers(name, positive):
    folder, source = data_folder(None), SOURCES[name]
    if source.shipped is None and papers_data.file_of(name, folder) is None:
        pytest.skip(f"no {source.stem}.csv in {folder}" if folder else "set RFFBOOST_DATA to their folder")
    loaded = load_published(name, folder)
    assert loaded.X.shape == (source.n, source.d)
    assert 100 * loaded.y.mean() == pytest.approx(positive, abs=0.05)


def written(folder, seed):
    """A file in the place of a data set."""
    folder.mkdir(exist_ok=True)
    values = np.random.default_rng(seed).normal(size=(60, 2))
    lines = "".join(f"{a:.3f},{b:.3f},{int(a > 0)}\n" for a, b in values)
    (folder / "sonar.csv").write_text("a,b,target\n" + lines)
    return folder


def measured(out, folder, datasets=("sonar",)):
    """The rows after a run."""
    options = {"systems": ["LGBM"], "quick": True, "data_dir": folder}
    page, failures = reproduce(Request("ecml2020-table2", out, 1, list(datasets), **options), lambda line: None)
    assert not failures
    return Records(out / "ecml2020-table2-quick.csv", COLUMNS).read(), page


def test_rows_of_other_data_are_measured_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(EcmlTable2, "sample", Scope(("wine",), ("LGBM",), 1, (2,)))
    expected, _ = measured(tmp_path / "alone", written(tmp_path / "b", 1))
    first, _ = measured(tmp_path / "out", written(tmp_path / "a", 0))
    again, _ = measured(tmp_path / "out", tmp_path / "a")
    assert again == first
    for folder in (tmp_path / "b", written(tmp_path / "a", 1)):
        records, _ = measured(tmp_path / "out", folder)
        assert {key: row["score"] for key, row in records.items()} == {
            key: row["score"] for key, row in expected.items()
        }
    lines = (tmp_path / "out" / "ecml2020-table2-quick.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * len(expected)
    # Of a folder that is not given the page still shows what there is.
    _, page = measured(tmp_path / "out", None, ["wine"])
    assert "sonar" in page
    (tmp_path / "a" / "sonar.csv").write_text("a,target\n1,0\n2,1\n")
    _, page = measured(tmp_path / "out", tmp_path / "a", ["wine"])
    assert "sonar" not in page
