"""The script of the accuracy benchmark: nothing is done twice, what fails or cannot be had is named."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import accuracy, accuracy_run
from benchmarks.accuracy_run import AccuracyTask, Selection, current
from benchmarks.accuracy_systems import SYSTEMS
from benchmarks.accuracy_tables import TABLES
from benchmarks.speed import POOLS
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.experiments.runner import RemainingTime, pending

from .accuracy_cases import FAST, SCRIPT, row


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
    fit = AccuracyTask.measure

    def interrupted(task):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(task)
        return fit(task)

    monkeypatch.setattr(AccuracyTask, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    monkeypatch.setattr(AccuracyTask, "measure", lambda task: done.append(task) or fit(task))
    assert facts(run(tmp_path)) == facts(whole)
    assert len({task.keys[0] for task in done}) == len(done) == len(whole) == 12


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


def test_time_left_is_that_of_rows_of_the_kind():
    tasks = Selection(("xgboost", "lightgbm"), ("wine", "wdbc"), splits=1).tasks(TABLES["ecml"])
    estimate = RemainingTime(
        [row("wine", 9, "xgboost", 1.0, seconds=5.0), row("iono", 9, "lightgbm", 1.0, seconds=3.0)]
    )
    # Each row predicts for 0.1 s besides: xgboost on wine, then by system.
    assert estimate.left(tasks) == pytest.approx(5.1 + 3.1 + 5.1 + 3.1)
    assert estimate.left(tasks, jobs=2) == pytest.approx(8.2)
    assert RemainingTime().left(tasks) == 0.0


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
    assert "wine, histgb, split 1" in error


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
    monkeypatch.setitem(SYSTEMS, "xgboost", replace(SYSTEMS["xgboost"], grid=lambda X: grid))
    (task,) = Selection(("xgboost",), ("wine",), splits=1).tasks(TABLES["ecml-tuned"])
    (found,) = task()
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


def test_the_folder_of_data_is_the_option_or_that_of_the_environment(monkeypatch, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.delenv("RFFBOOST_DATA", raising=False)
    assert accuracy.data_folder(None) is None
    monkeypatch.setenv("RFFBOOST_DATA", str(tmp_path))
    assert accuracy.data_folder(None) == tmp_path
    assert accuracy.data_folder(other) == other
    monkeypatch.setenv("RFFBOOST_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match=r"RFFBOOST_DATA: .*absent' is not a folder"):
        accuracy.data_folder(None)


def test_script_finds_its_parts_from_anywhere(tmp_path):
    command = [sys.executable, str(SCRIPT), "--out", "out", "--systems", "unknown"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "unknown system 'unknown'" in done.stderr
