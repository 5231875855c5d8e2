"""A loss with an offset is the loss at scores plus the offset, and its baseline the minimum given the offset."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LOSSES, RFFBoostRegressor
from rffboost_ext.losses import SquaredError
from rffboost_ext.losses.constant_scores import WeightedMean
from rffboost_ext.losses.coupling import derivatives_of_rows
from rffboost_ext.losses.offset import WithOffset
from rffboost_ext.testing import check_loss

from ..cases import LOSS_CASES

N = 60
every_loss = pytest.mark.parametrize("case", LOSS_CASES, ids=str)


def with_offset(case, seed=0, spread=1.0):
    """The loss with an offset, prepared, its target, the offset, and weights."""
    rng = np.random.default_rng(seed)
    y, offset = case.targets(rng, N), spread * rng.standard_normal((N, case.n_outputs))
    weight, target = rng.uniform(0.5, 2.0, N), np.hstack([y, offset])
    return WithOffset(case.make(), case.n_outputs).prepared(target, weight), target, offset, weight


@every_loss
def test_the_loss_is_that_of_the_sum_of_scores_and_offset(case):
    loss, target, offset, weight = with_offset(case)
    raw = np.random.default_rng(1).standard_normal(offset.shape)
    inner, y = loss.loss, target[:, : -case.n_outputs]
    np.testing.assert_allclose(loss.value(target, raw), inner.value(y, raw + offset), rtol=1e-9, atol=1e-12)
    pairs = zip(derivatives_of_rows(loss, target, raw, weight), inner.derivatives(y, raw + offset), strict=True)
    for found, wanted in pairs:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@every_loss
def test_the_laws_of_losses_hold(case):
    loss, target, _, _ = with_offset(case)
    n_classes = int(target[:, 0].max()) + 1 if loss.task == "classification" else None
    check_loss(WithOffset(case.make(), case.n_outputs), target, n_classes)


@every_loss
@pytest.mark.parametrize("constant", [0.0, 3.7])
def test_a_constant_offset_moves_the_baseline_only(case, constant):
    _, target, _, weight = with_offset(case)
    target[:, -case.n_outputs :] = constant
    y, loss = target[:, : -case.n_outputs], WithOffset(case.make(), case.n_outputs).prepared(target, weight)
    wanted = case.make().prepared(y, weight).baseline(y, weight) - constant
    np.testing.assert_allclose(loss.baseline(target, weight), wanted, rtol=0, atol=1e-9)


@every_loss
def test_a_weight_of_two_is_a_row_twice(case):
    loss, target, _, _ = with_offset(case)
    twice = np.repeat([1, 2], N // 2)
    found = loss.baseline(target, twice.astype(float))
    np.testing.assert_allclose(
        found, loss.baseline(np.repeat(target, twice, axis=0), np.ones(twice.sum())), rtol=1e-7
    )


@pytest.mark.parametrize("name", ["normal", "laplace", "student_t", "gamma_distribution", "negative_binomial"])
def test_the_baseline_of_several_scores_is_the_minimum_of_each(name):
    rng = np.random.default_rng(0)
    loss = LOSSES.create(name)
    y = (rng.poisson(3.0, (N, 1)) if name == "negative_binomial" else rng.gamma(2.0, size=(N, 1))).astype(float)
    offset, weight = 0.5 * rng.standard_normal((N, loss.n_scores(y))), rng.uniform(0.5, 2.0, N)
    for given in (np.zeros_like(offset), offset):
        target = np.hstack([y, given])
        prepared = WithOffset(loss, offset.shape[1]).prepared(target, weight)
        mean, best = WeightedMean(prepared, target, weight), prepared.baseline(target, weight)
        wanted = prepared.loss.baseline(y, weight)
        if not given.any():
            np.testing.assert_allclose(best, wanted, rtol=1e-5)  # up to the resolution of the target
        free = ~WeightedMean(prepared.loss, y, weight).held_scores(wanted)
        for step in np.vstack([np.diag(size * free) for size in (-1e-3, 1e-3, 0.3)]):
            assert mean.value(best) <= mean.value(best + step) + 1e-9


def test_a_derived_loss_says_if_it_is_no_longer_invariant():
    class Relative(SquaredError):
        def value(self, y, raw):
            return (0.5 * np.square(raw / y - 1.0))[:, 0]

        def derivatives(self, y, raw):
            return (raw / y - 1.0) / y, 1.0 / y**2

        def baseline(self, y, weight):
            return weight @ (1.0 / y) / (weight @ (1.0 / y**2))

    y, offset = 2.0 + np.random.default_rng(0).uniform(size=(N, 1)), np.linspace(0.0, 1.0, N)
    X = np.hstack([y, y**2])
    given = {"learner": "rff_newton", "n_estimators": 3, "early_stopping": False}
    with pytest.raises(ValueError, match="translation_invariant must be False"):
        RFFBoostRegressor(Relative(), **given).fit(X, y[:, 0], base_margin=offset)
    Relative.translation_invariant = False
    model = RFFBoostRegressor(Relative(), **given).fit(X, y[:, 0], base_margin=offset)
    raw, weight = model.ensemble_.baseline + offset[:, None], np.ones(N)
    assert abs(weight @ Relative().derivatives(y, raw)[0])[0] < 1e-8
