"""Accuracies on the page about benchmarks and in the README are those of the recorded rows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
SYSTEMS = ["rffboost", "catboost", "lightgbm", "histgb", "xgboost"]


@pytest.fixture(scope="module")
def scores():
    rows = pd.read_csv(ROOT / "benchmarks" / "accuracy.csv")
    return rows.pivot_table(index="dataset", columns="system", values="score")[SYSTEMS]


def shown(path, label):
    """The numbers of the line of a table that begins with `label`."""
    return [
        float(cell) for cell in re.search(rf"^\| {label} \|(.*)\|$", path.read_text(), re.MULTILINE)[1].split("|")
    ]


def test_every_data_set_is_shown_as_recorded(scores):
    page = ROOT / "docs" / "benchmarks.md"
    for name, values in scores.iterrows():
        assert shown(page, name) == pytest.approx(values.tolist(), abs=0.00501)


@pytest.mark.parametrize(
    ("page", "label"),
    [("docs/benchmarks.md", "mean"), ("README.md", "mean accuracy"), ("docs/index.md", "mean accuracy")],
)
def test_means_are_those_of_the_rows(page, label, scores):
    assert shown(ROOT / page, label) == pytest.approx(scores.mean().tolist(), abs=0.00501)


@pytest.mark.parametrize("page", ["docs/benchmarks.md", "docs/index.md", "README.md"])
def test_ranks_are_those_of_the_rows(page, scores):
    # Scores that differ by rounding are tied.
    ranks = scores.round(9).rank(axis=1, ascending=False)
    assert np.isclose(shown(ROOT / page, "average rank"), ranks.mean().tolist(), atol=0.00501).all()


ROWS = {
    "RFFBoost": "RFFBoost",
    "the same, compressed": "RFFBoost, compressed",
    '`learner="rff_newton", n_estimators=100, n_folds=1`': "RFFBoost, 100 cosines",
    "XGBoost": "XGBoost",
    "LightGBM": "LightGBM",
    "CatBoost": "CatBoost",
}


@pytest.mark.parametrize("label", ROWS)
def test_sizes_are_those_of_the_rows(label):
    rows = pd.read_csv(ROOT / "benchmarks" / "sizes.csv").query("system == @ROWS[@label]")
    rows = rows.groupby("dataset")[["accuracy", "bytes", "seconds", "alone"]].mean()
    line = re.search(
        rf"^\| {re.escape(label)} \|(.*)\|$", (ROOT / "docs" / "deployment.md").read_text(), re.MULTILINE
    )
    accuracy, *others = (float(cell.split()[0].replace(",", "")) for cell in line[1].split("|"))
    assert accuracy == pytest.approx(rows.accuracy.mean(), abs=0.00501)
    medians = rows["bytes"].median() / 1e3, rows.seconds.median() * 1e3, rows.alone.median() * 1e3
    assert others == pytest.approx(medians, rel=0.05)


def test_ratios_are_those_of_the_recorded_times():
    measured = json.loads((ROOT / "benchmarks" / "speed.json").read_text())
    section = (ROOT / "docs" / "benchmarks.md").read_text().partition("## Speed")[2].partition("\n## ")[0]
    cells = [float(cell) for cell in re.findall(r"\| ([\d.]+) \|$", section, re.MULTILINE)]
    found = [np.median(record["ours"]) / np.median(record["theirs"]) for record in measured["rows"]]
    assert sorted(cells) == pytest.approx(sorted(found), rel=0.1)
