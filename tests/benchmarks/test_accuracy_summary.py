"""Arithmetic and report of the accuracy benchmark agree with another's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchmarks import accuracy_data
from benchmarks.accuracy_claims import Ahead, FirstRank, Level, MeanAtLeast, TimeAtMost
from benchmarks.accuracy_records import AccuracyRecord
from benchmarks.accuracy_report import report
from benchmarks.accuracy_summary import Summary
from benchmarks.accuracy_systems import SYSTEMS
from benchmarks.accuracy_tables import TABLES

from .accuracy_cases import NAMES, row


def cube(
    n_datasets: int, n_splits: int, names: list[str], seed: int = 0
) -> tuple[np.ndarray, list[AccuracyRecord]]:
    """Scores (dataset, split, system) with ties among them, and their rows."""
    scores = np.random.default_rng(seed).integers(0, 4, (n_datasets, n_splits, len(names))).astype(float)
    rows = [
        row(f"set{i}", j + 1, names[k], scores[i, j, k], seconds=1.0 + i + 2.0 * j**2 + 4.0 * k)
        for i, j, k in np.ndindex(*scores.shape)
    ]
    return scores, rows


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


def test_claims_count_the_sets_of_the_systems_that_they_name():
    names = ["xgboost", "lightgbm", "histgb", "catboost", "rffboost", "rffboost_high"]
    rows = [
        replace(row(f"set{i}", 1, name, float(k)), table="development")
        for i in (0, 1)
        for k, name in enumerate(names)
    ]
    text = report([TABLES["development"]], rows[:-1], "", machine_facts())
    assert "the 1 data sets that all of them have" in text
    assert "here on 2 of 5 data sets" in text
    (ahead,) = [line for line in text.splitlines() if line.startswith("| ahead of catboost")]
    assert ahead.split("|")[2].strip() == "2 of 2"


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
