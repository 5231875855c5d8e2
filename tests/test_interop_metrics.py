"""What the hosts' estimators call our losses where they show them."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LOSSES
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, CLASSES, SIGNAL, Multinomial, X, cases


def in_xgboost(loss, y):
    made = rxgb.XGBClassifier if loss.task == "classification" else rxgb.XGBRegressor
    model = made(loss=loss, n_estimators=2, n_jobs=1).fit(X, y, eval_set=[(X, y)], verbose=False)
    return model.evals_result()["validation_0"]


def in_lightgbm(loss, y):
    pytest.importorskip("lightgbm")
    from rffboost_ext.interop import lightgbm as rlgb

    made = rlgb.LGBMClassifier if loss.task == "classification" else rlgb.LGBMRegressor
    model = made(loss=loss, n_estimators=2, n_jobs=1, verbose=-1).fit(X, y, eval_set=[(X[::2], y[::2])])
    return model.evals_result_["valid_0"]


hosts = pytest.mark.parametrize("history", [in_xgboost, in_lightgbm])


@hosts
@cases
def test_a_loss_is_shown_by_its_own_name(history, case):
    assert list(history(case.loss, case.y)) == [LOSSES.name_of(case.loss)]


@hosts
def test_the_name_is_the_same_for_any_number_of_classes(history):
    loss = LOSSES.create("log_loss")
    assert [list(history(loss, y)) for y in (BINARY, CLASSES)] == 2 * [["log_loss"]]
    assert list(history(Multinomial(), CLASSES)) == ["Multinomial"]
    assert list(history(LOSSES.create("huber"), np.abs(SIGNAL))) == ["huber"]
