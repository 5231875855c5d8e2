"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..utils.packages import require_packages
from .files import File, Paths, agreed_types, find_files, require_same_columns
from .tables import Tables, choose_columns, document

# A piece has at least this many rows, or the rest of a file.
PIECE_ROWS = 2**20


@dataclass(frozen=True)
class RowGroups:
    """Successive row groups of a parquet file, whose rows are numbered from `first`."""

    file: File
    groups: tuple[int, ...]
    n_rows: int
    first: int

    @property
    def name(self) -> str:
        """The path."""
        return self.file.path

    def read(self, columns: list[str], size: int) -> Iterator[Any]:
        """Record batches of at most `size` rows."""
        from pyarrow.parquet import ParquetFile

        with self.file.reading() as path, ParquetFile(path) as opened:
            for group in self.groups:
                # One by one and without threads, no other row group is held.
                yield from opened.iter_batches(size, row_groups=[group], columns=columns, use_threads=False)


@document
def parquet(
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
) -> Tables:
    """Parquet files as a source of rows.

    Parameters
    ----------
    paths : path, pattern, or sequence of these
        Files such as ``rows/*.parquet``. The files of a pattern are sorted by name.
    {columns}

    {returns}

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for month in (1, 2):
    ...         size = np.arange(100.0) + month
    ...         pq.write_table(pa.table({"size": size, "price": 2.0 * size}), f"{folder}/{month}.parquet")
    ...     rows = sources.parquet(f"{folder}/*.parquet", target="price")
    ...     model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(rows)
    >>> model.n_rows_seen_, model.feature_names_in_.tolist()
    (200, ['size'])
    """
    owner = "sources.parquet"
    require_packages(owner, "pyarrow")
    files = find_files(owner, paths)
    footers = {file.path: read_footer(file) for file in files}
    schemas = {path: footer.schema.to_arrow_schema() for path, footer in footers.items()}
    where, schema = next(iter(schemas.items()))
    selection = choose_columns(owner, schema, where, target, weight, group, row_id, columns, event, time)
    require_same_columns(owner, schemas, selection.used, columns is None)
    pieces = [piece for file in files for piece in row_group_runs(file, footers[file.path])]
    return Tables(pieces, selection, agreed_types(owner, schemas, selection.used), max_rows)


def read_footer(file: File) -> Any:
    """The metadata of a parquet file."""
    from pyarrow.parquet import read_metadata

    with file.reading() as path:
        return read_metadata(path)


def row_group_runs(file: File, footer: Any) -> Iterator[RowGroups]:
    """The row groups of a file, in runs of at least `PIECE_ROWS` rows."""
    run: list[int] = []
    first = rows = 0
    for index in range(footer.num_row_groups):
        run.append(index)
        rows += footer.row_group(index).num_rows
        if rows >= PIECE_ROWS or index == footer.num_row_groups - 1:
            yield RowGroups(file, tuple(run), rows, first)
            run, first, rows = [], first + rows, 0
