"""Survival functions at given times are an output, equal to those of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from onnx_export import ConversionError, OnnxPredictor, describe_onnx, save_onnx, to_onnx, verify_onnx
from onnx_export.survival import convert_survival
from rffboost_ext import LOSSES, RFFBoostRegressor, RFFBoostSurvival
from rffboost_ext.losses import AFTLogistic, AFTLoss, AFTNormal, SurvivalLoss

from .oracle import DTYPES

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3)).astype(np.float32).astype(float)
TIME = np.exp(-X[:, 0]) * RNG.exponential(size=200) + 0.05
EVENT = RNG.random(200) < 0.7
Y = np.array([*zip(EVENT, TIME, strict=True)], dtype=[("event", bool), ("time", float)])
GRID = [3.0, 0.0, 0.2, 1.0, 0.01]
NAMES = [name for name in LOSSES.names() if isinstance(LOSSES.create(name), SurvivalLoss)]


def fitted(loss: Any, **params: Any) -> RFFBoostSurvival:
    params = {"learner": "mixture", "n_estimators": 8, "early_stopping": False, "random_state": 0} | params
    return RFFBoostSurvival(loss, **params).fit(X, Y)


@pytest.mark.parametrize("name", NAMES)
def test_every_loss(name: str) -> None:
    model = fitted(name)
    wanted = np.array([function(GRID) for function in model.predict_survival_function(X)])
    for dtype in DTYPES:
        file = to_onnx(model, dtype=dtype, times=GRID)
        verify_onnx(model, file, X, raise_on_mismatch=True)
        found = OnnxPredictor(file).predict_survival_function(X)
        np.testing.assert_allclose(found, wanted, atol={"float64": 1e-12}.get(dtype, 2e-5))
    verify_onnx(model, file, X[:9], runtime="reference", raise_on_mismatch=True)
    assert describe_onnx(file).outputs["survival"] == "(N, 5)"
    assert describe_onnx(file).metadata.times == tuple(GRID)


def test_a_normal_tail_has_the_digits_of_float64() -> None:
    model = fitted(AFTNormal(sigma=0.1))
    raw = model.raw_scores(X)
    found = OnnxPredictor(to_onnx(model, dtype="float64", times=GRID)).predict_survival_function(X)
    with np.errstate(divide="ignore"):
        wanted = norm.sf((np.log(GRID) - raw) / 0.1)
    assert np.abs(found - wanted).max() < 1e-14
    likely = wanted > 1e-200
    assert np.abs(found[likely] / wanted[likely] - 1.0).max() < 1e-11


def test_in_a_pipeline_with_an_offset_and_in_a_file(tmp_path: Any) -> None:
    offset = 0.1 * X[:, 1]
    model = make_pipeline(MinMaxScaler(), RFFBoostSurvival("cox", "tree", n_estimators=5, early_stopping=False))
    model.fit(X, Y, rffboostsurvival__base_margin=offset)
    save_onnx(model, tmp_path / "m.onnx", times=np.array([0.5]))
    verify_onnx(model, tmp_path / "m.onnx", X, base_margin=offset, raise_on_mismatch=True)
    assert OnnxPredictor(tmp_path / "m.onnx").predict_survival_function(X, offset).shape == (200, 1)


@pytest.mark.parametrize("times", [[], 1.0, [[1.0]], [-1.0], [np.inf], [np.nan], ["x"]])
def test_what_is_no_grid_is_refused(times: Any) -> None:
    with pytest.raises(ValueError, match="times must be finite and non-negative numbers"):
        to_onnx(None, times=times)


def test_times_that_a_model_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match=r"times must be at most .* for loss Cox"):
        to_onnx(fitted("cox"), times=[1e6])
    with pytest.raises(ValueError, match="times must be None for a RFFBoostRegressor"):
        to_onnx(RFFBoostRegressor(n_estimators=2).fit(X, TIME), times=[1.0])
    with pytest.raises(AttributeError, match="no 'survival'"):
        OnnxPredictor(to_onnx(fitted("cox"))).predict_survival_function(X)


class Gompertz(AFTLogistic):
    """A distribution whose survival function is not that of its base class."""

    def log_survival(self, z: Any) -> Any:
        return 2.0 * super().log_survival(z)


class Unknown(AFTLoss):
    """A distribution without nodes."""

    log_density = AFTLogistic.log_density
    log_survival = AFTLogistic.log_survival


def test_a_loss_of_a_users_own() -> None:
    y = np.column_stack([TIME, TIME])
    brief: dict[str, Any] = {"learner": "tree", "n_estimators": 3, "early_stopping": False}
    with pytest.raises(ConversionError, match="SurvivalLink computes something else"):
        to_onnx(RFFBoostSurvival(Gompertz(sigma=1.0), **brief).fit(X, y), times=GRID)
    model = RFFBoostSurvival(Unknown(sigma=1.0), **brief).fit(X, y)
    with pytest.raises(ConversionError, match=r"no ONNX form; register .*convert_survival.register\(Unknown\)"):
        to_onnx(model, times=GRID)
    convert_survival.register(Unknown)(convert_survival.dispatch(AFTLogistic))
    verify_onnx(model, to_onnx(model, times=GRID), X, raise_on_mismatch=True)
