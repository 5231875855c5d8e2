"""The arithmetic of the papers' tables and figures, and the rows that they are made of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.papers.reproduce import TARGETS
from benchmarks.papers.reproduce.comparison import PublishedComparison, complete_sets, published
from rffboost_ext.experiments.records import as_frame
from rffboost_ext.experiments.summary import curves

from .reproduce_cases import row


def test_comparison_is_plain_arithmetic():
    rng = np.random.default_rng(0)
    scores = rng.uniform(60, 90, (2, 2, 3))
    rows = [
        row(d, s, k + 1, scores[i, j, k])
        for i, d in enumerate("ab")
        for j, s in enumerate(("S", "T"))
        for k in range(3)
    ]
    reference = pd.DataFrame({"S": [70.0, np.nan], "T": [60.0, 80.0]}, index=["a", "b"])
    spread = pd.DataFrame({"S": [1.0, 1.0], "T": [1e6, 0.001]}, index=["a", "b"])
    comparison = PublishedComparison(as_frame(rows), ("b", "a", "missing"), ("S", "T", "U"), reference, spread)
    assert list(comparison.mean.index) == ["b", "a"]
    np.testing.assert_allclose(comparison.mean.loc["a"], scores[0].mean(axis=1))
    np.testing.assert_allclose(comparison.std.loc["b"], scores[1].std(axis=1))
    np.testing.assert_allclose(comparison.difference.loc["a"], scores[0].mean(axis=1) - [70.0, 60.0])
    assert comparison.means["sets"].tolist() == [1, 2]
    assert comparison.means.loc["T", "difference"] == pytest.approx(scores[:, 1].mean() - 70.0)
    assert comparison.shared.tolist() == ["a"]
    ranks = comparison.ranks(comparison.mean)
    assert ranks["S"] == (1.0 if scores[0, 0].mean() > scores[0, 1].mean() else 2.0)
    far = {(d, s): z for d, s, z in comparison.far()}
    assert far[("b", "T")] == pytest.approx((scores[1, 1].mean() - 80.0) / 0.001)
    assert ("a", "T") not in far
    assert comparison.rows().set_index(["dataset", "system"]).loc[("b", "S"), "splits"] == 3


def test_curves_are_over_what_is_complete():
    rows = [row(d, s, 1, 10.0 * x + (d == "b"), x) for d in "ab" for s in ("S", "T") for x in (1.0, 2.0)]
    rows += [row("c", "S", 1, 99.0, 1.0), row("a", "S", 2, 99.0, 1.0)]
    means = curves(complete_sets(as_frame(rows)), ("T", "S"))
    assert list(means.columns) == ["T", "S"]
    np.testing.assert_allclose(means.to_numpy(), [[10.5, 10.5], [20.5, 20.5]])


def test_published_values_have_a_line_per_set_of_the_target():
    for name in ("ecml2020-table2", "workshop2019-table2", "letarte2019-table1"):
        reference = published(name.replace("-", "_"))
        assert set(reference.index) == set(TARGETS[name].full.datasets)
    assert published("ecml2020_figure3").loc[1000, "K=10"] == 88.03
