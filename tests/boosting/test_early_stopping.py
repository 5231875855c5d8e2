"""Patience and pace: when early stopping ends a fit, and how fast it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rffboost_ext import LEARNERS, LOSSES, STEPS, Observations, RFFBoostClassifier, RFFBoostRegressor, Shrunk, Term
from rffboost_ext.boosting.early_stopping import monitor as early_stopping
from rffboost_ext.boosting.early_stopping.monitor import EarlyStopping, MeanLoss, staged_scores
from rffboost_ext.boosting.early_stopping.patience import Patience, PatienceLimit
from rffboost_ext.boosting.plan import Member, Plan
from rffboost_ext.boosting.training import Trainer
from rffboost_ext.estimators.planning import compose, uses_early_stopping
from rffboost_ext.inspection.history_display import selected_round
from rffboost_ext.recipes import MemberRule, Recipe
from rffboost_ext.rows.dataset import Dataset

from ..plans import planned

ROW = Dataset(np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1))


@dataclass(frozen=True)
class Ones(Term):
    """A term of constant outputs."""

    dtype: type = float

    def __call__(self, X):
        return np.ones((len(X), 1), dtype=self.dtype)

    def scaled(self, factor):
        raise NotImplementedError

    @classmethod
    def stack(cls, terms):
        raise NotImplementedError


STILL = SimpleNamespace(keep=1.0, length=0.0, term=Ones())


def ended(
    scores: list[float], patience: Patience, tol: float, rival: float, trailing_tol: float
) -> tuple[int, int]:
    """Rounds done, and the best of them, by the rule as it is stated, one round after the other."""
    best = 0
    for t in range(1, len(scores)):
        least = max(tol, trailing_tol) if scores[best] > rival else tol
        if scores[t] < scores[best] - least * (scores[0] - scores[best]):
            best = t
        if t - best >= max(patience.rounds, patience.share * best):
            return t, best
        over, stretch = patience.converged_below > 0.0 and t % patience.rounds == 0, scores[: t + 1]
        if over and min(stretch) < patience.converged_below * scores[0]:
            won = min(stretch[: -patience.rounds]) - min(stretch)
            if won < patience.min_gain * scores[0]:
                return t, best
    return len(scores) - 1, best


@settings(deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rounds=st.integers(1, 12),
    share=st.sampled_from([0.0, 0.4]),
    settled=st.sampled_from([0.0, 0.3, 0.9]),
    tol=st.sampled_from([0.0, 1e-2, 0.3]),
    level=st.sampled_from([0.0, -1.0, 2.0]),
    rival=st.sampled_from([0.0, 0.7, np.inf]),
)
def test_rounds_looked_at_together_end_as_if_one_by_one(seed, rounds, share, settled, tol, level, rival) -> None:
    rng = np.random.default_rng(seed)
    scores = list(level + np.exp(-rng.uniform(0.0, 0.1) * np.arange(80)) + 0.05 * rng.random(80))
    patience, errors = Patience(rounds, share, settled, 0.05), iter(scores)
    rival = rival + level
    watch = EarlyStopping(ROW, lambda *_: next(errors), ROW.y, patience, tol, rival=rival, trailing_tol=0.05)
    done = next((t for t in range(1, 80) if watch(STILL)), 79)
    assert (done, watch.best_round_) == ended(scores, patience, tol, rival, 0.05)
    assert watch.scores_ == scores[: done + 1]
    if rival == np.inf:
        assert selected_round(watch.scores_, tol) == watch.best_round_


@pytest.mark.parametrize(("beyond", "at_once"), [(1.0, 1), (1.5, 120), (1.5, 10_000)])
def test_what_is_known_of_the_best_round_is_what_its_ensemble_says(
    beyond: float, at_once: int, monkeypatch
) -> None:
    monkeypatch.setattr(early_stopping, "MAX_BATCH", at_once)
    X = np.random.default_rng(0).normal(size=(200, 2))
    rows = Dataset(X, (X[:, :1] * X[:, 1:] > 0.0).astype(float), np.ones(200))
    member = Member(LEARNERS.create("mixture"), Shrunk(STEPS.create("unit"), 0.3))
    trainer = Trainer(LOSSES.create("log_loss"), member, True, seed=1, n_jobs=1, precision="float32")
    kept, out = rows.take(np.arange(150)), rows.take(np.arange(150, 200))
    run = trainer.fit_stopping(kept, out, Plan([member], 100, Patience(10), 1e-4), extra_rounds=beyond)
    assert 1 < len(run.ensemble) < 100
    np.testing.assert_allclose(run.raw, run.ensemble.raw(out.X), atol=1e-6)
    loss = [np.mean(trainer.loss.value(out.y, raw)) for raw in run.ensemble.staged(out.X)]
    np.testing.assert_allclose(run.scores[: len(loss)], loss, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_what_terms_return_does_not_round_the_scores(dtype) -> None:
    rounds = [(0.5, 0.1, Ones(dtype))] * 3
    raws = staged_scores(np.full((2, 1), 0.75), rounds, np.zeros((2, 1)))
    np.testing.assert_allclose(raws[:, 0, 0], [0.475, 0.3375, 0.26875], rtol=1e-14)


def patience(model, n: int, n_classes: int = 2) -> Patience:
    """The patience of a fit on so many rows."""
    return planned(model, n, n_classes=n_classes).patience


@pytest.mark.parametrize("n", [1_000, 100_000])
def test_only_a_classifier_by_its_loss_converges(n: int) -> None:
    assert patience(RFFBoostClassifier(), n).converged_below > 0.0
    assert patience(RFFBoostClassifier(eval_metric="accuracy"), n).converged_below == 0.0
    assert patience(RFFBoostClassifier(n_iter_no_change=40), n).converged_below == 0.0
    assert patience(RFFBoostRegressor(), n).converged_below == 0.0


def test_losses_of_several_rounds_are_weighted_as_those_of_one() -> None:
    rng, loss = np.random.default_rng(0), LOSSES.create("squared_error")
    rows, raws = Observations(rng.normal(size=(20, 1)), rng.uniform(0.1, 3.0, 20)), rng.normal(size=(4, 20, 1))
    mean = MeanLoss(loss)
    np.testing.assert_allclose(mean.batch(rows, raws), [mean(rows, raw) for raw in raws], rtol=1e-13)


@pytest.mark.parametrize(
    ("params", "held", "stops"),
    [
        ({}, False, True),
        ({}, True, True),
        ({"learner": "tree"}, False, False),
        ({"learner": "tree"}, True, True),
        ({"learner": "tree", "n_folds": 3}, False, True),
        ({"learner": "tree", "n_iter_no_change": 3}, False, True),
        ({"warm_start": True}, False, False),
        ({"warm_start": True}, True, True),
        ({"early_stopping": True, "warm_start": True}, False, True),
        ({"early_stopping": False}, True, False),
    ],
    ids=repr,
)
def test_when_fits_stop_early(params, held: bool, stops: bool) -> None:
    model = RFFBoostClassifier(**params)
    rows = Dataset(np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1)) if held else None
    learner = compose(model).learner
    assert uses_early_stopping(model, learner, rows, Dataset(*np.zeros((3, 100, 1)))) == stops


def test_each_member_has_a_step_that_suits_it() -> None:
    rules = [MemberRule("alone", "rff_1"), MemberRule("others", "mixture", learning_rate=0.05)]
    plan = planned(RFFBoostClassifier(quality=Recipe(rules, 0.2), loss="huber"), 100)
    assert [type(member.step.step).__name__ for member in plan.members] == ["LineSearch", "Unit"]
    assert [member.step.rate for member in plan.members] == [0.2, 0.05]


def test_limits_apply_to_patience_and_tolerance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    rows = Dataset(X, np.sin(X[:, :1]) + 0.5 * rng.normal(size=(200, 1)), np.ones(200))
    member = Member(LEARNERS.create("rff_1"), Shrunk(STEPS.create("line_search"), 0.1))
    trainer = Trainer(LOSSES.create("squared_error"), member, True, seed=1, n_jobs=1, precision="float32")
    kept, out = rows.take(np.arange(100)), rows.take(np.arange(100, 200))
    for limit, wait, tol in (
        (None, 9, 1e-6),
        (PatienceLimit(1, 0.0), 1, 1e-6),
        (PatienceLimit(20, 1e-2), 9, 1e-2),
    ):
        limited = replace(trainer, member=replace(member, limit=limit))
        run = limited.fit_stopping(kept, out, Plan([member], 400, Patience(9, 0.2), 1e-6))
        best = selected_round(run.scores.tolist(), tol)
        assert len(run.ensemble) == best
        assert len(run.scores) - 1 == best + max(wait, int(np.ceil(0.2 * best)))


@pytest.mark.filterwarnings("ignore:Only one class is present")
@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_every_fold_has_a_row_of_the_rarest_class_where_a_metric_may_need_it(metric: str) -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.array(["rare"] * 5 + ["often"] * (len(X) - 5))
    model = RFFBoostClassifier(n_estimators=2, eval_metric=metric, random_state=0)
    assert len(model.fit(X, y).validation_scores_) == 3
    with pytest.raises(ValueError, match="eval_metric"):
        model.set_params(n_folds=8).fit(X, y)


LEVELS = {
    "two classes": (RFFBoostClassifier, {}, 2),
    "three classes": (RFFBoostClassifier, {"quality": "fast"}, 3),
    "one model": (RFFBoostClassifier, {"learner": "tree", "early_stopping": True, "n_folds": 1}, 2),
    "counts": (RFFBoostRegressor, {"loss": "poisson", "quality": "fast"}, None),
}


@pytest.mark.parametrize(("name", "margin"), [("two classes", False), *((name, True) for name in LEVELS)])
def test_predictions_of_the_rows_of_the_fit_sum_to_the_targets(name, margin) -> None:
    make, params, n_classes = LEVELS[name]
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(300, 3)), rng.uniform(0.5, 2.0, 300)
    y = (
        rng.poisson(0.2 * np.exp(X[:, 0]))
        if n_classes is None
        else np.digitize(X[:, 0], [1.3, 2.0][: n_classes - 1])
    )
    given = {"base_margin": 0.3 * rng.normal(size=(300, n_classes if n_classes == 3 else 1))} if margin else {}
    model = make(n_estimators=8, random_state=0, **params).fit(X, y, weight, **given)
    response = model.loss_.link.inverse(model.raw_scores(X, **given))
    targets = y[:, None] if n_classes is None else y[:, None] == np.arange(n_classes)
    np.testing.assert_allclose(weight @ response, weight @ targets, rtol=1e-6)


@pytest.mark.parametrize(("value", "margin"), [(0, False), (1, True)])
def test_a_label_of_all_or_no_rows_keeps_the_bound_of_its_scores(value, margin) -> None:
    rng = np.random.default_rng(0)
    given = {"base_margin": rng.normal(size=(300, 2))} if margin else {}
    X = rng.normal(size=(300, 3))
    Y = np.column_stack([X[:, 0] + rng.normal(size=300) > 0.0, np.full(300, value)]).astype(int)
    model = RFFBoostClassifier(n_estimators=20, random_state=0).fit(X, Y, **given)
    assert np.abs(model.raw_scores(X, **given)).max() < 100.0
    response = model.loss_.link.inverse(model.raw_scores(X, **given))
    np.testing.assert_allclose(response.sum(axis=0), Y.sum(axis=0), rtol=1e-6, atol=1e-6)
