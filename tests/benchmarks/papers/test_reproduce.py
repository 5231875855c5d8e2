"""The papers' tables and figures from the command line to their files: every target, resumption, and mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.image import imread

from benchmarks.papers.__main__ import main
from benchmarks.papers.reproduce import TARGETS
from benchmarks.papers.reproduce.request import Request, reproduce
from benchmarks.papers.reproduce.target import COLUMNS, Scope, values
from benchmarks.records import Records

TINY = {
    "ecml2020-table2": Scope(("wine",), ("PBRFF", "GBRFF1", "LGBM", "GBRFF2"), 1, (2,)),
    "ecml2020-figure1": Scope(("moons",), ("GBRFF1",), 1, (1, 3)),
    "ecml2020-figure2": Scope(("wine",), ("PBRFF", "GBRFF1", "GBRFF2"), 1, (1, 4)),
    "ecml2020-figure3": Scope(("wine",), ("K=20", "K=10", "K=5", "K=1"), 1, (20, 40)),
    "ecml2020-figure4": Scope(("make_classification",), ("PBRFF", "GBRFF1", "LGBM"), 1, (150.0, 225.0), 5),
    "ecml2020-figure5": Scope(("swiss", "board"), ("LGBM", "GBRFF2"), 1, (50.0, 60.0), 5),
    "workshop2019-table2": Scope(("wine",), TARGETS["workshop2019-table2"].full.systems[-3:], 1, (2,)),
    "workshop2019-figure1": Scope(("wine",), ("random", "learned"), 1, (1, 3)),
    "workshop2019-figure2": Scope(("wine",), ("PBRFF", "GBRFF"), 1, (1, 3)),
    "letarte2019-table1": Scope(("breast",), TARGETS["letarte2019-table1"].full.systems, 1, (0.05,)),
    "letarte2019-figure1": Scope(("breast",), TARGETS["letarte2019-figure1"].full.systems, 1, (0.02, 0.04)),
    "letarte2019-figure2": TARGETS["letarte2019-figure2"].full,
    "letarte2019-figure3": Scope(("breast",), TARGETS["letarte2019-figure3"].full.systems, 1, (1.0, 4.0)),
}


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    for name, scope in TINY.items():
        monkeypatch.setattr(type(TARGETS[name]), "sample", scope)


def run(name: str, out: Path, **options) -> str:
    return reproduce(Request(name, out, quick=True, **options), lambda text: None)[0]


def kept(folder: Path, name: str):
    """The records of a target."""
    return Records(folder / f"{name}-quick.csv", COLUMNS).read()


def test_every_target_has_a_tiny_plan():
    assert set(TINY) == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
def test_names_can_be_given_in_a_list(name: str) -> None:
    """On the command line names are separated by commas."""
    scope = TARGETS[name].full
    assert not [name for name in (*scope.systems, *scope.datasets) if "," in name]


# A table and a figure of each kind; the tests below run parts of others.
FAST = {
    "ecml2020-table2",
    "ecml2020-figure4",
    "workshop2019-figure1",
    "workshop2019-figure2",
    "letarte2019-table1",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in TINY]
)
def test_target_from_end_to_end_and_again(name, tmp_path, monkeypatch, capsys):
    arguments = [name, "--quick", "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    journal, page, picture, values = (
        tmp_path / "out" / f"{name}-quick{end}" for end in (".csv", ".md", ".png", "-values.csv")
    )
    scope, rows = TINY[name], Records(journal, COLUMNS).read().values()
    assert {r.dataset for r in rows} == set(scope.datasets)
    assert {r.system for r in rows} == set(scope.systems)
    assert all(np.isfinite(r["score"]) for r in rows)
    assert page.read_text() in captured.out
    assert TARGETS[name].title in page.read_text()
    assert imread(picture).std() > 0
    assert len(pd.read_csv(values)) > 0
    monkeypatch.setattr(type(TARGETS[name]), "measure", lambda *inputs: pytest.fail("measured again"))
    before = journal.read_bytes(), page.read_bytes()
    assert main(arguments) == 0
    assert (journal.read_bytes(), page.read_bytes()) == before
    assert not list((tmp_path / "out").glob("*.tmp"))


def test_what_fails_is_named_and_the_rest_is_done(tmp_path, monkeypatch, capsys):
    target = type(TARGETS["ecml2020-figure4"])
    measure = target.measure

    def measured(self, scope, system, parts, task):
        if task.system == "LGBM":
            raise RuntimeError("no luck")
        return measure(self, scope, system, parts, task)

    monkeypatch.setattr(target, "measure", measured)
    assert main(["ecml2020-figure4", "--quick", "--out", str(tmp_path)]) == 1
    assert "LGBM, split 1: RuntimeError: no luck" in capsys.readouterr().err
    page = (tmp_path / "ecml2020-figure4-quick.md").read_text()
    assert "no luck" in page
    assert "| 225 " in page


def test_a_slow_system_is_stopped_after_the_limit(tmp_path, monkeypatch):
    target = TARGETS["ecml2020-figure4"]
    seconds = {"PBRFF": 3.0, "GBRFF1": 0.1, "LGBM": 1.0}
    monkeypatch.setattr(
        type(target),
        "measure",
        lambda self, scope, system, parts, task: [values(seconds[task.system], 1.0, (10, 10, 20))],
    )
    run(target.name, tmp_path, time_limit=1.0)
    measured = {(r.system, r.x) for r in Records(tmp_path / f"{target.name}-quick.csv", COLUMNS).read().values()}
    assert measured == {("PBRFF", 150.0), *((s, n) for s in ("GBRFF1", "LGBM") for n in (150.0, 225.0))}


def test_the_svm_of_one_target_serves_the_others(tmp_path, monkeypatch):
    run("letarte2019-table1", tmp_path, systems=["SVM_RBF"])
    tasks = []
    target = type(TARGETS["letarte2019-figure1"])
    measure = target.measure
    monkeypatch.setattr(target, "measure", lambda *inputs: [tasks.append(inputs[-1]), measure(*inputs)][1])
    run("letarte2019-figure1", tmp_path, systems=["SVM_RBF", "RBF (random)"])
    assert {task.system for task in tasks} == {"RBF (random)"}
    (svm,) = Records(tmp_path / "letarte2019-table1-quick.csv", COLUMNS).read().values()
    assert all(task.choice == svm["chosen"]["gamma"] for task in tasks)


def test_figure_and_table_of_the_workshop_share_rows(tmp_path, monkeypatch):
    target = type(TARGETS["workshop2019-figure2"])
    monkeypatch.setattr(target, "sample", Scope(("wine",), target.pair, 1, (1, 2)))
    run("workshop2019-figure2", tmp_path)
    monkeypatch.setattr(type(TARGETS["workshop2019-table2"]), "measure", lambda *_: pytest.fail("measured again"))
    page = run("workshop2019-table2", tmp_path, systems=["PBRFF", "GBRFF"])
    assert {"PBRFF", "GBRFF"} <= {cell.strip() for cell in page.split("|")}


def test_some_points_at_a_time_are_all_of_them_in_the_end(tmp_path):
    name = "ecml2020-figure2"
    run(name, tmp_path / "parts", points=[4.0], systems=["GBRFF1"])
    page = run(name, tmp_path / "parts", points=[1.0], systems=["GBRFF1"])
    whole = run(name, tmp_path / "whole", systems=["GBRFF1"])
    parts, rows = (Records(tmp_path / d / f"{name}-quick.csv", COLUMNS).read() for d in ("parts", "whole"))
    assert {key: r["score"] for key, r in parts.items()} == {key: r["score"] for key, r in rows.items()}
    assert "--points 1 " in page
    assert [line for line in page.splitlines() if line[0:1] == "|"] == [
        line for line in whole.splitlines() if line[0:1] == "|"
    ]


@pytest.mark.parametrize("name", ["ecml2020-table2", "ecml2020-figure4", "letarte2019-figure1"])
def test_a_page_can_be_made_of_any_one_system(name, tmp_path, monkeypatch):
    """Of invented rows; where an SVM is tuned first, of that one too."""
    target, scope = TARGETS[name], TINY[name]
    monkeypatch.setattr(type(target), "measure", lambda *inputs: [invented(inputs[-1])] * len(inputs[-1].points))
    for index, system in enumerate(scope.systems):
        page = run(name, tmp_path / str(index), systems=[s for s in scope.systems if s in (system, "SVM_RBF")])
        assert page.startswith(f"# {target.title}")


def invented(task):
    """Values that nobody has measured."""
    shown = {"mapping__gamma": 0.1, "gamma": 0.1} if task.dataset == "breast" else {}
    return values(50.0, 0.1, (10, 5, 2), shown)


def test_a_set_that_cannot_be_had_is_named_and_skipped(tmp_path, capsys):
    line = ["ecml2020-figure2", "--quick", "--out", str(tmp_path), "--datasets"]
    assert main([*line, "wine,german"]) == 0
    assert "skipped: german: no --data-dir is given" in capsys.readouterr().err
    assert "- Skipped: german" in (tmp_path / "ecml2020-figure2-quick.md").read_text()
    assert main([*line, "german"]) == 2
    assert "no data set is available" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ecml2020-tabel2"], "unknown target 'ecml2020-tabel2'. Did you mean 'ecml2020-table2'"),
        (["ecml2020-table2", "--datasets", "wine,bier"], "unknown data set 'bier'"),
        (["ecml2020-table2", "--systems", "GBRFF3"], "unknown system 'GBRFF3'"),
        (["ecml2020-table2", "--splits", "0"], "splits"),
        (["ecml2020-table2", "--jobs", "0"], "jobs"),
        (["ecml2020-figure4", "--time-limit", "-1"], "time_limit"),
        (["ecml2020-table2", "--systems", " , "], "at least one name is needed, separated by commas, got ' , '"),
        (["ecml2020-figure2", "--points", "1,6"], "unknown point '6'. Choices: 1, 2, 3, 4, 5, 7"),
        (["ecml2020-figure2", "--points", "few"], "--points must be numbers"),
        (["ecml2020-table2", "--data-dir", "nowhere"], "'nowhere' is not a folder"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(arguments, message, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_list_names_all_targets(capsys):
    assert main(["list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TARGETS)


def test_a_toy_that_has_not_been_measured_has_no_panels():
    target = TARGETS["ecml2020-figure5"]
    rows = [["board", system, 2, x, 60.0, {}] for system in ("LGBM", "GBRFF2") for x in (50.0, 100.0)]
    frame = pd.DataFrame(rows, columns=["dataset", "system", "split", "x", "score", "chosen"])
    assert [axes.get_ylabel() for axes in target.draw(frame, target.full).axes[::3]] == ["board"]


def test_systems_are_known_again_in_another_process():
    # What has been measured is not measured again.
    configs = {
        name: [target.config(target.full, system) for system in target.full.systems]
        for name, target in TARGETS.items()
    }
    code = (
        "import json; from benchmarks.papers.reproduce import TARGETS; "
        "print(json.dumps({n: [t.config(t.full, s) for s in t.full.systems] for n, t in TARGETS.items()}))"
    )
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(again.stdout) == configs


def test_a_page_shows_all_data_sets_so_far(tmp_path):
    options = {"out": tmp_path, "splits": 1, "systems": ["LGBM"], "quick": True, "data_dir": tmp_path}
    rng = np.random.default_rng(0)
    for name in ("sonar", "heart"):
        lines = "".join(f"{a:.3f},{b:.3f},{int(a > 0)}\n" for a, b in rng.normal(size=(60, 2)))
        (tmp_path / f"{name}.csv").write_text("a,b,target\n" + lines)
    (tmp_path / "iono.csv").write_text("a,b,class\n" + lines)
    for name in ("sonar", "heart"):
        page, failures = reproduce(Request("ecml2020-table2", datasets=[name], **options))
        assert not failures
    assert "sonar" in page
    page, failures = reproduce(Request("ecml2020-table2", datasets=["iono"], **options))
    assert "has no column 'target'" in str(failures[0])
    assert all(name in page for name in ("sonar", "heart", "Failed: iono"))


def test_a_figure_waits_for_complete_sets(tmp_path):
    options = {"out": tmp_path, "quick": True, "points": [20.0], "splits": 1}
    reproduce(Request("ecml2020-figure3", datasets=["wine"], systems=["K=20"], **options))
    page, _ = reproduce(Request("ecml2020-figure3", datasets=["wdbc"], systems=["K=5"], **options))
    assert "Waits for a data set and split that all systems have" in page
    assert not (tmp_path / "ecml2020-figure3-quick.png").exists()


@pytest.mark.parametrize("package", ["lightgbm", "matplotlib"])
def test_packages_that_are_missing_are_named_before_any_work(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"needs {package}: pip install"):
        run("ecml2020-table2", tmp_path / "out")
    assert not (tmp_path / "out").exists()
