"""The command line writes over no file that it reads, and reads no column for another."""

import numpy as np
import pandas as pd
import pytest

from onnx_export import save_onnx
from onnx_export.cli import main
from rffboost_ext import RFFBoostRegressor

LINES = (
    ("export m.rffboost m.rffboost", "MODEL", "m.rffboost"),
    ("export m.rffboost ./rows.csv --data rows.csv", "MODEL", "rows.csv"),
    ("predict m.onnx rows.csv --output rows.csv", "--output", "rows.csv"),
    ("predict m.onnx rows.csv --output ./m.onnx", "--output", "m.onnx"),
)


@pytest.mark.parametrize(("line", "parameter", "kept"), LINES)
def test_what_is_read_is_not_written_over(line, parameter, kept, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 2))
    RFFBoostRegressor(learner="tree", n_estimators=2).fit(X, X[:, 0]).save_model("m.rffboost")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n3,4\n")
    assert main(["export", "m.rffboost", "m.onnx"]) == 0
    before = (tmp_path / kept).read_bytes()
    assert main(line.split()) == 2
    assert (tmp_path / kept).read_bytes() == before
    error = capsys.readouterr().err
    assert f"{parameter}: " in error
    assert "is an input file" in error


ROWS = (
    ("1,2,5\n3,4,6\n", "has 2 names in its header and more cells in each row"),
    ("1,2,\n3,4,\n", ""),
)


@pytest.mark.parametrize(("rows", "words"), ROWS)
def test_a_cell_is_never_taken_for_one_of_another_column(rows, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame({"a": np.tile([1.0, 2.0, 3.0], 20), "b": np.repeat([2.0, 4.0], 30)})
    model = RFFBoostRegressor(learner="tree", n_estimators=2).fit(X, X["a"])
    save_onnx(model, "m.onnx")
    (tmp_path / "rows.csv").write_text("a,b\n" + rows)
    assert main(["predict", "m.onnx", "rows.csv", "--output", "found.csv"]) == (2 if words else 0)
    assert words in capsys.readouterr().err
    if not words:
        wanted = model.predict(pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0]}))
        np.testing.assert_allclose(pd.read_csv("found.csv")["prediction"], wanted, rtol=1e-6)


def test_two_columns_of_one_name_are_refused(tmp_path, capsys):
    X = pd.DataFrame({"a": np.arange(60.0), "b": np.arange(60.0)})
    save_onnx(RFFBoostRegressor(learner="tree", n_estimators=2).fit(X, X["a"]), tmp_path / "m.onnx")
    (tmp_path / "rows.csv").write_text("a,a,b\n1,9,2\n")
    assert main(["predict", str(tmp_path / "m.onnx"), str(tmp_path / "rows.csv")]) == 2
    assert "has more than one column 'a'" in capsys.readouterr().err
