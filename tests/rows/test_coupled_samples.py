"""Samples of coupled rows: whole groups with one factor on their weights, or uniform ones."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext.boosting.early_stopping.validation_split import MAX_HELD_OUT, sample_validation_set
from rffboost_ext.losses import Cox, LambdaRank, SquaredError
from rffboost_ext.rows.dataset import Dataset, are_rows_of

RNG = np.random.default_rng(0)
# Queries of 1 to 20 rows, in no order.
QUERY = RNG.permutation(np.repeat(np.arange(200), RNG.integers(1, 21, 200)))
N = len(QUERY)
RELEVANCE = np.where(QUERY < 20, RNG.integers(0, 4, N), RNG.integers(0, 2, N))
DATA = Dataset(
    RNG.normal(size=(N, 2)), np.column_stack([RELEVANCE, QUERY]).astype(float), (1.0 + np.arange(200) % 3)[QUERY]
)
SIZE, LOSS = 300, LambdaRank(unit=1.0)


def samples(rows: Dataset, loss, count: int) -> list[Dataset]:
    chances = rows.sampling_probabilities(loss, np.zeros(1), SIZE)
    return [rows.sample(np.random.default_rng(seed), chances, SIZE) for seed in range(count)]


def test_groups_are_drawn_as_a_whole_with_one_factor() -> None:
    rows = DATA.coupled_by(LOSS)
    for sample in samples(rows, LOSS, 5):
        query = sample.y[:, 1].astype(int)
        np.testing.assert_array_equal(np.bincount(query)[query], np.bincount(QUERY)[query])
        least, most = (
            np.array([f(sample.weight[query == k]) for k in np.unique(query)]) for f in (np.min, np.max)
        )
        np.testing.assert_array_equal(least, most)
        np.testing.assert_array_equal(sample.group, rows.group[np.isin(QUERY, query)])


def test_large_validation_sets_are_samples_of_whole_groups() -> None:
    query = RNG.permutation(np.repeat(np.arange(MAX_HELD_OUT // 8), 10))
    y = np.column_stack([query % 3, query]).astype(float)
    held = Dataset(np.zeros((len(y), 1)), y, 1.0 + query % 2).coupled_by(LOSS)
    some = sample_validation_set(held, LOSS, seed=0)
    drawn, factor = some.y[:, 1].astype(int), some.weight / (1.0 + some.y[:, 1] % 2)
    assert len(some) == pytest.approx(MAX_HELD_OUT, rel=0.05)
    assert set(np.bincount(drawn)) == {0, 10}
    np.testing.assert_allclose(factor, np.bincount(drawn, factor)[drawn] / 10)


def test_weighted_sums_over_groups_are_unbiased() -> None:
    drawn = samples(DATA.coupled_by(LOSS), LOSS, 1_000)
    for values, column in ((lambda rows: rows.y[:, 0], RELEVANCE), (lambda rows: np.ones(len(rows)), np.ones(N))):
        sums = np.array([one.weight @ values(one) for one in drawn])
        expected = SIZE / N * float(DATA.weight @ column)
        assert sums.mean() == pytest.approx(expected, abs=4.0 * sums.std() / np.sqrt(len(sums)))
    assert np.mean([len(one) for one in drawn]) == pytest.approx(SIZE, rel=0.03)
    assert max(one.weight.max() for one in drawn) <= 1.5 * DATA.weight.max() + 1e-9


def test_the_probability_of_a_group_is_proportional_to_the_mean_share_of_its_rows() -> None:
    rows = Dataset(DATA.X, DATA.y[:, :1], DATA.weight, QUERY, "groups")
    chances = rows.sampling_probabilities(SquaredError(), np.zeros(1), SIZE)
    slope = rows.weight * RELEVANCE
    share = 2.0 / 3.0 * rows.weight / rows.weight.sum() + slope / slope.sum() / 3.0
    mean = np.bincount(QUERY, share) / np.bincount(QUERY)
    np.testing.assert_allclose(chances, SIZE * mean[QUERY])


def test_a_sample_has_one_group_at_least() -> None:
    rows = Dataset(np.zeros((400, 1)), np.zeros((400, 2)), np.ones(400), np.repeat([0, 1], 200), "groups")
    sizes = {len(rows.sample(np.random.default_rng(seed), np.full(400, 0.01), 4)) for seed in range(50)}
    assert sizes <= {200, 400}


def test_samples_of_risk_sets_are_uniform() -> None:
    event = RNG.random(N) < 0.05
    y = np.column_stack([event, RNG.exponential(size=N)]).astype(float)
    rows = Dataset(DATA.X, y, DATA.weight).coupled_by(Cox())
    drawn = samples(rows, Cox(), 300)
    for sample in drawn[:5]:
        np.testing.assert_array_equal(sample.weight, DATA.weight[np.isin(y[:, 1], sample.y[:, 1])])
    assert np.mean([len(one) for one in drawn]) == pytest.approx(SIZE, rel=0.03)
    assert np.mean([one.y[:, 0].mean() for one in drawn]) == pytest.approx(event.mean(), rel=0.1)


def test_rows_are_coupled_by_any_loss_or_metric() -> None:
    coupled = DATA.coupled_by(SquaredError(), LOSS)
    assert (coupled.coupling, coupled.n_groups) == ("groups", 200)
    np.testing.assert_array_equal(coupled.group, QUERY)
    both = DATA.coupled_by(Cox(), LOSS)
    assert (both.coupling, both.n_groups) == ("all", 200)
    assert DATA.coupled_by(SquaredError()) is DATA


def test_a_group_with_a_training_row_is_one_of_the_training_set() -> None:
    rows = DATA.coupled_by(LOSS)
    is_training = np.isin(QUERY, [3, 4]) & (np.arange(N) % 2 == 0)
    np.testing.assert_array_equal(
        are_rows_of(rows.take(np.flatnonzero(is_training)), rows), np.isin(QUERY, QUERY[is_training])
    )
