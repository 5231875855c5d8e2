"""Tables that are streams of Arrow: datasets, tables of other packages, and lazy tables of polars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from ..utils.packages import require_packages
from .files import READ_ERRORS
from .tables import Tables, choose_columns, document


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
        """Record batches, which are counted the first time."""
        count = 0
        try:
            for batch in self.scan(columns, size):
                count += len(batch)
                yield batch
        except READ_ERRORS as error:
            raise ValueError(f"{self.name}: {error}") from error
        if self.n_rows is None:
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
) -> Tables:
    """A dataset of Arrow, or a table of any package that gives streams of Arrow, as a source of rows.

    Parameters
    ----------
    data : pyarrow.dataset.Dataset, polars.LazyFrame, or object with ``__arrow_c_stream__``
        Such as a relation of DuckDB, a table of ibis, a DataFrame of polars, or a table of Arrow. Each pass must
        get the same rows in the same order, unless there is a `row_id`. A LazyFrame is collected batch by batch,
        which needs polars 1.34 or newer. A RecordBatchReader, which can be read once only, is refused.
    {columns}

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
    scan, types = scan_and_schema(owner, data)
    name = f"the {type(data).__name__}"
    selection = choose_columns(owner, types, name, target, weight, group, row_id, columns, event, time)
    schema = selection.types(types)
    return Tables([Stream(f"{owner}: {name}", scan)], selection, schema, max_rows)


def scan_and_schema(owner: str, data: Any) -> tuple[Callable[..., Any], Any]:
    """A function that reads data, as that of a :class:`Stream`, and the schema."""
    from pyarrow import RecordBatchReader
    from pyarrow.dataset import Dataset

    if isinstance(data, RecordBatchReader):
        raise TypeError(
            f"{owner}: data must be readable again, got a RecordBatchReader: pyarrow.dataset.write_dataset copies "
            f"rows that can be read once only to files"
        )
    if isinstance(data, Dataset):
        return partial(scan_dataset, data), data.schema
    if hasattr(data, "collect_batches"):
        return partial(scan_frame, data), data.head(0).collect().to_arrow().schema
    if hasattr(data, "__arrow_c_stream__"):
        return partial(scan_stream, data), scan_stream(data).schema
    raise TypeError(
        f"{owner}: data must be a dataset of Arrow, a LazyFrame of polars >= 1.34, or have __arrow_c_stream__, "
        f"got a {type(data).__name__}"
    )


def scan_dataset(data: Any, columns: list[str], size: int) -> Iterator[Any]:
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


def scan_frame(frame: Any, columns: list[str], size: int) -> Iterator[Any]:
    """The record batches of a LazyFrame of polars."""
    for rows in frame.select(columns).collect_batches(chunk_size=size, maintain_order=True, lazy=True):
        yield from rows.to_arrow().to_batches()
