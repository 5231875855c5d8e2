"""Means, ranks and differences of records, and their tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rffboost_ext.experiments.records import Record, as_frame
from rffboost_ext.experiments.report import markdown, report
from rffboost_ext.experiments.summary import Summary

SYSTEMS = ["a", "b", "c"]


def cube(n_datasets: int, n_splits: int, seed: int = 0) -> tuple[np.ndarray, pd.DataFrame]:
    """Scores (dataset, split, system) with ties among them, and their records."""
    scores = np.random.default_rng(seed).integers(0, 4, (n_datasets, n_splits, len(SYSTEMS))) + 1.0
    records = [
        Record(f"set{i}", SYSTEMS[k], j + 1, 0.0, "", {"score": scores[i, j, k], "seconds": 1.0 + i + k})
        for i, j, k in np.ndindex(*scores.shape)
    ]
    return scores, as_frame(records)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_means_ranks_and_differences_agree_with_scipy(seed, lower):
    scores, frame = cube(6, 3, seed)
    summary = Summary(frame, lower=lower)
    means = scores.mean(axis=1)
    np.testing.assert_allclose(summary.mean, means)
    np.testing.assert_allclose(summary.std, scores.std(axis=1))
    np.testing.assert_allclose(summary.overall, means.mean(axis=0))
    sign = 1.0 if lower else -1.0
    np.testing.assert_allclose(summary.ranks(), stats.rankdata(sign * means.round(9), axis=1).mean(axis=0))
    gaps, row = means[:, 1] - means[:, 0], summary.differences().loc["b"]
    assert row["difference"] == pytest.approx(gaps.mean())
    assert row["error"] == pytest.approx(stats.sem(gaps))
    assert row["better"] == (sign * gaps.round(9) < 0.0).sum()
    np.testing.assert_allclose(summary.ratios(), stats.gmean(means / means[:, :1]))


def test_data_sets_that_a_system_lacks_are_left_out_of_its_comparison():
    scores, frame = cube(3, 2)
    gone = frame[~((frame["dataset"] == "set0") & (frame["system"] == "b"))]
    summary = Summary(gone, datasets=["set2", "set0", "set1", "absent"], systems=SYSTEMS)
    assert list(summary.mean.index) == ["set2", "set0", "set1"]
    assert list(summary.shared) == ["set2", "set1"]
    assert summary.differences()["count"].to_dict() == {"a": 3, "b": 2, "c": 3}
    np.testing.assert_allclose(summary.overall[SYSTEMS], scores[1:].mean(axis=(0, 1)))


def test_a_report_has_a_table_of_systems_and_of_data_sets():
    _, frame = cube(4, 2, seed=1)
    text = report(frame, {"score": "higher", "seconds": "time"})
    assert [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| set")] == [
        f"set{i}" for i in range(4)
    ]
    first, second = (part.split("## seconds")[0] for part in (text, report(frame, {"score": "lower"})))
    assert first != second
    assert "mean of 4 sets" in first
    groups = report(frame, {"score": "higher"}, {"some": ["set0", "set1"], "none": ["set9"]})
    assert "some" in groups
    assert "| set0" not in groups


def test_a_table_in_markdown():
    assert markdown(["a", "b"], [["1", "2|3"]]).splitlines()[0].replace(" ", "") == "|a|b|"
