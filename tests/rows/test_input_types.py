"""Data that are neither arrays nor tables are refused by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost

from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor

X = np.random.default_rng(0).standard_normal((40, 3))
Y = (X[:, 0] > 0.0).astype(int)
TABLE = pd.DataFrame(X, columns=["a", "b", "c"])
PARAMS = {"learner": "tree", "n_estimators": 1}


CONTAINERS = {
    "DuckDBPyRelation": lambda: pytest.importorskip("duckdb").from_df(TABLE),
    "LazyFrame": lambda: pytest.importorskip("polars").LazyFrame({"a": X[:, 0]}),
    "DMatrix": lambda: xgboost.DMatrix(X),
    "str": lambda: "table.csv",
    "dict": lambda: {"a": X[:, 0]},
    "generator": lambda: (row for row in X),
    "object": lambda: object(),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_other_kinds_of_data_are_refused_by_name_wherever_they_are_passed(kind):
    rows, model = CONTAINERS[kind](), RFFBoostClassifier(**PARAMS).fit(X, Y)
    calls = {
        "X": [
            lambda: RFFBoostClassifier(**PARAMS).fit(rows, Y),
            lambda: RFFBoostClassifier(categorical_features=[0], **PARAMS).fit(rows, Y),
            lambda: RFFBoostQuantileRegressor().fit(rows, Y),
            lambda: ConformalRegressor().fit(rows, Y),
            lambda: model.predict_proba(rows),
            lambda: model.shap_values(X, rows),
            lambda: model.fit(X, Y, eval_set=[(rows, Y)]),
        ],
        "y": [lambda: model.fit(X, rows), lambda: RFFBoostRegressor(**PARAMS).fit(X, rows)],
    }
    for name, of_parameter in calls.items():
        for call in of_parameter:
            with pytest.raises(TypeError, match=f"{name} must be .* a table in memory, got .*{kind}"):
                call()
    with pytest.raises((TypeError, ValueError), match="sample_weight must"):
        model.fit(X, Y, sample_weight=rows)


def test_arrays_in_main_memory_are_taken():
    model = RFFBoostRegressor(**PARAMS).fit(X, X[:, 0])
    expected = model.predict(X)
    tensor = X.view(type("Tensor", (np.ndarray,), {}))
    np.testing.assert_array_equal(RFFBoostRegressor(**PARAMS).fit(tensor, X[:, 0]).predict(tensor), expected)
    np.testing.assert_array_equal(model.predict(X.tolist()), expected)


@pytest.mark.parametrize(("label", "other"), [("a", "b"), (1, 0), (True, False)])
def test_one_class_says_what_to_do(label, other):
    text = rf"got one class: {label!r}\. .*stratify=y.*DummyClassifier.*IsolationForest"
    with pytest.raises(ValueError, match=text):
        RFFBoostClassifier(**PARAMS).fit(X, [label] * len(X))
    with pytest.raises(ValueError, match=text):
        RFFBoostClassifier(**PARAMS).fit(X, [other, *[label] * (len(X) - 1)], np.arange(len(X)) > 0)
