"""Data that are neither arrays nor tables: errors say what to pass instead, which works."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost

from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor
from rffboost_ext.preprocessing.tables import INSTEAD

X = np.random.default_rng(0).standard_normal((40, 3))
Y = (X[:, 0] > 0.0).astype(int)
TABLE = pd.DataFrame(X, columns=["a", "b", "c"])
PARAMS = {"learner": "tree", "n_estimators": 1}


def foreign(name, *bases):
    """A class with the name of a class of another package."""
    package, _, title = name.partition(".")
    return type(title, bases, {"__module__": f"{package}.core"})


def polars_lazy():
    return pytest.importorskip("polars").LazyFrame({"a": X[:, 0]})


def duckdb_relation():
    return pytest.importorskip("duckdb").from_df(TABLE)


GIVEN = {
    "csr_matrix": (lambda: scipy.sparse.csr_matrix(X), "X.toarray(), or a few columns", "given.toarray()"),
    "coo_array": (lambda: scipy.sparse.coo_array(X), "sparse matrix", "given.toarray()"),
    "DataFrame": (lambda: TABLE.astype(pd.SparseDtype(float)), "X.sparse.to_dense()", "given.sparse.to_dense()"),
    "DuckDBPyRelation": (duckdb_relation, "X.df()", "given.df()"),
    "LazyFrame": (polars_lazy, "X.collect()", "given.collect()"),
    "DMatrix": (lambda: xgboost.DMatrix(X), "the array or table that it was made of", "X"),
    "str": (lambda: "table.csv", "pandas.read_csv(path)", "TABLE"),
    "dict": (lambda: {"a": X[:, 0]}, "pandas.DataFrame(X)", "pd.DataFrame(given)"),
    "generator": (lambda: (row for row in X), "list(X)", "list(given)"),
    "object": (lambda: object(), "numpy.asarray of its values", "X"),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_what_to_pass_instead_works(kind):
    make, advice, instead = GIVEN[kind]
    given = make()
    model = RFFBoostClassifier(**PARAMS)
    with pytest.raises(
        TypeError, match=rf"^X must be a dense array or a table, got .*{kind}: .*{re.escape(advice)}"
    ):
        model.fit(given, Y)
    model.fit(eval(instead, {**globals(), "given": given}), Y)


@pytest.mark.parametrize("make", [GIVEN["csr_matrix"][0], GIVEN["DuckDBPyRelation"][0], GIVEN["str"][0]])
def test_wherever_it_is_passed(make):
    given, model = make(), RFFBoostClassifier(**PARAMS).fit(X, Y)
    calls = {
        "X": [
            lambda: RFFBoostClassifier(categorical_features=[0], **PARAMS).fit(given, Y),
            lambda: RFFBoostRegressor(**PARAMS).fit(given, Y),
            lambda: RFFBoostQuantileRegressor().fit(given, Y),
            lambda: ConformalRegressor().fit(given, Y),
            lambda: RFFBoostClassifier(**PARAMS).fit(TABLE, Y).predict(given),
            lambda: model.predict_proba(given),
            lambda: model.shap_values(X, given),
            lambda: model.fit(X, Y, eval_set=[(given, Y)]),
        ],
        "y": [lambda: model.fit(X, given), lambda: RFFBoostRegressor(**PARAMS).fit(X, given)],
        "sample_weight": [lambda: model.fit(X, Y, sample_weight=given)],
    }
    for name, several in calls.items():
        for call in several:
            with pytest.raises(TypeError, match=f"{name} must be a dense array or a table, got "):
                call()


@pytest.mark.parametrize("name", INSTEAD)
def test_each_class_of_the_table_is_known(name):
    advice = INSTEAD[name].format(name="X")
    for cls in (foreign(name), type("Derived", (foreign(name),), {"__module__": "mine"})):
        with pytest.raises(TypeError, match=re.escape(advice)):
            RFFBoostClassifier().fit(cls(), Y)


def test_arrays_in_main_memory_are_taken():
    model = RFFBoostRegressor(**PARAMS).fit(X, X[:, 0])
    wanted = model.predict(X)
    tensor = X.view(foreign("torch.Tensor", np.ndarray))
    np.testing.assert_array_equal(RFFBoostRegressor(**PARAMS).fit(tensor, X[:, 0]).predict(tensor), wanted)
    np.testing.assert_array_equal(model.predict(X.tolist()), wanted)


@pytest.mark.parametrize(("label", "other"), [("a", "b"), (1, 0), (True, False)])
def test_one_class_says_what_to_do(label, other):
    text = rf"got one class: {label!r}\. .*stratify=y.*DummyClassifier.*IsolationForest"
    with pytest.raises(ValueError, match=text):
        RFFBoostClassifier(**PARAMS).fit(X, [label] * len(X))
    with pytest.raises(ValueError, match=text):
        RFFBoostClassifier(**PARAMS).fit(X, [other, *[label] * (len(X) - 1)], np.arange(len(X)) > 0)
