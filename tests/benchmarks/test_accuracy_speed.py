"""Times of the accuracy benchmark: each is taken once, and workloads are those of the targets."""

from __future__ import annotations

import pytest

from benchmarks import accuracy_speed
from benchmarks.accuracy_speed import SpeedSizes, held_out
from rffboost_ext import LEARNERS


@pytest.mark.parametrize(("ours", "verdict"), [(94.8, "yes"), (94.6, "no")])
def test_held_out_accuracy_is_beside_the_better_peer(ours, verdict):
    cells = held_out("what", "workload", {"ours": ours, "worse": 90.0, "better": 95.0})["cells"]
    assert "better" in cells[3]
    assert cells[-1] == verdict


TINY = SpeedSizes(large=300, grown=600, small=200, held_out=100, rounds=3, turns=2)


@pytest.mark.slow
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
    for words in (
        "at least 10 ",
        "at least -0.3",
        "at most 4 ",
        "at most 3 ",
        "at most 1.5 ",
        "CatBoost",
        "300 x 20",
        "600 x 20",
    ):
        assert words in text
    assert accuracy_speed.speed_section(file, TINY, 2) == ""


def test_full_workloads_are_those_of_the_targets():
    full = SpeedSizes()
    assert (full.large, full.grown, full.small, full.rounds, full.turns) == (1_000_000, 8_000_000, 10_000, 100, 5)
