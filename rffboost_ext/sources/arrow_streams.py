"""Tables that are streams of Arrow: datasets, tables of other packages, and lazy tables of polars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from mmap import mmap
from tempfile import TemporaryFile, gettempdir
from typing import Any, ClassVar

from ..rows.selection import cast_columns
from ..utils.packages import require_packages
from ..utils.param_validation import BOOL, require
from .arrays import forget_pages
from .files import READ_ERRORS
from .tables import Tables, choose_columns, document

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
    first: ClassVar[int] = 0

    def read(self, columns: list[str], size: int) -> Iterator[Any]:
        """Record batches; a ValueError if there are not as many rows as the first time."""
        count = 0
        try:
            for batch in self.scan(columns, size):
                count += len(batch)
                yield batch
        except READ_ERRORS as error:
            raise ValueError(f"{self.name}: {error}") from error
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
    event: str | None = None,
    time: str | None = None,
    spill: bool = False,
) -> Tables:
    """A dataset of Arrow, or a table of any package that gives streams of Arrow, as a source of rows.

    Parameters
    ----------
    data : pyarrow.dataset.Dataset, polars.LazyFrame, or object with ``__arrow_c_stream__``
        Such as a relation of DuckDB, a table of ibis, a DataFrame of polars, or a table of Arrow. Each pass must
        get the same rows in the same order, unless there is a `row_id`. A LazyFrame is collected batch by batch,
        which needs polars 1.34 or newer.
    {columns}
    spill : bool, default=False
        Whether the columns that are used are first copied to a temporary file, which has no name and ends with the
        process. For slow queries, and for a RecordBatchReader, which can be read once only and is refused without.

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
    require_packages(owner, "pyarrow")
    from pyarrow import RecordBatchReader

    require(owner, "spill", spill, BOOL)
    if isinstance(data, RecordBatchReader) and not spill:
        raise TypeError(f"{owner}: data must be readable again, got a RecordBatchReader: {ADVICE}")
    scan, opened, types = open_stream_of(owner, data)
    name = f"the {type(data).__name__}"
    selection = choose_columns(owner, types, name, target, weight, group, row_id, columns, event, time)
    schema = selection.types(types)
    stream = Stream(f"{owner}: {name}", Spilled(opened, schema) if spill else scan)
    return Tables([stream], selection, schema, max_rows)


def open_stream_of(owner: str, data: Any) -> tuple[Callable[..., Any], Iterable[Any], Any]:
    """A function that reads data, as that of a :class:`Stream`, the batches of a first pass, and the schema."""
    from pyarrow.dataset import Dataset

    if isinstance(data, Dataset):
        return partial(scan_dataset, data), scan_dataset(data), data.schema
    if hasattr(data, "collect_batches"):
        return partial(scan_frame, data), scan_frame(data), data.head(0).collect().to_arrow().schema
    if hasattr(data, "__arrow_c_stream__"):
        opened = scan_stream(data)
        return partial(scan_stream, data), opened, opened.schema
    raise TypeError(
        f"{owner}: data must be a dataset of Arrow, a LazyFrame of polars >= 1.34, or have __arrow_c_stream__, "
        f"got a {type(data).__name__}"
    )


def scan_dataset(data: Any, columns: list[str] | None = None, size: int = 2**16) -> Iterator[Any]:
    """The record batches of a dataset of Arrow, without reading ahead."""
    options = {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
    try:
        yield from data.scanner(columns=columns, batch_size=size, **options).to_reader()
    except ValueError as error:
        raise ValueError(f"{', '.join(converted_columns(data)) or 'a file'}: {error}") from error


def converted_columns(data: Any) -> Iterator[str]:
    """The columns of the files of a dataset that are not of its types."""
    with suppress(ValueError):
        # A filtered dataset does not tell its files.
        for fragment in data.get_fragments():
            for field in fragment.physical_schema:
                if field.name in data.schema.names and field.type != data.schema.field(field.name).type:
                    yield f"{getattr(fragment, 'path', 'a table')}: column {field.name!r} of type {field.type}"


def scan_stream(data: Any, columns: list[str] | None = None, size: int = 0) -> Any:
    """The record batches of a stream of Arrow."""
    from pyarrow import RecordBatchReader

    return RecordBatchReader.from_stream(data)


def scan_frame(frame: Any, columns: list[str] | None = None, size: int = 2**16) -> Iterator[Any]:
    """The record batches of a LazyFrame of polars."""
    frame = frame if columns is None else frame.select(columns)
    for rows in frame.collect_batches(chunk_size=size, maintain_order=True, lazy=True):
        yield from rows.to_arrow().to_batches()


class Spilled:
    """The rows of a reader in a temporary file without a name, which the system deletes with the last reader.

    Parameters
    ----------
    reader : iterable of RecordBatch
    schema : pyarrow.Schema
        The columns to copy, and their types.
    """

    def __init__(self, reader: Any, schema: Any) -> None:
        from pyarrow import RecordBatch
        from pyarrow.ipc import new_stream

        with TemporaryFile(prefix="rffboost-") as file:
            try:
                with new_stream(file, schema) as writer:
                    for batch in reader:
                        rows = cast_columns("spill", batch.select(schema.names), schema)
                        writer.write_batch(RecordBatch.from_arrays(rows.columns, schema=schema))
                file.flush()
                self.pages = mmap(file.fileno(), 0)
            except OSError as error:
                raise OSError(
                    error.errno, f"spill: rows must fit in the folder {gettempdir()}: {error}"
                ) from error

    def __call__(self, columns: list[str], size: int) -> Iterator[Any]:
        from pyarrow import py_buffer
        from pyarrow.ipc import open_stream

        with open_stream(py_buffer(self.pages)) as reader:
            for batch in reader:
                yield batch.select(columns)
                forget_pages(self.pages)
