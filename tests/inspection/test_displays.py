"""Displays show what they say: asked of the artists that were drawn, not of pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rffboost_ext import ConformalRegressor, RFFBoostRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rffboost_ext.displays import HistoryDisplay, ImportanceDisplay  # noqa: E402
from rffboost_ext.inspection.plot_style import LONGEST  # noqa: E402

from .display_cases import NAMES, X, Y  # noqa: E402


def every_display(model, ax=None):
    yield ImportanceDisplay.from_estimator(model, ax=ax)
    yield HistoryDisplay.from_estimator(model, ax=ax)
    yield HistoryDisplay({"a": [3.0, 2.0], "b": [3.0, 2.5]}, "loss").plot(ax)


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


def test_what_cannot_be_drawn_is_said(model):
    with pytest.raises(ValueError, match="feature_names must have one name for each of 6"):
        ImportanceDisplay.from_estimator(model, feature_names=["a"])
    with pytest.raises(ValueError, match="max_features must be"):
        ImportanceDisplay.from_estimator(model, max_features=0)


UNFITTED = {
    "importances": ImportanceDisplay.from_estimator,
    "history": HistoryDisplay.from_estimator,
    "shap_values": lambda model: model.shap_values(X[:1], X[:1]),
    "gradient": lambda model: model.gradient(X[:1]),
}


@pytest.mark.parametrize("name", UNFITTED)
def test_an_unfitted_estimator_is_refused(name):
    with pytest.raises(NotFittedError):
        UNFITTED[name](RFFBoostRegressor())


def test_estimators_around_boosters_are_named():
    intervals = ConformalRegressor(RFFBoostRegressor(learner="rff_1", n_estimators=2)).fit(X, Y)
    with pytest.raises(TypeError, match=r"ImportanceDisplay: estimator must be .*ConformalRegressor"):
        ImportanceDisplay.from_estimator(intervals)


@pytest.mark.parametrize(
    "names",
    [
        [f"a column of a terribly long name, number {i} of the table" for i in range(12)],
        ["mean of the first measurement", "mean of the other measurement", "x", "mean of the last measurement"],
        [r"$\x$ price", "$a$ and $b$", "twice", "twice"],
    ],
)
def test_labels_are_short_as_distinct_as_names_and_no_formulas(names):
    display = ImportanceDisplay(np.full(len(names), 1.0 / len(names)), names).plot()
    display.figure_.canvas.draw()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    shown = [label.replace(r"\$", "dollar") for label in labels]
    assert not any("$" in label for label in shown)
    assert len(set(labels)) == len(set(names))
    assert max(len(label.replace("\\", "")) for label in labels) <= LONGEST
