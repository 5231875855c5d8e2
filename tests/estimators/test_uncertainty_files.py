"""Quantiles and intervals in model files: the same bits again, and nothing that cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from rffboost_ext import ConformalRegressor, RFFBoostQuantileRegressor, RFFBoostRegressor, load_model, save_model
from rffboost_ext.estimators.serialization import built_conformal, estimator_state
from rffboost_ext.persistence import container

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2.0, 2.0, (200, 3))
Y = np.sin(2.0 * X[:, 0]) + (0.1 + np.abs(X[:, 1])) * RANDOM.standard_normal(200)


BRIEF = {"n_estimators": 4, "learning_rate": 0.5, "early_stopping": False, "random_state": 0}


def booster(**params):
    return RFFBoostRegressor(learner="rff_newton", **BRIEF, **params)


def quantiles(levels=(0.1, 0.5, 0.9)):
    return RFFBoostQuantileRegressor(levels, "rff_newton", **BRIEF)


MODELS = {
    "levels in an array": quantiles(levels=np.array([0.2, 0.8])),
    "intervals of quantiles": ConformalRegressor(quantiles(), alpha=0.2, random_state=3),
    "defaults": ConformalRegressor(random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_same_model_again(model, tmp_path):
    frame = pd.DataFrame(X[:60], columns=["a", "b", "c"])
    model.fit(frame, Y[:60])
    model.save_model(tmp_path / "model")
    for loaded in (type(model).load_model(tmp_path / "model"), load_model(tmp_path / "model")):
        assert type(loaded) is type(model)
        assert repr(loaded) == repr(model)
        np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
        assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
        if isinstance(model, ConformalRegressor):
            np.testing.assert_array_equal(loaded.predict_interval(frame), model.predict_interval(frame))
            assert (loaded.margin_, loaded.coverage_) == (model.margin_, model.coverage_)
    np.testing.assert_array_equal(
        loaded.fit(frame, Y[:60]).predict(frame), model.fit(frame, Y[:60]).predict(frame)
    )


def test_what_cannot_be_stored_is_named(tmp_path):
    for model in (ConformalRegressor(), RFFBoostQuantileRegressor()):
        with pytest.raises(ValueError, match="not fitted"):
            model.save_model(tmp_path / "model")
    with pytest.raises(TypeError, match=r"'estimator'\] is of type sklearn.*LinearRegression"):
        save_model(ConformalRegressor(LinearRegression()).fit(X, Y), tmp_path / "model")
    assert not list(tmp_path.iterdir())
    watched = ConformalRegressor(booster(callbacks=[lambda progress: None]), random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match="callbacks are no part"):
        watched.save_model(tmp_path / "model")
    assert load_model(tmp_path / "model").estimator.callbacks is None


def changed(model, **values):
    state = estimator_state(model)
    return state | {"fitted": state["fitted"] | values}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("margin_", "wide"),
        ("coverage_", None),
        ("estimator_", None),
        ("estimator_", booster()),
        ("predict_interval", 3),
    ],
)
def test_models_that_cannot_be(name, value):
    model = ConformalRegressor(booster(), random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="holds a ConformalRegressor whose"):
        built_conformal(changed(model, **{name: value}))


@pytest.mark.parametrize(
    "model", [booster(), quantiles(), ConformalRegressor(booster())], ids=lambda m: type(m).__name__
)
def test_a_file_of_an_unfitted_model_is_refused(model, tmp_path):
    container.write_value(tmp_path / "model", model, "model")
    with pytest.raises(ValueError, match="that is not fitted"):
        load_model(tmp_path / "model")
