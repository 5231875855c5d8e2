"""Errors of sources of tables name the file or the parameter."""

from __future__ import annotations

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rffboost_ext import sources

from .table_files import ROLES, TABLE, N, write_parquet


def changed(path):
    pq.write_table(TABLE.slice(1), path)


@pytest.mark.parametrize("change", [changed, os.remove])
def test_files_that_change_after_the_first_look_are_named(change, tmp_path):
    paths = write_parquet(tmp_path, [100])
    source = sources.parquet(paths, **ROLES)
    change(paths[1])
    with pytest.raises(OSError, match=str(paths[1])):
        [list(part.batches()) for part in source.parts()]


BAD = {
    "no file": (lambda p: sources.parquet(p / "absent.parquet"), FileNotFoundError, "absent.parquet"),
    "no match": (lambda p: sources.csv(f"{p}/*.txt"), FileNotFoundError, "txt"),
    "no paths": (lambda p: sources.parquet([]), ValueError, "paths"),
    "a number": (lambda p: sources.parquet(3), TypeError, "paths.*3"),
    "a folder": (lambda p: sources.parquet(p), IsADirectoryError, "folder"),
    "no parquet": (lambda p: sources.parquet(p / "bad.parquet"), ValueError, "bad.parquet"),
    "no text": (lambda p: sources.csv(p / "0000.parquet"), ValueError, "0000.parquet"),
    "ragged": (lambda p: sources.csv(p / "bad.csv"), ValueError, "bad.csv.*Expected 2"),
    "target": (
        lambda p: sources.parquet(p / "0000.parquet", target="z"),
        ValueError,
        "target.*'z'.*number|number.*'z'",
    ),
    "feature": (lambda p: sources.parquet(p / "0000.parquet", columns=["q"]), ValueError, "columns.*'q'"),
    "leak": (lambda p: sources.parquet(p / "0000.parquet", target="y", columns=["y"]), ValueError, "columns"),
    "weight": (lambda p: sources.parquet(p / "0000.parquet", weight=3), TypeError, "weight.*3"),
    "names": (lambda p: sources.arrow(TABLE, columns="number"), TypeError, "columns"),
    "missing": (
        lambda p: sources.parquet([p / "0000.parquet", p / "few.parquet"]),
        ValueError,
        "few.parquet.*'label'",
    ),
    "kind": (
        lambda p: sources.parquet([p / "0000.parquet", p / "text.parquet"]),
        ValueError,
        "text.parquet.*number",
    ),
    "no csv column": (lambda p: sources.csv([p / "a.csv", p / "b.csv"]), ValueError, "b.csv.*'b'"),
    "no stream": (lambda p: sources.arrow([[1.0]]), TypeError, "data.*list"),
    "delimiter": (lambda p: sources.csv(p / "a.csv", delimiter=";;"), ValueError, "delimiter.*';;'"),
    "types": (lambda p: sources.csv(p / "a.csv", types={"q": pa.int8()}), ValueError, "types.*'q'"),
    "twice": (lambda p: sources.arrow(pa.table([[1], [2]], names=["a", "a"])), ValueError, "'a' twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_parameter_or_the_file(case, tmp_path):
    write_parquet(tmp_path, [])
    pq.write_table(TABLE.drop(["label"]), tmp_path / "few.parquet")
    pq.write_table(TABLE.set_column(1, "number", [["a"] * N]), tmp_path / "text.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a\n1\n")
    make, kind, message = BAD[case]
    with pytest.raises(kind, match=message):
        make(tmp_path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="needs pyarrow: pip install pyarrow"):
        sources.parquet(tmp_path / "a.parquet")
