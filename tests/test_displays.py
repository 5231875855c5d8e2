"""Displays show what they say: asked of the artists that were drawn, not of pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from rffboost_ext import RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rffboost_ext.displays import (  # noqa: E402
    EffectDisplay,
    FrequencyDisplay,
    HistoryDisplay,
    ImportanceDisplay,
    LandmarkDisplay,
    RoundsDisplay,
)
from rffboost_ext.displays.landmarks import landmarks  # noqa: E402
from rffboost_ext.displays.style import LONGEST, labels  # noqa: E402

X, Y = make_friedman1(200, n_features=6, random_state=0)
NAMES = list("abcdef")


@pytest.fixture(scope="module")
def model():
    return RFFBoostRegressor(n_estimators=30, early_stopping=True, n_folds=1, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.2, random_state=0)
    return X, y, RFFBoostClassifier("exponential", "rff_k", n_estimators=8, random_state=0).fit(X, y)


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def every_display(model, ax=None):
    yield ImportanceDisplay.from_estimator(model, ax=ax)
    yield RoundsDisplay.from_estimator(model, ax=ax)
    yield HistoryDisplay({"a": [3.0, 2.0], "b": [3.0, 2.5]}, "loss").plot(ax)
    yield EffectDisplay.from_estimator(model, X, 3, grid_resolution=5, ax=ax)
    yield FrequencyDisplay.from_estimator(model, ax=ax)
    classifier = RFFBoostClassifier("exponential", "rff_k", n_estimators=2, random_state=0).fit(X, Y.mean() < Y)
    yield LandmarkDisplay.from_estimator(classifier, X, ax=ax)


def test_they_draw_where_they_are_told(model):
    from matplotlib.figure import Figure

    for display in every_display(model):
        assert display.figure_ is display.ax_.figure
    for display in every_display(model, Figure().subplots()):
        assert isinstance(display.figure_, Figure)
        display.figure_.canvas.draw()


def test_importances_are_bars_in_order(model):
    display = ImportanceDisplay.from_estimator(model, feature_names=NAMES)
    widths = [bar.get_width() for bar in display.bars_]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    order = np.argsort(-model.feature_importances_)
    np.testing.assert_allclose(widths, model.feature_importances_[order])
    assert labels == [NAMES[i] for i in order]


@pytest.mark.parametrize("most", [1, 3, 5])
def test_what_is_left_over_is_summed(model, most):
    display = ImportanceDisplay.from_estimator(model, max_features=most)
    widths = [bar.get_width() for bar in display.bars_]
    assert len(widths) == most
    assert sum(widths) == pytest.approx(1.0)
    assert display.ax_.get_yticklabels()[-1].get_text() == f"{6 - most + 1} others"


def test_an_effect_is_what_the_model_predicts(model):
    display = EffectDisplay.from_estimator(model, X, "d", feature_names=NAMES, grid_resolution=7, n_curves=5)
    held = X.copy()
    held[:, 3] = display.grid[2]
    np.testing.assert_allclose(display.curves[:, 2], model.predict(held), rtol=1e-6)
    assert display.line_.get_ydata()[2] == pytest.approx(model.predict(held).mean())
    assert len(display.lines_) == 5
    assert display.ax_.get_xlabel() == "d"
    assert not EffectDisplay.from_estimator(model, X, 3, n_curves=0, grid_resolution=3).lines_


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


@pytest.mark.parametrize("number", [3, 60, 2_000])
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


def test_categories_have_neither_frequencies_nor_landmarks():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame["b"] = pd.Series(np.digitize(X[:, 1], [0.3, 0.6])).astype("category")
    model = RFFBoostRegressor(learner="rff_k", n_estimators=3, random_state=0).fit(frame, Y)
    with pytest.raises(ValueError, match="FrequencyDisplay: features must be numbers, got 'b' of categories"):
        FrequencyDisplay.from_estimator(model, ("a", "b"))
    # What learners see begins with the numbers, a and c.
    omega = np.concatenate([term.term.omega[:, :2] for term in model.ensemble_.terms])
    np.testing.assert_array_equal(FrequencyDisplay.from_estimator(model, ("a", "c")).omega, omega)
    with pytest.raises(ValueError, match="must be fitted to numbers without gaps, got one of gaps or categories"):
        LandmarkDisplay.from_estimator(model, frame, ("a", "c"))


def test_effects_are_refused_of_tables_that_partial_dependence_does_not_take():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=NAMES)
    model = RFFBoostRegressor(learner="tree", n_estimators=2).fit(frame, Y)
    with pytest.raises(
        TypeError, match="EffectDisplay: X must be an array or a DataFrame of pandas, got a polars"
    ):
        EffectDisplay.from_estimator(model, frame, "a")


@pytest.mark.filterwarnings("error")
def test_a_feature_without_frequencies_has_an_axis():
    display = FrequencyDisplay(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones(2), np.arange(2), ("a", "b")).plot()
    assert display.ax_.get_ylim() == (-1.0, 1.0)


def test_frequencies_are_those_of_the_ensemble(moons):
    _, _, model = moons
    display = FrequencyDisplay.from_estimator(model)
    dots = np.asarray(display.dots_.get_offsets())
    omega = np.concatenate([term.omega for term in model.ensemble_.terms])
    assert {tuple(dot) for dot in dots} == {tuple(w) for w in np.concatenate([omega, -omega])}
    assert display.amplitude.sum() == pytest.approx(
        sum(
            np.abs(length * term.weight).sum()
            for term, length in zip(model.ensemble_.terms, model.ensemble_.lengths, strict=True)
        )
    )
    assert set(display.round) == set(range(1, 9))


def test_landmarks_are_where_the_cosines_of_a_round_have_their_crests(moons):
    X, _, model = moons
    points = landmarks(model.ensemble_)
    assert points.shape == (8, 2)
    for point, term in zip(points, model.ensemble_.terms, strict=True):
        # Some lie beyond the range of the data, in which cosines are held.
        np.testing.assert_allclose(replace(term, extent=None).features(point[None]), 1.0, rtol=0, atol=1e-12)
    display = LandmarkDisplay.from_estimator(model, X, grid_resolution=20)
    np.testing.assert_allclose(display.dots_.get_offsets(), points)
    filling = RFFBoostClassifier("exponential", "rff_k", n_estimators=8, random_state=0, missing="mean").fit(
        X, moons[1]
    )
    np.testing.assert_allclose(landmarks(filling.ensemble_), points)
    corner = np.array([[display.grid[0][3], display.grid[1][5]]])
    assert display.score[5, 3] == pytest.approx(model.decision_function(corner)[0])


def test_what_cannot_be_drawn_is_said(model, moons):
    trees = RFFBoostRegressor(learner="tree", n_estimators=2).fit(X, Y)
    single = RFFBoostClassifier(learner="rff_1", n_estimators=2).fit(*moons[:2])
    with pytest.raises(ValueError, match="rounds of cosines"):
        FrequencyDisplay.from_estimator(trees)
    for without, points in ((trees, X), (single, moons[0])):
        with pytest.raises(ValueError, match="rounds of landmarks"):
            LandmarkDisplay.from_estimator(without, points)
    for pair in ((0, 0), (0,), "ab", (0, 9)):
        with pytest.raises(ValueError, match="features must be"):
            FrequencyDisplay.from_estimator(model, pair)
    for feature in (6, -1, "z"):
        with pytest.raises(ValueError, match="feature must be"):
            EffectDisplay.from_estimator(model, X, feature)
    for feature in (1.5, True, ["a"]):
        with pytest.raises(TypeError, match="feature must be a name or an index, got"):
            EffectDisplay.from_estimator(model, X, feature)
    with pytest.raises(ValueError, match="X has 1 features"):
        LandmarkDisplay.from_estimator(moons[2], moons[0][:, :1])
    with pytest.raises(ValueError, match="feature_names must have one name for each of 6"):
        ImportanceDisplay.from_estimator(model, feature_names=["a"])
    with pytest.raises(ValueError, match="max_features must be"):
        ImportanceDisplay.from_estimator(model, max_features=0)


@pytest.mark.parametrize("display", [ImportanceDisplay, RoundsDisplay, FrequencyDisplay])
def test_an_unfitted_estimator_is_refused(display):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        display.from_estimator(RFFBoostRegressor())


@pytest.mark.parametrize("display", [FrequencyDisplay, ImportanceDisplay, LandmarkDisplay])
def test_models_of_several_boosters_are_named(display):
    quantiles = RFFBoostQuantileRegressor((0.5,), RFFBoostRegressor(learner="rff_1", n_estimators=2)).fit(X, Y)
    with pytest.raises(TypeError, match=f"{display.__name__}: estimator must be .*RFFBoostQuantileRegressor"):
        display.from_estimator(quantiles, *[X] * (display is LandmarkDisplay))


@pytest.mark.parametrize(
    "names",
    [
        [f"a column of a terribly long name, number {i} of the table" for i in range(14)],
        ["mean of the first measurement", "mean of the other measurement", "x", "mean of the last measurement"],
        ["short", "also short"],
    ],
)
def test_labels_of_several_names_are_as_distinct_as_these(names):
    found = labels(names)
    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= LONGEST
    # One name twice has one label.
    assert labels([*names, names[0]])[-1] == found[0]


def test_labels_are_short_and_no_formulas(tmp_path):
    names = [
        r"$\x$ price",
        "$a$ and $b$",
        "a very long name of a column that no figure has room for",
        "d",
        "e",
        "f",
    ]
    model = RFFBoostRegressor(learner="rff_newton", n_estimators=3, early_stopping=False).fit(X, Y)
    for display in (
        ImportanceDisplay.from_estimator(model, feature_names=names),
        EffectDisplay.from_estimator(model, X, 0, feature_names=names),
        FrequencyDisplay.from_estimator(model, (1, 2), feature_names=names),
    ):
        display.figure_.savefig(tmp_path / "figure.png")
    assert display.ax_.get_xlabel() == r"frequency in \$a\$ and \$b\$ (radians per unit)"
    assert len(display.ax_.get_ylabel()) < 65


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
