"""Samples of rows whose probabilities differ: sums stay what they are, and rare rows are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rffboost_ext import LOSSES, Observations, RFFBoostClassifier
from rffboost_ext.boosting.early_stopping.validation_split import MAX_HELD_OUT, sample_validation_set
from rffboost_ext.learners.subsampling import sample_by_gradient
from rffboost_ext.losses import SquaredError
from rffboost_ext.rows.dataset import Dataset
from rffboost_ext.rows.sampling import (
    BLOCK_SIZE,
    draw_uniform,
    draw_weighted,
    gradient_magnitude,
    sampling_probabilities,
)

from ..cases import LOSS_CASES, Array, make_round


def draw(seed: int, gradient: Array, weight: Array, size: int) -> tuple[Array, Array]:
    """Rows drawn by their probabilities, and their factors."""
    chances = sampling_probabilities(np.abs(gradient).sum(axis=1), weight, size)
    return draw_weighted(np.random.default_rng(seed), chances, size)


def rare(n: int, share: float, seed: int = 0) -> tuple[Array, Array]:
    """A gradient as of a class with that share of the rows, and weights from 0.5 to 2."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    return np.where(y, share - 1.0, share)[:, None], rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("size", [1, 10, 300])
def test_thinning_keeps_the_order(size: int) -> None:
    rows = np.arange(0, 600, 3)
    kept = draw_uniform(np.random.default_rng(0), rows, size)
    assert (np.diff(kept) > 0).all()
    assert np.isin(kept, rows).all()
    assert 1 <= len(kept) <= len(rows)
    assert len(kept) == 200 or abs(len(kept) - size) < 5 * np.sqrt(size) + 1


@pytest.mark.parametrize("size", [500, 5_000, 15_000])
def test_thinning_keeps_the_size(size: int) -> None:
    counts = [len(draw_uniform(np.random.default_rng(seed), np.arange(20_000), size)) for seed in range(100)]
    assert np.mean(counts) == pytest.approx(size, abs=4.0 * np.sqrt(size) / 10.0)


def stated(gradient: Array, weight: Array, size: int) -> Array:
    """The probabilities by their formula, k by bisection."""
    slope = weight * np.abs(gradient).sum(axis=1)
    share = 2.0 / 3.0 * weight / weight.sum() + slope / slope.sum() / 3.0
    low, high = 0.0, 1e6 * size
    for _ in range(200):
        k = 0.5 * (low + high)
        low, high = (k, high) if np.minimum(1.0, k * share).sum() < size else (low, k)
    return np.minimum(1.0, high * share)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("heavy", [1.0, 100.0])
@pytest.mark.parametrize("size", [20, 150])
def test_probabilities_are_those_that_are_stated(n_outputs: int, heavy: float, size: int) -> None:
    rng = np.random.default_rng(size)
    gradient, weight = rng.normal(size=(300, n_outputs)), rng.uniform(0.5, 2.0, 300)
    weight[::50] *= heavy
    chances = sampling_probabilities(np.abs(gradient).sum(axis=1), weight, size)
    np.testing.assert_allclose(chances, stated(gradient, weight, size), rtol=1e-9)
    assert chances.sum() == pytest.approx(size)
    assert (heavy > 1.0) == (chances == 1.0).any() or size == 150


@pytest.mark.parametrize("share", [0.5, 0.05, 0.002])
def test_drawn_rows_are_some_of_the_rows_in_their_order(share: float) -> None:
    gradient, weight = rare(20_000, share)
    kept, factor = draw(0, gradient, weight, 1_000)
    assert (np.diff(kept) > 0).all()
    assert 0 <= kept[0] <= kept[-1] < 20_000
    assert len(kept) == len(factor) == pytest.approx(1_000, abs=150)
    assert ((factor > 0.0) & (factor <= 1.5 * weight.max() / weight.min())).all()


def test_all_rows_are_drawn_where_there_are_no_more() -> None:
    gradient, weight = rare(50, 0.1)
    kept, factor = draw(0, gradient, weight, 50)
    np.testing.assert_array_equal(kept, np.arange(50))
    np.testing.assert_array_equal(factor, 1.0)


@pytest.mark.parametrize("share", [0.5, 0.02])
def test_weighted_sums_are_kept_in_expectation(share: float) -> None:
    n, size = 5_000, 500
    gradient, weight = rare(n, share)
    values = np.column_stack([weight, weight * gradient[:, 0], weight * np.arange(n)])
    sums = []
    for seed in range(400):
        kept, factor = draw(seed, gradient, weight, size)
        sums.append(factor @ values[kept])
    mean, error = np.mean(sums, axis=0), np.std(sums, axis=0) / 20.0
    assert (np.abs(mean - size / n * values.sum(axis=0)) < 4.0 * error).all()


@pytest.mark.parametrize(
    "weight", [np.r_[1e12, np.ones(999)], np.r_[np.ones(100), np.full(900, 1e-300)]], ids=["heavy", "light"]
)
def test_weights_of_any_size_are_drawn_from(weight: Array) -> None:
    gradient = np.zeros((1_000, 1))
    chances = sampling_probabilities(gradient[:, 0], weight, 100)
    assert ((chances >= 0.0) & (chances <= 1.0)).all()
    kept, factor = draw(0, gradient, weight, 100)
    assert np.isfinite(factor).all()
    assert set(np.flatnonzero(weight == weight.max())[:90]) & set(kept)
    assert len(kept) == pytest.approx(100, abs=60)


@pytest.mark.parametrize(
    ("case", "n"), [*((case, 60) for case in LOSS_CASES), (LOSS_CASES[0], 2 * BLOCK_SIZE + 7)], ids=str
)
def test_slopes_are_sums_of_absolute_gradients(case, n) -> None:
    made = make_round(case, n=n)
    loss, y, raw = made.loss, made.y, made.raw[0]
    gradient, _ = loss.derivatives(y, np.tile(raw, (len(y), 1)))
    expected = np.abs(np.sqrt(loss.scales.unit) * gradient).sum(axis=1)
    np.testing.assert_allclose(
        gradient_magnitude(loss, Observations(y, np.ones(len(y))), raw), expected, rtol=1e-12
    )


def test_held_out_rows_that_are_watched_weigh_as_much_by_class_as_all() -> None:
    n, loss = 100_000, LOSSES.create("log_loss")
    y = np.zeros((n, 1))
    y[:200] = 1.0
    held = Dataset(np.zeros((n, 1)), y, np.ones(n))
    some = sample_validation_set(held, loss, seed=0)
    assert len(some) == pytest.approx(MAX_HELD_OUT, rel=0.05)
    assert some.y.sum() == 200, "all rows of a rare class"
    assert np.average(some.y[:, 0], weights=some.weight) == pytest.approx(0.002, rel=0.05)
    few = held.take(np.arange(1_000))
    assert sample_validation_set(few, loss, seed=0) is few


def test_rare_events_among_many_rows_are_ranked_and_counted() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150_000, 8)).astype(np.float32)
    chance = 1.0 / (1.0 + np.exp(7.0 - 1.2 * X[:, 0] - 0.8 * np.sin(2.0 * X[:, 1])))
    y = rng.random(len(X)) < chance
    probability = RFFBoostClassifier(n_estimators=30, random_state=0).fit(X, y).predict_proba(X)[:, 1]
    assert roc_auc_score(y, probability) > roc_auc_score(y, chance) - 0.02
    assert probability.sum() == pytest.approx(y.sum(), rel=0.08)


@pytest.mark.parametrize("size", [1, 2])
def test_a_sample_of_hardly_any_rows_prefers_none(size: int) -> None:
    rows, counts, light = np.arange(100), np.zeros(100), np.ones(100)
    for seed in range(1_500):
        kept, _ = draw(seed, np.ones((100, 1)), light, size)
        counts[kept] += 1
        counts[draw_uniform(np.random.default_rng(seed), rows, size)] += 1
    assert counts.max() < counts.mean() + 6 * np.sqrt(counts.mean())
    assert counts.sum() >= 3_000


def test_rows_that_are_all_drawn_by_chance_have_their_factors() -> None:
    """Otherwise those that are hardly ever left out would count for less."""
    base = make_round(LOSS_CASES[0], n=6)
    uneven = replace(base, gradient=np.array([[100.0]] * 3 + [[0.01]] * 3), weight=np.ones(6))
    total = np.zeros(6)
    for seed in range(4_000):
        sampled, rows = sample_by_gradient(replace(uneven, rng=np.random.default_rng(seed)), 5)
        total[rows] += sampled.weight[rows]
    np.testing.assert_allclose(total / 4_000, 5 / 6, atol=0.02)


def test_gradients_that_are_not_finite_are_named() -> None:
    class Odd(SquaredError):
        def derivatives(self, y, raw):
            gradient, hessian = super().derivatives(y, raw)
            return np.where(y > 2.0, np.nan, gradient), hessian

    with pytest.raises(ValueError, match="gradient must be finite, got NaN or infinity at the baseline"):
        gradient_magnitude(Odd(), Observations(np.arange(4.0)[:, None], np.ones(4)), np.zeros(1))
