"""Frequencies and landmarks in a plane are drawn whatever the scales, and no text hides another."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rffboost_ext.displays import FrequencyDisplay, LandmarkDisplay  # noqa: E402
from rffboost_ext.inspection.landmark_display import landmarks  # noqa: E402


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
