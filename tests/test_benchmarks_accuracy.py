"""The accuracy benchmark: same splits for all, nothing done twice, arithmetic that agrees with another's."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import OneHotEncoder

from benchmarks import accuracy, accuracy_data, accuracy_run, accuracy_speed
from benchmarks.accuracy_claims import Ahead, FirstRank, Level, MeanAtLeast, TimeAtMost
from benchmarks.accuracy_data import SOURCES, Problem, problem
from benchmarks.accuracy_report import published_means, report
from benchmarks.accuracy_rows import Journal, Row
from benchmarks.accuracy_run import Pace, Selection, current, pending
from benchmarks.accuracy_speed import Sizes, held_out
from benchmarks.accuracy_summary import Summary
from benchmarks.accuracy_systems import SYSTEMS
from benchmarks.accuracy_tables import TABLES
from benchmarks.speed import POOLS
from rffboost_ext import LEARNERS, RFFBoostClassifier
from rffboost_ext.compare import Dataset, Protocol

SCRIPT = Path(accuracy.__file__)
DATA = Path(os.environ.get("RFFBOOST_DATA", SCRIPT.parents[2] / "shared" / "data"))
REFERENCE = DATA.parent / "reference"
FAST = ["xgboost", "lightgbm", "histgb"]
NAMES = ["a", "b", "c"]


@pytest.fixture
def own_process_state(monkeypatch):
    """The environment, which the script sets, is restored after a test."""
    for name in POOLS:
        monkeypatch.setenv(name, "1")


@pytest.fixture(autouse=True)
def no_remembered_configurations():
    """Systems are replaced by tests: what is known of one must not outlive it."""
    accuracy_run.config.cache_clear()
    yield
    accuracy_run.config.cache_clear()


def row(dataset: str, split: int, system: str, score: float, seconds: float = 1.0, table: str = "ecml") -> Row:
    """A row of made-up figures."""
    sizes = {"n_train": 70, "n_test": 30, "n_features": 4, "threads": 1}
    times = {"fit_seconds": seconds, "search_seconds": 0.0, "predict_seconds": 0.1}
    return Row(table, dataset, split, system, "config", "binary", **sizes, score=score, **times, chosen="")


def cube(n_datasets: int, n_splits: int, names: list[str], seed: int = 0) -> tuple[np.ndarray, list[Row]]:
    """Scores (dataset, split, system) with ties among them, and their rows."""
    scores = np.random.default_rng(seed).integers(0, 4, (n_datasets, n_splits, len(names))).astype(float)
    rows = [
        row(f"set{i}", j + 1, names[k], scores[i, j, k], seconds=1.0 + i + 2.0 * j**2 + 4.0 * k)
        for i, j, k in np.ndindex(*scores.shape)
    ]
    return scores, rows


# Data


@pytest.mark.parametrize("index", [1, 2, 20])
def test_splits_are_those_of_the_comparison(index):
    X, y = load_breast_cancer(return_X_y=True)
    ours = Problem("wdbc", "binary", X, y).split(index)
    for mine, theirs in zip(ours, Protocol().split(Dataset("wdbc", X, y), index), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_split_parts_the_rows(task):
    y = np.arange(50.0) if task == "regression" else np.arange(50) % 2
    train, test = Problem("p", task, np.zeros((50, 1)), y).split(3)
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


def test_a_set_without_its_file_is_named(tmp_path):
    assert "adult_raw.csv" in SOURCES["adult"].missing(tmp_path)
    assert "adult_raw.csv" in SOURCES["adult"].missing(None)
    assert SOURCES["wine"].missing(None) == SOURCES["diabetes"].missing(None) == ""


@pytest.mark.parametrize("name", [name for name in SOURCES if not SOURCES[name].missing(None)])
def test_sets_that_need_no_file_are_what_they_say(name):
    found = problem(name, None)
    assert np.isfinite(found.X).all()
    assert found.X.shape == (len(found.y), found.X.shape[1])
    classes = len(np.unique(found.y))
    assert {"binary": classes == 2, "multiclass": 2 < classes < 30, "regression": classes > 30}[found.task]


# Tables and systems


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
    reference = REFERENCE / "ecml2020_table2.csv"
    if reference.exists():
        pd.testing.assert_frame_equal(means, pd.read_csv(reference, index_col="dataset")[means.columns])


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


def test_peers_score_as_in_an_independent_run():
    path, name = REFERENCE / "development_peers.csv", "winequality_white"
    if not path.exists() or SOURCES[name].missing(DATA):
        pytest.skip("the reference figures are not here")
    frame = pd.read_csv(path).query("dataset == @name and split == 1").set_index("system")["score"]
    tasks = Selection(tuple(FAST), (name,), splits=1, data_dir=DATA).tasks(TABLES["development"])
    for task in tasks:
        assert task().score == pytest.approx(frame[task.system], abs=0.3)


# The journal


def test_rows_come_back_from_the_file(tmp_path):
    journal = Journal(tmp_path / "rows.csv")
    rows = [replace(row("set", 1, name, 100.0 / 3.0), chosen='{"a": 1, "b": "x,\ny"}') for name in NAMES]
    for one in rows:
        journal.append(one)
    assert list(journal.rows().values()) == rows
    assert journal.drop(lambda one: one.system == "b") == 1
    assert list(journal.rows().values()) == [rows[0], rows[2]]


@pytest.mark.parametrize("cut", [1, 20])
def test_an_unfinished_line_is_dropped_and_the_others_stay(tmp_path, cut):
    journal = Journal(tmp_path / "rows.csv")
    rows = [row("set", 1, name, 1.0) for name in NAMES]
    for one in rows:
        journal.append(one)
    journal.path.write_bytes(journal.path.read_bytes()[:-cut])
    assert journal.mend()
    assert not journal.mend()
    assert list(journal.rows().values()) == rows[:2]
    journal.append(rows[2])
    assert list(journal.rows().values()) == rows


def test_of_two_rows_of_a_key_the_later_counts(tmp_path):
    journal = Journal(tmp_path / "rows.csv")
    for score in (1.0, 2.0):
        journal.append(row("set", 1, "a", score))
    assert [one.score for one in journal.rows().values()] == [2.0]


@pytest.mark.parametrize(("text", "word"), [("a,b\n1,2\n", "columns"), (None, "line 2")])
def test_a_foreign_file_is_refused(tmp_path, text, word):
    journal = Journal(tmp_path / "rows.csv")
    journal.append(row("set", 1, "a", 1.0))
    journal.path.write_text(text or journal.path.read_text().replace(",70,", ",seventy,"))
    with pytest.raises(ValueError, match=word):
        journal.rows()


# Arithmetic


@pytest.mark.parametrize("seed", range(5))
def test_ranks_means_and_wins_agree_with_scipy(seed):
    scores, rows = cube(6, 3, NAMES, seed)
    summary = Summary(list(np.random.default_rng(seed).permutation(np.array(rows, dtype=object))), NAMES)
    means = scores.mean(axis=1)
    np.testing.assert_allclose(summary.overall[NAMES], means.mean(axis=0))
    np.testing.assert_allclose(summary.ranks()[NAMES], stats.rankdata(-means.round(9), axis=1).mean(axis=0))
    pair = stats.rankdata(-means[:, [0, 2]].round(9), axis=1).mean(axis=0)
    np.testing.assert_allclose(summary.ranks(["a", "c"])[["a", "c"]], pair)
    best = np.isclose(means, means.max(axis=1, keepdims=True))
    assert summary.wins[NAMES].tolist() == best.sum(axis=0).tolist()
    spread = summary.spread.loc[[f"set{i}" for i in range(6)], NAMES]
    np.testing.assert_allclose(spread, scores.std(axis=1))


def test_times_are_medians_and_their_ratios_geometric_means():
    _, rows = cube(4, 3, NAMES)
    summary = Summary(rows, NAMES)
    seconds = np.array(
        [[np.median([1.0 + i + 2.0 * j**2 + 4.0 * k for j in range(3)]) for k in range(3)] for i in range(4)]
    )
    np.testing.assert_allclose(summary.typical_seconds[NAMES], np.median(seconds, axis=0))
    ratios = stats.gmean(seconds / seconds[:, [1]], axis=0)
    np.testing.assert_allclose(summary.times_beside("b")[NAMES], ratios)


def test_difference_is_paired_and_from_the_best():
    scores, rows = cube(5, 7, NAMES, seed=3)
    found = Summary(rows, NAMES).difference("a", ["b", "c"])
    for i in range(5):
        best = 1 + int(scores[i, :, 1:].mean(axis=0).argmax())
        gaps = scores[i, :, 0] - scores[i, :, best]
        assert found.loc[f"set{i}", "difference"] == pytest.approx(gaps.mean())
        assert found.loc[f"set{i}", "error"] == pytest.approx(stats.sem(gaps))


def test_only_splits_that_all_systems_have_count():
    scores, rows = cube(2, 4, NAMES)
    gone = [one for one in rows if not (one.dataset == "set0" and one.system == "b" and one.split > 2)]
    summary = Summary(gone, NAMES)
    np.testing.assert_allclose(summary.mean.loc["set0", NAMES], scores[0, :2].mean(axis=0))
    np.testing.assert_allclose(summary.mean.loc["set1", NAMES], scores[1].mean(axis=0))
    assert summary.splits.to_dict() == {"set0": 2, "set1": 4}


def test_means_are_over_sets_that_all_general_systems_have():
    scores, rows = cube(3, 2, NAMES)
    gone = [one for one in rows if (one.dataset, one.system) not in {("set0", "b"), ("set1", "c")}]
    summary = Summary(gone, ["a", "b"])
    np.testing.assert_allclose(summary.overall[["a", "b"]], scores[1:].mean(axis=(0, 1))[:2])
    assert list(summary.shared.index) == ["set1", "set2"]


@pytest.mark.parametrize(
    ("claim", "ours", "holds"),
    [
        (MeanAtLeast(90.0), [89.0, 91.0], True),
        (MeanAtLeast(90.1), [89.0, 91.0], False),
        (FirstRank(("b", "c")), [95.0, 95.0], True),
        (FirstRank(("b", "c")), [80.0, 95.0], False),
        (Ahead("b", 1), [80.0, 95.0], True),
        (Ahead("b", 2), [80.0, 95.0], False),
        (Level(("b", "c"), 0.5), [80.0, 95.0], True),
        (Level(("b", "c"), 2 / 3), [80.0, 95.0], False),
        (TimeAtMost("b", 0.5), [80.0, 80.0], True),
        (TimeAtMost("b", 0.4), [80.0, 80.0], False),
    ],
)
def test_claims_hold_where_they_should(claim, ours, holds):
    scores = {"rffboost": ours, "b": [90.0, 90.0], "c": [85.0, 92.0]}
    seconds = {"rffboost": 1.0, "b": 2.0, "c": 1.0}
    rows = [row(f"set{i}", 1, name, values[i], seconds[name]) for name, values in scores.items() for i in range(2)]
    found, verdict = claim.check(Summary(rows, list(scores)))
    assert verdict is holds
    assert found
    assert claim.text


def test_level_allows_for_one_standard_error():
    rows = [row("set", j, "b", 90.0) for j in (1, 2)]
    near = [row("set", j, "rffboost", score) for j, score in ((1, 89.0), (2, 90.5))]
    far = [row("set", j, "rffboost", score) for j, score in ((1, 89.0), (2, 89.5))]
    assert Level(("b",), 1.0).check(Summary(rows + near, ["rffboost", "b"]))[1]
    assert not Level(("b",), 1.0).check(Summary(rows + far, ["rffboost", "b"]))[1]


@pytest.mark.parametrize(("ours", "verdict"), [(94.8, "yes"), (94.6, "no")])
def test_held_out_accuracy_is_beside_the_better_peer(ours, verdict):
    cells = held_out("what", "workload", {"ours": ours, "worse": 90.0, "better": 95.0})["cells"]
    assert "better" in cells[3]
    assert cells[-1] == verdict


def test_time_left_is_that_of_rows_of_the_kind():
    tasks = Selection(("xgboost", "lightgbm"), ("wine", "wdbc"), splits=1).tasks(TABLES["ecml"])
    pace = Pace([row("wine", 9, "xgboost", 1.0, seconds=5.0), row("iono", 9, "lightgbm", 1.0, seconds=3.0)])
    # Each row predicts for 0.1 s besides: xgboost on wine, then by system.
    assert pace.left(tasks) == pytest.approx(5.1 + 3.1 + 5.1 + 3.1)
    assert pace.left(tasks, jobs=2) == pytest.approx(8.2)
    assert Pace().left(tasks) == 0.0


# The report


def test_report_marks_the_best_and_shows_every_set():
    names = ["xgboost", "lightgbm", "catboost", "rffboost"]
    scores, rows = cube(3, 2, names, seed=4)
    named = [replace(one, dataset=accuracy_data.SMALL[int(one.dataset[-1])]) for one in rows]
    text = report([TABLES["ecml"]], named, "", machine_facts())
    means = scores.mean(axis=1)
    for i, name in enumerate(accuracy_data.SMALL[:3]):
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} ")]
        cells = [cell.strip() for cell in line.split("|")[4:8]]
        assert [cell.startswith("**") for cell in cells] == list(means[i] == means[i].max())
        assert [float(cell.strip("*").split()[0]) for cell in cells] == pytest.approx(means[i], abs=0.005)
    assert "here on 3 of 15 data sets" in text


def machine_facts() -> dict[str, object]:
    """What a measurement was made on, in few words."""
    return {"cpu": "", "cores": 1, "vector extensions": [], "load": 0, "threads": 1, "python": "", "versions": {}}


def test_systems_that_cannot_do_every_task_have_no_rank():
    tasks = {"set0": "binary", "set1": "regression"}
    rows = [
        replace(row(name, 1, system, 1.0, table="wider"), task=task)
        for name, task in tasks.items()
        for system in ("xgboost", "gbrff2")
        if task in SYSTEMS[system].tasks
    ]
    text = report([TABLES["wider"]], rows, "", machine_facts())
    (rank,) = [line for line in text.splitlines() if line.startswith("| average rank")]
    assert [cell.strip() for cell in rank.split("|")[4:6]] == ["**1.00**", "-"]


# Runs


def run(tmp_path: Path, *options: str) -> list[dict[str, str]]:
    """The rows of the file after a run on wine and wdbc."""
    shared = ["--out", str(tmp_path / "out"), "--data-dir", str(tmp_path), "--splits", "2"]
    accuracy.main([*shared, "--tables", "ecml", "--datasets", "wine", "wdbc", "--systems", *FAST, *options])
    with (tmp_path / "out" / "accuracy.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def facts(rows: list[dict[str, str]]) -> set[tuple[str, ...]]:
    """What of the rows does not depend on the clock."""
    return {(row["dataset"], row["split"], row["system"], row["score"]) for row in rows}


def test_a_run_goes_on_where_it_was_interrupted(tmp_path, monkeypatch, own_process_state):
    (tmp_path / "undisturbed").mkdir()
    whole = run(tmp_path / "undisturbed")
    done: list[object] = []
    fit = accuracy_run.Task._measured

    def interrupted(task):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(task)
        return fit(task)

    monkeypatch.setattr(accuracy_run.Task, "_measured", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    monkeypatch.setattr(accuracy_run.Task, "_measured", lambda task: done.append(task) or fit(task))
    assert facts(run(tmp_path)) == facts(whole)
    assert len({task.key for task in done}) == len(done) == len(whole) == 12


def test_a_second_run_does_what_is_missing_only(tmp_path, own_process_state):
    first = run(tmp_path)
    path = tmp_path / "out" / "accuracy.csv"
    content = path.read_bytes()
    run(tmp_path)
    assert path.read_bytes() == content
    path.write_text("".join(content.decode().splitlines(keepends=True)[:-3]))
    again = run(tmp_path)
    assert again[:-3] == first[:-3]
    assert facts(again) == facts(first)
    run(tmp_path, "--splits", "3", "--no-run")
    assert "| wine " in (tmp_path / "out" / "accuracy.md").read_text()
    assert facts(again) == facts(run(tmp_path, "--no-run"))
    # Rows hold their times: those of the system that was dropped are new, the others are the same.
    redone = run(tmp_path, "--redo", "lightgbm")
    assert facts(redone) == facts(first)
    same = [one in again for one in redone]
    assert same == [one["system"] != "lightgbm" for one in redone]


def test_rows_of_another_configuration_do_not_count(monkeypatch):
    selection = Selection(("xgboost",), ("wine",), splits=1)
    (task,) = selection.tasks(TABLES["ecml"])
    made = replace(row("wine", 1, "xgboost", 90.0), config=task.config)
    for other in (replace(made, config="xgboost 0.1"), replace(made, threads=2)):
        assert pending([task], {other.key: other}) == [task]
        assert current([other], 1) == []
    assert pending([task], {made.key: made}) == []
    assert current([made], 1) == [made]
    changed = replace(SYSTEMS["xgboost"], build=lambda task, threads: RFFBoostClassifier())
    monkeypatch.setitem(SYSTEMS, "xgboost", changed)
    accuracy_run.config.cache_clear()
    assert current([made], 1) == []


def test_rows_of_another_number_of_threads_do_not_count():
    # HistGradientBoosting has no such parameter, so that its configuration is the same for any.
    (task,) = Selection(("histgb",), ("wine",), splits=1).tasks(TABLES["ecml"])
    made = replace(row("wine", 1, "histgb", 90.0), config=task.config)
    other = replace(made, threads=2)
    assert current([made, other], 1) == [made]
    assert pending([task], {other.key: other}) == [task]


def test_what_fails_is_named_and_the_rest_is_done(tmp_path, monkeypatch, capsys, own_process_state):
    def broken(task, threads):
        return RFFBoostClassifier(learner="no_such_learner")

    monkeypatch.setitem(SYSTEMS, "histgb", replace(SYSTEMS["histgb"], build=broken))
    rows = run(tmp_path, "--tables", "ecml")
    assert {one["system"] for one in rows} == {"xgboost", "lightgbm"}
    shared = ["--out", str(tmp_path / "out"), "--tables", "ecml", "--datasets", "wine", "--splits", "1"]
    assert accuracy.main([*shared, "--systems", "histgb"]) == 1
    error = capsys.readouterr().err
    assert "no_such_learner" in error
    assert "wine, split 1, histgb" in error


def test_quick_run_leaves_out_what_cannot_be_had(tmp_path, capsys, own_process_state):
    shared = ["--out", str(tmp_path / "out"), "--data-dir", str(tmp_path), "--quick", "--tables"]
    assert accuracy.main([*shared, "ecml", "wider", "--systems", "xgboost", "lightgbm", "gbrff2"]) == 0
    printed = capsys.readouterr()
    assert "left out: heart: it is in heart.csv" in printed.err
    text = (tmp_path / "out" / "accuracy.md").read_text()
    assert text.strip() == printed.out.strip()
    assert all(f"| {name} " in text for name in ("wine", "diabetes", "friedman1"))
    assert "| heart" not in text
    assert "GBRFF2, published" in text


def test_tuned_rows_say_what_was_chosen(monkeypatch):
    grid = [{"max_depth": [1, 2]}]
    monkeypatch.setitem(SYSTEMS, "xgboost", replace(SYSTEMS["xgboost"], grid=lambda n_features: grid))
    (task,) = Selection(("xgboost",), ("wine",), splits=1).tasks(TABLES["ecml-tuned"])
    found = task()
    assert found.chosen in ('{"max_depth": 1}', '{"max_depth": 2}')
    assert found.search_seconds > found.fit_seconds > 0.0


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--systems", "xgbost"], "xgboost"),
        (["--datasets", "wino"], "wine"),
        (["--redo", "cat"], "catboost"),
        (["--splits", "0"], "--splits"),
        (["--data-dir", "no/such/folder"], "--data-dir"),
        (["--tables", "ecm"], "--tables"),
    ],
)
def test_bad_options_are_refused(options, word, tmp_path, capsys, own_process_state):
    with pytest.raises(SystemExit) as exit:
        accuracy.main(["--out", str(tmp_path / "out"), *options])
    assert exit.value.code == 2
    assert word in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_script_finds_its_parts_from_anywhere(tmp_path):
    command = [sys.executable, str(SCRIPT), "--out", "out", "--systems", "unknown"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "unknown system 'unknown'" in done.stderr


# Speed


TINY = Sizes(large=300, grown=600, small=200, held_out=100, rounds=3, turns=2)


def test_every_time_is_taken_once(tmp_path, monkeypatch):
    if "rff_newton" not in LEARNERS.names():
        pytest.skip("rff_newton is not registered")
    file, said = accuracy_speed.SpeedFile(tmp_path / "speed.json"), []
    assert accuracy_speed.measure_all(file, TINY, 1, said.append) == []
    content = file.path.read_bytes()
    assert accuracy_speed.measure_all(file, TINY, 1, said.append) == []
    assert file.path.read_bytes() == content
    assert len(said) == len(accuracy_speed.MEASURES)
    text = accuracy_speed.speed_section(file, TINY, 1)
    for words in ("at least 10 ", "at least -0.3", "at most 4 ", "at most 3 ", "CatBoost", "300 x 20", "600 x 20"):
        assert words in text
    assert accuracy_speed.speed_section(file, TINY, 2) == ""


def test_full_workloads_are_those_of_the_targets():
    full = Sizes()
    assert (full.large, full.grown, full.small, full.rounds, full.turns) == (1_000_000, 8_000_000, 10_000, 100, 5)
