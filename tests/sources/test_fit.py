"""Fits on sources of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

from rffboost_ext import (
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    sources,
)

from .cut_rows import WAYS, CutRows

N = 3000
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 4))
# Sparse rows of 6 % of the entries, and so many empty columns that they stay sparse.
SPARSE = csr_matrix(np.hstack([np.where(np.abs(X) > 1.9, X, 0.0), np.zeros((N, 1000))]))
MEAN = np.sin(2.0 * X[:, 0]) + X[:, 1]
WEIGHT = rng.uniform(0.0, 2.0, N) * (rng.random(N) > 0.1)
QUERY = np.repeat(np.arange(N // 10), 10)
TIMES = np.zeros(N, dtype=[("event", bool), ("time", float)])
TIMES["event"], TIMES["time"] = rng.random(N) > 0.3, np.exp(MEAN)
FEW = {"learner": "tree", "n_estimators": 6, "random_state": 0}
CASES = {
    RFFBoostRegressor: (RFFBoostRegressor(**FEW), {"y": MEAN, "weight": WEIGHT, "group": QUERY}),
    RFFBoostClassifier: (RFFBoostClassifier(**FEW), {"y": np.digitize(MEAN, [0.0, 2.5]).astype(str)}),
    RFFBoostRanker: (RFFBoostRanker(**FEW), {"y": np.digitize(MEAN, [0.0, 1.0]), "group": QUERY}),
    RFFBoostSurvival: (RFFBoostSurvival(**FEW), {"y": TIMES, "weight": WEIGHT}),
    RFFBoostDistribution: (RFFBoostDistribution(**FEW), {"y": MEAN}),
    RFFBoostQuantileRegressor: (RFFBoostQuantileRegressor(**FEW), {"y": MEAN}),
    ConformalRegressor: (ConformalRegressor(RFFBoostRegressor(**FEW), random_state=0), {"y": MEAN}),
}


ROWS = [*((case, X) for case in CASES), (RFFBoostRegressor, SPARSE)]
in_each_case = pytest.mark.parametrize(("case", "X"), ROWS, ids=[*(one.__name__ for one in CASES), "sparse"])


@in_each_case
def test_source_of_few_rows_gives_the_bits_of_a_fit_in_memory(case, X):
    model, columns = CASES[case]
    names = {
        "y": "y",
        "weight": "sample_weight",
        "group": "qid" if isinstance(model, RFFBoostRanker) else "groups",
    }
    expected = clone(model).fit(X, **{names[name]: values for name, values in columns.items()})
    model = clone(model).fit(CutRows(X, **columns, cuts=[100, 1100], size=300))
    assert model.n_rows_seen_ == expected.n_rows_seen_ == N
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@in_each_case
def test_fit_does_not_depend_on_how_rows_are_cut(case, X):
    model, columns = CASES[case]
    ways = WAYS.values() if case is RFFBoostRegressor else [WAYS["one part"], WAYS["a tree of parts"]]
    one, *others = (clone(model).fit(CutRows(X, **columns, **way, max_rows=900)) for way in ways)
    assert one.n_rows_seen_ == N
    for other in others:
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert sources.score(one, CutRows(X, **columns)) > -1.6


KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def typed_table(kind, data):
    """A table whose column ``kind`` is categorical in the type of its package."""
    if kind == "pandas":
        return pd.DataFrame(data).astype({"kind": "category"})
    if kind == "polars":
        return pl.DataFrame(data).with_columns(pl.col("kind").cast(pl.Categorical))
    table = pa.table(data)
    return table.set_column(0, "kind", table["kind"].dictionary_encode())


@pytest.mark.parametrize(
    ("kind", "features"), [*((kind, "from_dtype") for kind in KINDS), ("polars", "auto"), ("pyarrow", ["kind"])]
)
def test_tables_keep_names_categories_and_missing_values_of_all_rows(kind, features):
    """In batches, each with its own categories, of which the sample has none but the most frequent."""
    level, number = np.array(["a", "b"], dtype=object)[(X[:, 0] > 0).astype(int)], X[:, 1].copy()
    level[7], number[11] = "seldom", np.nan
    levels = [None if i == 13 else one for i, one in enumerate(level)]

    def blocks():
        for start in range(0, N, 500):
            rows = slice(start, start + 500)
            data = {"kind": levels[rows], "number": number[rows]}
            yield (
                (typed_table if features == "from_dtype" else lambda _, d: KINDS[kind](d))(kind, data),
                MEAN[rows],
            )

    model = RFFBoostRegressor(categorical_features=features, missing="error", **FEW)
    model.fit(sources.batches(blocks, max_rows=300))
    assert list(model.feature_names_in_) == ["kind", "number"]
    assert model.encoder_.categories.categories[0].tolist() == ["a", "b", "seldom"]
    table = next(blocks())[0]
    assert np.isfinite(model.predict(table)).all()
    np.testing.assert_array_equal(model.encoder_.missing_columns, [True, True])


def test_arrays_on_disk_are_those_in_memory(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.memmap(tmp_path / "y", dtype=np.float64, mode="w+", shape=N)
    mapped[:] = MEAN
    on_disk = sources.arrays(tmp_path / "X.npy", mapped, WEIGHT, max_rows=1000)
    model = RFFBoostRegressor(**FEW)
    expected = clone(model).fit(sources.arrays(X, MEAN, WEIGHT, max_rows=1000)).predict(X)
    np.testing.assert_array_equal(model.fit(on_disk).predict(X), expected)
    np.testing.assert_array_equal(np.concatenate(list(sources.predict(model, on_disk))), expected)


def test_evaluation_set_may_be_a_source():
    model = RFFBoostRegressor(**FEW, early_stopping=False)
    train, held = slice(0, 2000), slice(2000, None)
    in_memory = clone(model).fit(X[train], MEAN[train], eval_set={"held": (X[held], MEAN[held])})
    rows, others = (sources.arrays(X[part], MEAN[part]) for part in (train, held))
    assert model.fit(rows, eval_set={"held": others}).evals_result_ == in_memory.evals_result_
    few = model.fit(rows, eval_set=[sources.arrays(X[held], MEAN[held], max_rows=300)]).evals_result_
    np.testing.assert_allclose(
        few["validation_0"]["squared_error"][-1], in_memory.evals_result_["held"]["squared_error"][-1], rtol=0.5
    )


def test_queries_of_an_evaluation_set_come_from_its_source():
    model, columns = CASES[RFFBoostRanker]
    half = slice(0, N // 2), slice(N // 2, None)
    rows, held = ({name: values[part] for name, values in columns.items()} for part in half)
    expected = clone(model).fit(
        X[half[0]], rows["y"], qid=rows["group"], eval_set=[(X[half[1]], held["y"])], eval_qid=[held["group"]]
    )
    fitted = clone(model).fit(sources.arrays(X[half[0]], **rows), eval_set=[sources.arrays(X[half[1]], **held)])
    assert fitted.evals_result_ == expected.evals_result_


def test_warm_start_and_initial_model_go_on_with_a_source():
    rows = CutRows(X, MEAN, max_rows=1000)
    model = RFFBoostRegressor(learner="rff_k", n_estimators=10, random_state=0)
    once = clone(model).set_params(n_estimators=20).fit(rows).predict(X)
    warm = clone(model).set_params(warm_start=True).fit(rows)
    np.testing.assert_array_equal(warm.set_params(n_estimators=20).fit(rows).predict(X), once)
    assert len(clone(model).fit(rows, init_model=warm).ensemble_) == 30


def test_verbose_output_says_how_many_rows_were_seen(capsys):
    model = RFFBoostRegressor(**FEW, verbose=1)
    model.fit(CutRows(X, MEAN, max_rows=1000))
    first = capsys.readouterr().err.splitlines()[0]
    assert f"{N:,}" in first
    assert "1,000" in first
    model.fit(X, MEAN)
    assert f"{N:,}" in capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize("name", ["y", "sample_weight", "groups", "base_margin"])
def test_source_has_its_own_targets_and_weights(name):
    with pytest.raises(ValueError, match=name):
        RFFBoostRegressor().fit(sources.arrays(X, MEAN), **{name: MEAN})


ONCE = iter([(X, MEAN)])


BAD = {
    "no target": (sources.arrays(X), "target"),
    "no rows": (sources.arrays(X[:0], MEAN[:0]), "rows"),
    "no weight": (sources.arrays(X, MEAN, 0.0 * MEAN), "positive weight"),
    "negative weight": (sources.arrays(X, MEAN, MEAN), "weight"),
    "other rows in the second pass": (sources.batches(lambda: ONCE, max_rows=1000), "same rows"),
    "infinity in a row that is not kept": (
        sources.arrays(np.where(np.arange(4 * N).reshape(N, 4) == 4, np.inf, X), MEAN, max_rows=100),
        "infinity",
    ),
}


@pytest.mark.parametrize(("source", "text"), BAD.values(), ids=BAD)
def test_rows_that_cannot_be_fitted_are_named(source, text):
    with pytest.raises(ValueError, match=text):
        RFFBoostRegressor(**FEW).fit(source)


@pytest.mark.parametrize(
    ("y", "text"), [(np.zeros(N), "one class"), (MEAN, "continuous"), ([None] * N, "missing")]
)
def test_labels_that_cannot_be_fitted_are_named(y, text):
    with pytest.raises(ValueError, match=text):
        RFFBoostClassifier(**FEW).fit(CutRows(X, np.array(y), max_rows=1000))


@pytest.mark.parametrize("stream", [iter([(X, MEAN)]), (pair for pair in [(X, MEAN)]), [(X, MEAN)]])
def test_stream_that_can_be_read_once_is_refused_with_advice(stream):
    with pytest.raises(TypeError, match=r"function must be .*sources\.batches"):
        sources.batches(stream)
