"""Tables with categorical columns: every kind of them, checked by name and order, and in files."""

from __future__ import annotations

import warnings
from collections import deque
from functools import cache

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostQuantileRegressor, RFFBoostRegressor, load_model, save_model
from rffboost_ext.rows.category_encoding import category_lists, fit_category_encoding, joint_encoding

from ..tables import BRIEF, COLUMNS, TABLE, Y, by_hand, classifier


@cache
def table_scores(learner):
    """Scores of the table by a classifier that is fitted to it."""
    return classifier(learner).fit(TABLE, Y).decision_function(TABLE)


def frames():
    """The same data in every kind of table, and how the columns of categories are told, if not by their types."""
    values = TABLE.astype(object).to_numpy()
    texts = TABLE.astype(object)
    yield "names", texts, ["text", "whole"]
    yield "indices", TABLE, [2, 0]
    yield "mask", texts, [True, False, True]
    yield "array of objects", values, [0, 2]
    yield "list of lists", values.tolist(), [0, 2]
    yield "ordered", TABLE.astype({"whole": pd.CategoricalDtype([25, 5, 15], ordered=True)}), "from_dtype"
    yield "text", TABLE.astype({"text": object}), "from_dtype"
    yield "nullable", TABLE.astype({"number": "Float64"}), "from_dtype"


@pytest.mark.parametrize(("frame", "columns"), [case[1:] for case in frames()], ids=[case[0] for case in frames()])
@pytest.mark.parametrize("learner", ["rff_1", "tree"])
def test_every_kind_of_table(frame, columns, learner):
    values = classifier(learner, categorical_features=columns).fit(frame, Y).decision_function(frame)
    np.testing.assert_array_equal(values, table_scores(learner))


def test_polars():
    polars = pytest.importorskip("polars")
    text = TABLE["text"].astype(object)
    columns = {
        "text": polars.Series(
            [value if isinstance(value, str) else None for value in text], dtype=polars.Categorical
        ),
        "number": polars.Series(TABLE["number"].to_numpy(), nan_to_null=True),
        "whole": polars.Series([f"{value:02}" for value in TABLE["whole"]], dtype=polars.Enum(["05", "15", "25"])),
    }
    frame = polars.DataFrame(columns)
    model = classifier("tree").fit(frame, Y)
    np.testing.assert_array_equal(model.decision_function(frame), table_scores("tree"))
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame.select(COLUMNS[::-1]))
    gaps = TABLE.assign(whole=pd.Series([None] * len(TABLE), dtype=object))
    values = model.decision_function(frame.with_columns(polars.lit(None).alias("whole")))
    np.testing.assert_array_equal(values, classifier("tree").fit(TABLE, Y).decision_function(gaps))


@pytest.mark.parametrize(
    "kind", [lambda code: pd.Interval(code, code + 1), lambda code: (1, code), lambda code: code > 0, float]
)
def test_categories_may_be_of_any_kind_that_sorts(kind):
    whole = TABLE["whole"].astype(int).to_numpy() // 10
    table = TABLE.assign(whole=pd.Series([kind(code) for code in whole]).astype("category"))
    plain = TABLE.assign(
        whole=pd.Series(np.where(whole > 0, 1, 0) if kind(1) == kind(2) else whole).astype("category")
    )
    expected = classifier("tree").fit(plain, Y).decision_function(plain)
    np.testing.assert_array_equal(classifier("tree").fit(table, Y).decision_function(table), expected)


@pytest.mark.parametrize("columns", [None, "from_dtype", [], [False, False]])
def test_numbers_alone_have_no_coding(columns):
    X = np.random.default_rng(0).standard_normal((150, 2))
    model = classifier("rff_1", categorical_features=columns).fit(X, Y)
    assert model.encoder_.categories is None
    np.testing.assert_array_equal(model.decision_function(X), classifier("rff_1").fit(X, Y).decision_function(X))


@pytest.mark.parametrize(
    ("params", "table", "error", "words"),
    [
        ({"categorical_features": "dtype"}, TABLE, ValueError, "categorical_features must be .*got 'dtype'"),
        ({"categorical_features": [0.5]}, TABLE, TypeError, "categorical_features must be"),
        ({"categorical_features": [[0]]}, TABLE, TypeError, "categorical_features must be"),
        ({"categorical_features": 3}, TABLE, TypeError, "categorical_features must be"),
        ({"categorical_features": [3]}, TABLE, ValueError, r"range\(0, 3\), got 3"),
        ({"categorical_features": [-1]}, TABLE, ValueError, "got -1"),
        ({"categorical_features": [True]}, TABLE, ValueError, "each of the 3 columns of X, got 1"),
        ({"categorical_features": ["size"]}, TABLE, ValueError, "got 'size'"),
        ({"categorical_features": ["size"]}, by_hand(TABLE), ValueError, "has no names"),
        (
            {"categorical_features": ["whole"]},
            TABLE.astype({"text": object}),
            ValueError,
            "column 'text' of X must",
        ),
        (
            {},
            TABLE.assign(text=[*map(str, range(140)), *["b"] * 10]),
            ValueError,
            "column 'text' of X must hold numbers.*categorical_features.*'b' as entry 140",
        ),
        ({"categorical_features": None}, TABLE, ValueError, "column 'text' of X must hold numbers"),
        ({}, TABLE.astype(object).to_numpy(), ValueError, "column 0 of X must hold numbers.*categorical_features"),
        ({}, TABLE.assign(text=pd.Categorical(["a", 1] * 75)), TypeError, "column 'text'.*one kind"),
        ({"missing": "median"}, TABLE, ValueError, "missing must be 'auto' or 'error'"),
    ],
)
def test_bad_input_is_named(params, table, error, words):
    with pytest.raises(error, match=words):
        classifier("tree", **params).fit(table, Y)


def test_columns_are_checked_by_name_and_order():
    model = classifier("tree").fit(TABLE, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(TABLE[COLUMNS[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(TABLE.rename(columns={"text": "words"}))
    with pytest.raises(ValueError, match="feature"):
        model.predict(TABLE[COLUMNS[:2]])
    with pytest.raises(ValueError, match="column 'number' of X must hold numbers"):
        model.predict(TABLE.assign(number="high"))
    with pytest.raises(TypeError, match="column 'text' of X must hold categories: unhashable"):
        model.predict(TABLE.assign(text=[[1]] * 150))


@pytest.mark.parametrize(("in_fit", "in_predict"), [(np.arange(4), list("abcd")), (list("abcd"), np.arange(4))])
def test_text_where_there_were_numbers_is_no_unknown_category(in_fit, in_predict):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 60)
    table = pd.DataFrame({"kind": pd.Categorical(np.take(in_fit, codes)), "x": rng.standard_normal(60)})
    model = RFFBoostRegressor(learner="tree", n_estimators=2).fit(table, codes == 2)
    new = table.assign(kind=pd.Categorical(np.take(in_predict, codes)))
    with pytest.raises(ValueError, match=r"of X must hold (text|numbers), such as the category"):
        model.predict(new)
    # One that is merely new is a missing value.
    unseen = table.assign(kind=pd.Categorical(["z"] * 60 if isinstance(in_fit, list) else [9] * 60))
    with pytest.warns(UserWarning, match=r"column 'kind' of X: none of the categories of these 60 rows, such as"):
        assert np.isfinite(model.predict(unseen)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(unseen[:1])
        model.predict(pd.concat([unseen, table[:1]]).astype({"kind": "category"}))


@pytest.mark.parametrize("shape", [lambda X: X[0], lambda X: X[None], lambda X: X[0].tolist(), lambda X: [X]])
def test_what_has_no_rows_and_columns_is_told_as_without_categories(shape):
    X = np.random.default_rng(0).integers(0, 3, (60, 2)).astype(float)
    messages = []
    for columns in (None, [0]):
        model = RFFBoostRegressor(learner="tree", n_estimators=2, categorical_features=columns).fit(X, X[:, 1])
        with pytest.raises(ValueError, match=r"Expected 2D array, got 1D|dim 3") as told:
            model.predict(shape(X))
        messages.append(str(told.value)[:25])
    assert messages[0] == messages[1]


LARGE = [2**60, 2**60 + 1, 2**60 + 2]


@pytest.mark.parametrize("categories", [[0.5, *LARGE], [-1, 2**63, 2**63 + 1], [b"a", b"a\0"]])
def test_categories_that_no_numeric_type_holds_together_stay_apart(categories):
    table = np.array([categories], dtype=object).T
    coding = fit_category_encoding("", [0], table)
    assert category_lists(coding) == [categories]
    np.testing.assert_array_equal(coding.transform(table)[0][:, 0], np.arange(len(categories)))
    # And so in one of several codings.
    parts = [fit_category_encoding("", [0], np.array([[value]], dtype=object)) for value in categories]
    assert category_lists(joint_encoding(parts)) == [categories]


@pytest.mark.parametrize("name", ["categories", "expansion", "missing_columns"])
def test_files_with_wrong_columns_are_refused(name, tmp_path):
    model, narrow = classifier("tree").fit(TABLE, Y), classifier("tree").fit(TABLE[COLUMNS[:2]], Y)
    setattr(model.encoder_, name, getattr(narrow.encoder_, name))
    save_model(model, tmp_path / "model")
    with pytest.raises(ValueError, match=f"whose encoder_.{name} cannot be"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("kind_of_model", [RFFBoostRegressor, RFFBoostQuantileRegressor])
def test_categories_that_a_file_cannot_hold_are_named(kind_of_model, tmp_path):
    dates = pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(150) % 3, unit="D")
    for values, kind in (
        (pd.cut(TABLE["number"], 3), "Interval"),
        (pd.Series(dates).astype("category"), "Timestamp"),
    ):
        model = kind_of_model(learner="tree", **BRIEF).fit(TABLE.assign(text=values), Y)
        with pytest.raises(TypeError, match=f"column 'text' has categories of type {kind}, which a model file"):
            model.save_model(tmp_path / "model")
        assert not list(tmp_path.iterdir())


NAMES, PLACES, IS_CATEGORY = ["text", "whole"], [0, 2], [True, False, True]


@pytest.mark.parametrize(
    ("columns", "stored"),
    [
        *((kind(NAMES), NAMES) for kind in (list, tuple, np.array, pd.Index, pd.Series)),
        (range(0, 3, 2), PLACES),
        (deque(PLACES), PLACES),
        (np.array(IS_CATEGORY), IS_CATEGORY),
        (tuple(IS_CATEGORY), IS_CATEGORY),
    ],
    ids=lambda value: type(value).__name__,
)
def test_columns_may_be_told_by_any_sequence(columns, stored, tmp_path):
    table = TABLE.astype(object)
    model = classifier("tree", categorical_features=columns).fit(table, Y)
    model.save_model(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert list(again.categorical_features) == stored
    np.testing.assert_array_equal(again.decision_function(table), table_scores("tree"))
