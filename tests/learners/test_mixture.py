"""The mixture of cosines and trees: what it draws, and from what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rffboost_ext import (
    Cosines,
    Design,
    Learner,
    Mixture,
    RFFBoostRegressor,
    RFFNewton,
    Round,
    SymmetricTrees,
    Term,
    boost,
)
from rffboost_ext.core import Fitted
from rffboost_ext.learners import mixture
from rffboost_ext.learners.subsampling import relative_gain, sample_rows

from ..cases import LOSS_CASES, make_data, make_round

SQUARED = next(case for case in LOSS_CASES if case.name == "squared_error")


def kinds(ensemble) -> list[type]:
    return [type(term) for term in ensemble.terms]


def grid(n: int = 600, d: int = 3) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.5, 1.5, (n, d))


class Nothing(Learner):
    """Finds nothing."""

    step = "unit"
    multi_output = True

    def fit(self, round: Round) -> Term:
        C = round.raw.shape[1]
        return Cosines(np.zeros((1, round.design.n_features)), np.zeros(1), np.zeros((1, C)))


@pytest.mark.parametrize("useless", ["cosines", "trees"])
@pytest.mark.parametrize(
    "case", [case for case in LOSS_CASES if case.name in ("log_loss", "poisson", "squared_error")], ids=str
)
def test_the_learner_that_earns_is_drawn_but_for_the_least_share(useless: str, case) -> None:
    X, y = make_data(case, n=300)
    learner = Mixture(**{useless: Nothing()})
    loss = case.make()
    fitted = boost(X, y[:, None].astype(float), loss=loss, learner=learner, n_estimators=64, random_state=0)
    idle = sum(isinstance(term, Cosines) and not term.weight.any() for term in fitted.terms[10:])
    assert 0 < idle < 15


def test_the_first_rounds_alternate_and_neither_dies_out() -> None:
    X = grid()
    fitted = boost(
        X,
        np.sin(X.sum(axis=1, keepdims=True)),
        loss="squared_error",
        learner=Mixture(),
        n_estimators=60,
        random_state=1,
    )
    drawn = kinds(fitted)
    assert drawn[:10] == [Cosines, SymmetricTrees] * 5
    assert min(drawn[10:].count(Cosines), drawn[10:].count(SymmetricTrees)) > 0


@pytest.mark.parametrize("index", [10, 50])
def test_learners_are_drawn_by_the_square_of_what_they_earn(index: int) -> None:
    learner, made, books = Mixture(), make_round(SQUARED), np.array([0.3, 0.6])
    drawn = [
        learner._draw_learner(replace(made, index=index, rng=np.random.default_rng(seed)), books)
        for seed in range(4_000)
    ]
    assert np.mean(drawn) == pytest.approx(0.36 / (0.09 + 0.36), abs=0.03)
    first = [
        learner._draw_learner(replace(made, index=9, rng=np.random.default_rng(seed)), books) for seed in range(20)
    ]
    assert set(first) == {1}


def test_what_is_earned_is_the_expansion_on_the_rows_given() -> None:
    round = make_round(SQUARED, n=50)
    f, rows = np.random.default_rng(0).normal(scale=0.1, size=(50, 1)), np.arange(50) % 3 == 0
    by_hand = [
        w * (g * v + 0.5 * h * v * v)
        for w, g, h, v in zip(round.weight, round.gradient[:, 0], round.hessian[:, 0], f[:, 0], strict=True)
    ]
    weight, gradient = round.weight[rows], round.gradient[rows, 0]
    possible = 0.5 * weight @ gradient**2 / np.average(round.hessian[rows, 0], weights=weight)
    gain = -sum(np.array(by_hand)[rows]) / possible
    counted = np.where(rows, round.weight, 0.0)
    assert relative_gain(round, f, counted) == pytest.approx(max(0.0, gain))
    newton_step = -round.gradient / round.hessian
    assert relative_gain(round, newton_step, counted) == pytest.approx(1.0)
    assert relative_gain(round, -100.0 * f, counted) == 0.0


class Recorder(Learner):
    """Hands the round to another learner and keeps it."""

    step = "unit"
    multi_output = True
    seen: list[Round] = []

    def __init__(self, inner: Learner) -> None:
        self.inner = inner

    def fit(self, round: Round) -> Fitted:
        self.seen.append(round)
        return self.inner.fit(round)


def test_a_term_is_fitted_to_a_sample_of_the_rows_and_scored_on_the_others(monkeypatch) -> None:
    made, counted, learner = make_round(SQUARED, n=4_000), [], Recorder(RFFNewton())
    monkeypatch.setattr(mixture, "relative_gain", lambda round, output, weight: counted.append(weight) or 0.5)
    Recorder.seen.clear()
    Mixture(cosines=learner, trees=learner, subsample=0.6).fit(replace(made, rng=np.random.default_rng(5)))
    (seen,), (rest,) = Recorder.seen, counted
    np.testing.assert_allclose(seen.weight + rest, made.weight)
    single = made.weight < 1.5
    assert single.mean() > 0.3
    assert not (seen.weight * rest)[single].any()
    assert (seen.weight[single] > 0.0).mean() == pytest.approx(0.6, abs=0.04)


@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0, 3.7, 40.0, 1e9])
def test_a_row_of_some_weight_is_so_many_rows(weight: float) -> None:
    n, share = 20_000, 0.7
    made = replace(make_round(SQUARED, n=n), weight=np.full(n, weight), rng=np.random.default_rng(0))
    sample, left_out = sample_rows(made, share)
    np.testing.assert_allclose(sample.weight + left_out, weight)
    kept = sample.weight / weight
    count = min(max(round(weight), 1), 1e6)
    assert ((kept >= 0.0) & (kept <= 1.0)).all()
    assert np.allclose(kept * count, np.rint(kept * count))
    assert kept.mean() == pytest.approx(share, abs=4.0 * np.sqrt(share * (1.0 - share) / (n * count)))
    assert kept.var() == pytest.approx(share * (1.0 - share) / count, rel=0.1)


def test_a_mixture_within_a_mixture_keeps_its_own_books() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    design, y = Design(X), np.sin(X[:, :1])
    outer = Mixture(cosines=Mixture(subsample=0.5), subsample=0.7)
    boost(design, y, loss="squared_error", learner=outer, n_estimators=40, random_state=0)
    books = [
        design.learner_state((Mixture, str(one.get_params()), "books"), lambda: None)
        for one in (outer, outer.cosines)
    ]
    assert all(np.isfinite(one).all() for one in books)
    assert books[0] is not books[1]


class ReadmeCosine(Learner):
    """The best of random cosines, whose length and sign the step chooses."""

    bounded = True

    def fit(self, round):
        X, residual = round.design.X, round.residual[:, 0] * round.weight
        omega = 0.5 * round.rng.standard_normal((20, X.shape[1]))
        best = np.abs(residual @ np.cos(X @ omega.T)).argmax()
        return Cosines(omega[[best]], np.zeros(1), np.ones((1, 1)))


@pytest.mark.parametrize(
    ("loss", "learner"),
    [("huber", "rff_1"), *(("squared_error", one) for one in ("rff_k", ReadmeCosine(), Mixture("rff_1")))],
    ids=str,
)
def test_learners_without_a_length_of_their_own_work_in_any_unit(loss, learner) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    params = {"n_estimators": 30, "learning_rate": 0.3, "early_stopping": False, "random_state": 0}
    for unit in (0.01, 100.0):
        model = RFFBoostRegressor(loss, learner=Mixture(learner), **params).fit(X, unit * y)
        assert model.score(X, unit * y) > 0.8


@pytest.mark.parametrize("parts", [("rff_1", "symmetric_tree"), ("rff_newton", "rff_k")], ids=str)
def test_a_mixture_has_as_many_outputs_as_its_parts(parts) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match=r"multi_output.*mixture"):
        boost(X, X, loss="squared_error", learner=Mixture(*parts), n_estimators=2)
