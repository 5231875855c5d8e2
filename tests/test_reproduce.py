"""The papers' tables and figures: searches, arithmetic and splits by oracles, resumption, and every target."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rffboost_ext import cli
from rffboost_ext.baselines import greedy_pbrff, pbrff
from rffboost_ext.reproduce import data as data_module
from rffboost_ext.reproduce.data import SOURCES, Data, MissingData, load, span_coordinates
from rffboost_ext.reproduce.journal import Journal, Row
from rffboost_ext.reproduce.request import Request, reproduce
from rffboost_ext.reproduce.running import Pace, Task
from rffboost_ext.reproduce.splits import CrossValidated, Validated
from rffboost_ext.reproduce.summary import Comparison, as_frame, complete_sets, curves, published
from rffboost_ext.reproduce.systems import preset, system_path
from rffboost_ext.reproduce.target import Plan
from rffboost_ext.reproduce.targets import TARGETS
from rffboost_ext.reproduce.toys import TOYS
from rffboost_ext.reproduce.tuning import Mapped, Redrawn, Resampled, Staged, thinned, tuned

WINE = Data("wine", load_wine().data, (load_wine().target == 0).astype(int))
TINY = {
    "ecml2020-table2": Plan(("wine",), TARGETS["ecml2020-table2"].full.systems, 1, (2,)),
    "ecml2020-figure1": Plan(("moons",), ("GBRFF1",), 1, (1, 3)),
    "ecml2020-figure2": Plan(("wine",), ("PBRFF", "GBRFF1", "GBRFF2"), 1, (1, 4)),
    "ecml2020-figure3": Plan(("wine",), ("K=20", "K=10", "K=5", "K=1"), 1, (20, 40)),
    "ecml2020-figure4": Plan(("make_classification",), ("PBRFF", "GBRFF1", "LGBM"), 1, (150.0, 225.0), 5),
    "ecml2020-figure5": Plan(("swiss", "board"), ("LGBM", "GBRFF2"), 1, (50.0, 60.0), 5),
    "workshop2019-table2": Plan(("wine",), TARGETS["workshop2019-table2"].full.systems, 1, (2,)),
    "workshop2019-figure1": Plan(("wine",), ("random", "learned"), 1, (1, 3)),
    "workshop2019-figure2": Plan(("wine",), ("PBRFF", "GBRFF"), 1, (1, 3)),
    "letarte2019-table1": Plan(("breast",), TARGETS["letarte2019-table1"].full.systems, 1, (0.05,)),
    "letarte2019-figure1": Plan(("breast",), TARGETS["letarte2019-figure1"].full.systems, 1, (0.02, 0.04)),
    "letarte2019-figure2": TARGETS["letarte2019-figure2"].full,
    "letarte2019-figure3": Plan(("breast",), TARGETS["letarte2019-figure3"].full.systems, 1, (1.0, 4.0)),
}


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    for name, plan in TINY.items():
        monkeypatch.setattr(type(TARGETS[name]), "sample", plan)


def row(dataset: str, system: str, split: int, score: float, x: float = 1.0, config: str = "") -> Row:
    return Row(dataset, system, split, x, config, score, 0.5, 10, 5, 2, "{}")


def run(name: str, out: Path, **options) -> str:
    return reproduce(Request(name, out, quick=True, **options), lambda text: None)[0]


def test_every_target_has_a_tiny_plan():
    assert set(TINY) == set(TARGETS)


@pytest.mark.parametrize("name", TINY)
def test_target_from_end_to_end_and_again(name, tmp_path, monkeypatch, capsys):
    arguments = ["reproduce", name, "--quick", "--out", str(tmp_path / "out")]
    assert cli.main(arguments) == 0
    captured = capsys.readouterr()
    journal, page, picture, values = (
        tmp_path / "out" / f"{name}-quick{end}" for end in (".csv", ".md", ".png", "-values.csv")
    )
    plan, rows = TINY[name], Journal(journal).rows().values()
    assert {r.dataset for r in rows} == set(plan.datasets)
    assert {r.system for r in rows} == set(plan.systems)
    assert all(np.isfinite(r.score) for r in rows)
    assert page.read_text() in captured.out
    assert TARGETS[name].title in page.read_text()
    assert imread(picture).std() > 0
    assert len(pd.read_csv(values)) > 0
    monkeypatch.setattr(type(TARGETS[name]), "measure", lambda self, task: pytest.fail("measured again"))
    before = journal.read_bytes(), page.read_bytes()
    assert cli.main(arguments) == 0
    assert (journal.read_bytes(), page.read_bytes()) == before
    assert not list((tmp_path / "out").glob("*.tmp"))


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    name, target = "ecml2020-figure2", type(TARGETS["ecml2020-figure2"])
    run(name, tmp_path / "whole")
    measure, calls = target.measure, []

    def interrupted(self, task):
        calls.append(task.system)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(self, task)

    monkeypatch.setattr(target, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(name, tmp_path / "parts")
    path = tmp_path / "parts" / f"{name}-quick.csv"
    assert {r.system for r in Journal(path).rows().values()} == {"PBRFF"}
    path.write_bytes(path.read_bytes() + b"wine,GBRFF1,1,1,rff")
    run(name, tmp_path / "parts")
    assert calls == ["PBRFF", "GBRFF1", "GBRFF1", "GBRFF2"]
    parts, whole = (Journal(tmp_path / d / f"{name}-quick.csv").rows() for d in ("parts", "whole"))
    assert {k: r.score for k, r in parts.items()} == {k: r.score for k, r in whole.items()}


def test_rows_of_other_settings_are_measured_anew_and_not_shown(tmp_path):
    name = "ecml2020-figure1"
    path = tmp_path / f"{name}-quick.csv"
    Journal(path).append([row("moons", "GBRFF1", 1, 12.0, x, "of another version") for x in (1, 3, 7)])
    page = run(name, tmp_path)
    assert len(path.read_text().splitlines()) == 1 + 3 + 2
    assert "| 12 " not in page


def test_what_fails_is_named_and_the_rest_is_done(tmp_path, monkeypatch, capsys):
    target = type(TARGETS["ecml2020-figure4"])
    measure = target.measure

    def measured(self, task):
        if task.system == "LGBM":
            raise RuntimeError("no luck")
        return measure(self, task)

    monkeypatch.setattr(target, "measure", measured)
    assert cli.main(["reproduce", "ecml2020-figure4", "--quick", "--out", str(tmp_path)]) == 1
    assert "LGBM, split 1: RuntimeError: no luck" in capsys.readouterr().err
    page = (tmp_path / "ecml2020-figure4-quick.md").read_text()
    assert "no luck" in page
    assert "| 225 " in page


def test_a_slow_system_is_stopped_after_the_limit(tmp_path, monkeypatch):
    target = TARGETS["ecml2020-figure4"]
    seconds = {"PBRFF": 3.0, "GBRFF1": 0.1, "LGBM": 1.0}
    monkeypatch.setattr(
        type(target),
        "measure",
        lambda self, task: [Row(*task.keys[0], task.config, seconds[task.system], 1.0, 10, 10, 20)],
    )
    run(target.name, tmp_path, time_limit=1.0)
    found = {(r.system, r.x) for r in Journal(tmp_path / f"{target.name}-quick.csv").rows().values()}
    assert found == {("PBRFF", 150.0), *((s, n) for s in ("GBRFF1", "LGBM") for n in (150.0, 225.0))}


def test_the_svm_of_one_target_serves_the_others(tmp_path, monkeypatch):
    run("letarte2019-table1", tmp_path, systems=["SVM_RBF"])
    seen = []
    target = type(TARGETS["letarte2019-figure1"])
    measure = target.measure
    monkeypatch.setattr(target, "measure", lambda self, task: [seen.append(task), measure(self, task)][1])
    run("letarte2019-figure1", tmp_path, systems=["SVM_RBF", "RBF, random"])
    assert {task.system for task in seen} == {"RBF, random"}
    (found,) = Journal(tmp_path / "letarte2019-table1-quick.csv").rows().values()
    assert all(task.given == json.loads(found.chosen)["gamma"] for task in seen)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("path", "grid"),
    [
        (system_path("ecml2020", "GBRFF2"), [{"learner__gamma": [0.02, 0.1], "learner__l2": [0.0, 0.25]}]),
        (system_path("ecml2020", "PBRFF"), [{"mapping__gamma": [0.02, 0.2], "C": [0.01, 1.0, 100.0]}]),
    ],
)
def test_search_is_that_of_scikit_learn(path, grid):
    rng = np.random.RandomState(3)
    y = WINE.y ^ (rng.uniform(size=len(WINE.y)) < 0.2)
    parts = CrossValidated(0.3).of(WINE.X, y, np.random.RandomState(1))
    accuracy, chosen = tuned(path, parts, [8], grid)
    rng = np.random.RandomState(1)
    X, X_test, y, y_test = train_test_split(WINE.X, y, test_size=0.3, stratify=y, random_state=rng)
    folds = StratifiedKFold(5, shuffle=True, random_state=rng)
    model = make_pipeline(StandardScaler(), path.make(8))
    prefix = model.steps[-1][0] + "__"
    named = [{prefix + name: values for name, values in part.items()} for part in grid]
    search = GridSearchCV(model, named, cv=folds).fit(X, y)
    means = search.cv_results_["mean_test_score"].round(10)
    first = ParameterGrid(named)[int(np.argmax(means))]
    assert chosen == [{name.removeprefix(prefix): value for name, value in first.items()}]
    assert accuracy[0] == model.set_params(**first).fit(X, y).score(X_test, y_test)


def test_smaller_sizes_are_what_a_fit_of_that_size_gives():
    parts = CrossValidated(0.3).parts(WINE, 1)
    path = system_path("ecml2020", "GBRFF1")
    together = path.scores([{}], parts.train, parts.test, [2, 5, 9])[0]
    alone = [preset("GBRFF1", size).fit(*parts.train).score(*parts.test) for size in (2, 5, 9)]
    np.testing.assert_array_equal(together, alone)


def test_a_map_of_fewer_landmarks_is_its_first_columns():
    parts = CrossValidated(0.3).parts(WINE, 2)
    path = Mapped(lambda size: pbrff(int(size), random_state=1, standardize=False), lambda d: [{}])
    model = path.make(6)
    F, F_test = next(iter(path.features(model, parts.train, parts.test[0], [2, 6])))
    whole = model.mapping.fit(*parts.train)
    np.testing.assert_array_equal(F, whole.transform(parts.train[0])[:, :2])
    np.testing.assert_array_equal(F_test, whole.transform(parts.test[0])[:, :2])


@pytest.mark.parametrize("kind", [Resampled, Redrawn])
def test_kernel_learning_at_each_size_is_a_fit_of_that_size(kind):
    parts = CrossValidated(0.3).parts(WINE, 2)

    def make(size: float):
        return greedy_pbrff(int(size), n_candidates=200, random_state=1, standardize=False)

    together = kind(make, lambda d: [{}]).scores([{}, {"C": 0.01}], parts.train, parts.test, [1, 5, 20])
    for index, C in enumerate((1.0, 0.01)):
        alone = [make(size).set_params(C=C).fit(*parts.train).score(*parts.test) for size in (1, 5, 20)]
        np.testing.assert_array_equal(together[index], alone)


def test_one_candidate_needs_no_folds():
    class Refusing(Staged):
        calls = 0

        def scores(self, candidates, train, test, sizes):
            self.calls += 1
            return np.full((len(candidates), len(sizes)), 0.75)

    path = Refusing(lambda size: None, lambda d: [{}])
    parts = CrossValidated(0.3).parts(WINE, 1)
    assert tuned(path, parts, [1, 2], [{}])[0].tolist() == [0.75, 0.75]
    assert path.calls == 1


def test_a_sample_of_a_grid_is_part_of_it():
    grid = [{"a": [1], "b": [1, 2, 3, 4, 5]}, {"a": [2], "b": list(range(10))}, {"a": [3], "b": [7, 8]}]
    points = list(ParameterGrid(thinned(grid)))
    assert all(point in list(ParameterGrid(grid)) for point in points)
    assert len(points) == 4


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
    data = Data("toy", np.arange(200.0)[:, None], np.arange(200) % 2)
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


def test_comparison_is_plain_arithmetic():
    rng = np.random.default_rng(0)
    scores = rng.uniform(60, 90, (2, 2, 3))
    rows = [
        row(d, s, k + 1, scores[i, j, k])
        for i, d in enumerate("ab")
        for j, s in enumerate(("S", "T"))
        for k in range(3)
    ]
    known = pd.DataFrame({"S": [70.0, np.nan], "T": [60.0, 80.0]}, index=["a", "b"])
    spread = pd.DataFrame({"S": [1.0, 1.0], "T": [1e6, 0.001]}, index=["a", "b"])
    found = Comparison(as_frame(rows), ("b", "a", "missing"), ("S", "T", "U"), known, spread)
    assert list(found.mean.index) == ["b", "a"]
    np.testing.assert_allclose(found.mean.loc["a"], scores[0].mean(axis=1))
    np.testing.assert_allclose(found.std.loc["b"], scores[1].std(axis=1))
    np.testing.assert_allclose(found.difference.loc["a"], scores[0].mean(axis=1) - [70.0, 60.0])
    assert found.overall["sets"].tolist() == [1, 2]
    assert found.overall.loc["T", "difference"] == pytest.approx(scores[:, 1].mean() - 70.0)
    assert found.shared.tolist() == ["a"]
    ranks = found.ranks(found.mean)
    assert ranks["S"] == (1.0 if scores[0, 0].mean() > scores[0, 1].mean() else 2.0)
    far = {(d, s): z for d, s, z in found.far()}
    assert far[("b", "T")] == pytest.approx((scores[1, 1].mean() - 80.0) / 0.001)
    assert ("a", "T") not in far
    assert found.lines().set_index(["dataset", "system"]).loc[("b", "S"), "splits"] == 3


def test_curves_are_over_what_is_complete():
    rows = [row(d, s, 1, 10.0 * x + (d == "b"), x) for d in "ab" for s in ("S", "T") for x in (1.0, 2.0)]
    rows += [row("c", "S", 1, 99.0, 1.0), row("a", "S", 2, 99.0, 1.0)]
    means = curves(complete_sets(as_frame(rows)), ("T", "S"))
    assert list(means.columns) == ["T", "S"]
    np.testing.assert_allclose(means.to_numpy(), [[10.5, 10.5], [20.5, 20.5]])


def test_published_values_have_a_line_per_set_of_the_target():
    for name in ("ecml2020-table2", "workshop2019-table2", "letarte2019-table1"):
        known = published(name.replace("-", "_"))
        assert set(known.index) == set(TARGETS[name].full.datasets)
    assert published("ecml2020_figure3").loc[1000, "K=10"] == 88.03


def test_time_left_is_that_of_rows_like_it():
    pace = Pace([replace(row("a", "S", 1, 0.0), seconds=4.0, n_train=100)])
    task = Task("t", True, "a", "S", 2, (1.0, 2.0), "", cost=100.0)
    assert pace.left([task]) == 8.0
    assert pace.left([replace(task, dataset="b", cost=200.0)]) == 16.0
    assert Pace().left([task]) == 0.0


def test_journal_refuses_what_it_did_not_write(tmp_path):
    journal = Journal(tmp_path / "a.csv")
    journal.append([row("a", "S", 1, 1.5), row("a", "S", 2, 2.5)])
    journal.append([row("a", "S", 1, 3.5)])
    assert {key: r.score for key, r in journal.rows().items()} == {
        ("a", "S", 1, 1.0): 3.5,
        ("a", "S", 2, 1.0): 2.5,
    }
    journal.path.write_text(journal.path.read_text().replace("2.5", "two"))
    with pytest.raises(ValueError, match="line 3"):
        journal.rows()
    journal.path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no journal"):
        journal.rows()


def frames(rows: int):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((rows, 8)), columns=[f"v{i}" for i in range(8)])
    return frame, pd.Series(np.where(np.arange(rows) % 3 == 0, "tested_positive", "tested_negative"))


def test_openml_must_have_the_same_set(monkeypatch):
    load.cache_clear()
    monkeypatch.setattr(data_module, "fetched", lambda number: frames(768))
    found = load("pima", None)
    assert found.X.shape == (768, 8)
    assert found.y.sum() == 256
    load.cache_clear()
    monkeypatch.setattr(data_module, "fetched", lambda number: frames(700))
    with pytest.raises(MissingData, match="another set: 700 x 8 instead of 768 x 8"):
        load("pima", None)
    load.cache_clear()


def test_files_come_first_and_below_the_folder(tmp_path):
    (tmp_path / "below").mkdir()
    values = "".join(f"{i},{'train' if i % 3 else 'test'},{i % 2}\n" for i in range(30))
    (tmp_path / "below" / "adult_raw.csv").write_text("a,split,target\n" + values)
    found = load("adult", tmp_path)
    assert found.train_rows == 20
    assert set(found.X[20:, 0]) == set(range(0, 30, 3))
    np.testing.assert_array_equal(found.y, found.X[:, 0] % 2)
    assert load("wine", tmp_path).X.shape == (SOURCES["wine"].n, SOURCES["wine"].d)
    np.testing.assert_array_equal(load("breast").X, load_breast_cancer().data)


def test_a_set_that_cannot_be_had_is_named_and_skipped(tmp_path, capsys):
    line = ["reproduce", "ecml2020-figure2", "--quick", "--out", str(tmp_path), "--datasets"]
    assert cli.main([*line, "wine,german"]) == 0
    assert "skipped: german: no --data-dir is given" in capsys.readouterr().err
    assert "- Skipped: german" in (tmp_path / "ecml2020-figure2-quick.md").read_text()
    assert cli.main([*line, "german"]) == 2
    assert "none of the data sets can be had" in capsys.readouterr().err


def test_slow_systems_say_so_before_they_start(tmp_path, monkeypatch):
    said, known = [], []

    def refuse(self, task):
        known.append(list(said))
        raise RuntimeError("slow")

    monkeypatch.setattr(type(TARGETS["workshop2019-table2"]), "measure", refuse)
    request = Request("workshop2019-table2", tmp_path, 1, ["wine"], ["MKBOOST", "BMKR"])
    with pytest.raises(ValueError, match="nothing could be measured"):
        reproduce(request, said.append)
    assert [text.split(":")[1].strip() for text in known[0]] == ["MKBOOST", "BMKR"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ecml2020-tabel2"], "unknown target 'ecml2020-tabel2'. Did you mean 'ecml2020-table2'"),
        (["ecml2020-table2", "--datasets", "wine,bier"], "unknown data set 'bier'"),
        (["ecml2020-table2", "--systems", "GBRFF3"], "unknown system 'GBRFF3'"),
        (["ecml2020-table2", "--splits", "0"], "splits"),
        (["ecml2020-table2", "--jobs", "0"], "jobs"),
        (["ecml2020-figure4", "--time-limit", "-1"], "time_limit"),
        (["ecml2020-table2", "--data-dir", "nowhere"], "'nowhere' is not a folder"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(arguments, message, tmp_path, capsys):
    assert cli.main(["reproduce", *arguments, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_list_names_all_targets(capsys):
    assert cli.main(["reproduce", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TARGETS)
