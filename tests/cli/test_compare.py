"""The command line: what it prints and writes, and one line for every mistake."""

import csv
import importlib.metadata
import json
import sys

import pytest
from matplotlib.image import imread

import rffboost_ext
from rffboost_ext import cli
from rffboost_ext.experiments.compare import SYSTEMS, Protocol, System, compare, load
from rffboost_ext.experiments.compare.protocol import MEASURES

KEYS = ["dataset", "system", "split", "x", "config", *MEASURES]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "toy.csv").write_text("a,b,target\n" + "".join(f"{i},{i % 3},{int(i > 14)}\n" for i in range(30)))
    (tmp_path / "three.csv").write_text("a,target\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_compare_prints_a_table_and_writes_what_it_says(folder, run):
    line = "compare toy wine --data-dir . --systems gbrff2,tree,xgboost_default --rounds 5 --splits 3 --seed 4"
    code, out, err = run(f"{line} --csv a.csv")
    assert code == 0
    assert "18/18" in err
    with (folder / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [list(row) for row in rows] == [KEYS] * 18
    expected = compare(
        [load("toy", "."), load("wine")], ["gbrff2", "tree", "xgboost_default"], Protocol(5, 3, seed=4)
    )
    assert [float(row["accuracy"]) for row in rows] == [record["accuracy"] for record in expected]
    assert [json.loads(row["params"]) for row in rows] == [record["params"] for record in expected]
    assert imread(folder / "compare.png").std() > 0
    assert f"Figure: {folder / 'compare.png'}" in out
    wine = [100 * float(row["accuracy"]) for row in rows if (row["dataset"], row["system"]) == ("wine", "tree")]
    assert f"{sum(wine) / 3:.2f}" in out
    for word in ("toy", "gbrff2", "rank", "fit_seconds", "predict_seconds"):
        assert word in out
    assert not list(folder.glob("*.tmp"))


@pytest.mark.parametrize(
    ("line", "datasets", "names", "protocol"),
    [
        (
            "",
            ["wine", "wdbc", "digits"],
            ["rffboost_default", "xgboost_default", "gbrff1", "gbrff2", "mixture", "tree", "xgboost"],
            Protocol(),
        ),
        (
            "wine --systems tree,gbrff --rounds 7 --splits 3 --test-size 0.4 --learning-rate 0.2 --tune --seed 9",
            ["wine"],
            ["tree", "gbrff"],
            Protocol(7, 3, 0.4, 0.2, True, 9),
        ),
    ],
)
def test_every_option_reaches_the_protocol(line, datasets, names, protocol, run, monkeypatch, folder):
    arguments = []

    def stop(loaded, systems, protocol, jobs):
        arguments.append(([dataset.name for dataset in loaded], systems, protocol, jobs))
        raise ValueError("far enough")

    monkeypatch.setattr("rffboost_ext.cli.compare.check_comparison", stop)
    assert run(f"compare {line}")[0] == 2
    assert arguments == [(datasets, names, protocol, 1)]


MISTAKES = {
    "compare wien": ["'wien'", "wine", "wdbc"],
    "compare absent.csv": ["absent.csv"],
    "compare three.csv": ["three", "'target'", "3"],
    "compare toy --data-dir absent": ["absent"],
    "compare toy.csv --target trget": ["'trget'", "target"],
    "compare wine wine": ["'wine'", "more than once"],
    "compare wine --systems gbrf2": ["'gbrf2'", "gbrff2", "xgboost_logistic"],
    "compare wine --systems ,": ["at least one name"],
    "compare wine --systems tree,tree": ["'tree'", "more than once"],
    "compare wine --rounds 0": ["rounds", "0", ">= 1"],
    "compare wine --rounds many": ["--rounds", "valid int"],
    "compare wine --splits -3": ["splits", "-3"],
    "compare wine --test-size 1.5": ["test_size", "1.5"],
    "compare wine --learning-rate 0": ["learning_rate", "0"],
    "compare wine --learning-rate nan": ["learning_rate", "nan"],
    "compare wine --seed -1": ["seed", "-1"],
    "compare wine --splits 3 --seed 4294967294": ["seed", "4294967293"],
    "compare wine --jobs 0": ["jobs", "0"],
    "compare wine --csv absent/a.csv": ["--csv", "absent"],
    "compare wine --csv .": ["--csv"],
    "compare wine --plot a.png --csv a.png": ["--plot", "--csv"],
    "compare wine --plot a.pgn": ["--plot", "'.pgn'", ".png"],
    "compare wine --round 5": ["--round", "--rounds"],
    "compare wine --frobnicate": ["--frobnicate"],
    "compare wine --splits": ["--splits"],
    "comparr": ["comparr", "compare"],
    "--frobnicate": ["--frobnicate"],
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(line, folder, run):
    before = sorted(folder.iterdir())
    # The outputs that the line does not name itself would show that something was written.
    names_output = "--csv" in line or line.endswith("--splits") or not line.startswith("compare ")
    code, out, err = run(line if names_output else f"{line} --csv out.csv")
    assert code == 2
    assert out == ""
    assert err.startswith("rffboost: error: ")
    assert err.count("\n") == 1
    for word in MISTAKES[line]:
        assert word in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("data", ["toy", "toy.csv", "./toy.csv"])
def test_no_output_replaces_the_data(data, folder, run):
    (folder / "link.csv").symlink_to("toy.csv")
    before = (folder / "toy.csv").read_bytes()
    for path in ("toy.csv", str(folder / "toy.csv"), "link.csv"):
        code, _, err = run(f"compare {data} --data-dir . --systems tree --csv {path}")
        assert code == 2
        assert f"--csv: {path!r} is an input file" in err
    assert (folder / "toy.csv").read_bytes() == before


def test_a_failure_midway_leaves_nothing_behind(folder, run, monkeypatch):
    def build(**setting):
        raise ValueError("out of order")

    monkeypatch.setitem(SYSTEMS, "xgboost", System(build))
    line = "compare toy --data-dir . --systems tree,xgboost --rounds 2 --splits 1 --csv a.csv --plot a.png"
    code, out, err = run(line)
    assert code == 2
    assert "toy, xgboost, split 1: ValueError: out of order" in err
    assert not (folder / "a.csv").exists()
    assert not (folder / "a.png").exists()
    assert out == ""


@pytest.mark.parametrize("package", cli.NEEDED)
def test_without_its_extra_the_command_names_it(package, run, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    code, out, err = run("compare")
    assert (code, out) == (2, "")
    assert err == f"rffboost: error: the command line needs {package}: pip install {package} (extra 'cli')\n"


def test_version_and_help(run):
    assert run("--version") == (0, f"rffboost-ext {rffboost_ext.__version__}\n", "")
    code, out, _ = run("compare --help")
    assert code == 0
    for option in ("--data-dir", "--systems", "--rounds", "--tune", "--csv", "--plot", "--jobs"):
        assert option in out
    code, out, _ = run("")
    assert code == 0
    assert "compare" in out


def test_the_console_script_is_this_command():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="rffboost")
    assert script.load() is cli.main
