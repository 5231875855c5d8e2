"""Tables, files and figures say what the records say."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread
from rich.console import Console

from rffboost_ext.experiments.compare import SYSTEMS, NamedDataset, Protocol, Record, mean_accuracy
from rffboost_ext.experiments.compare.plots import accuracy_range, check_format, draw, mean_curves
from rffboost_ext.experiments.compare.protocol import MEASURES
from rffboost_ext.experiments.compare.report import as_json, table, table_caption
from rffboost_ext.experiments.outputs import write_files
from rffboost_ext.experiments.records import as_csv

# Accuracy by data set and system, a figure per split.
ACCURACY = {
    ("one", "tree"): [0.5, 0.7],
    ("one", "gbrff2"): [0.6, 0.6],
    ("one", "gbrff1"): [0.9, 0.9],
    ("two", "tree"): [0.8, 0.8],
    ("two", "gbrff2"): [0.7, 0.7],
    ("two", "gbrff1"): [0.6, 0.6],
}
DATASETS = [NamedDataset(name, np.zeros((40, 3)), np.zeros(40, dtype=int)) for name in ("one", "two")]


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


def printed(records, protocol):
    console = Console(file=io.StringIO(), width=200)
    console.print(table(records, DATASETS, protocol))
    return console.file.getvalue()


def test_the_table_shows_accuracies_ranks_times_and_differences(records):
    lines = printed(records, Protocol(rounds=10, splits=2)).splitlines()
    cells = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]
    rows = {row[0]: row[1:] for row in cells if row}
    assert rows["one"] == ["40 x 3", "60.0 ± 10.0", "60.0 ± 0.0", "90.0 ± 0.0"]
    assert rows["two"] == ["40 x 3", "80.0 ± 0.0", "70.0 ± 0.0", "60.0 ± 0.0"]
    assert rows["mean"] == ["70.00", "65.00", "75.00"]
    assert rows["average rank"] == ["1.75", "2.25", "2.00"]
    assert rows["seconds to fit"] == ["0.38"] * 3


@pytest.mark.parametrize("name", SYSTEMS.names())
def test_the_caption_says_what_differs(name):
    system = SYSTEMS.create(name)
    own, common, tuned = (
        table_caption([name], protocol)
        for protocol in (Protocol(), Protocol(learning_rate=0.77), Protocol(tune=True))
    )
    assert f"shrinkage {system.learning_rate:g}" in own
    assert "shrinkage 0.77" in common
    assert system.note in own
    assert system.size in own
    assert "5-fold" in tuned
    assert "5-fold" not in own
    if system.size:
        assert system.size not in tuned


def test_json_and_csv_hold_every_record(records, outcomes):
    rows = [record.row() for record in records]
    assert json.loads(as_json(outcomes)) == rows
    for found, row in zip(csv.DictReader(io.StringIO(as_csv(outcomes, MEASURES).decode())), rows, strict=True):
        assert list(found) == list(row)
        assert json.loads(found["params"]) == row["params"]
        assert (float(found["accuracy"]), int(found["split"])) == (row["accuracy"], row["split"])


def test_curves_are_averaged_by_system(outcomes):
    curves = mean_curves(outcomes)
    assert list(curves) == ["tree", "gbrff2", "gbrff1"]
    assert curves["tree"][-1] == pytest.approx(np.mean([0.6, 0.8]))
    np.testing.assert_allclose([curve[0] for curve in curves.values()], 0.5)


def test_the_axis_holds_every_final_accuracy(outcomes):
    curves = mean_curves(outcomes)
    low, high = accuracy_range(curves)
    for curve in curves.values():
        assert low < 100 * curve[-1] < high
    assert high > 100 * max(curve.max() for curve in curves.values())


@pytest.mark.parametrize("n_sets", [1, 2, 16])
@pytest.mark.parametrize("n_systems", [1, 9])
def test_figures_are_drawn_for_few_and_many(n_sets, n_systems):
    outcomes = [
        record(f"set{d}", f"system{s}", 1, 0.5 + 0.02 * d, curve=np.full(5, 0.6 + 0.01 * s))
        for d in range(n_sets)
        for s in range(n_systems)
    ]
    image = imread(io.BytesIO(draw(outcomes, Protocol(splits=1))))
    assert image[..., :3].std() > 0.01
    assert image.shape[1] > 1000


def test_a_figure_needs_curves_and_a_format(records, tmp_path):
    with pytest.raises(ValueError, match="curves=True"):
        draw(records, Protocol())
    with pytest.raises(ValueError, match=r"must end in one of.* png"):
        check_format(tmp_path / "plot.pgn")
    with pytest.raises(ValueError, match="must end in one of"):
        check_format(tmp_path / "plot")
    check_format(tmp_path / "plot.PNG")


def test_files_are_written_through_links(tmp_path):
    good, link = tmp_path / "good.json", tmp_path / "link.csv"
    target = tmp_path / "target.csv"
    target.write_text("old")
    link.symlink_to(target)
    write_files({good: b"1", link: b"2"})
    assert (good.read_bytes(), target.read_bytes()) == (b"1", b"2")
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.json", "link.csv", "target.csv"]
