"""Boosters that are bound: fitted estimators that know the table that the booster was trained on."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from onnx_export import to_onnx
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, PARAMS, X

NAMES = ["age", "income", "b c", "d"]


def xgboost_bound(kind, table):
    matrix = xgb.DMatrix(table, BINARY)
    if kind == "cosines":
        hybrid = rxgb.CosineObjective("log_loss")
        return hybrid.bind(xgb.train(PARAMS, matrix, 5, obj=hybrid))
    params = PARAMS | rxgb.intercept("log_loss", matrix)
    return rxgb.bind(xgb.train(params, matrix, 5, obj=rxgb.objective("log_loss")), "log_loss")


def lightgbm_bound(kind, table):
    lgb = pytest.importorskip("lightgbm")
    from rffboost_ext.interop import lightgbm as rlgb

    data, params = lgb.Dataset(table, BINARY, free_raw_data=False), {"num_threads": 1, "verbose": -1}
    if kind == "cosines":
        hybrid = rlgb.CosineObjective("log_loss")
        return hybrid.bind(lgb.train(params | {"objective": hybrid}, data, 5))
    baseline = rlgb.intercept("log_loss", data)
    objective = {"objective": rlgb.objective("log_loss")}
    return rlgb.bind(lgb.train(params | objective, data, 5), "log_loss", baseline)


hosts = pytest.mark.parametrize("bound", [xgboost_bound, lightgbm_bound], ids=["xgboost", "lightgbm"])
kinds = pytest.mark.parametrize("kind", ["trees", "cosines"])


@hosts
@kinds
def test_columns_are_known_by_name(bound, kind):
    table = pd.DataFrame(X, columns=NAMES).drop(columns="b c")
    model = bound(kind, table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(table)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[table.columns[::-1]])
    assert list(model.feature_names_in_) == list(table.columns)


def test_a_file_of_a_hybrid_has_the_names():
    model = xgboost_bound("cosines", pd.DataFrame(X, columns=NAMES))
    assert all(name in to_onnx(model).SerializeToString().decode(errors="ignore") for name in NAMES)


@hosts
@kinds
@pytest.mark.parametrize("names", [None, ["a b", "c", "d", "e"]], ids=["numbers", "a blank"])
def test_names_that_are_not_known_are_none(bound, kind, names):
    table = pd.DataFrame(X, columns=names)
    model = bound(kind, table)
    known = names is not None and bound is xgboost_bound
    assert hasattr(model, "feature_names_in_") == known
    np.testing.assert_array_equal(model.predict(table), model.predict(table.to_numpy()))
