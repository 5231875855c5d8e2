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


def split(data, index):
    return data, index


def measure(system, parts, task):
    if system == "broken":
        raise RuntimeError("no luck")
    data, split = parts
    return [{"score": len(data) + 10.0 * split + x, "choice": {"system": system}} for x in task.points]


def study(**changes) -> Study:
    settings = {
        "data": {name: partial(load, name) for name in ("wine", "iris")},
        "systems": {name: name for name in ("a", "b")},
        "splits": split,
        "measures": measure,
        "columns": ("score", "choice"),
        "n_splits": 2,
        "points": (0.0, 5.0),
    }
    return Study(**settings | changes)


def test_every_point_of_every_task_has_a_record():
    records = {}
    assert study().run(records) == []
    assert len(records) == 2 * 2 * 2 * 2
    assert records["iris", "b", 2, 5.0]["score"] == 4 + 20 + 5
    assert records["iris", "b", 2, 5.0]["choice"] == {"system": "b"}


def test_tasks_come_by_data_set_split_and_system():
    tasks = [(task.dataset, task.split, task.system) for task in study().pending({})]
    assert tasks == [(d, s, n) for d in ("wine", "iris") for s in (1, 2) for n in ("a", "b")]
    fewer = study(applies=lambda dataset, system: (dataset, system) != ("wine", "b")).pending({})
    assert [task for task in fewer if (task.dataset, task.system) == ("wine", "b")] == []


def test_a_run_resumes_from_its_file(tmp_path, monkeypatch):
    file, one = Records(tmp_path / "rows.csv", ("score", "choice")), study()
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
    def interrupted(system, parts, task):
        if task.system == "b" and task.split == 2:
            raise KeyboardInterrupt
        return measure(system, parts, task)

    file = Records(tmp_path / "rows.csv", ("score", "choice"))
    with pytest.raises(KeyboardInterrupt):
        study(measures=interrupted).resume(file)
    assert len(file.read()) == 2 * 3


def test_records_of_another_configuration_are_measured_again():
    records = {}
    study().run(records)
    assert study().pending(records) == []
    changed = study(config=lambda system, dataset: settings_digest(system == "b"))
    assert {task.system for task in changed.pending(records)} == {"a", "b"}
    assert (
        len({settings_digest(), settings_digest(1), settings_digest(2), settings_digest(1, package="numpy")}) == 4
    )


def test_an_order_may_depend_on_what_is_known():
    def after_a(one, records):
        tasks = [Task("wine", "a", 1)]
        return [*tasks, Task("wine", "b", 1, choice=2.0)] if ("wine", "a", 1, 0.0) in records else tasks

    trained = []
    records = {}
    study(order=after_a).run(records, finished=lambda task, result: trained.append((task.system, task.choice)))
    assert trained == [("a", None), ("b", 2.0)]


def test_failures_are_named_once_and_the_rest_is_done(capsys):
    records = {}
    failures = study(systems={"a": "a", "b": "broken"}).run(records)
    assert {key[1] for key in records} == {"a"}
    assert [str(failure) for failure in failures[:1]] == ["wine, b, split 1: RuntimeError: no luck"]
    assert failure_lines(failures) == [
        f"{name}, b, split 1: RuntimeError: no luck (1 more like it)" for name in ("wine", "iris")
    ]
    assert failure_lines([Failure(Task("d", "s", 3), "x")]) == ["d, s, split 3: x"]


def test_records_come_back_from_their_file(tmp_path):
    file = Records(tmp_path / "rows.csv", ("score", "size", "choice"))
    choice = {"a": 1, "b": "x,\ny", "c": [0.1]}
    rows = [
        Record("set", name, 1, 0.1, "v 1", {"score": 100.0 / 3.0, "size": 3, "choice": choice}) for name in SYSTEMS
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
