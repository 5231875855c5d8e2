"""Studies: what is measured, in which order, and how a run resumes from its file."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.command import signed
from benchmarks.records import Records
from benchmarks.study import Failure, Study, Task, failure_lines, settings_digest
from rffboost_ext.experiments.records import Record

SYSTEMS = ["a", "b", "c"]


def load(name):
    return name


def parts(data, index):
    return data, index


def measure(system, given, task):
    if system == "broken":
        raise RuntimeError("no luck")
    data, split = given
    return [{"score": len(data) + 10.0 * split + x, "chosen": {"system": system}} for x in task.points]


def study(**changes) -> Study:
    settings = {
        "data": {name: partial(load, name) for name in ("wine", "iris")},
        "systems": {name: name for name in ("a", "b")},
        "splits": parts,
        "measures": measure,
        "columns": ("score", "chosen"),
        "n_splits": 2,
        "points": (0.0, 5.0),
    }
    return Study(**settings | changes)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_point_of_every_task_has_a_record(jobs):
    one, known = study(), {}
    assert one.run(known, jobs) == []
    assert len(known) == 2 * 2 * 2 * 2
    assert known["iris", "b", 2, 5.0]["score"] == 4 + 20 + 5
    assert known["iris", "b", 2, 5.0]["chosen"] == {"system": "b"}


def test_tasks_come_by_data_set_split_and_system():
    found = [(task.dataset, task.split, task.system) for task in study().pending({})]
    assert found == [(d, s, n) for d in ("wine", "iris") for s in (1, 2) for n in ("a", "b")]
    fewer = study(applies=lambda dataset, system: (dataset, system) != ("wine", "b")).pending({})
    assert [task for task in fewer if (task.dataset, task.system) == ("wine", "b")] == []


def test_a_run_resumes_from_its_file(tmp_path, monkeypatch):
    file, one = Records(tmp_path / "rows.csv", ("score", "chosen")), study()
    first, _ = one.resume(file)
    lines = file.path.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + len(first)
    file.path.write_text("".join(lines[:-3]) + lines[-3][:7])
    assert one.resume(file) == (first, [])
    # The task whose records are incomplete is measured again as a whole.
    assert len(file.path.read_text().splitlines()) == len(lines) + 1
    monkeypatch.setattr("benchmarks.study.attempt", lambda *parts: pytest.fail("measured again"))
    assert one.resume(file) == (first, [])


def test_an_interrupt_loses_no_finished_task(tmp_path):
    def interrupted(system, given, task):
        if task.system == "b" and task.split == 2:
            raise KeyboardInterrupt
        return measure(system, given, task)

    file = Records(tmp_path / "rows.csv", ("score", "chosen"))
    with pytest.raises(KeyboardInterrupt):
        study(measures=interrupted).resume(file)
    assert len(file.read()) == 2 * 3


def test_records_of_another_configuration_are_measured_again():
    known = {}
    study().run(known)
    assert study().pending(known) == []
    changed = study(config=lambda system, dataset: settings_digest(system == "b"))
    assert {task.system for task in changed.pending(known)} == {"a", "b"}
    assert (
        len({settings_digest(), settings_digest(1), settings_digest(2), settings_digest(1, package="numpy")}) == 4
    )


def test_an_order_may_depend_on_what_is_known():
    def after_a(one, known):
        tasks = [Task("wine", "a", 1)]
        return [*tasks, Task("wine", "b", 1, choice=2.0)] if ("wine", "a", 1, 0.0) in known else tasks

    seen = []
    known = {}
    study(order=after_a).run(known, finished=lambda task, records: seen.append((task.system, task.choice)))
    assert seen == [("a", None), ("b", 2.0)]


def test_failures_are_named_once_and_the_rest_is_done(capsys):
    known = {}
    failures = study(systems={"a": "a", "b": "broken"}).run(known)
    assert {key[1] for key in known} == {"a"}
    assert [str(failure) for failure in failures[:1]] == ["wine, b, split 1: RuntimeError: no luck"]
    assert failure_lines(failures) == [
        f"{name}, b, split 1: RuntimeError: no luck (1 more like it)" for name in ("wine", "iris")
    ]
    assert failure_lines([Failure(Task("d", "s", 3), "x")]) == ["d, s, split 3: x"]


def test_records_come_back_from_their_file(tmp_path):
    file = Records(tmp_path / "rows.csv", ("score", "size", "chosen"))
    chosen = {"a": 1, "b": "x,\ny", "c": [0.1]}
    rows = [
        Record("set", name, 1, 0.1, "v 1", {"score": 100.0 / 3.0, "size": 3, "chosen": chosen}) for name in SYSTEMS
    ]
    file.append(rows[0])
    file.append(*rows[1:])
    assert list(file.read().values()) == rows
    later = Record(*rows[0].key, "v 2", rows[0].values)
    file.append(later)
    assert file.read()[later.key].config == "v 2"


@pytest.mark.parametrize(("cut", "whole"), [(1, 2), (8, 2), (20, 1), (70, 0)])
def test_an_incomplete_end_is_removed(cut, whole, tmp_path):
    file = Records(tmp_path / "rows.csv", ("score",))
    rows = [Record("set", name, 1, 0.0, "", {"score": 1.0}) for name in SYSTEMS]
    file.append(*rows)
    file.path.write_bytes(file.path.read_bytes()[:-cut])
    assert file.repair()
    assert not file.repair()
    assert list(file.read().values()) == rows[:whole]


@pytest.mark.parametrize(
    ("change", "word"), [(("score", "other"), "columns"), (("1.5", "two"), "line 2"), (("set", "é"), "not a file")]
)
def test_files_of_other_content_are_refused(change, word, tmp_path):
    file = Records(tmp_path / "rows.csv", ("score",))
    file.append(Record("set", "a", 1, 0.0, "", {"score": 1.5}))
    file.path.write_bytes(file.path.read_text().replace(*change).encode("latin-1"))
    with pytest.raises(ValueError, match=word):
        file.read()


def test_numbers_have_their_sign():
    assert [signed(value, 1) for value in (1.25, -1.25, -0.01)] == ["+1.2", "\u22121.2", "0.0"]
