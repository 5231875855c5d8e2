"""The command line writes over no file that it reads."""

import numpy as np
import pytest

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
    assert "is read, and would be overwritten" in error
