"""Files of models with our losses, read by the hosts' own classes."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost

from rffboost_ext import Loss
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import LogitLink, LogLink

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
COUNTS = RNG.poisson(np.exp(X[:, 0])).astype(float)


class OwnPositive(Loss):
    """A user's loss with a log link."""

    task, link = "regression", LogLink()

    def baseline(self, y, weight):
        return np.log(np.average(y, weights=weight, axis=0))

    def value(self, y, raw):
        return (np.exp(raw) - y * raw)[:, 0]

    def derivatives(self, y, raw):
        return np.exp(raw) - y, np.exp(raw)


class OwnShare(OwnPositive):
    """A user's loss with a logit link."""

    link = LogitLink()

    def baseline(self, y, weight):
        mean = np.average(y, weights=weight, axis=0)
        return np.log(mean / (1.0 - mean))

    def value(self, y, raw):
        return (np.logaddexp(0.0, raw) - y * raw)[:, 0]

    def derivatives(self, y, raw):
        p = self.link.inverse(raw)
        return p - y, p * (1.0 - p)


LOSSES_OF_FILES = [
    ("poisson", COUNTS, "reg:gamma"),
    ("gamma", COUNTS + 0.1, "reg:gamma"),
    ("tweedie", COUNTS, "reg:gamma"),
    (OwnPositive(), COUNTS, "reg:gamma"),
    (OwnShare(), COUNTS / 50.0, "reg:logistic"),
    *((name, COUNTS, "reg:squarederror") for name in ("squared_error", "absolute_error", "huber", "quantile")),
]


@pytest.mark.parametrize(("loss", "y", "objective"), LOSSES_OF_FILES)
def test_xgboost_predicts_the_same_from_a_file(loss, y, objective, tmp_path):
    ours = rxgb.XGBRegressor(loss=loss, n_estimators=8, n_jobs=1).fit(X, y)
    ours.save_model(tmp_path / "model.json")
    plain = xgboost.XGBRegressor()
    plain.load_model(tmp_path / "model.json")
    assert plain.objective == objective
    np.testing.assert_allclose(plain.predict(X), ours.predict(X), rtol=1e-6)
    again = rxgb.XGBRegressor(loss=loss)
    again.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X), ours.predict(X))
    np.testing.assert_allclose(
        rxgb.to_ensemble(again).raw(X)[:, 0], ours.predict(X, output_margin=True), atol=1e-5
    )


def test_a_mean_beyond_float32_is_not_stored_as_a_mean(tmp_path):
    ours = rxgb.XGBRegressor(loss="gamma", n_estimators=3, n_jobs=1).fit(X, (COUNTS + 1.0) * 1e-60)
    ours.save_model(tmp_path / "model.json")
    plain = xgboost.XGBRegressor()
    plain.load_model(tmp_path / "model.json")
    np.testing.assert_allclose(np.exp(plain.predict(X).astype(float)), ours.predict(X), rtol=1e-4)


def test_metrics_see_means():
    ours = rxgb.XGBRegressor(loss="poisson", n_estimators=3, n_jobs=1, eval_metric="rmse")
    ours.fit(X, COUNTS, eval_set=[(X, COUNTS)], verbose=False)
    wanted = np.sqrt(np.mean((ours.predict(X) - COUNTS) ** 2))
    assert ours.evals_result()["validation_0"]["rmse"][-1] == pytest.approx(wanted, rel=1e-5)
