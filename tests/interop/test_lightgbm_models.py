"""LightGBM's models as ensembles."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

from rffboost_ext.interop import lightgbm as rlgb

from .interop_cases import BINARY, CLASSES, LIGHTGBM, SIGNAL, X

SMALL = LIGHTGBM.native


@pytest.mark.parametrize("boosting", ["gbdt", "dart", "rf"])
@pytest.mark.parametrize("objective", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_models_are_read(boosting, objective, missing):
    rng = np.random.default_rng(3)
    data = np.where(rng.uniform(size=X.shape) < missing, np.nan, np.round(X, 1))
    bagging = {"bagging_fraction": 0.5, "bagging_freq": 1}
    many = {"num_class": 3} if objective == "multiclass" else {}
    params = SMALL | {"objective": objective, "boosting": boosting} | bagging | many
    y = {"binary": BINARY, "multiclass": CLASSES}.get(objective, SIGNAL)
    booster = lgb.train(params, lgb.Dataset(data, y), 9)
    ensemble = rlgb.to_ensemble(booster)
    rows = np.vstack([data, np.full((1, 4), np.nan), np.zeros((1, 4))])
    # The scores of a forest are a sum in LightGBM, its prediction is of their mean.
    wanted = booster.predict(rows, raw_score=True).reshape(len(rows), -1) / (9 if boosting == "rf" else 1)
    np.testing.assert_allclose(ensemble.raw(rows), wanted, rtol=1e-12, atol=1e-12)
    assert len(ensemble) == 9
    if boosting == "gbdt":
        first = booster.predict(rows, raw_score=True, num_iteration=4).reshape(len(rows), -1)
        np.testing.assert_allclose(ensemble[:4].raw(rows), first, rtol=1e-12, atol=1e-12)


def test_zeros_as_missing_values_are_refused():
    rows = np.column_stack([np.random.default_rng(0).integers(0, 5, 400), np.round(X[:, 1:])])
    y = (rows[:, 0] % 2 == 0) + (rows[:, 1] == 0)
    booster = lgb.train(SMALL | {"zero_as_missing": True}, lgb.Dataset(rows, y), 5)
    with pytest.raises(ValueError, match="zero_as_missing"):
        rlgb.to_ensemble(booster)
