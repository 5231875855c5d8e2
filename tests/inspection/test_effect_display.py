"""The display of effects shows what a model predicts: asked of the artists that were drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rffboost_ext.displays import EffectDisplay  # noqa: E402

from .display_cases import NAMES, X, Y  # noqa: E402


def test_an_effect_is_what_the_model_predicts(model):
    display = EffectDisplay.from_estimator(model, X, "d", feature_names=NAMES, grid_resolution=7, n_curves=5)
    held = X.copy()
    held[:, 3] = display.grid[2]
    np.testing.assert_allclose(display.curves[:, 2], model.predict(held), rtol=1e-6)
    assert display.line_.get_ydata()[2] == pytest.approx(model.predict(held).mean())
    assert len(display.lines_) == 5
    assert display.ax_.get_xlabel() == "d"
    assert not EffectDisplay.from_estimator(model, X, 3, n_curves=0, grid_resolution=3).lines_


@pytest.mark.parametrize("learner", ["mixture", "rff_newton", "rff_ridge", "rff_1"])
def test_an_effect_of_a_wide_table_is_what_the_model_predicts(learner):
    rng = np.random.default_rng(0)
    wide = np.exp(rng.standard_normal((40, 300)))
    wide[:5, 2] = np.nan
    model = RFFBoostClassifier(learner=learner, n_estimators=3, early_stopping=False, random_state=0)
    model.fit(wide, np.digitize(wide[:, 1], [1.0] if learner == "rff_1" else [0.5, 2.0]))
    display = EffectDisplay.from_estimator(model, wide, 1, grid_resolution=5)
    column = 1 if len(model.classes_) == 2 else 0
    for value, curve in zip(display.grid, display.curves.T, strict=True):
        held = wide.copy()
        held[:, 1] = value
        np.testing.assert_allclose(curve, model.predict_proba(held)[:, column], rtol=0, atol=1e-9)


def test_effects_of_classes_and_of_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    three = RFFBoostClassifier(learner="rff_newton", n_estimators=3, random_state=0).fit(
        frame, np.digitize(Y, [12, 16])
    )
    for target in range(3):
        display = EffectDisplay.from_estimator(three, frame, "b", target=target, grid_resolution=4)
        assert display.ax_.get_ylabel() == f"probability of {target}"
        frame_held = frame.assign(b=display.grid[1])
        assert display.curves[:, 1].mean() == pytest.approx(three.predict_proba(frame_held)[:, target].mean())
    with pytest.raises(ValueError, match="target must be below 3"):
        EffectDisplay.from_estimator(three, frame, "b", target=3)


def test_effects_of_categories_and_of_columns_with_gaps():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X.copy(), columns=NAMES)
    frame["a"] = pd.Series(np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [0.3, 0.6])]).astype("category")
    frame["b"] = pd.Series(np.digitize(X[:, 1], [0.3, 0.6]) * 10).astype("category")
    frame.loc[::7, "a"] = frame.loc[::5, "c"] = np.nan
    model = RFFBoostRegressor(learner="tree", n_estimators=3, random_state=0).fit(frame, Y)
    for name, categories in {"a": ["low", "mid", "top"], "b": [0, 10, 20], "c": None}.items():
        display = EffectDisplay.from_estimator(model, frame, name, grid_resolution=3)
        rows = frame[frame[name].notna()]
        for value, curve in zip(display.grid, display.curves.T, strict=True):
            np.testing.assert_allclose(curve, model.predict(rows.assign(**{name: value})))
        ticks = [tick.get_text() for tick in display.ax_.get_xticklabels()]
        assert categories is None or (display.grid.tolist(), ticks) == (categories, list(map(str, categories)))
    with pytest.raises(ValueError, match="X must have a value of feature 'c' in some row"):
        EffectDisplay.from_estimator(model, frame.assign(c=np.nan), "c")


def test_numbers_that_are_objects_are_numbers():
    frame = pd.DataFrame(X.copy(), columns=NAMES).assign(a=np.round(40.0 * X[:, 0]).astype(int))
    plain = EffectDisplay.from_estimator(
        RFFBoostRegressor(learner="tree", n_estimators=3).fit(frame, Y), frame, "a"
    )
    frame["a"] = frame["a"].astype(object)
    display = EffectDisplay.from_estimator(
        RFFBoostRegressor(learner="tree", n_estimators=3).fit(frame, Y), frame, "a"
    )
    np.testing.assert_array_equal(display.grid, plain.grid)
    assert display.grid.dtype == np.float64


@pytest.mark.parametrize("number", [3, 60, 500])
def test_many_categories_do_not_overlap(number):
    grid = np.array([f"town {k}" for k in range(number)], dtype=object)
    display = EffectDisplay(grid, np.zeros((2, number)), grid[:2], "town").plot()
    display.figure_.draw_without_rendering()
    places = [tick.get_window_extent().x1 for tick in display.ax_.get_xticklabels()]
    apart = np.diff(places) / display.figure_.dpi
    # Slanted lines of text are as far apart as they are high, about a tenth of an inch at 60 degrees.
    assert apart.min() > 0.11 or display.figure_.get_figwidth() == 40.0


def test_effects_of_codes_in_an_array():
    codes = np.column_stack([np.digitize(X[:, 0], [0.3, 0.6]) * 10.0, X[:, 1:]])
    model = RFFBoostRegressor(learner="tree", n_estimators=3, random_state=0, categorical_features=[0]).fit(
        codes, Y
    )
    display = EffectDisplay.from_estimator(model, codes, 0)
    assert display.grid.tolist() == [0.0, 10.0, 20.0]
    for code, curve in zip(display.grid, display.curves.T, strict=True):
        np.testing.assert_allclose(curve, model.predict(np.column_stack([np.full(len(X), code), codes[:, 1:]])))


def test_effects_are_refused_of_tables_that_partial_dependence_does_not_take():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=NAMES)
    model = RFFBoostRegressor(learner="tree", n_estimators=2).fit(frame, Y)
    with pytest.raises(
        TypeError, match="EffectDisplay: X must be an array or a DataFrame of pandas, got a polars"
    ):
        EffectDisplay.from_estimator(model, frame, "a")


def test_a_constant_feature_is_drawn():
    constant = np.column_stack([X, np.ones(len(X))])
    model = RFFBoostRegressor(learner="rff_newton", n_estimators=3, early_stopping=False).fit(constant, Y)
    display = EffectDisplay.from_estimator(model, constant, constant.shape[1] - 1)
    assert display.line_.get_marker() == "o"


@pytest.mark.parametrize("kind", ["int array", "int column", "nullable", "bool"])
def test_the_effect_of_a_whole_number(kind):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 80, 60), "x": rng.integers(0, 9, 60)})
    target = (table["age"] > 40).astype(int)
    given = {
        "int array": table.to_numpy(),
        "int column": table,
        "nullable": table.astype({"age": "Int64"}),
        "bool": table.assign(age=table["age"] > 40),
    }[kind]
    model = RFFBoostClassifier(learner="tree", n_estimators=3).fit(given, target)
    drawn = EffectDisplay.from_estimator(model, given, 0, grid_resolution=5)
    wanted = [
        model.predict_proba(pd.DataFrame({"age": value, "x": table["x"]}).to_numpy(float))[:, 1]
        if kind == "int array"
        else model.predict_proba(table.astype(float).assign(age=value))[:, 1]
        for value in drawn.grid
    ]
    np.testing.assert_allclose(drawn.curves.T, wanted, atol=1e-9)


@pytest.mark.parametrize("kind", ["far from 0", "mostly 0", "plain"])
def test_the_effect_of_a_number_is_drawn_however_it_is_spread(kind):
    spread = np.random.default_rng(0).normal(size=400)
    values = {"far from 0": spread + 1e9, "mostly 0": spread * (np.arange(400) % 30 == 0), "plain": spread}[kind]
    given = np.column_stack([values, np.ones(400)])
    model = RFFBoostRegressor(learner="tree", n_estimators=3).fit(given, spread)
    display = EffectDisplay.from_estimator(model, given, 0, grid_resolution=10)
    assert len(display.grid) == 10
    assert (np.diff(display.grid) > 0).all()
    assert values.min() <= display.grid[0] < display.grid[-1] <= values.max()
    wanted = [model.predict(np.column_stack([np.full(400, value), np.ones(400)])) for value in display.grid]
    np.testing.assert_allclose(display.curves.T, wanted)


def test_effects_of_several_targets_are_numbered():
    several = RFFBoostRegressor(n_estimators=2, early_stopping=False).fit(X, np.column_stack([Y, -Y]))
    drawn = [EffectDisplay.from_estimator(several, X, 0, target=target).ax_.get_ylabel() for target in (0, 1)]
    assert drawn == ["prediction 0", "prediction 1"]


def test_what_an_effect_is_of():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    names = np.array(["benign", "a very long name of a class indeed"])
    labels = names[y]
    for model, word in ((SVC(), "decision value"), (LogisticRegression(), "probability")):
        shown = EffectDisplay.from_estimator(model.fit(X, labels), X, 0).ax_.get_ylabel()
        assert shown.startswith(f"{word} of ben")
    for odd in (None, X[:, 0], X[:0], X[:, :1]):
        with pytest.raises(ValueError, match=r"X must have shape \(n, 2\) with n >= 1"):
            EffectDisplay.from_estimator(model, odd, 0)
