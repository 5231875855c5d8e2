"""Fits and predictions with dask collections, on threads: no cluster is needed."""

import pickle
import sys
from copy import deepcopy
from importlib import import_module

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_matrix
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from rffboost_ext import (
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
)
from rffboost_ext.dask import (
    DaskRFFBoostClassifier,
    DaskRFFBoostQuantileRegressor,
    DaskRFFBoostRanker,
    DaskRFFBoostRegressor,
    DaskRows,
)
from rffboost_ext.sources import predict

N = 600
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
VALUE = X[:, 0] * X[:, 1] + 0.1 * RNG.standard_normal(N)
LABEL = np.array(["no", "yes"])[(VALUE > 0.0).astype(int)]
THREE = np.digitize(VALUE, [-0.3, 0.3])
QUERY = RNG.integers(0, 50, N)
WEIGHT = RNG.integers(0, 3, N).astype(float)
TABLE = pd.DataFrame(X, columns=["a", "b", "c"], index=pd.Index(3 * np.arange(N), name="id"))
TABLE["color"] = pd.Categorical(RNG.choice(["red", "green", "blue"], N))
FAST = {"learner": "rff_newton", "n_estimators": 4, "random_state": 0}

CASES = {
    "two classes": (DaskRFFBoostClassifier(**FAST), RFFBoostClassifier(**FAST), LABEL, {}),
    "three classes": (DaskRFFBoostClassifier(**FAST), RFFBoostClassifier(**FAST), THREE, {}),
    "numbers": (DaskRFFBoostRegressor(**FAST), RFFBoostRegressor(**FAST), VALUE, {}),
    "two targets": (DaskRFFBoostRegressor(**FAST), RFFBoostRegressor(**FAST), np.c_[VALUE, X[:, 2]], {}),
    "quantiles": (
        DaskRFFBoostQuantileRegressor((0.1, 0.9), **FAST),
        RFFBoostQuantileRegressor((0.1, 0.9), **FAST),
        VALUE,
        {},
    ),
    "queries": (DaskRFFBoostRanker(**FAST), RFFBoostRanker(**FAST), THREE, {"qid": QUERY}),
}
METHODS = "predict", "predict_proba", "decision_function"


def blocks(values, rows=170):
    """An array in blocks of rows; of several columns in blocks of two."""
    return da.from_array(values, chunks=(rows, *[2] * (values.ndim - 1)))


def partitions(table):
    """A table in partitions, one of which is empty."""
    whole = dd.from_pandas(table, npartitions=4, sort=False)
    return dd.concat([whole.partitions[:2], whole.partitions[:1].loc[-2:-1], whole.partitions[2:]])


def unknown(values):
    """An array in blocks of unknown sizes, one of which is empty."""
    return partitions(pd.DataFrame(values) if values.ndim > 1 else pd.Series(values)).to_dask_array()


@pytest.mark.parametrize(
    ("name", "cut", "form"),
    [
        *((name, blocks, None) for name in CASES),
        ("queries", unknown, None),
        ("two classes", blocks, csr_matrix),
        ("two targets", unknown, csc_array),
    ],
)
def test_arrays_give_the_model_of_a_fit_in_memory(name, cut, form):
    model, local, y, arguments = CASES[name]
    score = local.fit(X, y, **arguments).score(X, y, **arguments)
    features = cut(X) if form is None else cut(X).map_blocks(form)
    model = clone(model).fit(features, cut(y), **{name: cut(values) for name, values in arguments.items()})
    assert (type(model.local()), model.n_rows_seen_) == (type(local), N)
    for method in filter(lambda name: hasattr(model, name), METHODS):
        here, lazy = getattr(model, method)(X), getattr(model, method)(features)
        assert isinstance(lazy, da.Array)
        assert (lazy.ndim, lazy.shape[1:], lazy.dtype) == (here.ndim, here.shape[1:], here.dtype)
        np.testing.assert_array_equal(lazy.compute(), here)
        np.testing.assert_array_equal(here, getattr(local, method)(X))
    # Like `predict`, `score` takes rows of a cluster and rows in memory.
    assert model.score(X, y, **arguments) == score
    arguments = {name: cut(values) for name, values in arguments.items()}
    assert model.score(features, cut(y), **arguments) == pytest.approx(score)


@pytest.mark.parametrize(
    ("name", "knows_categories"),
    [("two classes", True), ("two targets", False), ("queries", False)],
)
def test_tables_give_the_model_of_a_fit_in_memory(name, knows_categories):
    model, local, y, arguments = CASES[name]
    local.fit(TABLE, y, **arguments)
    table, columns = partitions(TABLE), {"y": y, **arguments}
    if not knows_categories:
        table = table.assign(color=table["color"].astype(str).astype("category"))
        assert not table["color"].cat.known
    frames = {name: partitions(pd.DataFrame(one, index=TABLE.index)) for name, one in columns.items()}
    target = frames.pop("y")
    arguments = {name: one[0] for name, one in frames.items()}
    model = clone(model).fit(table, target if y.ndim > 1 else target[0], **arguments)
    for method in filter(lambda name: hasattr(model, name), METHODS):
        lazy = getattr(model, method)(table)
        assert lazy.npartitions == table.npartitions
        computed = lazy.compute()
        dd.utils.assert_eq(lazy, computed)
        pd.testing.assert_index_equal(computed.index, TABLE.index)
        np.testing.assert_array_equal(computed, getattr(local, method)(TABLE))
    if method == "decision_function":
        assert model.predict_proba(table).columns.tolist() == local.classes_.tolist()


def test_files_give_the_model_of_a_fit_in_memory(tmp_path):
    # dask joins files of which few columns are read.
    table = TABLE.assign(label=LABEL, weight=WEIGHT)
    for k in range(3):
        table[200 * k : 200 * (k + 1)].to_parquet(tmp_path / f"{k}.parquet")
    lazy = dd.read_parquet(tmp_path)
    columns = list(TABLE)
    local = RFFBoostClassifier(**FAST).fit(table[columns], table["label"], table["weight"])
    model = DaskRFFBoostClassifier(**FAST).fit(lazy[columns], lazy["label"], lazy["weight"])
    predicted = lazy.assign(predicted=model.predict(lazy[columns]))
    predicted.to_parquet(tmp_path / "predicted")
    assert pd.read_parquet(tmp_path / "predicted")["predicted"].tolist() == local.predict(TABLE).tolist()


def test_weights_groups_and_evaluation_sets_are_those_of_a_fit_in_memory():
    other = RNG.standard_normal((200, 3)), RNG.standard_normal(200), RNG.random(200)
    local = RFFBoostRegressor(**FAST).fit(X, VALUE, WEIGHT, groups=QUERY, eval_set={"held": other})
    model = DaskRFFBoostRegressor(**FAST).fit(
        blocks(X), blocks(VALUE), blocks(WEIGHT), {"held": tuple(map(blocks, other))}, blocks(QUERY)
    )
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    assert model.evals_result_ == local.evals_result_


@pytest.mark.parametrize("label", ["two classes", "queries"])
def test_a_sample_does_not_depend_on_the_blocks(label):
    model, _, y, arguments = CASES[label]
    model = clone(model).set_params(max_rows=300)
    fits = [
        model.fit(
            blocks(X, rows), blocks(y, 100), **{name: blocks(one) for name, one in arguments.items()}
        ).predict(X)
        for rows in (40, 170, N)
    ]
    assert model.n_rows_seen_ == N
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


def test_a_pass_over_targets_does_not_load_features():
    loaded = []

    def load(block):
        loaded.append(len(block))
        return block

    lazy = blocks(X).rechunk({1: -1}).map_blocks(load, dtype=X.dtype, meta=np.empty((0, 0)))
    DaskRFFBoostRegressor(max_rows=300, **FAST).fit(lazy, blocks(VALUE))
    assert sum(loaded) == N


def test_other_estimators_fit_to_the_rows_too():
    time = np.exp(VALUE)
    local = RFFBoostSurvival(**FAST).fit(X, time)
    model = RFFBoostSurvival(**FAST).fit(DaskRows(blocks(X), blocks(time)))
    np.testing.assert_array_equal(model.predict(X), local.predict(X))


def test_fits_and_predictions_go_on_with_rows_of_a_cluster():
    rows, first = DaskRows(blocks(X), blocks(VALUE)), RFFBoostRegressor(**FAST).fit(X[:300], VALUE[:300])
    further = RFFBoostRegressor(**FAST)
    np.testing.assert_array_equal(
        further.fit(rows, init_model=first).predict(X), further.fit(X, VALUE, init_model=first).predict(X)
    )
    np.testing.assert_array_equal(np.concatenate(list(predict(first, rows))), first.predict(X))
    again = deepcopy(first)
    np.testing.assert_array_equal(first.refresh(rows).predict(X), again.refresh(X, VALUE).predict(X))
    warm = {"learner": "tree", "early_stopping": False, "warm_start": True, "random_state": 0}
    predicted = [
        model.fit(x, y).set_params(n_estimators=9).fit(x, -y).predict(X)
        for model, x, y in (
            (DaskRFFBoostRegressor(n_estimators=5, **warm), blocks(X), blocks(VALUE)),
            (RFFBoostRegressor(n_estimators=5, **warm), X, VALUE),
        )
    ]
    np.testing.assert_array_equal(*predicted)


@pytest.mark.parametrize(("model", "local", "y", "arguments"), CASES.values(), ids=CASES)
def test_parameters_are_those_of_the_wrapped_estimator(model, local, y, arguments):
    assert model.get_params(deep=False).keys() == local.get_params(deep=False).keys() | {"client", "max_rows"}
    assert repr(model) == f"Dask{local!r}".replace("\n ", "\n     ")
    assert repr(clone(model)) == repr(pickle.loads(pickle.dumps(model))) == repr(model)
    assert (is_classifier(model), is_regressor(model)) == (is_classifier(local), is_regressor(local))
    with pytest.raises(NotFittedError):
        model.local()


def test_nested_parameters_are_set():
    model = DaskRFFBoostClassifier("exponential", max_rows=10).set_params(learner__memory=3, max_rows=20)
    assert (model.learner.memory, model.max_rows, model.loss) == (3, 20, "exponential")
    with pytest.raises(TypeError, match="eta"):
        DaskRFFBoostClassifier(eta=0.1)


@pytest.mark.parametrize(
    ("X", "y", "parts"),
    [
        (X, blocks(VALUE), ["DaskRFFBoostRegressor: X must be a dask", "numpy.ndarray"]),
        (blocks(X), VALUE, ["DaskRFFBoostRegressor: y must be a dask", "numpy.ndarray"]),
        (blocks(X), blocks(VALUE[:500]), ["DaskRFFBoostRegressor: y must have as many rows as X, 600, got 500"]),
        (unknown(X), blocks(VALUE), ["DaskRFFBoostRegressor: y must have as many blocks as X, 5, got 4"]),
        (unknown(X), blocks(VALUE, 120), ["y must have as many rows as the batch, 150"]),
    ],
)
def test_collections_that_do_not_go_together_are_refused(X, y, parts):
    with pytest.raises((ValueError, TypeError)) as raised:
        DaskRFFBoostRegressor(**FAST).fit(X, y)
    assert all(part in str(raised.value) for part in parts)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (blocks(X[:, :2]), "must have the columns of the fit, 4, got 2"),
        (partitions(TABLE[["b", "a", "c", "color"]]), r"\['a', 'b', 'c', 'color'\], got \['b', 'a'"),
    ],
)
def test_other_columns_are_refused_before_anything_is_computed(wrong, message):
    model = DaskRFFBoostRegressor(**FAST).fit(partitions(TABLE), partitions(pd.Series(VALUE, TABLE.index)))
    with pytest.raises(ValueError, match=message):
        model.predict(wrong)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.delitem(sys.modules, "rffboost_ext.dask")
    with pytest.raises(ImportError, match=r"pip install dask \(extra 'dask'\)"):
        import_module("rffboost_ext.dask")
