"""Tables with columns of other types than numbers and text: dates, spans, and those of a table's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

RNG = np.random.default_rng(0)
N = 120
X = RNG.standard_normal((N, 2))
Y = (X[:, 0] > 0).astype(int)
TABLE = pd.DataFrame(X, columns=["x", "z"])
DAYS = pd.date_range("2020-01-01", periods=4).repeat(N // 4)


def classifier(**params):
    """A classifier of few rounds."""
    return RFFBoostClassifier(n_estimators=6, early_stopping=False, random_state=0, **params)


def test_text_in_a_column_of_numbers_is_named_in_predict_too():
    table = TABLE[["x"]].assign(when=1.0).astype(object)
    model = classifier().fit(table, Y)
    table.loc[3, "when"] = "soon"
    with pytest.raises(ValueError, match=r"column 'when' of X must hold numbers, as in fit, got 'soon'"):
        model.predict(table)
    with pytest.raises(ValueError, match=r"column 1 of X must hold numbers, as in fit, got 'soon'"):
        classifier().fit(X, Y).predict(table.to_numpy())


def test_dates_as_categories_are_those_of_any_unit_and_have_gaps():
    when = pd.Series(DAYS).where(X[:, 1] < 1.0)
    model = classifier(categorical_features=["when"]).fit(TABLE.assign(when=when.astype("datetime64[ns]")), Y)
    text = when.dt.strftime("%Y-%m-%d")
    by_name = classifier(categorical_features=["when"]).fit(TABLE.assign(when=text), Y)
    expected = by_name.predict_proba(TABLE.assign(when=text))
    for unit in ("ns", "us", "s"):
        probability = model.predict_proba(TABLE.assign(when=when.astype(f"datetime64[{unit}]")))
        np.testing.assert_array_equal(probability, expected)
    with pytest.raises(ValueError, match=r"to_onnx: categories must be text or numbers, got datetime.*'when'"):
        to_onnx(model)


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean"])
def test_gaps_of_a_table_of_its_own_go_to_onnx(kind):
    own = pd.Series(np.where(X[:, 1] > 0, 1.0, 0.0)).mask(X[:, 1] > 1.0).astype(kind)
    table = TABLE.assign(own=own)
    model = classifier().fit(table, Y)
    graph = to_onnx(model)
    verify_onnx(model, graph, table, raise_on_mismatch=True)
    plain = table.astype(float)
    np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(plain))
    predictor = OnnxPredictor(graph)
    np.testing.assert_array_equal(predictor.predict_proba(table), predictor.predict_proba(plain))


def test_lists_with_text_are_verified():
    rows = [[number, "a" if other > 0 else "b"] for number, other in X.tolist()]
    model = classifier(categorical_features=[1]).fit(rows, Y)
    verify_onnx(model, to_onnx(model), rows, raise_on_mismatch=True)


WORDS = np.array(["a", "b", "c"])[np.arange(40) % 3]
MANY = pd.DataFrame(
    {
        "word": WORDS,
        "number": np.linspace(0.0, 1.0, 40),
        "name": [f"name {row}" for row in range(40)],
        "digits": [str(row % 5) for row in range(40)],
        "flag": pd.array(np.arange(40) % 2 == 0, dtype="boolean"),
    }
)


@pytest.mark.parametrize(
    "container", [lambda X: X, lambda X: X.astype(object), lambda X: X.to_numpy(dtype=object)]
)
def test_text_of_few_levels_is_categorical_by_itself(container):
    model = RFFBoostRegressor(categorical_features="auto", learner="tree", n_estimators=5)
    X, y = MANY.drop(columns="name"), (WORDS == "a") + 0.1 * np.arange(40) % 3
    model.fit(container(X), y)
    named = RFFBoostRegressor(categorical_features=[0], learner="tree", n_estimators=5).fit(container(X), y)
    assert model.encoder_.categories.coded == named.encoder_.categories.coded == [0]
    np.testing.assert_array_equal(model.predict(container(X)), named.predict(container(X)))
    with pytest.raises(ValueError, match=r"column ('name'|2) of X must hold numbers"):
        model.fit(container(MANY), y)


def test_all_refused_columns_are_in_one_error():
    y = np.arange(40.0)
    with pytest.raises(
        ValueError, match=r"column 'word' of X must hold numbers, .*name it.*, got 'a'.*; so must 'name'$"
    ):
        RFFBoostRegressor(categorical_features=None).fit(MANY, y)
    numbers = MANY[["number", "digits", "flag"]]
    for options in ({}, {"categorical_features": ["flag"]}):
        model = RFFBoostRegressor(learner="tree", n_estimators=2, **options).fit(numbers, y)
        with pytest.raises(
            ValueError, match=r"column 'number' of X must hold numbers, as in fit, .*; so must 'digits'$"
        ):
            model.predict(numbers.assign(number="x", digits="y"))
        for call in (lambda X, model=model: model.fit(X, y), model.predict):
            with pytest.raises(ValueError, match=r"got infinity in column 'number', column 'digits'$"):
                call(numbers.assign(number=np.inf, digits=-np.inf))
