"""A folder with files of rows, and the command line in it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from rffboost_ext import cli

rng = np.random.default_rng(0)
N = 120
X = rng.standard_normal((N, 2))
TABLE = pa.table(
    {
        "a": X[:, 0],
        "b": [None if row == N - 1 else value for row, value in enumerate(X[:, 1].tolist())],
        "price": np.sin(X[:, 0]),
        "label": np.where(X[:, 0] > 0.5, "up", np.where(X[:, 0] < -0.5, "down", "same")),
        "count": rng.integers(0, 3, N),
        "w": rng.uniform(0.5, 2.0, N),
    }
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pq.write_table(TABLE.slice(0, 70), tmp_path / "0.parquet")
    pq.write_table(TABLE.slice(70), tmp_path / "1.parquet")
    pa.csv.write_csv(TABLE, tmp_path / "rows.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys):
    """A function of a command that returns its exit code, what it prints, and what it writes to standard error."""

    def run(line):
        code = cli.main(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
