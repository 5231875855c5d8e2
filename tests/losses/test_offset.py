"""A loss with an offset is the loss at scores plus the offset, and its baseline the minimum given the offset."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LOSSES, Observations, RFFBoostRegressor
from rffboost_ext.losses import SquaredError
from rffboost_ext.losses.constant_scores import WeightedMean, constant_scores

from ..cases import LOSS_CASES

N = 60
every_loss = pytest.mark.parametrize("case", LOSS_CASES, ids=str)


def with_offset(case, offset=None):
    """The prepared loss and rows with an offset (n, C), by default a random one."""
    rng = np.random.default_rng(0)
    y, weight = case.targets(rng, N), rng.uniform(0.5, 2.0, N)
    offset = rng.standard_normal((N, case.n_outputs)) if offset is None else np.full((N, case.n_outputs), offset)
    rows = Observations(y, weight, offset)
    made = case.make()
    return made.prepared(rows.target(made), weight), rows


@every_loss
def test_the_loss_is_that_of_the_sum_of_scores_and_offset(case):
    loss, rows = with_offset(case)
    raw, plain = np.random.default_rng(1).standard_normal(rows.offset.shape), Observations(rows.y, rows.weight)
    pairs = [(rows.losses(loss, raw), plain.losses(loss, raw + rows.offset))]
    pairs += zip(rows.derivatives(loss, raw), plain.derivatives(loss, raw + rows.offset), strict=True)
    for actual, expected in pairs:
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
    if loss.rows == "independent":
        np.testing.assert_array_equal(rows.take([3, 1]).losses(loss, raw[[3, 1]]), pairs[0][0][[3, 1]])


@every_loss
@pytest.mark.parametrize("constant", [0.0, 3.7])
def test_a_constant_offset_moves_the_baseline_only(case, constant):
    loss, rows = with_offset(case, constant)
    expected = case.make().prepared(rows.y, rows.weight).baseline(rows.y, rows.weight) - constant
    np.testing.assert_allclose(constant_scores(loss, rows), expected, rtol=0, atol=1e-9)


@every_loss
def test_a_weight_of_two_is_a_row_twice(case):
    loss, rows = with_offset(case)
    twice = np.repeat([1, 2], N // 2)
    copies = Observations(*(np.repeat(part, twice, axis=0) for part in (rows.y, np.ones(N), rows.offset)))
    scores = constant_scores(loss, Observations(rows.y, twice.astype(float), rows.offset))
    np.testing.assert_allclose(scores, constant_scores(loss, copies), rtol=1e-7)


@pytest.mark.parametrize("name", ["normal", "laplace", "student_t", "gamma_distribution", "negative_binomial"])
def test_each_score_of_a_baseline_is_a_minimum(name):
    rng = np.random.default_rng(0)
    y = (rng.poisson(3.0, (N, 1)) if name == "negative_binomial" else rng.gamma(2.0, size=(N, 1))).astype(float)
    offset, weight = 0.5 * rng.standard_normal((N, LOSSES.create(name).n_scores(y))), rng.uniform(0.5, 2.0, N)
    loss, alone = LOSSES.create(name).prepared(y, weight), Observations(y, weight)
    expected = constant_scores(loss, alone)
    free = WeightedMean(loss, alone).free_scores(expected)
    for rows in (Observations(y, weight, np.zeros_like(offset)), Observations(y, weight, offset)):
        mean, best = WeightedMean(loss, rows), constant_scores(loss, rows)
        if not rows.offset.any():
            np.testing.assert_allclose(best, expected, rtol=1e-5)  # up to the resolution of the target
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
    params = {"learner": "rff_newton", "n_estimators": 3, "early_stopping": False}
    with pytest.raises(ValueError, match="value must be translation_invariant"):
        RFFBoostRegressor(Relative(), **params).fit(X, y[:, 0], base_margin=offset)
    Relative.translation_invariant = False
    model = RFFBoostRegressor(Relative(), **params).fit(X, y[:, 0], base_margin=offset)
    raw, weight = model.ensemble_.baseline + offset[:, None], np.ones(N)
    assert abs(weight @ Relative().derivatives(y, raw)[0])[0] < 1e-8
