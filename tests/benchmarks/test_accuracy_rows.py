"""The journal of the accuracy benchmark: rows come back, unfinished lines are mended, foreign files refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.accuracy_rows import Journal

from .accuracy_cases import NAMES, row


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


def test_a_file_that_was_made_and_not_written_is_begun_anew(tmp_path):
    journal, one = Journal(tmp_path / "rows.csv"), row("set", 1, NAMES[0], 1.0)
    journal.path.touch()
    assert journal.mend()
    assert not journal.mend()
    journal.append(one)
    assert list(journal.rows().values()) == [one]
