"""The speed benchmark: every row is produced, its peers compute the same, its clock takes turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import figure4, loops, plain, skew, speed, workloads
from benchmarks.machine import cores, machine
from benchmarks.timing import AtLeast, AtMost, TimingRow, format_duration, in_turns
from benchmarks.workloads import MEASURES, Sizes

from ..oracles import gbrff as oracle

SCRIPT = Path(speed.__file__)
TINY = Sizes(
    passes=((64, 20), (64, 100)),
    in_cache=64,
    figure=110,
    large=120,
    landmark=(80, 90),
    predicted=300,
    small=60,
    parallel=(64, 96),
    halvings=4,
    rounds=2,
    growth_rows=(100, 150),
    growth_features=(2, 4, 8),
    growth_rounds=1,
    calls=2,
)
TREES = "XGBoost, 100 trees of depth 6"
# What must be in the table: the start of the first column, the workload and the peer, and the target.
REQUIRED = [
    ("objective and gradient of rff_1", "64 x 20", "plain sum", AtLeast(0.5)),
    ("objective and gradient of rff_1", "64 x 100", "plain sum", AtLeast(0.7)),
    ("sincos per element, float64", "64 in cache", "NumPy", AtLeast(8.0)),
    ("sincos per element, float32", "64 in cache", "NumPy", AtLeast(2.0)),
    ("gbrff2, 2 rounds", "110 x 20", "gbrff2, plain", AtLeast(10.0)),
    ("gbrff2, 2 rounds", "110 x 20", "LightGBM", AtMost(0.7)),
    ("gbrff2, 2 rounds", "120 x 20", "LightGBM", AtMost(0.9)),
    ("gbrff2, 2 rounds", "120 x 20", "XGBoost", AtMost(0.9)),
    ("gbrff2, 2 rounds", "120 x 20", "gbrff2, all rows throughout", AtMost(1.0)),
    ("gbrff1, 2 rounds", "80 x 20", "gbrff1, plain", AtLeast(10.0)),
    ("gbrff1, 2 rounds", "90 x 20", "gbrff1, plain", AtLeast(10.0)),
    ("predict, 100 cosines", "300 x 30, float32", TREES, AtLeast(8.0)),
    ("predict, 100 cosines", "300 x 30, float32", "onnxruntime", AtLeast(2.5)),
    ("predict, 1,000 cosines", "300 x 30, float32", TREES, AtLeast(1.0)),
    ("predict, 1,000 cosines", "300 x 30, float32", "onnxruntime", AtLeast(3.0)),
    ("one row, 100 cosines", "decision_function, 1 x 30", TREES, AtLeast(1.0)),
    ("gbrff2, 2 rounds", "60 x 13", "gbrff2, plain", AtLeast(3.0)),
    ("two processes", "arithmetic", "one process", AtLeast(1.7)),
    ("two threads", "64 rows, K = 10", "one thread", AtLeast(1.7)),
    ("two threads", "96 rows, K = 10", "one thread", AtLeast(1.7)),
    ("growth in n, all rows", "100 to 150 x 20", "fastest", AtMost(2.0)),
    ("growth in d", "100 x 2 to 8", "straight line", AtMost(1.25)),
]
if cores() < 2:
    REQUIRED = [row for row in REQUIRED if not row[0].startswith("two ")]


@pytest.fixture(scope="module")
def rows() -> list[TimingRow]:
    """All rows, of tiny workloads."""
    return [row for measure in MEASURES for row in measure(TINY, 1)]


def test_every_row_is_there(rows):
    for row, (what, workload, peer, target) in zip(rows, REQUIRED, strict=True):
        assert row.what.startswith(what)
        assert row.workload.startswith(workload)
        assert row.peer.startswith(peer)
        assert row.target == target


def test_every_row_has_five_turns_or_more(rows):
    for row in rows:
        summary = row.what.startswith("growth in d")
        assert min(len(row.ours), len(row.theirs)) >= (1 if summary else 5)
        assert min(*row.ours, *row.theirs) > 0.0


def test_full_workloads_are_those_of_the_targets():
    full, quick = Sizes(), workloads.QUICK
    assert full.passes == ((1_000_000, 20), (400_000, 100))
    assert (full.figure, full.large, full.small, full.landmark) == (50_000, 1_000_000, 300, (5_000, 50_000))
    assert (full.predicted, full.rounds, full.growth_rows[0], full.growth_rows[-1]) == (
        100_000,
        100,
        10_000,
        4_000_000,
    )
    assert (full.growth_features[0], full.growth_features[-1]) == (5, 200)
    assert min(full.turns, quick.turns) >= 5
    assert quick.large < full.large


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_the_elementary_row_are_apart(dtype):
    one, two, three = arrays = workloads.apart(3, 1000, dtype)
    places = [array.ctypes.data for array in arrays]
    assert all(array.shape == (1000,) and array.dtype == dtype for array in arrays)
    assert all(place % 64 == 0 for place in places)
    assert len({place % workloads.PAGE for place in places}) == 3
    assert not any(np.shares_memory(*pair) for pair in ((one, two), (two, three), (one, three)))


def test_two_processes_share_the_work_of_one():
    done = np.zeros(3)
    loops.halvings(done, 1, 3)
    assert done[0] == 0.0
    assert done[1] == done[2] > 0.0
    one, two = loops.processes_in_turns(4, 2)
    assert len(one) == len(two) == 2
    assert min(*one, *two) > 0.0


def test_systems_take_turns_after_a_warm_up():
    calls: list[str] = []
    times = in_turns(lambda: calls.append("A"), lambda: calls.append("B"), turns=3, calls=2)
    assert "".join(calls) == "AB" + 3 * "AABB"
    assert [len(of_one) for of_one in times] == [3, 3]


@pytest.mark.parametrize(
    ("target", "ours", "ratio", "reached"),
    [
        (AtLeast(2.0), (1.0, 3.0, 9.0), 2.0, True),
        (AtLeast(2.1), (1.0, 3.0, 9.0), 2.0, False),
        (AtMost(0.5), (1.0, 3.0, 9.0), 0.5, True),
        (AtMost(0.4), (1.0, 3.0, 9.0), 0.5, False),
    ],
)
def test_ratio_is_of_medians_and_points_the_right_way(target, ours, ratio, reached):
    row = TimingRow("what", "workload", "peer", ours, (5.0, 6.0, 100.0), target)
    assert row.ratio == ratio
    assert row.reached is reached
    assert row.cells()[-1] == ("yes" if reached else "no")


@pytest.mark.parametrize(
    ("seconds", "text"), [(12.34, "12.3 s"), (0.05, "50 ms"), (2.5e-5, "25 us"), (3e-10, "0.3 ns")]
)
def test_times_are_shown_in_a_unit_that_suits(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize("rounds", [1, 4])
def test_plain_gbrff1_is_the_published_algorithm(rounds):
    X, y, sign, draws = problem(rounds, 10)
    expected = oracle.gbrff1(X, sign, X, draws, beta=1.0)
    np.testing.assert_allclose(plain.gbrff1(X, y, rounds), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rounds", [1, 4])
def test_plain_gbrff2_is_the_published_algorithm(rounds):
    X, y, sign, draws = problem(rounds, 1)
    expected = oracle.gbrff2(X, sign, X, draws, l2=0.0)
    np.testing.assert_allclose(plain.gbrff2(X, y, rounds), expected, rtol=1e-4, atol=1e-5)


def problem(rounds: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """Standardised features, classes, signs and the draws that a plain fit of seed 0 makes."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((150, 6))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(150) > 0.2).astype(int)
    seeded = np.random.default_rng(0)
    return X, y, 2.0 * y - 1.0, [np.sqrt(2.0 / 6.0) * seeded.standard_normal((k, 6)) for _ in range(rounds)]


def test_figure_stops_each_system_at_the_limit(monkeypatch):
    times = {"fast": 1e-3, "slow": 1e-2}
    systems = {name: lambda X, y, rounds, threads, cost=cost: cost * len(X) for name, cost in times.items()}
    monkeypatch.setattr(figure4, "SYSTEMS", systems)
    monkeypatch.setattr(figure4, "seconds", lambda run: run())
    found = figure4.curves(limit=4.0, threads=1, largest=2_000)
    assert [n for n, _ in found["fast"]] == [150, 225, 338, 507, 760, 1140, 1710]
    assert [n for n, _ in found["slow"]] == [150, 225, 338, 507]
    assert found["slow"][-1][1] > 4.0 >= found["slow"][-2][1]


def test_machine_is_named():
    facts = machine(3)
    assert facts["threads"] == 3
    assert facts["cpu"]
    assert {"numpy", "lightgbm", "xgboost", "onnxruntime"} <= set(facts["versions"])


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--threads", "0"], "--threads"),
        (["--limit", "nan"], "--limit"),
        (["--json", "no/such/folder/f.json"], "--json"),
        (["--plot", "figure.txt"], "figure.txt"),
    ],
)
def test_bad_options_are_refused(options, word, capsys, own_process_state):
    with pytest.raises(SystemExit) as exit:
        speed.main(options)
    assert exit.value.code == 2
    assert word in capsys.readouterr().err


@pytest.fixture
def own_process_state(monkeypatch):
    """The environment and the path, which the script sets, are restored after a test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in speed.POOLS:
        monkeypatch.setenv(name, "1")


def test_command_writes_table_and_files(tmp_path, monkeypatch, capsys, own_process_state):
    monkeypatch.setattr(workloads, "QUICK", TINY)
    monkeypatch.setattr(workloads, "MEASURES", (workloads.elementary, workloads.small_data))
    result, plot = tmp_path / "speed.json", tmp_path / "speed.png"
    speed.main(["--quick", "--json", str(result), "--plot", str(plot), "--limit", "1e-3"])
    record = json.loads(result.read_text())
    assert [row["workload"] for row in record["rows"]][-1] == "60 x 13"
    assert {"gbrff1", "gbrff2", "gbrff1, plain", "gbrff2, plain", "XGBoost", "LightGBM"} == set(record["figure"])
    assert plot.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("must reach", "reached", "sincos per element", "numpy"))


def test_script_finds_its_parts_from_anywhere(tmp_path):
    command = [sys.executable, str(SCRIPT), "--json", "missing/f.json"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=dict(os.environ), check=False)
    assert run.returncode == 2
    assert "there is no folder" in run.stderr


@pytest.mark.slow
def test_quick_run_prints_every_row(tmp_path):
    command = [sys.executable, str(SCRIPT), "--quick", "--json", "quick.json"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    assert len(json.loads((tmp_path / "quick.json").read_text())["rows"]) == len(REQUIRED)


@pytest.mark.slow
def test_exported_models_are_timed_beside_their_peers(tmp_path):
    pytest.importorskip("onnxruntime")
    command = [
        sys.executable,
        str(SCRIPT.with_name("onnx.py")),
        "--rows",
        "50",
        "--repeats",
        "1",
        "--json",
        "o.json",
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads((tmp_path / "o.json").read_text())
    names = {row["name"] for row in found["rows"]}
    assert {
        "100 cosines, ONNX",
        "100 cosines, OnnxPredictor",
        "100 trees, XGBoost",
        "100 trees, LightGBM",
    } <= names
    assert all(row["rows_per_second"] > 0.0 and row["bytes"] > 0 for row in found["rows"])
    assert min(found["ratios"].values()) > 0.0


def test_skew_compares_preparations_on_the_same_splits(capsys):
    sets = {name: one for name, one in skew.generated(60).items() if name.startswith("moons")}
    some = {name: sets[name] for name in ("moons, as it is", "moons, exp 2x")}
    records = list(skew.measured(some, 1, n_estimators=2, quality="fast"))
    assert [(record["learner"], record["set"]) for record in records] == [
        (k, n) for n in some for k in skew.LEARNERS
    ]
    for record in records:
        assert list(record["accuracy"]) == list(skew.PREPARATIONS)
        assert all(0.0 <= value <= 100.0 for value in record["accuracy"].values())
    skew.show(records, machine(1))
    assert "mean of skewed sets (1)" in capsys.readouterr().out
    (few,) = skew.measured({"moons": some["moons, exp 2x"]}, 1, ["default"], ["auto", "power"], n_estimators=2)
    assert list(few["accuracy"]) == ["auto", "power"]
    for warp in skew.WARPS:
        assert (skew.generated(50)[f"ring, {warp}"][1]) == (warp != "as it is")


def test_skew_takes_the_sets_that_are_there(tmp_path, capsys):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pima.csv").write_text("a,b,target\n" + "".join(f"{i},{-i},{i % 2}\n" for i in range(20)))
    found = skew.real(tmp_path)
    assert list(found) == ["wdbc", "wine", "pima"]
    assert [skewed for _, skewed in found.values()] == [False, False, True]
    assert "left out: australian, bupa, german" in capsys.readouterr().err


def test_preparations_of_skew_know_the_training_rows_only():
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((200, 2))
    clipped, cut = skew.Clipped(1.0).fit(X).transform(10.0 * X), skew.Winsorised(0.1).fit(X).transform(10.0 * X)
    np.testing.assert_allclose(
        clipped, np.clip(10.0 * X, X.mean(axis=0) - X.std(axis=0), X.mean(axis=0) + X.std(axis=0))
    )
    np.testing.assert_allclose(cut.max(axis=0), np.quantile(X, 0.9, axis=0))
