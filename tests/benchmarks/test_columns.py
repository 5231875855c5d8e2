"""The benchmark of categories and missing values: its quick run, and how it makes its data."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import columns


@pytest.mark.parametrize("given", [False, True])
def test_a_quick_run_measures_every_system(given, tmp_path, capsys):
    pytest.importorskip("catboost")
    arguments = ["--quick", "--json", str(tmp_path / "columns.json")]
    if given:
        table, y = columns.generated(400)
        table.assign(target=np.where(y == 1, 1, -1)).to_csv(tmp_path / "adult_raw.csv", index=False)
        arguments += ["--data-dir", str(tmp_path)]
    columns.main(arguments)
    records = pd.DataFrame(json.loads((tmp_path / "columns.json").read_text())["records"])
    categories = records[records["kind"] == "categories"]
    assert set(categories["system"]) == set(columns.SYSTEMS)
    assert set(categories["data"]) == {"adult" if given else "generated"}
    assert (categories["rows"] == 300).all()
    assert set(records["kind"]) == {"categories", "whole", "20 % missing"}
    assert records["accuracy"].between(0.0, 100.0).all()
    # All systems learn something of what decides.
    assert (records[records["kind"] == "whole"]["accuracy"] > 70.0).all()
    printed = capsys.readouterr().out
    assert "threads 1" in printed
    assert all(word in printed for word in ("CatBoost", "lost more than by XGBoost"))


def test_cells_are_removed():
    whole = pd.DataFrame(np.ones((500, 10)))
    share = columns.holed(whole, 0).isna().to_numpy().mean()
    assert 0.18 < share < 0.22
    assert not whole.isna().any(axis=None)


def test_losses_are_compared_split_by_split():
    rows = [
        {"data": "a", "split": split, "kind": kind, "system": system, "accuracy": value}
        for split, values in ((1, (90.0, 80.0, 70.0, 65.0)), (2, (88.0, 88.0, 60.0, 50.0)))
        for (kind, system), value in zip(
            [(kind, system) for system in (columns.OURS, "XGBoost") for kind in ("whole", columns.HOLED)],
            values,
            strict=True,
        )
    ]
    assert columns.lost_more(pd.DataFrame(rows)).tolist() == [5.0, -10.0]
