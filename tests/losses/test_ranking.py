"""Losses of rankings: brute-force sums over pairs, and NDCG as scikit-learn computes it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from rffboost_ext import LOSSES
from rffboost_ext.losses import LambdaRank, Pairwise
from rffboost_ext.losses.query_ranking import ndcg_of_queries
from rffboost_ext.testing import check_loss

losses = pytest.mark.parametrize(
    "loss", [LambdaRank(), LambdaRank(None), LambdaRank(k=3), Pairwise(), Pairwise("equal")], ids=str
)
N = 60
WEIGHT = np.ones(N)


def rows(seed=0, n=N):
    """Relevance and codes of six queries whose rows are mixed, one without a relevant row; and scores."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 6, n)
    relevance = np.where(code == 3, 0, rng.integers(0, 4, n))
    return np.column_stack([relevance, code]).astype(float), rng.standard_normal((n, 1))


def discount(rank, k):
    return 1.0 / np.log2(2.0 + rank) if k is None or rank < k else 0.0


def pair_weight(loss, relevance, ranks, a, b):
    """What a pair of rows of one query counts."""
    if isinstance(loss, Pairwise):
        return (1.0 if loss.weighting == "equal" else relevance[a] - relevance[b]) / len(relevance)
    gain = 2.0**relevance - 1.0
    best = sum(g * discount(rank, loss.k) for rank, g in enumerate(sorted(gain, reverse=True)))
    return (gain[a] - gain[b]) * abs(discount(ranks[a], loss.k) - discount(ranks[b], loss.k)) / best


def summed_over_pairs(loss, y, raw):
    """Value, gradient and hessian of each row, pair by pair."""
    sums = np.zeros((3, len(y)))
    for query in np.unique(y[:, 1]):
        index = np.flatnonzero(y[:, 1] == query)
        relevance, score = y[index, 0], raw[index, 0]
        ranks = np.argsort(np.argsort(-score))
        for a, b in np.argwhere(relevance[:, None] > relevance):
            weight = pair_weight(loss, relevance, ranks, a, b)
            p = 1.0 / (1.0 + np.exp(score[a] - score[b]))
            sums[0, index[[a, b]]] -= 0.5 * weight * np.log1p(-p)
            sums[1, index[[a, b]]] += weight * p * np.array([-1.0, 1.0])
            sums[2, index[[a, b]]] += weight * p * (1.0 - p)
    return sums


@losses
def test_sums_over_pairs(loss):
    y, raw = rows()
    gradient, hessian = loss.derivatives(y, raw)
    derivatives = np.stack([loss.value(y, raw), gradient[:, 0], hessian[:, 0]])
    np.testing.assert_allclose(derivatives, summed_over_pairs(loss, y, raw), rtol=1e-12, atol=1e-13)


@losses
def test_laws(loss):
    check_loss(loss, rows()[0])


@losses
@pytest.mark.parametrize("levels", [1, 3, 1000], ids=["all tied", "some tied", "none tied"])
def test_rows_may_be_in_any_order(loss, levels):
    y, raw = rows(2)
    raw = np.floor(levels * raw / 3.0)
    order = np.random.default_rng(5).permutation(N)
    for one, other in zip(loss.derivatives(y, raw), loss.derivatives(y[order], raw[order]), strict=True):
        np.testing.assert_allclose(one[order], other, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(loss.value(y, raw)[order], loss.value(y[order], raw[order]), rtol=1e-12)


@losses
def test_derivatives_of_ties_are_means_over_their_orders(loss):
    y = np.column_stack([[0.0, 2.0, 1.0, 0.0, 3.0], np.zeros(5)])
    score = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    orders = [np.append(order, 0) for order in permutations(range(4))]
    broken = [loss.derivatives(y, (score + 1e-9 * order)[:, None])[0] for order in orders]
    tied = loss.derivatives(y, score[:, None])[0]
    np.testing.assert_allclose(np.mean(broken, axis=0), tied, atol=1e-8)
    assert np.abs(tied).min() > 1e-3


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_the_unit_makes_hessians_of_equal_scores_1(loss):
    y, _ = rows()
    prepared = LOSSES.create(loss).prepared(y, WEIGHT)
    _, hessian = prepared.derivatives(y, np.full((N, 1), 7.0))
    assert hessian.mean() * prepared.scales.unit == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
@pytest.mark.parametrize(
    ("column", "value", "message"), [(0, -1.0, "between 0 and 31, got -1"), (0, 32.0, "between 0 and 31, got 32")]
)
def test_refused_relevance(loss, column, value, message):
    y, _ = rows()
    y[5, column] = value
    with pytest.raises(ValueError, match=message):
        LOSSES.create(loss).check_target(y)


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_refused_columns_and_weights(loss):
    y, _ = rows()
    with pytest.raises(ValueError, match="two columns"):
        LOSSES.create(loss).n_scores(y[:, :1])
    with pytest.raises(ValueError, match="sample_weight must be constant within a query, got"):
        LOSSES.create(loss).prepared(y, np.arange(1.0, N + 1.0))
    assert LOSSES.create(loss).prepared(y, 1.0 + y[:, 1])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-2, 2)), min_size=2, max_size=40),
    st.sampled_from([None, 1, 3, 50]),
)
@settings(max_examples=60, deadline=None)
def test_ndcg_is_scikit_learns(rows, k):
    code, relevance, score = np.array(rows, dtype=float).T
    _, ours = ndcg_of_queries(np.column_stack([relevance, code]), score, k)
    for query, value in zip(np.unique(code), ours, strict=True):
        index = code == query
        if not relevance[index].any():
            assert np.isnan(value)
        elif index.sum() > 1:
            theirs = ndcg_score(2.0 ** relevance[index][None] - 1.0, score[index][None], k=k)
            assert value == pytest.approx(theirs, rel=1e-12)
