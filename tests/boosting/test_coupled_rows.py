"""Losses of coupled rows are called with whole groups, or with all rows of a set, wherever a fit calls them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from rffboost_ext import (
    LEARNER_POLICIES,
    LEARNERS,
    LOSSES,
    ConformalRegressor,
    Design,
    LearnerPolicy,
    Mixture,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFNewton,
    Round,
)
from rffboost_ext.learners.kernel_machines.irls import CurvatureBounds
from rffboost_ext.losses.wrapper import LossWrapper
from rffboost_ext.metrics import METRICS, NamedMetric
from rffboost_ext.rows.log_transform import KERNEL_ROWS

from ..coupled_losses import (
    COUPLED,
    Breslow,
    Centred,
    N,
    PairwiseLogistic,
    coupled_rows,
    require_single_rows,
    require_whole_groups,
)

kinds = pytest.mark.parametrize("kind", COUPLED)


class Pooled(RFFNewton):
    """Sees few rows at a time."""


LEARNER_POLICIES[Pooled] = LearnerPolicy(pool_size=25)


def fitted(kind, model, n=N, **params):
    """The sets of rows that the loss of a fit is called with."""
    X, y, weight = coupled_rows(kind, n)
    model = clone(model).set_params(loss=kind(), random_state=0)
    model.fit(X, y, sample_weight=weight, **params)
    return model, require_whole_groups(kind, y, weight)


@kinds
@pytest.mark.parametrize("learner", [*LEARNERS.names(), Mixture("rff_irls", subsample=0.7)], ids=str)
def test_learners_call_a_loss_with_whole_sets(kind, learner) -> None:
    # More rows than those on which log transforms are compared.
    n = KERNEL_ROWS + 36
    _, sets = fitted(kind, RFFBoostRegressor(learner=learner, n_estimators=3, early_stopping=False), n)
    assert max(map(len, sets)) == n
    if kind.rows == "all":
        assert set(map(len, sets)) == {n}


@kinds
@pytest.mark.parametrize("params", [{}, {"quality": "fast"}, {"n_folds": 1}, {"refit": True}], ids=str)
def test_folds_are_sets_of_their_own(kind, params) -> None:
    model, sets = fitted(kind, RFFBoostRegressor(n_estimators=3, **params))
    everything, larger = frozenset(range(N)), {one for one in sets if len(one) > N // 2}
    if kind.rows == "all":
        assert all(one == everything or everything - one in sets for one in sets)
    assert len(larger - {everything}) == model.n_folds_


@kinds
def test_evaluation_sets_are_sets_of_their_own(kind) -> None:
    X, y, weight = coupled_rows(kind)
    half = np.isin(y[:, 2] % 2, 0) if kind.rows == "groups" else np.arange(N) % 2 == 0
    model = RFFBoostRegressor(loss=kind(), learner="rff_newton", n_estimators=20, random_state=0)
    model.fit(X[half], y[half], weight[half], eval_set=[(X[~half], y[~half], weight[~half])])
    sets = require_whole_groups(kind, y, weight)
    whole = {frozenset(np.flatnonzero(part).tolist()) for part in (half, ~half)}
    assert whole <= set(sets)
    if kind.rows == "all":
        assert whole == set(sets)
    curve = model.evals_result_["validation_0"][LOSSES.name_of(kind())]
    np.testing.assert_allclose(model.validation_scores_[1 : len(curve) + 1], curve)


@kinds
def test_pools_are_samples_of_whole_groups(kind) -> None:
    _, sets = fitted(kind, RFFBoostRegressor(learner=Pooled(), n_estimators=60, n_folds=2))
    assert len({one for one in sets if len(one) < N // 2}) >= 4


@kinds
def test_steps_are_bounded_though_a_shift_of_all_scores_changes_nothing(kind) -> None:
    X, y, weight = coupled_rows(kind)
    raw = np.zeros((N, 1))
    derivatives = kind().derivatives(y, raw, weight)
    round = Round(Design(X), kind(), y, raw, *derivatives, weight, 0, np.random.default_rng(0))
    assert np.isfinite(CurvatureBounds.from_round(round).max_step).all()


@kinds
def test_a_fit_goes_on_with_the_same_sets(kind) -> None:
    X, y, weight = coupled_rows(kind)
    params = {"learner": "rff_newton", "early_stopping": False, "random_state": 0, "learning_rate": 0.3}
    once = RFFBoostRegressor(kind(), n_estimators=6, **params).fit(X, y, weight).predict(X)
    warm = RFFBoostRegressor(kind(), n_estimators=3, warm_start=True, **params).fit(X, y, weight)
    np.testing.assert_allclose(warm.set_params(n_estimators=6).fit(X, y, weight).predict(X), once)
    start = RFFBoostRegressor(kind(), n_estimators=3, **params).fit(X, y, weight)
    further = RFFBoostRegressor(kind(), n_estimators=3, **params).fit(X, y, weight, init_model=start)
    assert further.n_estimators_ == 6
    require_whole_groups(kind, y, weight)


class FirstColumn(LossWrapper):
    """The squared error of the first column."""

    def inner_target(self, y):
        return y[:, :1]

    def groups(self, y):
        return y[:, -1]


POINTWISE = FirstColumn(LOSSES.create("squared_error"))


@kinds
def test_a_metric_couples_rows_where_the_loss_does_not(kind) -> None:
    X, y, weight = coupled_rows(kind)
    model = RFFBoostRegressor(POINTWISE, n_estimators=3, eval_metric=kind(), random_state=0).fit(X, y, weight)
    # The metric is checked on all rows and on one group, too.
    held_out = {one for one in require_whole_groups(kind, y, weight) if N // 8 < len(one) < N}
    assert len(held_out) == model.n_folds_ > 1
    times = np.bincount([row for one in held_out for row in one], minlength=N)
    assert set(times) == {times.sum() // N}


@pytest.mark.parametrize("make", [RFFBoostRegressor, RFFBoostRanker])
def test_metrics_of_groups_and_all_of_a_ranker_get_whole_queries(make, monkeypatch) -> None:
    X, y, weight = coupled_rows(PairwiseLogistic)
    seen = []

    def metric(target, prediction, sample_weight):
        seen.append((target, sample_weight))
        return float(prediction @ target[:, 0])

    monkeypatch.setitem(METRICS, "seen", NamedMetric(metric, greater_is_better=True, of_groups=True))
    ranks = make is RFFBoostRanker
    target, query = (y[:, 0], {"qid": y[:, 2]}) if ranks else (y[:, [0, 2]], {})
    model = make(POINTWISE, n_estimators=3, eval_metric=metric if ranks else "seen", random_state=0)
    model.fit(X, target, sample_weight=weight, **query)
    assert 0 < max(len(target) for target, _ in seen) < N
    for target, given in seen:
        code, size = np.unique(target[:, 1], return_counts=True)
        assert (size == 10).all()
        assert all(np.ptp(given[target[:, 1] == one]) == 0.0 for one in code)


@kinds
def test_copies_of_a_row_are_not_merged(kind) -> None:
    X, y, weight = (np.repeat(part, 2, axis=0) for part in coupled_rows(kind))
    RFFBoostRegressor(kind(), "tree", n_estimators=2, early_stopping=False, random_state=0).fit(X, y, weight)
    assert {len(target) for target, _ in kind.calls} >= {2 * N}
    for target, given in kind.calls:
        ids, counts = np.unique(target[:, 1].astype(int), return_counts=True)
        assert (counts == 2).all()
        np.testing.assert_allclose(np.sort(given), np.sort(np.repeat(weight[::2][ids], 2)))


@pytest.mark.parametrize("params", [{}, {"n_folds": 1}], ids=str)
def test_a_loss_of_sets_gets_one_set_and_one_round_per_call(params) -> None:
    X, y, weight = coupled_rows(Centred)
    model = RFFBoostRegressor(Centred(), n_estimators=3, random_state=0, **params).fit(X, y, weight)
    sets = require_single_rows(Centred)
    # The loss is checked on 100 rows, too.
    assert len({one for one in sets if N // 2 < len(one) < N}) == 1 + min(4, model.n_folds_)
    held = [(X[::3], y[::3], weight[::3])]
    RFFBoostRegressor(Centred(), n_estimators=3, random_state=0).fit(X[1::3], y[1::3], eval_set=held)
    assert all(len({row % 3 for row in one}) == 1 for one in require_single_rows(Centred))


def test_weight_2_is_the_row_twice_where_sums_over_rows_are_weighted() -> None:
    X, y, _ = coupled_rows(Breslow)
    counts = np.random.default_rng(1).integers(1, 4, N)
    model = RFFBoostRegressor(Breslow(), "tree", n_estimators=5, early_stopping=False)
    weighted = model.fit(X, y, sample_weight=counts).predict(X)
    repeated = model.fit(*(np.repeat(part, counts, axis=0) for part in (X, y))).predict(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-4)


def test_groups_of_the_user_and_of_the_loss_exclude_each_other() -> None:
    X, y, _ = coupled_rows(PairwiseLogistic)
    model = RFFBoostRegressor(PairwiseLogistic(), n_estimators=2)
    with pytest.raises(ValueError, match=r"groups must be None, as PairwiseLogistic\(\) takes its groups from y"):
        model.fit(X, y, groups=y[:, 2])
    with pytest.raises(ValueError, match="y must be of at least 2 groups"):
        model.set_params(early_stopping=True).fit(X, y * [1.0, 1.0, 0.0])


def test_intervals_calibrate_on_whole_groups() -> None:
    class InOneColumn(PairwiseLogistic):
        """y = 1,000 query + id, whose parity is the relevance."""

        def groups(self, y):
            return y[:, 0] // 1000

        def record(self, y, weight):
            PairwiseLogistic.calls.append((y, weight))

        def pairs(self, y, weight):
            query, number = np.divmod(y[:, 0], 1000)
            return super().pairs(np.column_stack([number % 2, number, query]), weight)

        def baseline(self, y, weight):
            return np.zeros(1)

    X, y, _ = coupled_rows(PairwiseLogistic)
    booster = RFFBoostRegressor(InOneColumn(), n_estimators=2, random_state=0)
    ConformalRegressor(booster, random_state=0).fit(X, 1000 * y[:, 2] + y[:, 1])
    fitted_to = frozenset().union(*require_whole_groups(PairwiseLogistic, y, np.ones(N)))
    assert len(fitted_to) == 0.75 * N
