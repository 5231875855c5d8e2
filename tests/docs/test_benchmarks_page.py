"""Tables of the benchmarks, on their page and on others, are those of the recorded rows."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import published
from benchmarks.tables import DEFAULTS, TABLES, show
from rffboost_ext.experiments.summary import Summary

ROOT = Path(__file__).parents[2]
SYSTEMS = [name for name in DEFAULTS if not name.startswith("RFFBoost-")]


@pytest.fixture(scope="module")
def rows():
    return pd.read_csv(ROOT / "benchmarks" / "tables.csv")


def shown(path, label):
    """The numbers of the line of a table that begins with `label`."""
    line = re.search(rf"^\| {re.escape(label)} \|(.*)\|$", (ROOT / path).read_text(), re.MULTILINE)[1]
    return [float(cell.split()[0].replace(",", "")) for cell in line.split("|")]


def test_the_report_is_that_of_the_rows(rows):
    page = (ROOT / "benchmarks" / "tables.md").read_text().splitlines()
    report = show(TABLES, rows[rows["system"].isin(DEFAULTS)])
    if find_spec("bencheval") is None:
        page = [line for line in page if line in report]
    assert set(report.splitlines()) <= set(page)


@pytest.mark.parametrize(("table", "what"), [("ecml", "accuracy"), ("medium", "score")])
@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_means_and_ranks_are_those_of_the_rows(page, table, what, rows):
    summary, n = Summary(rows[rows["dataset"].isin(TABLES[table])], systems=SYSTEMS), len(TABLES[table])
    assert shown(page, f"{n} sets, mean {what}") == pytest.approx(summary.overall.tolist(), abs=0.00501)
    assert shown(page, f"{n} sets, average rank") == pytest.approx(summary.ranks().tolist(), abs=0.00501)


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("RFFBoost", "takes {:.0f} to {:.0f} times LightGBM's time"),
        ("RFFBoost-fast", "less accurate, {:.1f} to {:.1f} times"),
    ],
)
def test_costs_of_the_readme_are_those_of_the_tables(system, text):
    report = (ROOT / "benchmarks" / "tables.md").read_text()
    costs = [
        float(cost) for cost in re.findall(rf"^\| {system} +\| ([\d.]+) +\| [\d,]+ +\|", report, re.MULTILINE)
    ]
    assert text.format(min(costs), max(costs)) in " ".join((ROOT / "README.md").read_text().split())


def test_winners_of_the_readme_are_those_of_the_rows(rows):
    scores = rows[rows["dataset"].isin(TABLES["many"])].pivot_table("score", "dataset", "system")
    ahead = [int((scores[peer] > scores["RFFBoost"]).sum()) for peer in ("ChimeraBoost", "CatBoost")]
    text = "ChimeraBoost is ahead on {} of {} sets, CatBoost on {}."
    assert text.format(ahead[0], len(scores), ahead[1]) in " ".join((ROOT / "README.md").read_text().split())


ROWS = {
    "RFFBoost": "RFFBoost",
    '`quality="fast"`': "RFFBoost-fast",
    '`learner="rff_newton", n_estimators=100, n_folds=1`': "RFFBoost-cosines",
    "XGBoost": "XGBoost",
    "LightGBM": "LightGBM",
    "CatBoost": "CatBoost",
}


@pytest.mark.parametrize("label", ROWS)
def test_sizes_are_those_of_the_rows(label, rows):
    selected = rows[(rows["system"] == ROWS[label]) & rows["dataset"].isin(TABLES["ecml"])]
    means = selected.groupby("dataset")[["score", "bytes", "predict_seconds", "row_seconds"]].mean()
    score, *others = shown("docs/deployment.md", label)
    assert score == pytest.approx(means["score"].mean(), abs=0.00501)
    assert others == pytest.approx(means.drop(columns="score").median() * 1e3 ** np.array([-1, 1, 1]), rel=0.05)


def test_ratios_are_those_of_the_recorded_times():
    measured = json.loads((ROOT / "benchmarks" / "speed.json").read_text())
    section = (ROOT / "docs" / "benchmarks.md").read_text().partition("## Speed")[2].partition("\n## ")[0]
    cells = [float(cell) for cell in re.findall(r"\| ([\d.]+) \|$", section, re.MULTILINE)]
    ratios = [np.median(record["ours"]) / np.median(record["theirs"]) for record in measured["rows"]]
    assert sorted(cells) == pytest.approx(sorted(ratios), rel=0.1)


def test_tables_of_others_protocols_are_those_of_the_rows():
    records = pd.read_csv(ROOT / "benchmarks" / "published.csv")
    report = published.show(records[records["system"] == "RFFBoost"])
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert all(table.strip() in page for table in report.split("\n\n"))
