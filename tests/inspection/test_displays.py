"""Displays show what they say: asked of the artists that were drawn, not of pictures."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rffboost_ext.displays import (  # noqa: E402
    FrequencyDisplay,
    HistoryDisplay,
    ImportanceDisplay,
    LandmarkDisplay,
)
from rffboost_ext.inspection.landmark_display import landmarks  # noqa: E402
from rffboost_ext.inspection.plot_style import LONGEST, distinct_labels  # noqa: E402

from .display_cases import NAMES, X, Y  # noqa: E402


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.2, random_state=0)
    return X, y, RFFBoostClassifier("exponential", "rff_k", n_estimators=8, random_state=0).fit(X, y)


def every_display(model, ax=None):
    yield ImportanceDisplay.from_estimator(model, ax=ax)
    yield HistoryDisplay.from_estimator(model, ax=ax)
    yield HistoryDisplay({"a": [3.0, 2.0], "b": [3.0, 2.5]}, "loss").plot(ax)
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
    shares = [float(text.get_text().rstrip("%")) for text in display.ax_.texts]
    assert len(shares) == len(display.bars_) == most
    assert sum(shares) == pytest.approx(100.0, abs=0.3)
    assert display.ax_.get_yticklabels()[-1].get_text() == f"{6 - most + 1} others"


def test_many_others_leave_room_for_the_rest():
    display = ImportanceDisplay(
        np.append(0.03, np.full(2_219, 0.97 / 2_219)), [f"f{i}" for i in range(2_220)]
    ).plot()
    assert [bar.get_width() for bar in display.bars_][-1] == pytest.approx(0.06)
    assert display.ax_.get_yticklabels()[-1].get_text() == "2,206 others"
    assert display.ax_.texts[-1].get_text() == "96.4%"


def test_importances_of_a_pipeline_have_the_names_of_its_steps():
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0.5, "a", "b")})
    steps = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["size"]))
    model = make_pipeline(steps, RFFBoostRegressor(learner="tree", n_estimators=3)).fit(frame, Y)
    display = ImportanceDisplay.from_estimator(model)
    assert set(display.names) == {"onehotencoder__kind_a", "onehotencoder__kind_b", "standardscaler__size"}


def test_categories_have_neither_frequencies_nor_landmarks():
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame["b"] = pd.Series(np.digitize(X[:, 1], [0.3, 0.6])).astype("category")
    model = RFFBoostRegressor(learner="rff_k", n_estimators=3, random_state=0).fit(frame, Y)
    # What learners see begins with the numbers, a and c.
    omega = np.concatenate([term.term.omega[:, :2] for term in model.ensemble_.terms])
    np.testing.assert_array_equal(FrequencyDisplay.from_estimator(model, ("a", "c")).omega, omega)
    with pytest.raises(ValueError, match="must be fitted to numbers without missing values, got missing"):
        LandmarkDisplay.from_estimator(model, frame, ("a", "c"))


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
        np.testing.assert_allclose(replace(term, clipping=None).features(point[None]), 1.0, rtol=0, atol=1e-12)
    display = LandmarkDisplay.from_estimator(model, X, grid_resolution=20)
    np.testing.assert_allclose(display.dots_.get_offsets(), points)
    filling = RFFBoostClassifier("exponential", "rff_k", n_estimators=8, random_state=0).fit(X, moons[1])
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
        with pytest.raises(ValueError, match="features must be"):
            FrequencyDisplay.from_estimator(model, (0, feature))
    for feature in (1.5, True, ["a"]):
        with pytest.raises(TypeError, match="features must be an integer"):
            FrequencyDisplay.from_estimator(model, (0, feature))
    with pytest.raises(ValueError, match="X has 1 features"):
        LandmarkDisplay.from_estimator(moons[2], moons[0][:, :1])
    with pytest.raises(ValueError, match="feature_names must have one name for each of 6"):
        ImportanceDisplay.from_estimator(model, feature_names=["a"])
    with pytest.raises(ValueError, match="max_features must be"):
        ImportanceDisplay.from_estimator(model, max_features=0)


@pytest.mark.parametrize("display", [ImportanceDisplay, HistoryDisplay, FrequencyDisplay])
def test_an_unfitted_estimator_is_refused(display):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        display.from_estimator(RFFBoostRegressor())


@pytest.mark.parametrize("display", [FrequencyDisplay, ImportanceDisplay, LandmarkDisplay])
def test_estimators_around_boosters_are_named(display):
    intervals = ConformalRegressor(RFFBoostRegressor(learner="rff_1", n_estimators=2)).fit(X, Y)
    with pytest.raises(TypeError, match=f"{display.__name__}: estimator must be .*ConformalRegressor"):
        display.from_estimator(intervals, *[X] * (display is LandmarkDisplay))


@pytest.mark.parametrize(
    "names",
    [
        [f"a column of a terribly long name, number {i} of the table" for i in range(14)],
        ["mean of the first measurement", "mean of the other measurement", "x", "mean of the last measurement"],
        ["short", "also short"],
    ],
)
def test_labels_of_several_names_are_as_distinct_as_these(names):
    found = distinct_labels(names)
    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= LONGEST
    # One name twice has one label.
    assert distinct_labels([*names, names[0]])[-1] == found[0]


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
        FrequencyDisplay.from_estimator(model, (1, 2), feature_names=names),
    ):
        display.figure_.savefig(tmp_path / "figure.png")
    assert display.ax_.get_xlabel() == r"frequency in \$a\$ and \$b\$ (radians per unit)"
    assert len(display.ax_.get_ylabel()) < 65


@pytest.mark.filterwarnings("error")
def test_landmarks_are_drawn_whatever_the_scale_of_a_feature_or_a_score():
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = RFFBoostClassifier("exponential", "rff_k", n_estimators=8, random_state=0).fit(X, y)
    units = np.array([1e8, 1e-8])
    scaled = RFFBoostClassifier("exponential", "rff_k", n_estimators=8, random_state=0).fit(X * units, y)
    assert landmarks(scaled.ensemble_) == pytest.approx(landmarks(model.ensemble_) * units)
    for given in (X * units, (X * units)[:1]):
        display = LandmarkDisplay.from_estimator(scaled, given, grid_resolution=5)
        for (low, high), column in zip((display.ax_.get_xlim(), display.ax_.get_ylim()), given.T, strict=True):
            assert low < column.min() <= column.max() < high
    level = RFFBoostRegressor(learner="rff_k", n_estimators=2).fit(X, np.full(len(X), 5.0))
    levels = LandmarkDisplay.from_estimator(level, X, grid_resolution=5).contours_.levels
    middle = len(levels) // 2
    assert levels[middle - 1] < 5.0 < levels[middle]


def overlapping(texts, figure):
    """Pairs of texts that are drawn over each other."""
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return [(one, other) for one, other in combinations(boxes, 2) if one.overlaps(other)]


@pytest.mark.parametrize("unit", [2e-4, 4e-3, 0.0096, 1.0, 2e4, 4e5, 1e8])
def test_numbers_below_the_axes_do_not_run_into_each_other(unit):
    frequencies = FrequencyDisplay(np.full((1, 2), unit), np.ones(1), np.ones(1), ("a", "b")).plot()
    assert not overlapping(frequencies.ax_.get_xticklabels(), frequencies.figure_)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
def test_the_legend_of_landmarks_is_apart_from_what_all_ticks_share(offset):
    grid = np.linspace(0.0, 1.0, 5), offset + np.linspace(0.0, 1e-3, 5)
    points, score = np.array([[0.5, offset]]), np.arange(25.0).reshape(5, 5)
    display = LandmarkDisplay(points, grid, score, ("a", "b")).plot()
    display.figure_.canvas.draw()
    shared = display.ax_.yaxis.get_offset_text().get_window_extent()
    assert not display.ax_.get_legend().get_window_extent().overlaps(shared)
