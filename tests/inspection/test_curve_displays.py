"""Displays of curves over rounds, and of the calibration of distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rffboost_ext import RFFBoostDistribution, RFFBoostRegressor

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from rffboost_ext.displays import DistributionCalibrationDisplay, HistoryDisplay  # noqa: E402

from .display_cases import X, Y  # noqa: E402


def test_rounds_are_the_validation_scores(model):
    display = HistoryDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), model.validation_scores_)
    assert {line.get_xdata()[0] for line in display.lines_} == {0}
    drawn = [line.get_ydata() for line in display.ax_.lines]
    for folds in model.validation_curves_:
        for fold in folds:
            assert any(np.array_equal(fold, line) for line in drawn)
    labels = [line.get_label() for line in display.lines_]
    assert len(labels) == len(model.learners_)
    for label, weight in zip(labels, model.learner_weights_, strict=True):
        assert len(labels) == 1 or f"(weight {weight:.2f})" in label
    assert all(label.startswith(name) for label, name in zip(labels, model.member_names_, strict=True))
    assert display.ax_.get_ylabel() == "held-out loss (SquaredError)"
    for metric, label in (("r2", "-r2"), (["r2", "absolute_error"], "absolute_error")):
        watched = RFFBoostRegressor(n_estimators=2, early_stopping=True, n_folds=1, eval_metric=metric).fit(X, Y)
        assert HistoryDisplay.from_estimator(watched).ax_.get_ylabel() == f"held-out {label}"
    with pytest.raises(ValueError, match="early stopping"):
        HistoryDisplay.from_estimator(RFFBoostRegressor(learner="rff_1", n_estimators=2).fit(X, Y))


@pytest.mark.parametrize("tol", [0.0, 1e-4, 0.05])
def test_the_round_that_early_stopping_keeps_is_marked(tol):
    watched = RFFBoostRegressor(n_estimators=80, learner="rff_newton", tol=tol, random_state=0)
    watched.fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])])
    display = HistoryDisplay.from_estimator(watched)
    assert display.best_round == watched.n_estimators_
    assert (display.best_round == watched.validation_scores_.argmin()) == (tol < 0.05)
    value = watched.evals_result_["validation_0"]["squared_error"][display.best_round - 1]
    assert display.ax_.lines[-1].get_xydata().tolist() == [[display.best_round, value]]
    notes = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"{value:.4g} after {display.best_round} rounds" in notes


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 30])
def test_rounds_are_marked_by_whole_numbers(rounds):
    display = HistoryDisplay({"validation": np.linspace(2.0, 1.0, rounds + 1)}, "loss", first_round=0).plot()
    ticks = display.ax_.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_rounds_of_one_of_the_models_are_named(model):
    assert HistoryDisplay.from_estimator(model).ax_.get_xlabel() == "boosting rounds (of one model)"
    single = RFFBoostRegressor(n_estimators=5, learner="rff_newton", eval_metric="r2", random_state=0)
    single.fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])])
    assert HistoryDisplay.from_estimator(single).ax_.get_xlabel() == "boosting rounds"


def test_histories_are_the_evaluations():
    watched = RFFBoostRegressor(learner="tree", n_estimators=5, eval_metric=["r2", "squared_error"])
    watched.fit(X, Y, eval_set={"train": (X, Y), "some": (X[:50], Y[:50])})
    both = HistoryDisplay.from_estimator(watched)
    assert both.figure_.axes == [both.others[0].ax_, both.ax_]
    alone = HistoryDisplay.from_estimator(watched, ax=both.ax_)
    assert (alone.ax_, alone.metric, alone.others) == (both.ax_, "squared_error", [])
    for metric, display in (
        ("r2", both.others[0]),
        ("r2", HistoryDisplay.from_estimator(watched, "r2")),
        (None, both),
    ):
        for line, (name, curves) in zip(display.lines_, watched.evals_result_.items(), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4, 5])
            np.testing.assert_array_equal(line.get_ydata(), curves[metric or "squared_error"])
            assert line.get_label() == name
        assert display.ax_.get_ylabel() == (metric or "squared_error")
    hidden = HistoryDisplay({"_train": [2.0, 1.0], "_": [2.0, 1.5]}, "loss").plot()
    named = [text.get_text().removeprefix("\N{ZERO WIDTH SPACE}") for text in hidden.ax_.get_legend().get_texts()]
    assert named == ["_train", "_"]
    with pytest.raises(ValueError, match="metric must be one of r2, squared_error, got 'mae'"):
        HistoryDisplay.from_estimator(watched, "mae")
    with pytest.raises(ValueError, match="must be fitted with eval_set or early stopping"):
        HistoryDisplay.from_estimator(RFFBoostRegressor(learner="rff_1", n_estimators=2).fit(X, Y))


RNG = np.random.default_rng(0)
CASES = [(stats.norm(2.0, 3.0), "normal"), (stats.poisson(3.0), "counts"), (stats.poisson(0.1), "rare counts")]


@pytest.mark.parametrize("frozen", [frozen for frozen, _ in CASES], ids=[name for _, name in CASES])
def test_right_distributions_are_on_the_diagonal(frozen):
    display = DistributionCalibrationDisplay.from_predictions(frozen.rvs(20_000, random_state=0), frozen)
    np.testing.assert_allclose(display.shares, display.levels, atol=0.015)
    assert display.ax_.get_ylabel() == "share of targets below"
    again = DistributionCalibrationDisplay.from_predictions([2.0], frozen, ax=display.ax_, label="one target")
    labels = [text.get_text() for text in again.ax_.get_legend().get_texts()]
    assert labels == ["95 % if calibrated", "calibrated", "predictions", "one target"]


def test_narrow_distributions_have_many_targets_in_their_tails():
    y = stats.norm().rvs(5_000, random_state=0)
    display = DistributionCalibrationDisplay.from_predictions(y, stats.norm(0.0, 0.5), kind="pit", n_bins=4)
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert np.mean(heights) == pytest.approx(1.0)
    assert heights[0] == pytest.approx(4.0 * stats.norm.cdf(0.5 * stats.norm.ppf(0.25)), abs=0.1)
    assert heights[0] > 1.2 > 0.8 > heights[1]


def test_shares_are_weighted():
    y, weight = np.array([-1.0, 1.0]), [3.0, 1.0]
    display = DistributionCalibrationDisplay.from_predictions(y, stats.norm(), sample_weight=weight)
    assert display.shares[display.levels == 0.5].tolist() == [0.75]


def test_estimators_are_checked():
    X, y = RNG.standard_normal((60, 2)), RNG.standard_normal(60)
    model = RFFBoostDistribution(learner="tree", n_estimators=3).fit(X, y)
    assert DistributionCalibrationDisplay.from_estimator(model, X, y, kind="pit").n_samples == 60
    with pytest.raises(TypeError, match=r"must be an RFFBoostDistribution, got RFFBoostRegressor.*scikit-learn"):
        DistributionCalibrationDisplay.from_estimator(
            RFFBoostRegressor(learner="tree", n_estimators=3).fit(X, y), X, y
        )
    with pytest.raises(ValueError, match="kind must be"):
        DistributionCalibrationDisplay.from_estimator(model, X, y, kind="curve")
