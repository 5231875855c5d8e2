"""All batches of a source have the columns of the first one, in every pass, and no row or class is lost."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_matrix
from sklearn.dummy import DummyRegressor

from rffboost_ext import (
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    sources,
)

from .cut_rows import WAYS, CutRows

rng = np.random.default_rng(0)
N = 60
X, Y = rng.standard_normal((N, 2)), rng.standard_normal(N)
TEXT = ["a", "b", "c"] * (N // 3)
FEW = {"learner": "tree", "n_estimators": 3, "early_stopping": False, "random_state": 0}
ENUMS = [pl.Enum(["a", "b", "c"]), pl.Enum(["c", "d", "b", "a"])]


def frame(package, kind=TEXT, number=X[:, 0], order=("kind", "number")):
    """A table of two columns."""
    data = {"kind": kind, "number": number}
    return package({name: data[name] for name in order})


def categories(kinds):
    return pa.array(kinds).dictionary_encode()


# The first batch, the second one, and words of the error, or None where they go together.
BATCHES = {
    "a narrow array": ((X, Y), (X[:, :1], Y), "number of columns of X must be 2.*got 1"),
    "a wide sparse array": ((X, Y), (csr_matrix(np.hstack([X, X])), Y), "number of columns of X"),
    "dense and sparse": ((X, Y), (csr_matrix(X), Y), None),
    "single precision": ((X.astype(np.float32), Y), (X, Y), None),
    "an array after a table": ((frame(pd.DataFrame), Y), (X, Y), "table of pandas.*got an array"),
    "two packages": ((frame(pd.DataFrame), Y), (frame(pl.DataFrame), Y), "got a table of polars"),
    **{
        f"{package.__module__.split('.')[0]}, {case}": ((frame(package), Y), (frame(package, **other), Y), words)
        for package in (pd.DataFrame, pl.DataFrame, pa.table)
        for case, other, words in (
            ("order", {"order": ("number", "kind")}, "column 0 of X must be 'kind'"),
            ("fewer columns", {"order": ("kind",)}, "column 1 of X must be 'number'"),
            ("truth values", {"number": [True] * N}, "column 'number' of X must be numbers.*got truth values"),
            ("numbers for text", {"kind": X[:, 1]}, "column 'kind' of X must be text.*got numbers"),
            ("integers for floats", {"number": [1] * N}, None),
            ("only missing values", {"kind": [None] * N}, None),
        )
    },
    "only NaN for text": ((frame(pd.DataFrame, [np.nan] * N), Y), (frame(pd.DataFrame), Y), None),
    "categories of pandas": (
        (frame(pd.DataFrame, pd.Categorical(TEXT)), Y),
        (frame(pd.DataFrame, pd.Categorical([1, 2] * (N // 2))), Y),
        "categories of column 'kind' of X must be text",
    ),
    "integers for categories": (
        (frame(pd.DataFrame, pd.Categorical([1, 2] * (N // 2))), Y),
        (frame(pd.DataFrame, [1, 2] * (N // 2)), Y),
        "must be categories",
    ),
    "categories of Arrow": (
        (frame(pa.table, categories(TEXT)), Y),
        (frame(pa.table, categories([1, 2] * (N // 2))), Y),
        "categories of column 'kind' of X must be text",
    ),
    "other categories": (
        (frame(pa.table, categories(TEXT)), Y),
        (frame(pa.table, categories(["z"] * N)), Y),
        None,
    ),
    "enums": (*((frame(pl.DataFrame, pl.Series(TEXT, dtype=kind)), Y) for kind in ENUMS), None),
    "large integers": (
        (frame(pa.table, number=pa.array([2**53 + 1] * N)), Y),
        (frame(pa.table), Y),
        "column 'number' must hold values of type double",
    ),
    "a wide target": ((X, Y), (X, np.column_stack([Y, Y])), r"y must be of shape \(n,\)"),
    "labels of text": ((X, Y), (X, Y.astype(str)), "type of y must be numbers.*got text"),
    "no weights": ((X, Y, Y**2), (X, Y), "weight must be"),
    "groups of text": ((X, Y, None, np.arange(N)), (X, Y, None, np.array(TEXT)), "type of group"),
    "few targets": ((X, Y), (X, Y[1:]), f"batch 2.*y must have as many rows as the batch, {N}"),
}


@pytest.mark.parametrize("case", BATCHES)
def test_batches_have_the_columns_of_the_first_one(case):
    *batches, words = BATCHES[case]
    model = RFFBoostRegressor(
        **FEW, categorical_features=None if isinstance(batches[0][0], np.ndarray) else ["kind"]
    )
    source = sources.batches(lambda: iter(batches))
    if words is None:
        assert model.fit(source).n_rows_seen_ == 2 * N
        return
    with pytest.raises(ValueError, match=words):
        model.fit(source)
    if "large" not in case:
        with pytest.raises(ValueError, match="batch 2"):
            sources.score(DummyRegressor().fit(X, Y), source)


@pytest.mark.parametrize(
    ("later", "words"),
    [
        ((X[:, :1], Y), "number of columns of X must be 2"),
        ((X, np.column_stack([Y, Y])), "y must be of shape"),
        ((X[1:], Y[1:]), f"same rows.*{N} and then {N - 1}"),
    ],
)
def test_a_second_pass_has_the_columns_and_the_rows_of_the_first_one(later, words):
    passes = iter([(X, Y), later, later])
    with pytest.raises(ValueError, match=words):
        RFFBoostRegressor(**FEW).fit(sources.batches(lambda: [next(passes)], max_rows=20))


def cut_array(folder):
    np.save(folder / "X.npy", X)
    source = sources.arrays(folder / "X.npy", Y)
    np.save(folder / "X.npy", X[1:])
    return source


def cut_map(folder):
    np.ascontiguousarray(X).tofile(folder / "X")
    source = sources.arrays(np.memmap(folder / "X", mode="r", dtype=X.dtype, shape=X.shape), Y)
    os.truncate(folder / "X", 100)
    return source


def said_more(folder):
    source = sources.arrow(pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y}), "y")
    source.pieces[0].n_rows = source.n_rows = N + 1
    return source


def cut_csv(folder):
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y})
    pa.csv.write_csv(table, folder / "a.csv")
    source = sources.csv(folder / "a.csv", "y")
    pa.csv.write_csv(table.slice(1), folder / "a.csv")
    return source


@pytest.mark.parametrize("make", [cut_array, cut_map, cut_csv, said_more])
def test_files_that_lose_rows_are_named(make, tmp_path):
    source = make(tmp_path)
    name = "Table" if make is said_more else str(tmp_path)
    with pytest.raises((ValueError, OSError), match=name):
        RFFBoostRegressor(**FEW).fit(source)
    model = RFFBoostRegressor(**FEW).fit(X, Y)
    with pytest.raises((ValueError, OSError), match=name):
        list(sources.predict(model, source))


@pytest.mark.parametrize("read", [sources.parquet, lambda paths, y: sources.arrow(pa.dataset.dataset(paths), y)])
def test_integers_that_are_not_exact_are_named_with_file_and_column(read, tmp_path):
    columns = {
        "0": pa.array([1.5, 2.0]),
        "1": pa.array([2**53 + 1] * 2),
        "2": pa.array([2**64 - 1] * 2, pa.uint64()),
    }
    paths = [str(tmp_path / f"{name}.parquet") for name in columns]
    for path, column in zip(paths, columns.values(), strict=True):
        pq.write_table(pa.table({"account": column, "y": [0.0, 1.0]}), path)
    for files in (paths[:2], [paths[0], paths[2]]):
        with pytest.raises(ValueError, match=rf"{files[1]}: column 'account'"):
            RFFBoostRegressor(**FEW).fit(read(files, "y"))


@pytest.mark.parametrize("max_rows", ["auto", 20])
def test_an_invalid_value_has_the_row_of_its_file(max_rows, tmp_path):
    table = pa.table({"number": [f"{one}" for one in X[:, 0]], "y": Y})
    bad = table.set_column(0, "number", [[*table["number"].to_pylist()[:-1], "thirty"]])
    for name, one in {"0": table, "1": bad}.items():
        pq.write_table(one, tmp_path / f"{name}.parquet", row_group_size=17)
    source = sources.parquet(tmp_path / "*.parquet", "y", max_rows=max_rows)
    model = RFFBoostRegressor(**FEW).fit(sources.parquet(tmp_path / "0.parquet", "y"))
    for use in (RFFBoostRegressor(**FEW).fit, lambda rows: list(sources.predict(model, rows))):
        with pytest.raises(ValueError, match=rf"'thirty' as row {N - 1} of .*1\.parquet"):
            use(source)
    blocks = [({"number": ["1.0", text]}, Y[:2]) for text in ("2", "three")]
    with pytest.raises(ValueError, match="'three' as row 3"):
        RFFBoostRegressor(**FEW).fit(sources.batches(lambda: [(pa.table(a), b) for a, b in blocks]))
    pq.write_table(table.set_column(1, "y", [[*Y[:-1].tolist(), None]]), tmp_path / "1.parquet")
    conformal = ConformalRegressor(RFFBoostRegressor(**FEW))
    for fit, size in (
        (RFFBoostRegressor(**FEW).fit, max_rows),
        (model.refresh, max_rows),
        (conformal.fit, "auto"),
    ):
        with pytest.raises(ValueError, match=rf"nan as row {N - 1} of .*1\.parquet"):
            fit(sources.parquet(tmp_path / "*.parquet", "y", max_rows=size))


MANY = 3000
FEATURES = rng.standard_normal((MANY, 2))
RARE = np.where(np.isin(np.arange(MANY), rng.permutation(MANY)[:9]), 9, rng.integers(0, 9, MANY))


@pytest.mark.parametrize(
    "y",
    [RARE, np.array(list("abcdefghij"))[RARE], (RARE[:, None] == [9, 1]).astype(int)],
    ids=["numbers", "text", "indicators"],
)
def test_no_class_is_lost_and_a_share_of_rows_is_kept(y):
    """Of K levels, at least max_rows / 10 K rows each."""
    model = RFFBoostClassifier(**FEW)
    samples = [model.draw(CutRows(FEATURES, y, **way, max_rows=200)) for way in WAYS.values()]
    for sample in samples:
        assert len(sample.y) == 200
        np.testing.assert_array_equal(sample.X, samples[0].X)
        np.testing.assert_array_equal(sample.weight, samples[0].weight)
    kept = samples[0].y[:, 0] if y.ndim > 1 else samples[0].y
    assert (kept == (1 if y.ndim > 1 else y[RARE == 9][0])).sum() >= (5 if y.ndim > 1 else 2)


def times(n_events):
    y = np.zeros(MANY, dtype=[("event", bool), ("time", float)])
    y["event"][:n_events], y["time"] = True, rng.exponential(size=MANY)
    return y


@pytest.mark.parametrize(
    ("model", "y", "group"),
    [
        (RFFBoostSurvival(**FEW), times(1), None),
        (RFFBoostRanker(**FEW), np.where(np.arange(MANY) == 0, 3, 1), np.repeat(np.arange(MANY // 10), 10)),
        (RFFBoostClassifier(**FEW), np.arange(MANY) % 60, None),
    ],
    ids=["events", "relevance", "more classes than rows"],
)
def test_a_sample_that_would_lose_a_level_is_refused(model, y, group):
    with pytest.raises(ValueError, match="max_rows must be"):
        model.fit(sources.arrays(FEATURES, y, group=group, max_rows=50))


@pytest.mark.parametrize("loss", ["cox", "aft_normal"])
def test_survival_targets_of_files_are_event_and_time(loss, tmp_path):
    y = times(1000)
    columns = {"x": FEATURES[:, 0], "event": y["event"], "time": y["time"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    model = RFFBoostSurvival(loss, **FEW)
    expected = model.fit(pa.table({"x": FEATURES[:, 0]}), y).predict(pa.table({"x": FEATURES[:, 0]}))
    rows = sources.parquet(tmp_path / "a.parquet", event="event", time="time")
    np.testing.assert_array_equal(model.fit(rows).predict(pa.table({"x": FEATURES[:, 0]})), expected)
    with pytest.raises(ValueError, match="event and time must both be given"):
        sources.parquet(tmp_path / "a.parquet", event="event")


def test_weights_of_infinite_sum_are_named():
    weight = np.full(MANY, 1e308)
    with pytest.raises(ValueError, match=r"weight must hold .* of a finite sum"):
        RFFBoostRegressor(**FEW).fit(sources.arrays(FEATURES, FEATURES[:, 0], weight, max_rows=50))
    with pytest.raises(ValueError, match="weight must hold finite numbers >= 0 of a finite sum"):
        sources.score(RFFBoostRegressor(**FEW).fit(X, Y), sources.arrays(FEATURES, FEATURES[:, 0], weight))
