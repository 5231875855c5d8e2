"""Tables that are streams of Arrow: datasets, tables of other packages, and lazy tables of polars."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from tempfile import mkstemp
from typing import Any

from ..utils.packages import require_packages
from ..utils.param_validation import BOOL, require
from .parquet_files import parquet
from .tables import Columns, Tables, choose_columns, document

ADVICE = "spill=True copies rows that can be read once only to a temporary file"


@dataclass
class Stream:
    """Rows that an object gives again each time.

    Parameters
    ----------
    name : str
        The object, for messages.
    scan : callable, (columns, size) -> iterable of RecordBatch
    n_rows : int, optional
        The number of rows, known once all have been read.
    """

    name: str
    scan: Callable[[list[str], int], Iterable[Any]]
    n_rows: int | None = None

    def read(self, columns: list[str], size: int) -> Iterator[Any]:
        """Record batches; a ValueError if there are not as many rows as the first time."""
        count = 0
        for batch in self.scan(columns, size):
            count += len(batch)
            yield batch
        if self.n_rows not in (None, count):
            raise ValueError(
                f"{self.name} must have the same rows in each pass, got {self.n_rows} and then {count}: {ADVICE}"
            )
        self.n_rows = count


@document
def arrow(
    data: Any,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    row_id: str | None = None,
    columns: Sequence[str] | None = None,
    max_rows: int | str = "auto",
    *,
    spill: bool = False,
) -> Tables:
    """A dataset of Arrow, or a table of any package with streams of Arrow, as a source of rows.

    Parameters
    ----------
    data : pyarrow.dataset.Dataset, or object with ``__arrow_c_stream__``
        Such as a relation of DuckDB, a table of ibis, a DataFrame of polars, or a table of Arrow. Each pass must
        get the same rows in the same order, unless there is a `row_id`.
    {columns}
    spill : bool, default=False
        Whether the columns that are used are first copied to a temporary parquet file, which is removed with the
        source. For slow queries, and for a RecordBatchReader, which can be read once only and is refused without.

    {returns}

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> table = pa.table({"x": [0.1 * i for i in range(200)], "y": [0.01 * i * i for i in range(200)]})
    >>> RFFBoostRegressor(random_state=0).fit(sources.arrow(table, target="y")).n_rows_seen_
    200
    """
    owner = "sources.arrow"
    require_packages(owner, "pyarrow", extra="files")
    from pyarrow import RecordBatchReader
    from pyarrow.dataset import Dataset

    require(owner, "spill", spill, BOOL)
    is_dataset = isinstance(data, Dataset)
    if not is_dataset and not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(
            f"{owner}: data must be a dataset of Arrow or have __arrow_c_stream__, got a {type(data).__name__}"
        )
    if isinstance(data, RecordBatchReader) and not spill:
        raise TypeError(f"{owner}: data must be readable again, got a RecordBatchReader: {ADVICE}")
    scan, name = partial(scan_dataset if is_dataset else scan_stream, data), f"the {type(data).__name__}"
    opened = data if is_dataset else scan()
    chosen = choose_columns(owner, opened.schema, name, target, weight, group, row_id, columns)
    if spill:
        return spilled(scan() if is_dataset else opened, chosen, max_rows)
    return Tables([Stream(f"{owner}: {name}", scan)], chosen, chosen.types(opened.schema), max_rows)


@document
def lazy(
    frame: Any,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    row_id: str | None = None,
    columns: Sequence[str] | None = None,
    max_rows: int | str = "auto",
) -> Tables:
    """A LazyFrame of polars, collected batch by batch in each pass, as a source of rows.

    Parameters
    ----------
    frame : polars.LazyFrame
        A query whose result has the same rows in the same order each time, unless there is a `row_id`. Polars
        reads the columns that are used. It needs polars 1.34 or newer.
    {columns}

    {returns}
    """
    owner = "sources.lazy"
    require_packages(owner, "pyarrow", extra="files")
    if not hasattr(frame, "collect_batches"):
        raise TypeError(f"{owner}: frame must be a LazyFrame of polars >= 1.34, got a {type(frame).__name__}")
    schema, name = frame.head(0).collect().to_arrow().schema, "the LazyFrame"
    chosen = choose_columns(owner, schema, name, target, weight, group, row_id, columns)
    stream = Stream(f"{owner}: {name}", partial(scan_frame, frame))
    return Tables([stream], chosen, chosen.types(schema), max_rows)


def scan_dataset(data: Any, columns: list[str] | None = None, size: int = 2**16) -> Any:
    """The record batches of a dataset of Arrow, without reading ahead."""
    options = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
    return data.scanner(columns=columns, batch_size=size, **options).to_reader()


def scan_stream(data: Any, columns: list[str] | None = None, size: int = 0) -> Any:
    """The record batches of a stream of Arrow."""
    from pyarrow import RecordBatchReader

    return RecordBatchReader.from_stream(data)


def scan_frame(frame: Any, columns: list[str], size: int) -> Iterator[Any]:
    """The record batches of a LazyFrame of polars."""
    for rows in frame.select(columns).collect_batches(chunk_size=size, maintain_order=True, lazy=True):
        yield from rows.to_arrow().to_batches()


def spilled(reader: Any, columns: Columns, max_rows: int | str) -> Tables:
    """The rows of a reader in a temporary parquet file, which is removed with the source or when Python ends."""
    from pyarrow.parquet import ParquetWriter

    handle, path = mkstemp(prefix="rffboost-", suffix=".parquet")
    os.close(handle)
    try:
        with ParquetWriter(path, columns.types(reader.schema)) as writer:
            for batch in reader:
                writer.write_batch(batch.select(columns.used))
        rest = columns.target, columns.weight, columns.group, columns.row_id, columns.features
        source = parquet(path, *rest, max_rows)
    except BaseException:
        remove(path)
        raise
    weakref.finalize(source, remove, path)
    return source


def remove(path: str) -> None:
    """Remove a file, if there is one."""
    with suppress(FileNotFoundError):
        os.remove(path)
