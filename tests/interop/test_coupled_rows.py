"""Losses of coupled rows inside XGBoost and LightGBM: whole groups, with the weights of their rows."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.model_selection import GroupKFold

from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from ..coupled_losses import COUPLED, N, PairwiseLogistic, coupled_rows, require_whole_groups

kinds = pytest.mark.parametrize("kind", COUPLED)


def xgboost_curve(X, y, weight, loss, **folds) -> np.ndarray:
    matrix = xgb.DMatrix(X, weight=weight)
    rxgb.attach(matrix, y=y)
    parts = {"obj": rxgb.objective(loss), "custom_metric": rxgb.objective(loss).metric}
    found = xgb.cv(rxgb.intercept(loss, matrix), matrix, 3, **parts, **folds)
    return np.asarray(found.filter(regex="test.*mean")).ravel()


def lightgbm_curve(X, y, weight, loss, **folds) -> np.ndarray:
    data = lgb.Dataset(X, weight=weight, free_raw_data=False)
    rlgb.attach(data, y=y)
    params = {"objective": rlgb.objective(loss), "metric": "none", "verbose": -1, "learning_rate": 0.3}
    found = lgb.cv(params, data, 3, feval=rlgb.objective(loss).metric, stratified=False, **folds)
    return np.array(next(values for name, values in found.items() if name.endswith("mean")))


CURVES = {"xgboost": xgboost_curve, "lightgbm": lightgbm_curve}


@kinds
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_folds_of_a_hosts_cross_validation_are_whole(kind, curve) -> None:
    X, y, weight = coupled_rows(kind)
    groups = y[:, 2] if kind.rows == "groups" else y[:, 1]
    found = curve(X, y, weight, kind(), folds=list(GroupKFold(3).split(X, y, groups)))
    assert (np.diff(found) < 0.0).all()
    sizes = set(map(len, require_whole_groups(kind, y, weight.astype(np.float32))))
    # The loss is checked on one group alone, too.
    assert sizes - {N, 10} == {N // 3, 2 * N // 3}


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_folds_that_divide_groups_are_refused(curve) -> None:
    X, y, weight = coupled_rows(PairwiseLogistic)
    with pytest.raises(ValueError, match=r"PairwiseLogistic\(\) couples the rows .* divides 12 of its 12 groups"):
        curve(X, y, weight, PairwiseLogistic(), nfold=3)


def test_a_subset_of_labels_of_lightgbm_may_divide_groups() -> None:
    class ById(PairwiseLogistic):
        def groups(self, y):
            return y[:, 0] // 10

    data = lgb.Dataset(coupled_rows(PairwiseLogistic)[0], np.arange(float(N)))
    params = {"objective": rlgb.objective(ById()), "metric": "none", "verbose": -1}
    with pytest.raises(ValueError, match="divides"):
        lgb.cv(params, data, 3, nfold=3, stratified=False)


def test_weights_of_xgboosts_queries_are_those_of_their_rows() -> None:
    X, y, weight = (
        part[np.argsort(coupled_rows(PairwiseLogistic)[1][:, 2])] for part in coupled_rows(PairwiseLogistic)
    )
    of_rows, of_queries = xgb.DMatrix(X, weight=weight), xgb.DMatrix(X)
    of_queries.set_group(np.full(N // 10, 10))
    of_queries.set_weight(weight[::10])
    found = []
    for matrix in (of_rows, of_queries):
        rxgb.attach(matrix, y=y)
        found.append(rxgb.objective(PairwiseLogistic())(X[:, 0], matrix))
    np.testing.assert_array_equal(*found)


@kinds
@pytest.mark.parametrize("make", [rxgb.XGBRegressor, rlgb.LGBMRegressor])
def test_estimators_leave_out_rows_of_weight_0_and_sample_after_the_loss(kind, make) -> None:
    X, y, weight = coupled_rows(kind)
    out = np.isin(y[:, 2], np.unique(y[:, 2])[:2])
    sampling = (
        {"subsample": 0.5, "n_jobs": 1}
        if make is rxgb.XGBRegressor
        else {"bagging_fraction": 0.5, "bagging_freq": 1, "n_jobs": 1}
    )
    model = make(loss=kind(), n_estimators=3, random_state=0, **sampling)
    model.fit(X, y, sample_weight=np.where(out, 0.0, weight))
    # The loss is checked on one group alone, too.
    (found,) = {one for one in require_whole_groups(kind, y, weight.astype(np.float32)) if len(one) > 10}
    assert found == set(np.flatnonzero(~out))
