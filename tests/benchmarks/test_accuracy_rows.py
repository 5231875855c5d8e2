"""Files of records: rows come back, incomplete lines are removed, other files refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.accuracy_records import AccuracyRecord
from rffboost_ext.experiments.records import Records

from .accuracy_cases import NAMES, row


def test_rows_come_back_from_the_file(tmp_path):
    file = Records(tmp_path / "rows.csv", AccuracyRecord)
    rows = [replace(row("set", 1, name, 100.0 / 3.0), chosen='{"a": 1, "b": "x,\ny"}') for name in NAMES]
    for one in rows:
        file.append(one)
    assert list(file.read().values()) == rows
    assert file.drop(lambda one: one.system == "b") == 1
    assert list(file.read().values()) == [rows[0], rows[2]]


@pytest.mark.parametrize("cut", [1, 20])
def test_an_unfinished_line_is_dropped_and_the_others_stay(tmp_path, cut):
    file = Records(tmp_path / "rows.csv", AccuracyRecord)
    rows = [row("set", 1, name, 1.0) for name in NAMES]
    for one in rows:
        file.append(one)
    file.path.write_bytes(file.path.read_bytes()[:-cut])
    assert file.repair()
    assert not file.repair()
    assert list(file.read().values()) == rows[:2]
    file.append(rows[2])
    assert list(file.read().values()) == rows


def test_of_two_rows_of_a_key_the_later_counts(tmp_path):
    file = Records(tmp_path / "rows.csv", AccuracyRecord)
    for score in (1.0, 2.0):
        file.append(row("set", 1, "a", score))
    assert [one.score for one in file.read().values()] == [2.0]


@pytest.mark.parametrize(("text", "word"), [("a,b\n1,2\n", "columns"), (None, "line 2")])
def test_a_foreign_file_is_refused(tmp_path, text, word):
    file = Records(tmp_path / "rows.csv", AccuracyRecord)
    file.append(row("set", 1, "a", 1.0))
    file.path.write_text(text or file.path.read_text().replace(",70,", ",seventy,"))
    with pytest.raises(ValueError, match=word):
        file.read()


def test_a_file_that_was_made_and_not_written_is_begun_anew(tmp_path):
    file, one = Records(tmp_path / "rows.csv", AccuracyRecord), row("set", 1, NAMES[0], 1.0)
    file.path.touch()
    assert file.repair()
    assert not file.repair()
    file.append(one)
    assert list(file.read().values()) == [one]
