"""CSV files: the types of pyarrow, of all rows, and errors that name the file, the row and the column."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from rffboost_ext import sources

COLUMNS = {
    "a": ["1", "", "3", "4.5"],
    "b": ["true", "False", "true", "false"],
    "c": ["1", "2", "x", "NA"],
    "d": [" 7", "8", "9", "10"],
    "e": ["2020-01-01 12:00:00", "", "2020-01-02 10:00:00", "2020-01-03 08:00:00"],
    "f": ["", "NaN", "", "NA"],
    "g": ["1e3", "-inf", "99999999999999999999", "1"],
    "h": ["10:30", "23:59", "00:00", ""],
    "i": ["2024-03-01T10:00:00Z"] * 4,
    "j": [" True", " False", " True", " True"],
    "k": ["007", "012", "A45", "123"],
    "y": ["up", "down", "up\nor not", "down"],
}
HEADER = ",".join(COLUMNS)
ROWS = [
    ",".join(f'"{cell}"' if "\n" in cell else cell for cell in row) for row in zip(*COLUMNS.values(), strict=True)
]


def rows_of(source):
    batches = [batch for part in source.parts() for batch in part.batches()]
    return pa.concat_tables([batch.X for batch in batches]), np.concatenate([batch.y for batch in batches])


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_types_are_those_of_all_rows_together(cut, tmp_path):
    for name, part in {"all": ROWS, "1": ROWS[:cut], "2": ROWS[cut:]}.items():
        (tmp_path / f"{name}.csv").write_text("\n".join([HEADER, *part, ""]))
    options = pa.csv.ConvertOptions(strings_can_be_null=True)
    lines = pa.csv.ParseOptions(newlines_in_values=True)
    expected = pa.csv.read_csv(tmp_path / "all.csv", convert_options=options, parse_options=lines)
    source = sources.csv(str(tmp_path / "[12].csv"), target="y")
    assert source.schema.remove_metadata().equals(expected.schema)
    X, y = rows_of(source)
    assert X.equals(expected.drop(["y"]))
    assert y.tolist() == COLUMNS["y"]


def test_types_are_those_of_all_blocks(tmp_path):
    """A block has 1 MiB."""
    cells = [*map(str, range(90_000)), "0.5", *map(str, range(90_000)), ""]
    text = [*["1"] * 180_000, "true", "2"]
    (tmp_path / "a.csv").write_text("x,t,y\n" + "".join(f"{x},{t},1\n" for x, t in zip(cells, text, strict=True)))
    source = sources.csv(tmp_path / "a.csv", target="y")
    assert [str(kind) for kind in source.schema.types] == ["double", "string", "int64"]
    X, _ = rows_of(source)
    assert X["x"].to_pylist() == [float(cell) if cell else None for cell in cells]
    assert X["t"].to_pylist() == text


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("a.tsv", "a\ty\n1,5\t2\n", {}),
        ("a.CSV", "a,y\n'1,5'\n".replace("'1,5'", '"1,5",2'), {}),
        ("a.tsv.gz", "a\ty\n1,5\t2\n", {}),
        ("a.TSV.GZ", "a\ty\n1,5\t2\n", {}),
        ("a.parquet.csv", "a|y\n1,5|2\n", {"delimiter": "|"}),
        ("a.csv", "a;y\n1,5;2\n", {"delimiter": ";"}),
        ("a.csv", "a;y\n1,5;2\n", {"delimiter": ";", "encoding": "utf-16"}),
        ("a.csv", "a,y\n-,2\n", {"null_values": ["-"]}),
    ],
)
def test_delimiters_encodings_and_compression(name, text, options, tmp_path):
    data = text.encode(options.get("encoding", "utf-8"))
    (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    X, y = rows_of(sources.csv(tmp_path / name, target="y", **options))
    assert X["a"].to_pylist() == [None if "null_values" in options else "1,5"]
    assert y.tolist() == [2]


MALFORMED = {
    "a quote that is lost": ('a,b\n1,"x\n2,y\n3,z\n', r"bad\.csv: line 2 "),
    "a quote in the last line": ('a,b\n1,x\n2,"y', r"bad\.csv: line 3 "),
    "a quote after cells of several lines": ('a,b\n1,"x\ny"\n2,"y""z\n', r"bad\.csv: line 4 "),
    "few cells": ("a,b\n1,2\n3\n", r"bad\.csv: .*#3: Expected 2"),
    "no rows and no header": ("", r"bad\.csv: Empty"),
    "a header in latin-1": ("größe,b\n1,2\n".encode("latin-1"), r"bad\.csv: .*utf-8"),
    "a cell in latin-1": ("a,b\n1,x\n2,ß\n".encode("latin-1"), r"bad\.csv: row 1, column 'b' .*UTF8"),
    "the same name twice": ("a,a\n1,2\n", r"bad\.csv .*'a' twice"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_are_named_with_the_line(case, tmp_path):
    text, words = MALFORMED[case]
    (tmp_path / "ok.csv").write_text("a,b\n1,2\n")
    (tmp_path / "bad.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=words):
        sources.csv(tmp_path / "bad.csv")
    if case != "the same name twice":
        with pytest.raises(ValueError, match=words):
            sources.csv([tmp_path / "ok.csv", tmp_path / "bad.csv"], columns=None)


def test_a_quote_within_a_cell_is_a_character(tmp_path):
    (tmp_path / "a.csv").write_text('a,y\n5" pipe,1\nx,2\n')
    assert rows_of(sources.csv(tmp_path / "a.csv", "y"))[0]["a"].to_pylist() == ['5" pipe', "x"]


def test_types_of_the_user_decide_and_errors_name_row_and_column(tmp_path):
    (tmp_path / "a.csv").write_text("unused,price,code\n" + "".join(f"u,{row},00{row % 7}\n" for row in range(99)))
    source = sources.csv(tmp_path / "a.csv", columns=["code"], types={"code": pa.string()})
    assert next(source.parts()[0].batches()).X["code"][8].as_py() == "001"
    with open(tmp_path / "a.csv", "a") as file:
        file.write("u,thirty,000\n")
    with pytest.raises(ValueError, match=r"a\.csv: row 99, column 'price' .* double.*'thirty'"):
        sources.csv(tmp_path / "a.csv", types={"price": pa.float64()})
    with pytest.raises(ValueError, match=r"columns.*'prise' \(near: 'price'\), 'cod' \(near: 'code'\), 'q'$"):
        sources.csv(tmp_path / "a.csv", columns=["prise", "cod", "q", "code"])
