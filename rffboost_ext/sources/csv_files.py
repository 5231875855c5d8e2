"""CSV files, block by block."""

from __future__ import annotations

import csv as standard
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from ..utils.packages import require_packages
from ..utils.param_validation import OPTIONAL, Instance, SequenceOf, require
from .files import File, Paths, find_files, require_same_columns
from .tables import Tables, choose_columns, document, require_names

# pyarrow reads up to about 40 blocks ahead.
BLOCK_BYTES = 2**20
# Suffixes of compressed files, and the names that pyarrow has for them.
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
# A cell that pyarrow cannot convert: its column and its row, where the header is row 1.
CELL = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?(?:CSV conversion error to )?(.*)", re.DOTALL)


@dataclass(frozen=True)
class CSVFile:
    """A CSV file with a header.

    Parameters
    ----------
    file : File
    delimiter, encoding : str
    null_values : tuple of str, optional
        The cells that are missing values; by default those of pyarrow.
    types : mapping of str to pyarrow.DataType
        By column.
    n_rows : int, default=0
    """

    file: File
    delimiter: str
    encoding: str
    null_values: tuple[str, ...] | None
    types: Mapping[str, Any] = field(default_factory=dict)
    n_rows: int = 0
    first: int = 0

    @property
    def name(self) -> str:
        """The path."""
        return self.file.path

    def header(self) -> Any:
        """The names of the columns, as a schema."""
        with self.file.reading(), replace(self, types={})._opened(None) as reader:
            schema = reader.schema
            # A name in another encoding is an error here.
            schema.names  # noqa: B018
            return schema

    def read(self, columns: list[str], size: int = 0) -> Iterator[Any]:
        """Record batches of blocks of the file."""
        with self.file.reading():
            try:
                with self._opened(columns) as reader:
                    yield from reader
            except ValueError as error:
                raise ValueError(self._told(str(error), columns)) from error

    def _told(self, message: str, columns: list[str]) -> str:
        """The message of an error of pyarrow with the name of the column, and rows from 0 after the header."""
        match = CELL.match(message)
        if match is None:
            return message
        column, row, reason = match.groups()
        place = "" if row is None else f"row {int(row) - 2}, "
        return f"{place}column {columns[int(column)]!r} must hold values of type {reason}"

    def _stream(self) -> Any:
        """The bytes of the file, without compression."""
        from pyarrow import input_stream

        return input_stream(self.file.path, compression=COMPRESSED.get(Path(self.file.path).suffix.lower()))

    def _opened(self, columns: list[str] | None) -> Any:
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

        return open_csv(
            self._stream(),
            ReadOptions(use_threads=False, block_size=BLOCK_BYTES, encoding=self.encoding),
            ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            ConvertOptions(
                column_types=self.types,
                include_columns=columns,
                strings_can_be_null=True,
                null_values=self.null_values,
            ),
        )

    def require_closed_quotes(self) -> None:
        """Raise a ValueError that names the line of a quote that never closes, where pyarrow would end a cell."""
        with self.file.reading():
            with self._stream() as stream:
                n_quotes = sum(block.count(b'"') for block in iter(lambda: stream.read(BLOCK_BYTES), b""))
            if n_quotes % 2 == 0:
                return
            with TextIOWrapper(self._stream(), self.encoding, newline="") as text:
                reader, line = standard.reader(text, delimiter=self.delimiter, strict=True), 0
                try:
                    for _ in reader:
                        line = reader.line_num
                except standard.Error as error:
                    raise ValueError(
                        f"line {line + 1} must have a quote for each that it opens: {error}"
                    ) from error


@document
def csv(
    paths: Paths,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    row_id: str | None = None,
    columns: Sequence[str] | None = None,
    max_rows: int | str = "auto",
    *,
    event: str | None = None,
    time: str | None = None,
    types: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    null_values: Sequence[str] | None = None,
) -> Tables:
    """CSV files with a header as a source of rows.

    pyarrow reads the files. They are read once here, to number the rows and to infer types from all of them. A
    column whose blocks of 1 MiB are integers, floats or missing values in turn is of floats; other blocks of
    several types make a column of text.

    Parameters
    ----------
    paths : path, pattern, or sequence of these
        Files such as ``rows/*.csv``, perhaps compressed as their suffix says. The files of a pattern are sorted.
    {columns}
    types : mapping of str to pyarrow.DataType, optional
        Types of columns; "dictionary" types are categories. Other types are inferred.
    delimiter : str, optional
        The character between two cells; by default a tab in files ``.tsv``, and else a comma.
    encoding : str, default="utf-8"
        The encoding of the files.
    null_values : sequence of str, optional
        The cells that are missing values; by default empty ones, NA, NaN, null and others of ``pyarrow.csv``.

    {returns}

    Examples
    --------
    >>> import os, tempfile
    >>> from rffboost_ext import RFFBoostClassifier, sources
    >>> lines = ["size;kind", *["1.5;small", "7.0;large"] * 20]
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print(*lines, sep=os.linesep, file=file, flush=True)
    ...     rows = sources.csv(file.name, target="kind", delimiter=";")
    ...     model = RFFBoostClassifier(learner="tree", n_estimators=5).fit(rows)
    >>> model.n_rows_seen_, model.classes_.tolist()
    (40, ['large', 'small'])
    """
    owner = "sources.csv"
    require_packages(owner, "pyarrow")
    require(owner, "types", types, Instance(Mapping) | OPTIONAL)
    require(owner, "encoding", encoding, Instance(str))
    require(owner, "null_values", null_values, SequenceOf(Instance(str), "cells") | OPTIONAL)
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise ValueError(f"{owner}: delimiter must be one character, got {delimiter!r}")
    nulls = None if null_values is None else tuple(null_values)
    files = [
        CSVFile(file, delimiter or default_delimiter(file.path), encoding, nulls, types or {})
        for file in find_files(owner, paths)
    ]
    headers = {one.name: one.header() for one in files}
    where, header = next(iter(headers.items()))
    selection = choose_columns(owner, header, where, target, weight, group, row_id, columns, event, time)
    require_names(owner, "types", types or (), header.names, where)
    require_same_columns(owner, headers, selection.used, columns is None)
    pieces, schema = scan(files, selection.used)
    return Tables(pieces, selection, schema, max_rows)


def default_delimiter(path: str) -> str:
    """A tab for files ``.tsv``, and else a comma."""
    return "\t" if ".tsv" in [suffix.lower() for suffix in Path(path).suffixes[-2:]] else ","


def scan(files: Sequence[CSVFile], names: list[str]) -> tuple[list[CSVFile], Any]:
    """The files with their numbers of rows, and the types that pyarrow infers from their blocks, and a schema."""
    import pyarrow as pa

    stated = {name: kind for name, kind in files[0].types.items() if name in names}
    text = {name: pa.string() for name in names} | stated
    inferred: dict[str, Any] = dict.fromkeys(names, pa.null()) | stated
    counts = []
    for file in files:
        file.require_closed_quotes()
        count = 0
        for batch in replace(file, types=text).read(names):
            count += len(batch)
            types = inferred_types(batch)
            inferred |= {name: joint_type(inferred[name], types[name]) for name in names if name not in stated}
        counts.append(count)
    pieces = [replace(file, types=inferred, n_rows=count) for file, count in zip(files, counts, strict=True)]
    return pieces, pa.schema(list(inferred.items()))


def inferred_types(batch: Any) -> dict[str, Any]:
    """The types that pyarrow infers for columns of text."""
    from pyarrow import BufferOutputStream, BufferReader
    from pyarrow.csv import ConvertOptions, ReadOptions, read_csv, write_csv

    cells = BufferOutputStream()
    write_csv(batch, cells)
    # Missing cells are written without quotes.
    nulls = ConvertOptions(null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)
    options = ReadOptions(use_threads=False)
    schema = read_csv(BufferReader(cells.getvalue()), options, convert_options=nulls).schema
    return dict(zip(schema.names, schema.types, strict=True))


def joint_type(one: Any, other: Any) -> Any:
    """A type of Arrow for the values of two; that of text if there is no other."""
    import pyarrow as pa

    try:
        joint = pa.unify_schemas([pa.schema([("", one)]), pa.schema([("", other)])], promote_options="permissive")
    except pa.ArrowException:
        return pa.string()
    return joint.field(0).type
