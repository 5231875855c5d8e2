"""The encoder by itself: columns of a fit, and of later tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rffboost_ext.preprocessing.feature_encoder import FeatureEncoder

TABLE = pd.DataFrame({"size": [1.0, np.nan, 3.0, 4.0], "kind": pd.Categorical(["b", "a", "b", "c"])})
Y = np.arange(4)


def encoder(**params) -> FeatureEncoder:
    fitted = FeatureEncoder("Model", **params)
    fitted.fit_rows(TABLE, Y)
    return fitted


def test_codes_are_those_of_sorted_categories_and_missing_values_are_nan():
    X, y, weight = FeatureEncoder("Model").fit_rows(TABLE, Y)
    np.testing.assert_array_equal(X, [[1, 1], [np.nan, 0], [3, 1], [4, 2]])
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(weight, np.ones(4))


def test_rows_of_weight_0_leave_no_trace():
    fitted = FeatureEncoder("Model")
    X, y, _ = fitted.fit_rows(TABLE, Y, [1, 0, 1, 0])
    np.testing.assert_array_equal(X, [[1, 0], [3, 0]])
    assert y.tolist() == [0, 2]
    assert not fitted.missing_columns.any()
    assert fitted.categories.categories[1].tolist() == ["b"]


def test_columns_are_known_by_name():
    fitted = encoder()
    assert fitted.names.tolist() == ["size", "kind"]
    assert fitted.n_features_in_ == 2
    assert fitted.column_name(1) == "column 'kind'"
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(TABLE[["kind", "size"]])


@pytest.mark.parametrize(("missing", "allowed"), [("error", False), ("auto", True)])
def test_missing_values_where_fit_had_none(missing, allowed):
    fitted = encoder(missing=missing)
    table = TABLE.assign(kind=pd.Categorical(["b", None, "b", "c"]))
    if allowed:
        assert np.isnan(fitted.transform(table)[1, 1])
    else:
        with pytest.raises(ValueError, match=r"Model: X contains NaN in column 'kind', .*missing=\"auto\""):
            fitted.transform(table)


def test_a_further_fit_does_not_change_the_columns():
    fitted = encoder()
    before = fitted.categories, fitted.missing_columns
    X, _, _ = fitted.transform_rows(TABLE[2:], Y[2:])
    np.testing.assert_array_equal(X, [[3, 1], [4, 2]])
    assert (fitted.categories, fitted.missing_columns) == before


def test_messages_name_the_owner():
    plain = FeatureEncoder("Model")
    plain.fit_rows(np.zeros((3, 2)), [0, 1, 2])
    with pytest.raises(ValueError, match="X has 3 features, but Model is expecting 2"):
        plain.transform(np.zeros((5000, 3)))
