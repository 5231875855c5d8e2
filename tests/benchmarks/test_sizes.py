"""The benchmark of sizes: its quick run."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from benchmarks import sizes


@pytest.mark.slow
def test_a_quick_run_measures_every_system(tmp_path, capsys):
    pytest.importorskip("catboost")
    sizes.main(["--quick", "--json", str(tmp_path / "sizes.json")])
    records = pd.DataFrame(json.loads((tmp_path / "sizes.json").read_text())["records"])
    assert set(records["data"]) == {"wine", "wdbc"}
    assert records["system"].nunique() == 6
    assert (records["accuracy"] > 85.0).all()
    assert (records[["seconds", "alone"]] > 0.0).all(axis=None)
    files = records.pivot_table(index="data", columns="system", values="bytes")
    assert (files["RFFBoost, compressed"] < files["RFFBoost"]).all()
    printed = capsys.readouterr().out
    assert all(system in printed for system in records["system"])
    assert "threads 1" in printed


def test_a_folder_that_is_not_there_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit):
        sizes.main(["--data-dir", str(tmp_path / "nowhere")])
    assert "nowhere' is not a folder" in capsys.readouterr().err
