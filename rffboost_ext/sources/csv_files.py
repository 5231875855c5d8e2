"""CSV files, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..utils.packages import require_packages
from ..utils.param_validation import OPTIONAL, Instance, require
from .files import File, Paths, find_files, require_same_columns
from .tables import Tables, choose_columns, document, require_names

# pyarrow reads up to about 40 blocks ahead.
BLOCK_BYTES = 2**20
# The types that pyarrow infers, in its order; text is what is none of these.
INFERRED = ("null", "int64", "bool", "date32", "timestamp[s]", "timestamp[ns]", "float64")


@dataclass(frozen=True)
class CSVFile:
    """A CSV file with a header.

    Parameters
    ----------
    file : File
    delimiter : str
    types : mapping of str to pyarrow.DataType
        By column.
    n_rows : int, default=0
    """

    file: File
    delimiter: str
    types: Mapping[str, Any] = field(default_factory=dict)
    n_rows: int = 0

    def schema(self) -> Any:
        """The names of the columns, and types by the first block."""
        with self.file.reading(), self._opened(None) as reader:
            return reader.schema

    def read(self, columns: list[str], size: int = 0) -> Iterator[Any]:
        """Record batches of blocks of the file."""
        with self.file.reading(), self._opened(columns) as reader:
            yield from reader

    def _opened(self, columns: list[str] | None) -> Any:
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

        return open_csv(
            self.file.path,
            ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
            ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            ConvertOptions(column_types=self.types, include_columns=columns, strings_can_be_null=True),
        )


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
    types: Mapping[str, Any] | None = None,
    delimiter: str = ",",
) -> Tables:
    """CSV files with a header as a source of rows.

    Files are read once here, to number the rows and to find out which types all values of a column have. These are
    the types of ``pyarrow.csv.read_csv``. Empty cells, NA and NaN are missing values.

    Parameters
    ----------
    paths : path, pattern, or sequence of these
        Files such as ``rows/*.csv``, perhaps compressed as their suffix says. The files of a pattern are sorted.
    {columns}
    types : mapping of str to pyarrow.DataType, optional
        Types of columns; "dictionary" types are categories. Other types are found out.
    delimiter : str, default=","
        The character between two cells.

    {returns}
    """
    owner = "sources.csv"
    require_packages(owner, "pyarrow", extra="files")
    require(owner, "types", types, Instance(Mapping) | OPTIONAL)
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise ValueError(f"{owner}: delimiter must be one character, got {delimiter!r}")
    files = [CSVFile(file, delimiter, types or {}) for file in find_files(owner, paths)]
    headers = {one.file.path: one.schema() for one in files}
    where, header = next(iter(headers.items()))
    chosen = choose_columns(owner, header, where, target, weight, group, row_id, columns)
    require_names(owner, "types", types or (), header.names, where)
    require_same_columns(owner, headers, chosen.used, columns is None)
    pieces, schema = scan(files, chosen.used)
    return Tables(pieces, chosen, schema, max_rows)


def scan(files: Sequence[CSVFile], names: list[str]) -> tuple[list[CSVFile], Any]:
    """The files with their numbers of rows and the types of the columns in all of them, and a schema of these."""
    import pyarrow as pa
    from pyarrow.compute import utf8_trim_whitespace

    given = {name: kind for name, kind in files[0].types.items() if name in names}
    possible = {name: list(INFERRED) for name in names if name not in given}
    counts = []
    for file in files:
        count = 0
        for batch in replace(file, types={name: pa.string() for name in possible} | given).read(names):
            count += len(batch)
            for name, kinds in possible.items():
                values = utf8_trim_whitespace(batch.column(name))
                possible[name] = [kind for kind in kinds if is_convertible(values, kind)]
        counts.append(count)
    types = {name: pa.type_for_alias([*kinds, "string"][0]) for name, kinds in possible.items()} | given
    schema = pa.schema([(name, types[name]) for name in names])
    return [replace(file, types=types, n_rows=count) for file, count in zip(files, counts, strict=True)], schema


def is_convertible(values: Any, kind: str) -> bool:
    """Whether all values of an array of text can be converted to a type."""
    from pyarrow import ArrowException, type_for_alias

    if kind == "null":
        return values.null_count == len(values)
    try:
        values.cast(type_for_alias(kind))
    except ArrowException:
        return False
    return True
