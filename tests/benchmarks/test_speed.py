"""The timing of the benchmarks: every row is produced, and systems take turns."""

from __future__ import annotations

import json

import pytest

from benchmarks import figures, speed
from benchmarks.timing import TimingRow, format_duration, in_turns

TINY = speed.Sizes(
    published=(110,),
    large=300,
    grown=600,
    held_out=100,
    rounds=2,
    turns=2,
)
# Rows of each measure: the number of peers.
ROWS = {
    "cosines_alone": ["LightGBM", "XGBoost"],
    "growth": ["300 rows"],
    "published": ["LightGBM", "XGBoost"],
    "one_row": ["XGBoost, 100 trees of depth 6"],
}


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_produced(name, tmp_path, monkeypatch):
    monkeypatch.setattr(speed, "QUICK", TINY)
    path = tmp_path / "speed.json"
    speed.main(["--quick", "--measures", name, "--json", str(path)])
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    assert [row["peer"] for row in rows] == ROWS[name]
    assert all(min(*row["ours"], *row["theirs"]) > 0.0 for row in rows)
    assert all(len(row["ours"]) == len(row["theirs"]) >= 2 for row in rows)


def test_every_measure_has_rows():
    assert set(ROWS) == set(speed.MEASURES)


def test_systems_take_turns_after_a_warm_up():
    calls: list[str] = []
    times = in_turns(lambda: calls.append("A"), lambda: calls.append("B"), turns=3, calls=2)
    assert "".join(calls) == "AB" + 3 * "AABB"
    assert [len(of_one) for of_one in times] == [3, 3]


def test_a_ratio_is_of_medians():
    row = TimingRow("what", "workload", "peer", (1.0, 3.0, 9.0), (5.0, 6.0, 100.0))
    assert row.ratio == 0.5
    assert str(row).split()[-1] == "0.50"


@pytest.mark.parametrize(
    ("seconds", "text"), [(12.34, "12.3 s"), (0.05, "50 ms"), (2.5e-5, "25 us"), (3e-10, "0.3 ns")]
)
def test_times_are_shown_in_a_unit_that_suits(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.FIGURES)
def test_figures_are_drawn(name, tmp_path):
    figures.main([name, "--out", str(tmp_path)])
    assert (tmp_path / f"{name}.png").stat().st_size > 1_000
