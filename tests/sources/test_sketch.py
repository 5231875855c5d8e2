"""The sample of one pass: unbiased, the same for any cut of the rows, and exact if there are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRanker, RFFBoostRegressor

from .cut_rows import CutRows

N = 3000
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2)).astype(np.float32)
Y = np.exp(2.0 * X[:, 0]) + RNG.standard_normal(N)
WEIGHT = RNG.uniform(0.0, 2.0, N) * (RNG.random(N) > 0.1)
QUERY = np.sort(RNG.integers(0, 200, N)).astype(str)
LABEL = np.where(Y > 30.0, "rare", np.where(Y > 1.0, "b", "a"))
CASES = {
    "gradients": (RFFBoostRegressor(), {"y": Y, "weight": WEIGHT}),
    "classes": (RFFBoostClassifier(class_weight="balanced"), {"y": LABEL}),
    "queries": (RFFBoostRanker(), {"y": np.digitize(Y, [0, 1, 4]), "group": QUERY}),
    "groups held out": (RFFBoostRegressor(), {"y": Y, "group": QUERY}),
    "coupled rows": (RFFBoostRegressor("cox"), {"y": np.column_stack([Y > 0.0, np.abs(Y)]), "weight": WEIGHT}),
    "uniform": (ConformalRegressor(), {"y": Y, "weight": WEIGHT}),
}


def drawn(case, max_rows, seed=0, **cut):
    """What the estimator of a case keeps: X, y, weights and groups."""
    estimator, columns = CASES[case]
    sample = estimator.set_params(random_state=seed).draw(CutRows(X, **columns, max_rows=max_rows, **cut))
    return sample.X, sample.y, sample.weight, sample.groups


def assert_equal(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=4, deadline=None)
@given(
    cuts=st.lists(st.integers(0, N), max_size=6).map(sorted),
    size=st.integers(200, N),
    is_tree=st.booleans(),
    knows_rows=st.booleans(),
)
def test_sample_does_not_depend_on_cuts_batches_and_merges(case, cuts, size, is_tree, knows_rows):
    cut = {"cuts": cuts, "size": size, "is_tree": is_tree, "knows_rows": knows_rows}
    assert_equal(drawn(case, 500, **cut), drawn(case, 500))


def test_sample_of_more_rows_than_targets_are_kept_of_does_not_depend_on_cuts():
    """Probabilities are of 2^18 targets at most."""
    features = np.random.default_rng(0).standard_normal((2**18 + 2**15, 1)).astype(np.float32)
    one, other = (
        RFFBoostRegressor(random_state=0).draw(CutRows(features, features[:, 0] ** 3, max_rows=500, **cut))
        for cut in ({"size": 10**6}, {"cuts": [70_000, 200_000], "size": 50_000, "is_tree": True})
    )
    assert_equal((one.X, one.y, one.weight), (other.X, other.y, other.weight))


@pytest.mark.parametrize("case", CASES)
def test_few_rows_are_all_kept_as_they_are(case):
    columns = CASES[case][1]
    expected = X, *(columns.get(name) for name in ("y", "weight", "group"))
    assert_equal(drawn(case, N, cuts=[7, 1000], is_tree=True), expected)


@pytest.mark.parametrize("case", CASES)
def test_sample_has_the_size_of_its_bound(case):
    n_rows = len(drawn(case, 500)[0])
    # Whole queries may leave room for less than one.
    assert n_rows == 500 if case != "queries" else 450 < n_rows <= 500


@pytest.mark.parametrize("case", CASES)
def test_weighted_sums_are_unbiased(case):
    """A sample of m of n rows has, in expectation, m / n times any weighted sum over all rows."""
    columns = CASES[case][1]
    weight = columns.get("weight", np.ones(N))
    n_used = (weight > 0.0).sum()

    def sums(features, y, weight, group):
        weight = np.ones(len(features)) if weight is None else weight
        return weight.sum(), weight @ features[:, 0], weight @ (features[:, 1] > 1.0)

    def estimate(seed):
        sample = drawn(case, 400, seed, knows_rows=True)
        return np.array(sums(*sample)) * n_used / len(sample[0])

    estimates = np.array([estimate(seed) for seed in range(40)])
    error = estimates.mean(axis=0) - sums(X, None, weight, None)
    # Sums that each sample has exactly differ by rounding only.
    assert (np.abs(error) <= 4.0 * estimates.std(axis=0) / np.sqrt(40.0) + 1e-9 * n_used).all()


def test_rows_of_large_gradients_are_drawn_more_often():
    large = np.abs(Y - Y.mean()) > 3.0 * Y.std()
    share = np.isin(Y, drawn("gradients", 600)[1])[WEIGHT > 0.0]
    assert share[large[WEIGHT > 0.0]].mean() > 0.6 > 0.25 > share[~large[WEIGHT > 0.0]].mean()


def test_rare_class_is_kept_as_a_whole():
    y = np.zeros(50_000)
    y[::10_000] = 1.0
    features = np.arange(50_000.0)[:, None]
    for seed in range(5):
        source = CutRows(features, y, max_rows=2000, size=10_000, knows_rows=True)
        sample = RFFBoostClassifier(random_state=seed).draw(source)
        assert (sample.y == 1.0).sum() == 5
        share = np.average(sample.y, weights=sample.weight)
        np.testing.assert_allclose(share, 1e-4, rtol=0.1)


def test_queries_are_drawn_as_a_whole():
    _, _, _, group = drawn("queries", 500)
    labels, counts = np.unique(group, return_counts=True)
    expected = dict(zip(*np.unique(QUERY, return_counts=True), strict=True))
    assert {label: expected[label] for label in labels} == dict(zip(labels, counts, strict=True))


def test_largest_query_is_kept_even_if_it_exceeds_the_bound():
    source = CutRows(X, np.arange(N) % 3, group=np.zeros(N), max_rows=10)
    assert len(RFFBoostRanker().draw(source).X) == N
