"""Early stopping: which rows are held out, and how models are averaged and stacked."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification

from rffboost_ext import LEARNERS, LOSSES, STEPS, RFFBoostClassifier, RFFBoostRegressor, Shrunk, Tree
from rffboost_ext.boosting.early_stopping.patience import Model, Patience
from rffboost_ext.boosting.early_stopping.validation_split import assign_folds, holdout_mask, only_rows_of_class
from rffboost_ext.boosting.loop import initial_ensemble
from rffboost_ext.boosting.plan import Member, Plan, Start
from rffboost_ext.boosting.run import Run
from rffboost_ext.boosting.training import Trainer
from rffboost_ext.rows.dataset import Dataset
from rffboost_ext.terms.ensemble import mean_ensemble, weighted_sum

from ..cases import LOSS_CASES, make_data

Array = np.ndarray


def classified(n: int, share: float = 0.1) -> Dataset:
    rng = np.random.default_rng(0)
    return Dataset(rng.normal(size=(n, 2)), (rng.random((n, 1)) < share).astype(float), np.ones(n))


@pytest.mark.parametrize("n", [41, 300])
@pytest.mark.parametrize("n_folds", [2, 5])
def test_every_fold_has_its_part_of_every_class(n: int, n_folds: int) -> None:
    rows = classified(n)
    fold = assign_folds(rows, n_folds, seed=3)
    for y in (0.0, 1.0):
        counts = np.bincount(fold[rows.y[:, 0] == y], minlength=n_folds)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(fold, assign_folds(rows, n_folds, seed=3))
    assert (fold != assign_folds(rows, n_folds, seed=4)).any()


@pytest.mark.parametrize(("n", "fraction", "size"), [(10, 0.15, 5), (60, 0.15, 20), (1000, 0.2, 200)])
def test_rows_are_held_out_in_proportion(n: int, fraction: float, size: int) -> None:
    rows = classified(n, share=0.3)
    held = holdout_mask(rows, fraction, seed=0)
    assert held.sum() == size
    for y in (0.0, 1.0):
        assert abs(held[rows.y[:, 0] == y].sum() - size * np.mean(rows.y == y)) <= 1.0


def test_held_out_rows_are_spread_along_a_real_target() -> None:
    n = 4_000
    rows = Dataset(np.zeros((n, 1)), np.arange(n, dtype=float)[:, None], np.ones(n))
    held = np.flatnonzero(holdout_mask(rows, 0.05, seed=0))
    assert len(held) == 200
    assert np.diff(held).max() <= 40


def test_only_rows_that_are_alone_in_their_class_are_spared() -> None:
    y = np.array([0, 0, 0, 1, 2, 2, 3, 0])[:, None].astype(float)
    rows = Dataset(y, y, np.ones(8))
    np.testing.assert_array_equal(np.flatnonzero(only_rows_of_class(LOSSES.create("log_loss"), rows)), [3, 6])
    assert not only_rows_of_class(LOSSES.create("squared_error"), rows).any()


def test_the_unit_of_the_target_does_not_matter_to_a_fit() -> None:
    n, unit = 1_100, 2.0**-40
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + 500, 4))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))
    one, other = (
        RFFBoostRegressor(n_estimators=5, random_state=0).fit(X[:n], factor * y[:n]) for factor in (1.0, unit)
    )
    assert other.score(X[n:], unit * y[n:]) == pytest.approx(one.score(X[n:], y[n:]), abs=0.01)


def test_averages_share_a_common_beginning_and_take_turns() -> None:
    X, y = load_diabetes(return_X_y=True)
    first = RFFBoostRegressor(learner="rff_newton", n_estimators=4, early_stopping=False, random_state=0).fit(X, y)
    parts = [
        RFFBoostRegressor(learner="rff_newton", n_estimators=k, early_stopping=False, random_state=k)
        .fit(X, y, init_model=first)
        .ensemble_
        for k in (2, 3)
    ]
    average = mean_ensemble(parts)
    assert len(average) == 4 + 5
    np.testing.assert_allclose(average.raw(X), 0.5 * (parts[0].raw(X) + parts[1].raw(X)), rtol=1e-9)
    np.testing.assert_allclose(average[:6].raw(X), 0.5 * (parts[0][:5].raw(X) + parts[1][:5].raw(X)), rtol=1e-9)
    weighted = weighted_sum(parts, np.array([0.2, 0.8]))
    np.testing.assert_allclose(weighted.raw(X), 0.2 * parts[0].raw(X) + 0.8 * parts[1].raw(X), rtol=1e-9)


def test_a_refit_sees_all_rows_for_the_mean_number_of_rounds() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    params = {"learner": "rff_newton", "n_folds": 1, "n_estimators": 60, "n_iter_no_change": 5, "random_state": 0}
    params |= {"learning_rate": 0.3, "validation_fraction": 0.25}
    kept = RFFBoostClassifier(**params, refit=False).fit(X, y)
    again = RFFBoostClassifier(**params, refit=True).fit(X, y)
    # As many more rounds as there are more rows.
    assert again.n_estimators_ == min(60, round(kept.n_estimators_ * len(y) / (len(y) - len(y) // 4)))
    np.testing.assert_array_equal(kept.validation_scores_, again.validation_scores_)
    assert (kept.decision_function(X) != again.decision_function(X)).any()


@pytest.mark.parametrize("n_folds", [3, 4])
def test_each_division_holds_out_each_row_once(monkeypatch, n_folds: int) -> None:
    seen: list[list[float]] = []

    def watch(self, rows: Dataset, held: Dataset, *rules: object) -> Model:
        assert not set(rows.X[:, 0]) & set(held.X[:, 0])
        seen.append(sorted(held.X[:, 0]))
        model = initial_ensemble(self.loss, rows.observations)
        return Model(model, np.zeros(2), model.raw(held.X))

    monkeypatch.setattr(Trainer, "fit_stopping", watch)
    rows = classified(60)
    member = Member(LEARNERS.create("mixture"), Shrunk(STEPS.create("unit"), 0.1))
    trainer = Trainer(LOSSES.create("log_loss"), member, True, 0, 1, "float32")
    plan = Plan([member], 5, Patience(3), n_folds=n_folds)
    divisions = []
    for seed in (0, 1):
        seen.clear()
        assert Run(plan, rows, Start(), ()).result(trainer, None, seed).n_folds == n_folds
        assert sorted(np.concatenate(seen)) == sorted(rows.X[:, 0])
        divisions.append([*seen])
    assert divisions[0] != divisions[1]


@pytest.mark.parametrize("n", range(2, 9))
def test_a_handful_of_rows_is_enough(n: int) -> None:
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n)
    for model in (RFFBoostRegressor(n_estimators=3, quality="fast"), RFFBoostClassifier(n_estimators=3)):
        assert np.isfinite(model.fit(X, y % 2).ensemble_.raw(X)).all()


def test_rounds_without_a_number():
    X, y = make_data(LOSS_CASES[0], n=40)
    assert RFFBoostClassifier(learner=Tree(max_depth=1), random_state=0).fit(X, y).n_estimators_ == 100
    seen = []
    params = {"n_iter_no_change": 1, "n_folds": 1, "callbacks": [lambda p: seen.append(p.n_estimators)]}
    RFFBoostClassifier(learner=Tree(max_depth=1), early_stopping=True, random_state=0, **params).fit(X, y)
    assert set(seen) == {2000}


def test_early_stopping_watches_held_out_rows():
    # The scores can be had again from the rounds and the rows that training left out.
    X, y = make_data(LOSS_CASES[0], n=200)
    seen = []
    params = {"n_estimators": 8, "n_iter_no_change": 8, "n_folds": 1, "refit": False, "validation_fraction": 0.25}
    callbacks = [lambda progress: seen.append(progress.round.design.original)]
    model = RFFBoostClassifier(learner="rff_1", early_stopping=True, callbacks=callbacks, random_state=0, **params)
    model.fit(X, y)
    trained = {tuple(row) for row in seen[0]}
    held_out = np.array([tuple(row) not in trained for row in X])
    assert held_out.sum() == 50
    assert y[held_out].mean() == pytest.approx(y.mean(), abs=0.02), "stratified"
    # The intercept of the returned model is fitted to all rows.
    shift = model.ensemble_.baseline - model.loss_.baseline(y[~held_out, None], np.ones(150))
    stages = [raw - shift for raw in model.ensemble_.staged(X[held_out])]
    loss = [model.loss_.value(y[held_out, None], raw).mean() for raw in stages]
    np.testing.assert_allclose(loss, model.validation_scores_[: len(loss)], rtol=1e-10)


@pytest.mark.parametrize(("params", "alone"), [({}, 2), ({"n_folds": 1, "refit": False}, 1)])
def test_the_only_row_of_a_class_is_not_held_out(params, alone: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 4)), np.zeros(200, dtype=int)
    y[:alone] = 1 + np.arange(alone)
    share = RFFBoostClassifier(random_state=0, **params).fit(X, y).predict_proba(X).mean(axis=0)[1:]
    # By a model that has not seen it, it would be one in 1e15.
    assert (share > 1e-3).all()


@pytest.mark.parametrize("n_folds", [1, 2])
def test_where_all_rows_are_alone_some_are_held_out(n_folds: int) -> None:
    X, y = np.arange(4.0)[:, None], np.arange(4)
    model = RFFBoostClassifier(learner="mixture", n_folds=n_folds, n_estimators=3, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (4, 4)


def test_a_warm_start_counts_the_rounds_of_one_model() -> None:
    X, y = make_classification(300, random_state=0)
    model = RFFBoostClassifier(warm_start=True, early_stopping=True, random_state=0)
    for n in (5, 5, 12):
        model.set_params(n_estimators=n).fit(X, y)
        assert model.n_estimators_ == n
    watched = RFFBoostClassifier(warm_start=True, random_state=0)
    for n in (5, 10):
        watched.set_params(n_estimators=n).fit(X, y, eval_set=(X + 0.1, y))
        assert watched.n_estimators_ == n
