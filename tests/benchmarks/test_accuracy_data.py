"""Data, tables and systems of the accuracy benchmark: the same splits for all, and all that is named is there."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import OneHotEncoder

from benchmarks import accuracy, accuracy_data, accuracy_systems
from benchmarks.accuracy_data import FURTHER, SOURCES, AccuracyDataset, load_dataset
from benchmarks.accuracy_report import grid_lines, published_means
from benchmarks.accuracy_systems import SYSTEMS
from benchmarks.accuracy_tables import TABLES
from rffboost_ext.experiments.compare import NamedDataset, Protocol


@pytest.mark.parametrize("index", [1, 2, 20])
def test_splits_are_those_of_the_comparison(index):
    X, y = load_breast_cancer(return_X_y=True)
    ours = AccuracyDataset("wdbc", "binary", X, y).split(index)
    for mine, theirs in zip(ours, Protocol().split(NamedDataset("wdbc", X, y), index), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_split_parts_the_rows(task):
    y = np.arange(50.0) if task == "regression" else np.arange(50) % 2
    train, test = AccuracyDataset("p", task, np.zeros((50, 1)), y).split(3)
    assert sorted([*train, *test]) == list(range(50))
    assert len(test) == 15


@pytest.fixture
def adult(tmp_path):
    """A folder with a table like adult's in a subfolder, and that table."""
    rng = np.random.default_rng(0)
    text = {name: rng.choice(["x", "y", "z"], 9_000) for name in ("work", "sex")}
    frame = pd.DataFrame({"age": rng.integers(17, 90, 9_000), **text, "split": "train"})
    frame["target"] = rng.choice([-1, 1], 9_000)
    (tmp_path / "letarte").mkdir()
    frame.to_csv(tmp_path / "letarte" / "adult_raw.csv.gz", index=False)
    return tmp_path, frame


def test_text_is_one_hot_encoded_and_rows_are_drawn(adult):
    folder, frame = adult
    found = SOURCES["adult"].problem("adult", folder)
    kept = np.random.RandomState(0).choice(9_000, 8_000, replace=False)
    encoded = OneHotEncoder(sparse_output=False).fit_transform(frame[["work", "sex"]])
    np.testing.assert_array_equal(found.X, np.column_stack([frame["age"], encoded])[kept])
    np.testing.assert_array_equal(found.y, (frame["target"] == 1)[kept])
    assert len(SOURCES["adult_full"].problem("adult_full", folder).y) == 9_000


def test_further_sets_keep_their_gaps(tmp_path):
    text = "size,colour,target\n1.5,red,class_a\n,blue,class_b\n2.5,,class_a\n"
    (tmp_path / "penguins.csv").write_text(text)
    found = load_dataset("penguins", tmp_path)
    np.testing.assert_array_equal(found.X, [[1.5, 0.0, 1.0], [np.nan, 1.0, 0.0], [2.5, 0.0, 0.0]])
    np.testing.assert_array_equal(found.y, [0, 1, 0])
    assert "penguins.csv" in SOURCES["penguins"].missing(None)


def test_further_sets_are_those_that_are_written():
    script = (Path(accuracy.__file__).parent / "further.R").read_text()
    assert sorted(re.findall(r'^  list\("(\w+)"', script, re.MULTILINE)) == sorted(FURTHER)
    assert TABLES["further"].datasets == tuple(FURTHER)
    earlier = {name for table in TABLES.values() if table.name != "further" for name in table.datasets}
    assert not earlier & set(FURTHER)


def test_a_set_without_its_file_is_named(tmp_path):
    assert "adult_raw.csv" in SOURCES["adult"].missing(tmp_path)
    assert "adult_raw.csv" in SOURCES["adult"].missing(None)
    assert SOURCES["wine"].missing(None) == SOURCES["diabetes"].missing(None) == ""


@pytest.mark.parametrize("name", [name for name in SOURCES if not SOURCES[name].missing(None)])
def test_sets_that_need_no_file_are_what_they_say(name):
    found = load_dataset(name, None)
    assert np.isfinite(found.X).all()
    assert found.X.shape == (len(found.y), found.X.shape[1])
    classes = len(np.unique(found.y))
    assert {"binary": classes == 2, "multiclass": 2 < classes < 30, "regression": classes > 30}[found.task]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables_name_sets_and_systems_that_there_are(table):
    assert set(table.datasets) | set(table.optional) <= set(SOURCES)
    assert set(table.systems) <= set(SYSTEMS)
    assert set(table.quick) <= set(table.datasets)
    assert {name for claim in table.claims for name in claim.needs} <= set(table.systems)
    assert {*TABLES, "speed"} == set(accuracy.NAMES)


def test_published_means_are_those_that_the_targets_rest_on():
    means = published_means()
    small = means.loc[list(accuracy_data.SMALL)]
    assert small[["GBRFF2", "LGBM"]].mean().round(1).tolist() == [89.1, 89.0]
    assert round(small.max(axis=1).mean(), 1) == 90.3


def test_columns_of_few_whole_numbers_are_tried_as_categories():
    rng = np.random.default_rng(0)
    codes = [rng.permutation(np.arange(60) % count) for count in (2, 3, 10, 11)]
    X = np.column_stack([rng.standard_normal(60), *codes, codes[1] / 2.0])
    plain = {"quality": ["auto", "high"]}
    assert accuracy_systems.rffboost_grid(X) == [{**plain, "categorical_features": ["from_dtype", [2, 3]]}]
    assert accuracy_systems.rffboost_grid(X[:, :2]) == [plain]


@pytest.mark.parametrize(
    ("name", "task"), [(name, task) for name, system in SYSTEMS.items() for task in system.tasks]
)
def test_systems_learn_each_task_of_theirs(name, task):
    system = SYSTEMS[name]
    if system.missing():
        pytest.skip(f"{name} cannot be made: {system.missing()}")
    X = np.random.default_rng(0).standard_normal((120, 3))
    y = {"binary": X[:, 0] > 0.0, "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]), "regression": X[:, 0]}[task]
    model = system.build(task, 1).fit(X, y)
    assert model.score(X, y) > 0.8


def test_grids_are_shown():
    table = TABLES["ecml-tuned"]
    (_, shown) = grid_lines(table, SimpleNamespace(mean=pd.DataFrame(columns=table.systems)))
    assert "- RFFBoost: quality ['auto', 'high'], categorical_features ['from_dtype', [0]]" in shown.splitlines()
    assert len(shown.splitlines()) == len(table.systems)
