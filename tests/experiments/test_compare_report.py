"""Tables, files and figures say what the records say."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from rffboost_ext.experiments.compare import SYSTEMS, Protocol, Record, mean_accuracy
from rffboost_ext.experiments.compare.protocol import MEASURES
from rffboost_ext.experiments.compare.report import caption, comparison_plot, comparison_report, mean_curves
from rffboost_ext.experiments.records import as_csv, as_frame

# Accuracy by data set and system, a figure per split.
ACCURACY = {
    ("one", "tree"): [0.5, 0.7],
    ("one", "gbrff2"): [0.6, 0.6],
    ("one", "gbrff1"): [0.9, 0.9],
    ("two", "tree"): [0.8, 0.8],
    ("two", "gbrff2"): [0.7, 0.7],
    ("two", "gbrff1"): [0.6, 0.6],
}


def record(dataset, system, split, accuracy, **more):
    values = {"accuracy": accuracy, "log_loss": 0.3, "fit_seconds": 0.25 * split, "predict_seconds": 0.001}
    return Record(dataset, system, split, 10.0, "", values | {"params": {"a": 1.5, "b": "x,y"}} | more)


@pytest.fixture
def records():
    return [
        record(dataset, system, split, accuracy)
        for (dataset, system), accuracies in ACCURACY.items()
        for split, accuracy in enumerate(accuracies, 1)
    ]


@pytest.fixture
def outcomes(records):
    return [replace(one, values=one.values | {"curve": np.linspace(0.5, one["accuracy"], 10)}) for one in records]


def test_means_are_over_splits_in_the_order_given(records):
    mean = mean_accuracy(records)
    assert (list(mean.index), list(mean.columns)) == (["one", "two"], ["tree", "gbrff2", "gbrff1"])
    for (dataset, system), accuracies in ACCURACY.items():
        assert mean.loc[dataset, system] == pytest.approx(np.mean(accuracies))


def test_the_report_shows_accuracies_ranks_and_times(records):
    text = comparison_report(records, Protocol(rounds=10, splits=2))
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")
    ]
    assert [row[:3] for row in rows[1:4]] == [
        ["tree", "70.00", "1.75"],
        ["gbrff2", "65.00", "2.25"],
        ["gbrff1", "75.00", "2.00"],
    ]
    assert ["one", "60.00 ± 7.1", "60.00", "90.00"] in rows
    assert ["gbrff1", "0.375", "1.00"] in rows
    alone = comparison_report([one for one in records if one.dataset == "one"], Protocol(rounds=10, splits=2))
    assert "nan" not in alone
    assert "| +30 |" in " ".join(alone.split())


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_caption_says_what_differs(name):
    system = SYSTEMS[name]
    own, common, tuned = (
        caption([name], protocol) for protocol in (Protocol(), Protocol(learning_rate=0.77), Protocol(tune=True))
    )
    assert (f"shrinkage {system.learning_rate:g}" in own) != system.as_it_comes
    assert ("shrinkage 0.77" in common) != system.as_it_comes
    assert system.note in own
    assert system.size in own
    assert "5-fold" in tuned
    assert "5-fold" not in own
    if system.size:
        assert system.size not in tuned


def test_csv_holds_every_record(records, outcomes):
    rows = [record.row() for record in records]
    for line, row in zip(csv.DictReader(io.StringIO(as_csv(outcomes, MEASURES).decode())), rows, strict=True):
        assert list(line) == list(row)
        assert json.loads(line["params"]) == row["params"]
        assert (float(line["accuracy"]), int(line["split"])) == (row["accuracy"], row["split"])


def test_curves_are_averaged_by_system(outcomes):
    curves = mean_curves(as_frame(outcomes))
    assert list(curves.columns) == ["tree", "gbrff2", "gbrff1"]
    np.testing.assert_allclose(curves["tree"].iloc[-1], 100 * np.mean([0.6, 0.8]))
    np.testing.assert_allclose(curves.iloc[0], 50)


@pytest.mark.parametrize(("n_sets", "n_systems"), [(1, 1), (2, 9), (16, 1)])
def test_figures_are_drawn_for_few_and_many(n_sets, n_systems):
    outcomes = [
        record(f"set{d}", f"system{s}", 1, 0.5 + 0.02 * d, curve=np.full(5, 0.6 + 0.01 * s))
        for d in range(n_sets)
        for s in range(n_systems)
    ]
    image = imread(io.BytesIO(comparison_plot(outcomes)))
    assert image[..., :3].std() > 0.01
    assert image.shape[1] > 1000
