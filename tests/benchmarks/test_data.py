"""Data sets and systems of the benchmarks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import OneHotEncoder

from benchmarks import data, systems
from benchmarks.accuracy import TABLES, TEST_SIZE
from benchmarks.data import FURTHER, SOURCES, TaskData, load_source
from benchmarks.systems import DEFAULTS
from rffboost_ext.experiments.compare import NamedDataset, Protocol


@pytest.mark.parametrize("index", [1, 2, 20])
def test_splits_are_those_of_the_comparison(index):
    X, y = load_breast_cancer(return_X_y=True)
    X_train, y_train, X_test, y_test = TaskData("binary", X, y).split(TEST_SIZE, index)
    train, test = Protocol().split(NamedDataset("wdbc", X, y), index)
    for found, expected in ((X_train, X[train]), (y_train, y[train]), (X_test, X[test]), (y_test, y[test])):
        np.testing.assert_array_equal(found, expected)


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
    found = SOURCES["adult"].read("adult", folder)
    kept = np.random.RandomState(0).choice(9_000, 8_000, replace=False)
    encoded = OneHotEncoder(sparse_output=False).fit_transform(frame[["work", "sex"]])
    np.testing.assert_array_equal(found.X, np.column_stack([frame["age"], encoded])[kept])
    np.testing.assert_array_equal(found.y, (frame["target"] == 1)[kept])


def test_further_sets_keep_their_missing_values(tmp_path):
    (tmp_path / "penguins.csv").write_text("size,colour,target\n1.5,red,class_a\n,blue,class_b\n2.5,,class_a\n")
    found = load_source("penguins", tmp_path)
    np.testing.assert_array_equal(found.X, [[1.5, 0.0, 1.0], [np.nan, 1.0, 0.0], [2.5, 0.0, 0.0]])
    np.testing.assert_array_equal(found.y, [0, 1, 0])


def test_further_sets_are_those_that_are_written():
    script = (Path(data.__file__).parent / "further.R").read_text()
    assert sorted(re.findall(r'^  list\("(\w+)"', script, re.MULTILINE)) == sorted(FURTHER)
    earlier = {name for key, table in TABLES.items() if key != "further" for name in table.datasets}
    assert not earlier & set(FURTHER)


@pytest.mark.parametrize("folder", [None, Path("somewhere")])
def test_a_set_without_its_file_is_named(folder, tmp_path):
    assert "adult_raw.csv" in SOURCES["adult"].missing(folder and tmp_path)
    assert SOURCES["wine"].missing(None) == SOURCES["diabetes"].missing(None) == ""


@pytest.mark.parametrize("name", [name for name in SOURCES if not SOURCES[name].missing(None)])
def test_sets_that_need_no_file_are_of_their_task(name):
    found = load_source(name, None)
    assert np.isfinite(found.X).all()
    classes = len(np.unique(found.y))
    assert {"binary": classes == 2, "multiclass": 2 < classes < 30, "regression": classes > 30}[found.task]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables_name_known_sets_and_systems(table):
    assert set(table.datasets) <= set(SOURCES)
    assert set(table.systems) <= set(DEFAULTS)


def test_columns_of_few_whole_numbers_are_tried_as_categories():
    rng = np.random.default_rng(0)
    codes = [rng.permutation(np.arange(60) % count) for count in (2, 3, 10, 11)]
    X = np.column_stack([rng.standard_normal(60), *codes, codes[1] / 2.0])
    plain = {"quality": ["auto", "high"]}
    assert systems.rffboost_grid(X) == [{**plain, "categorical_features": ["from_dtype", [2, 3]]}]
    assert systems.rffboost_grid(X[:, :2]) == [plain]


@pytest.mark.parametrize(
    ("name", "task"), [(name, task) for name in DEFAULTS for task in systems.TASKS if systems.applies(name, task)]
)
def test_systems_learn_each_of_their_tasks(name, task):
    pytest.importorskip(
        {"scikit-learn": "sklearn", "rffboost-ext": "rffboost_ext"}.get(DEFAULTS[name].package, name)
    )
    X = np.random.default_rng(0).standard_normal((120, 3))
    y = {"binary": X[:, 0] > 0.0, "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]), "regression": X[:, 0]}[task]
    assert DEFAULTS[name].build(task).fit(X, y).score(X, y) > 0.8


def test_settings_are_part_of_a_configuration():
    system = DEFAULTS["xgboost"]
    configs = {
        systems.configuration(system, task, tune) for task in ("binary", "regression") for tune in (False, True)
    }
    assert len(configs) == 4
    assert all(config.startswith("xgboost ") for config in configs)
