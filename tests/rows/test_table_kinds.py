"""Columns, labels, groups and weights of every kind, in every container of tables: they mean the same."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostClassifier
from rffboost_ext.rows.category_encoding import category_lists, fit_category_encoding
from rffboost_ext.rows.columns import column_array, is_missing
from rffboost_ext.rows.row_arguments import encode_groups
from rffboost_ext.rows.tables import as_numbers, label_array, number_array, number_columns, read_table
from rffboost_ext.rows.targets import encode_labels
from rffboost_ext.rows.weights import check_sample_weight

DAY = datetime.datetime(2020, 1, 2, 3)
# Two values of each kind; float64 rounds both large integers to one number.
KINDS = {
    "integer": (2**60, 2**60 + 1),
    "unsigned": (2**63 + 5, 2**63 + 6),
    "float": (-2.5, 1.5),
    "decimal": (Decimal("-2.5"), Decimal("1.5")),
    "truth": (False, True),
    "text": ("-2.5", "1.5"),
    "category": ("a", "b"),
}
TIMES = {
    "date": (DAY.date(), DAY.date() + datetime.timedelta(1)),
    "datetime": (DAY, DAY + datetime.timedelta(1)),
    "time": (datetime.time(1), datetime.time(2)),
    "duration": (datetime.timedelta(1), datetime.timedelta(2)),
}
NULLABLE = {
    "integer": "Int64",
    "unsigned": "UInt64",
    "float": "Float64",
    "truth": "boolean",
    "category": "category",
}


def pandas_column(kind, values):
    """A column of pandas, of a nullable type if there is one, else of objects."""
    return pd.Series(values, dtype=NULLABLE.get(kind, object))


def polars_column(kind, values):
    """A column of polars."""
    polars = pytest.importorskip("polars")
    return polars.Series(values, dtype={"unsigned": polars.UInt64, "category": polars.Categorical}.get(kind))


def arrow_column(kind, values):
    """A column of Arrow in two chunks, as files have them."""
    arrow = pytest.importorskip("pyarrow")
    array = arrow.array(values, type=arrow.uint64() if kind == "unsigned" else None)
    array = array.dictionary_encode() if kind == "category" else array
    return arrow.chunked_array([array[:1], array[1:]])


def pandas_column_of_arrow(kind, values):
    """A column of pandas in Arrow's memory."""
    return arrow_column(kind, values).to_pandas(types_mapper=pd.ArrowDtype)


CONTAINERS = {
    "pandas": (pandas_column, pd.DataFrame),
    "pandas of Arrow": (pandas_column_of_arrow, pd.DataFrame),
    "polars": (polars_column, lambda columns: pytest.importorskip("polars").DataFrame(columns)),
    "Arrow": (arrow_column, lambda columns: pytest.importorskip("pyarrow").table(columns)),
}
containers = pytest.mark.parametrize("container", list(CONTAINERS))
kinds = pytest.mark.parametrize("kind", list(KINDS))


def column_of(container, kind, gap=True, repeats=1):
    """A column, and its values: two of a kind, and a missing one between them."""
    low, high = (KINDS | TIMES)[kind]
    values = ([high, None, low] if gap else [high, low]) * repeats
    return CONTAINERS[container][0](kind, values), values


def table_of(container, kind, **options):
    """A table of such a column, named "c"."""
    return CONTAINERS[container][1]({"c": column_of(container, kind, **options)[0]})


@containers
@kinds
def test_columns_are_exact_and_keep_what_is_missing(container, kind):
    column, values = column_of(container, kind)
    entries = column_array(column).tolist()
    assert [None if is_missing(value) else value for value in entries] == values


@containers
@kinds
def test_missing_categories_are_no_category(container, kind):
    table = table_of(container, kind)
    coding = fit_category_encoding("", ["c"], table)
    assert category_lists(coding) == [list(KINDS[kind])]
    codes, missing = coding.transform(table)
    np.testing.assert_array_equal(codes[:, 0], [1.0, np.nan, 0.0])
    assert missing.tolist() == [True]


@containers
@pytest.mark.parametrize("kind", ["float", "decimal", "text"])
def test_numbers_have_missing_values(container, kind):
    numbers = number_columns(read_table(table_of(container, kind)), [0], in_fit=True)[0]
    np.testing.assert_array_equal(numbers, [1.5, np.nan, -2.5])


@containers
@pytest.mark.parametrize("kind", list(TIMES))
def test_times_are_refused_by_name(container, kind):
    table, y = table_of(container, kind, repeats=10), np.arange(30) % 2
    model = RFFBoostClassifier(learner="tree", n_estimators=1)
    with pytest.raises(ValueError, match=r"column 'c' of X must hold numbers, such as the days since"):
        model.fit(table, y)
    with pytest.raises(ValueError, match=r"column 'c' of X must hold numbers, as in fit"):
        model.fit(table_of(container, "float", repeats=10), y).predict(table)


@containers
@pytest.mark.parametrize("kind", ["integer", "unsigned", "truth", "text", "category"])
def test_labels_stay_apart_and_missing_ones_have_a_position(container, kind):
    classes, codes = encode_labels(label_array(column_of(container, kind, gap=False)[0]))
    assert classes.tolist() == list(KINDS[kind])
    assert codes.tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"y must hold labels, got .* as entry 1, a missing value"):
        label_array(column_of(container, kind)[0])


@containers
@kinds
def test_groups_stay_apart_and_missing_ones_have_a_position(container, kind):
    column, values = column_of(container, kind, gap=False, repeats=2)
    assert encode_groups("", column, values).tolist() == [0, 1, 0, 1]
    column, values = column_of(container, kind)
    with pytest.raises(ValueError, match=r"groups must hold labels, got .* as entry 1, a missing value"):
        encode_groups("", column, values)


@containers
@pytest.mark.parametrize("kind", ["integer", "float", "decimal"])
def test_missing_targets_and_weights_have_a_position(container, kind):
    column, _ = column_of(container, kind)
    with pytest.raises(ValueError, match=r"y must be real numbers, got .* as entry 1"):
        number_array(column)
    with pytest.raises(ValueError, match=r"sample_weight must be finite real numbers, got .* as entry 1"):
        check_sample_weight(column, 3)


OBJECTS = [
    *(low for low, _ in TIMES.values()),
    np.datetime64("2020-01-01"),
    np.timedelta64(1, "h"),
    pd.Timestamp(DAY),
]
OBJECTS += [pd.Timedelta(1), pd.Period("2020-01"), pd.Interval(0, 1), [1.0], {"a": 1.0}, 1.0j]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: type(value).__name__)
def test_objects_that_are_no_numbers_are_refused_by_name(value):
    column = np.empty(30, dtype=object)
    column[:] = [value, None, 1.0] * 10
    for name, table in {"'c'": pd.DataFrame({"c": column}), "0": column[:, None]}.items():
        with pytest.raises((TypeError, ValueError), match=f"column {name} of X must hold numbers.* as entry 0"):
            RFFBoostClassifier().fit(table, np.arange(30) % 2)


LISTS = pd.Series([[1.0]] * 30)
NAMED_TWICE = pd.DataFrame(np.ones((30, 2)), columns=["a", "a"])


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (NAMED_TWICE, None, "X must have distinct names of columns, got 'a' 2 times"),
        (NAMED_TWICE + 1j, None, "X must have distinct names"),
        (np.ones((30, 2)) * [1.0, 1.0j], None, "column 0 of X must hold numbers.* Complex data not supported"),
        (None, NAMED_TWICE, "y must have distinct names of columns, got 'a' 2 times"),
        (None, np.ones(30) + 1.0j, "y must hold labels, got complex numbers"),
        (None, LISTS, "y must (hold labels .* got list|have the classes of the fit)"),
        (None, [10**400, 1] * 15, "y must (hold labels|have the classes of the fit)"),
    ],
)
def test_bad_data_are_named_in_fits_and_their_sets(X, y, words):
    rows, labels = np.arange(60.0).reshape(30, 2), np.arange(30) % 2
    pair = (rows if X is None else X), (labels if y is None else y)
    model = RFFBoostClassifier(learner="tree", n_estimators=2)
    with pytest.raises((TypeError, ValueError), match=words):
        model.fit(*pair)
    with pytest.raises((TypeError, ValueError), match=f"eval_set 'validation_0': {words}"):
        model.fit(rows, labels, eval_set=[pair])


@pytest.mark.parametrize("values", [[1, None, 2.5], [True, 2, 1.5], [10**30, float("nan"), 1]], ids=str)
def test_python_numbers_are_those_of_numpy(values):
    numbers = number_columns(np.array([values], dtype=object).T, [0], in_fit=True)[0]
    np.testing.assert_array_equal(numbers, np.array(values, dtype=np.float64))


@pytest.mark.parametrize("types", [("Int64", "Float64"), ("Int16", "Float32"), ("UInt64", "Int64")], ids=str)
def test_whole_tables_are_read_as_their_columns(types):
    table = pd.DataFrame({name: pd.Series([1, None, 3], dtype=name) for name in types})
    numbers = as_numbers(read_table(table))
    columns = number_columns(read_table(table), range(2), in_fit=True)
    np.testing.assert_array_equal(numbers, np.column_stack(columns))
    assert np.result_type(numbers) == np.result_type(*columns)
