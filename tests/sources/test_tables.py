"""Sources of tables: files of any cut, streams and lazy tables have the rows of the table in memory."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, sources

from .table_files import FEATURES, ROLES, TABLE, N, gaps, write_parquet

rng = np.random.default_rng(1)


def write_csv(folder, cuts=(100,)):
    for start, stop in zip([0, *cuts], [*cuts, N], strict=True):
        pa.csv.write_csv(TABLE.slice(start, stop - start), folder / f"{start:04d}.csv")
    return folder / "*.csv"


def rows_of(source, features=True):
    """All rows of a source: their numbers, features as lists by name, targets and weights."""
    batches = [batch for part in pickle.loads(pickle.dumps(source.parts())) for batch in part.batches(features)]
    X = [batch.X for batch in batches]
    joint = pa.concat_tables(X, promote_options="permissive").to_pydict() if features else X
    return joint, *(np.concatenate([getattr(batch, name) for batch in batches]) for name in ("row", "y", "weight"))


CATEGORIES = {"letter": pa.dictionary(pa.int32(), pa.string())}
MAKERS = {
    "parquet": lambda folder: sources.parquet(write_parquet(folder, [100, 250], 40), **ROLES),
    "csv": lambda folder: sources.csv(write_csv(folder), **ROLES, types=CATEGORIES),
    "dataset": lambda folder: sources.arrow(pa.dataset.dataset(write_parquet(folder, [70], 40)), **ROLES),
    "table": lambda folder: sources.arrow(TABLE, **ROLES),
    "polars": lambda folder: sources.arrow(pl.from_arrow(TABLE), **ROLES),
    "lazy": lambda folder: sources.arrow(pl.from_arrow(TABLE).lazy(), **ROLES),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_fit_on_a_source_has_the_bits_of_the_fit_on_its_table(maker, tmp_path):
    model = RFFBoostRegressor(learner="tree", n_estimators=5, random_state=0)
    X = TABLE.select(FEATURES)
    expected = model.fit(X, TABLE["y"], TABLE["w"]).predict(X)
    fitted = model.fit(MAKERS[maker](tmp_path))
    np.testing.assert_array_equal(fitted.predict(X), expected)
    assert list(fitted.feature_names_in_) == FEATURES


@pytest.mark.parametrize(("cuts", "size"), [([], 10**6), ([1, 2], 40), ([150, 150, 299], 7)])
def test_any_cut_into_files_and_row_groups_has_the_same_rows(cuts, size, tmp_path):
    source = sources.parquet(write_parquet(tmp_path, cuts, size), **ROLES)
    X, row, y, weight = rows_of(source)
    assert TABLE.select(FEATURES).to_pydict() == X
    assert source.n_rows == N
    np.testing.assert_array_equal(row, np.arange(N))
    np.testing.assert_array_equal(y, TABLE["y"])
    np.testing.assert_array_equal(weight, TABLE["w"])
    without_features = rows_of(source, features=False)
    assert set(without_features[0]) == {None}
    np.testing.assert_array_equal(without_features[2], y)


def test_large_files_are_read_in_parts_and_large_row_groups_in_batches(tmp_path):
    """A part has 2^20 rows at least, a batch 16 MiB at most."""
    n = 2**21 + 5
    pq.write_table(pa.table({"x": np.arange(n + 9.0)}), tmp_path / "a.parquet", row_group_size=n)
    parts = [list(part.batches()) for part in sources.parquet(tmp_path / "a.parquet").parts()]
    assert [[len(batch) for batch in part] for part in parts] == [[2**21, 5], [9]]
    for batch in (batch for part in parts for batch in part):
        np.testing.assert_array_equal(batch.X["x"], batch.row)


def test_numbers_and_gaps_may_differ_between_files(tmp_path):
    tables = [pa.table({"x": [1, 2]}), pa.table({"x": [0.5, None]}), pa.table({"x": pa.nulls(1)})]
    for name, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    X = [batch.X for part in sources.parquet(tmp_path / "*.parquet").parts() for batch in part.batches()]
    assert pa.concat_tables(X)["x"].to_pylist() == [1.0, 2.0, 0.5, None, None]


def test_text_labels_two_targets_and_groups(tmp_path):
    pq.write_table(TABLE, tmp_path / "a.parquet")
    source = sources.parquet(tmp_path / "a.parquet", target="label", group="whole", columns=["number"])
    (batch,) = source.parts()[0].batches()
    assert batch.y.tolist() == TABLE["label"].to_pylist()
    np.testing.assert_array_equal(
        batch.group, [np.nan if one is None else one for one in TABLE["whole"].to_pylist()]
    )
    model = RFFBoostClassifier(n_estimators=3, random_state=0).fit(
        sources.parquet(tmp_path / "a.parquet", "label", columns=["number"])
    )
    assert model.classes_.tolist() == ["down", "up"]
    (batch,) = sources.arrow(TABLE, target=["y", "w"]).parts()[0].batches()
    np.testing.assert_array_equal(batch.y, np.column_stack([TABLE["y"], TABLE["w"]]))
    assert batch.X.column_names == ["number", "whole", "truth", "letter", "label"]


def test_a_relation_of_duckdb_has_the_rows_of_its_table_in_each_pass():
    duckdb = pytest.importorskip("duckdb")
    (part,) = sources.arrow(duckdb.from_arrow(TABLE), **ROLES).parts()
    for _ in range(2):
        X = pa.concat_tables([batch.X for batch in part.batches()])
        assert X.to_pydict() == TABLE.select(FEATURES).to_pydict()


def test_row_id_numbers_the_rows_in_any_order():
    table = TABLE.append_column("id", pa.array(rng.permutation(N)))
    model = RFFBoostRegressor(n_estimators=3, random_state=0)
    one, other = (
        model.fit(sources.arrow(rows, row_id="id", **ROLES)).predict(TABLE.select(FEATURES))
        for rows in (table, table.take(rng.permutation(N)))
    )
    np.testing.assert_array_equal(one, other)
    for values in (-np.arange(N), gaps(range(N), 9), ["a"] * N):
        source = sources.arrow(TABLE.append_column("id", [pa.array(values)]), row_id="id", **ROLES)
        with pytest.raises(ValueError, match="row_id must be integers >= 0"):
            rows_of(source)


def test_the_index_of_a_data_frame_is_no_feature(tmp_path):
    frame = TABLE.select(["number", "truth"]).to_pandas().iloc[rng.permutation(N)]
    frame.to_parquet(tmp_path / "a.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "a.parquet").names
    assert sources.parquet(tmp_path / "a.parquet").columns.features == ("number", "truth")


def test_columns_that_a_fit_in_memory_refuses_are_refused():
    dates = pa.array([datetime.date(2020, 1, 1)] * N)
    table = TABLE.append_column("day", dates)
    model = RFFBoostRegressor(n_estimators=3)
    messages = []
    for fit in (
        lambda: model.fit(table.select(["number", "day"]), table["y"]),
        lambda: model.fit(sources.arrow(table, target="y", columns=["number", "day"])),
    ):
        with pytest.raises(ValueError, match="'day'") as caught:
            fit()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


# A pool must outlive what pyarrow has allocated from it.
POOLS = []


def peak(source):
    """The most bytes that pyarrow holds at a time while it reads the rows of a source."""
    before = pa.default_memory_pool()
    POOLS.append(pa.proxy_memory_pool(pa.system_memory_pool()))
    pa.set_memory_pool(POOLS[-1])
    try:
        for part in source.parts():
            for _ in part.batches():
                pass
    finally:
        pa.set_memory_pool(before)
    return POOLS[-1].max_memory()


@pytest.mark.parametrize("name", ["parquet", "csv"])
def test_memory_does_not_grow_with_rows_or_with_columns_that_are_not_used(name, tmp_path, monkeypatch):
    monkeypatch.setattr("rffboost_ext.sources.tables.BATCH_BYTES", 2**16)
    monkeypatch.setattr("rffboost_ext.sources.csv_files.BLOCK_BYTES", 2**14)
    x = rng.standard_normal(10_000)
    table = pa.table({"x": x, "y": x, "text": [f"{one}" * 5 for one in x]})
    for count in (1, 6):
        rows = pa.concat_tables([table] * count)
        if name == "csv":
            pa.csv.write_csv(rows, tmp_path / f"{count}.csv")
        else:
            pq.write_table(rows, tmp_path / f"{count}.parquet", row_group_size=len(table))
    read = getattr(sources, name)
    few, many = (peak(read(tmp_path / f"{count}.{name}")) for count in (1, 6))
    assert many < 1.5 * few
    assert name == "csv" or peak(read(tmp_path / f"6.{name}", columns=["x"])) < 0.5 * many


class Once:
    """A stream that is empty when it is read again."""

    def __init__(self, table):
        self.left = [table, table, table.slice(0, 0)]

    def __arrow_c_stream__(self, requested_schema=None):
        return self.left.pop(0).__arrow_c_stream__(requested_schema)


def test_streams_that_can_be_read_once_only_are_refused_with_advice():
    with pytest.raises(TypeError, match=r"RecordBatchReader.*write_dataset"):
        sources.arrow(TABLE.to_reader(), target="y")
    source = sources.arrow(Once(TABLE), **ROLES)
    rows = source.parts()[0]
    assert sum(len(batch) for batch in rows.batches()) == N
    with pytest.raises(ValueError, match=f"the Once must have the same rows.*got {N} and then 0"):
        list(rows.batches())
