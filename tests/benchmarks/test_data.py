"""Data sets and systems of the benchmarks."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from benchmarks import data, generated, systems
from benchmarks.data import FURTHER, SOURCES, STRUCTURED, load_source
from benchmarks.generated import Drawn
from benchmarks.splits import Rows, TaskData
from benchmarks.systems import SYSTEMS
from benchmarks.tables import TABLES
from rffboost_ext.experiments.compare import NamedDataset, Protocol


@pytest.mark.parametrize("index", [1, 2, 20])
def test_splits_are_those_of_the_comparison(index):
    X, y = load_breast_cancer(return_X_y=True)
    rows = TaskData("binary", X, y).split(index)
    train, test = Protocol().split(NamedDataset("wdbc", X, y), index)
    np.testing.assert_array_equal(rows.X, X[train])
    np.testing.assert_array_equal(rows.y, y[train])
    np.testing.assert_array_equal(rows.X_test, X[test])
    np.testing.assert_array_equal(rows.y_test, y[test])


def test_few_training_rows_leave_more_for_tests():
    X, y = load_breast_cancer(return_X_y=True)
    rows = TaskData("binary", X, y, train=100).split(1)
    assert (len(rows.y), len(rows.y_test)) == (100, len(y) - 100)


@pytest.fixture
def bikes(tmp_path):
    """A folder with a table of months and stations, and that table."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"month": rng.integers(1, 13, 9_000), "station": rng.choice(["x", "y", "z"], 9_000)})
    frame["target"] = np.arange(9_000)
    for stem in ("seoul_bike", "beijing_pm25"):
        frame.to_csv(tmp_path / f"{stem}.csv.gz", index=False)
    return tmp_path, frame


@pytest.mark.parametrize("seed", [1, 2])
def test_in_the_order_of_time_later_rows_are_tested(bikes, seed):
    folder, frame = bikes
    rows = load_source("seoul_bike-time", folder).split(seed)
    assert rows.ordered
    train, test = (frame["month"].to_numpy()[y.astype(int)] % 12 for y in (rows.y, rows.y_test))
    assert train.max() <= test.min()
    assert len(train) + len(test) == (8_000 if seed == 1 else 6_800)


def test_groups_are_whole_and_no_feature(bikes):
    folder, frame = bikes
    rows = load_source("beijing_pm25-group", folder).split(1)
    train, test = (frame["station"].to_numpy()[y.astype(int)] for y in (rows.y, rows.y_test))
    assert not set(train) & set(test)
    np.testing.assert_array_equal(pd.factorize(rows.groups)[0], pd.factorize(train)[0])
    assert rows.X.shape == (len(train), 1)


def test_text_is_a_category_and_missing_values_remain(tmp_path):
    (tmp_path / "penguins.csv").write_text("size,colour,target\n1.5,red,class_a\n,blue,class_b\n2.5,,class_a\n")
    loaded = load_source("penguins", tmp_path)
    np.testing.assert_array_equal(loaded.X["f0"], [1.5, np.nan, 2.5])
    assert loaded.X["f1"].dtype == "category"
    np.testing.assert_array_equal(loaded.X["f1"].isna(), [False, False, True])
    np.testing.assert_array_equal(loaded.y, [0, 1, 0])
    text = SYSTEMS["CatBoost"].features(loaded.X)
    assert text["f1"].tolist() == ["red", "blue", ""]


def test_further_sets_are_those_that_are_written():
    script = (Path(data.__file__).parent / "further.R").read_text()
    assert sorted(re.findall(r'^  list\("(\w+)"', script, re.MULTILINE)) == sorted(FURTHER)


@pytest.mark.parametrize("folder", [None, Path("somewhere")])
def test_a_set_without_its_file_is_named(folder, tmp_path):
    assert "letter.csv" in SOURCES["letter-1000"].missing(folder and tmp_path)
    assert SOURCES["wine"].missing(None) == SOURCES["diabetes"].missing(None) == ""


@pytest.mark.parametrize("name", [name for name in SOURCES if not SOURCES[name].missing(None)])
def test_sets_that_need_no_file_are_of_their_task(name):
    loaded = load_source(name, None)
    if isinstance(loaded, Drawn):
        loaded = replace(loaded, train=300, test=200).split(1)
    assert np.isfinite(loaded.X).all()
    classes = len(np.unique(loaded.y))
    assert {"binary": classes == 2, "multiclass": 2 < classes < 30, "regression": classes > 30}[loaded.task]


@pytest.mark.parametrize("draw", [generated.jagged, generated.smooth])
def test_the_noise_of_generated_rows_is_as_it_says(draw, monkeypatch):
    y = draw(2_000, 1)[1]
    monkeypatch.setattr(generated, "NOISE", 0.0)
    signal = draw(2_000, 1)[1]
    assert (y - signal).std() == pytest.approx(0.3 * signal.std(), rel=0.1)


def test_tables_name_known_sets_once():
    names = [name for table in TABLES.values() for name in table]
    assert len(set(names)) == len(names)
    assert set(STRUCTURED) < set(names) <= set(SOURCES)


# They compile for 20 seconds in each process, or train 1,000 rounds.
LONG = dict.fromkeys(["ChimeraBoost", "CatBoost"], pytest.mark.slow)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG.get(name, ())) for name in SYSTEMS])
def test_systems_learn_each_task_from_tables_with_text(name, task):
    if (
        find_spec(
            {"scikit-learn": "sklearn", "rffboost-ext": "rffboost_ext"}.get(SYSTEMS[name].package, name.lower())
        )
        is None
    ):
        pytest.skip(f"needs {SYSTEMS[name].package}")
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((150, 2))
    X = pd.DataFrame(Z).add_prefix("f").assign(f2=pd.Categorical.from_codes(rng.integers(-1, 2, 150), ["a", "b"]))
    y = {"binary": Z[:, 0] > 0.0, "multiclass": np.digitize(Z[:, 0], [-0.5, 0.5]), "regression": Z[:, 0]}[task]
    rows = Rows(task, X, y.astype(float if task == "regression" else int), X, y)
    model = SYSTEMS[name].fit(rows)
    assert model.score(SYSTEMS[name].features(X), rows.y) > 0.8
    assert systems.size(model) > 1_000


@pytest.mark.parametrize("kind", [{"groups": np.arange(150) // 5}, {"ordered": True}])
def test_early_stopping_of_ours_knows_groups_and_time(kind):
    X = np.random.default_rng(0).standard_normal((150, 3))
    rows = Rows("regression", X, X[:, 0], X, X[:, 0], **kind)
    model = systems.ours(learner="tree", n_estimators=20, early_stopping=True).fit(rows)
    plain = systems.ours(learner="tree", n_estimators=20, early_stopping=True).fit(
        replace(rows, groups=None, ordered=False)
    )
    assert (model.predict(X) != plain.predict(X)).any()
