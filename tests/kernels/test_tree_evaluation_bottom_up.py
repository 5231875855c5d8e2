"""Trees that are evaluated from the leaves up reach the leaves that rows reach node by node."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Trees
from rffboost_ext.kernels.tree_traversal import BLOCK
from rffboost_ext.terms.trees import MAX_NODES_PER_LEVEL, MIN_ROWS

from ..terms.test_terms import walked

D = 5


def grown(rng, n_leaves, chain):
    """Links of a tree: each time a leaf is split, a random one or, in a chain, one of the last two."""
    left, right, leaves = [-1], [-1], [0]
    while len(leaves) < n_leaves:
        place = rng.integers(max(0, len(leaves) - 2), len(leaves)) if chain else rng.integers(len(leaves))
        node = leaves.pop(place)
        left[node], right[node] = len(left), len(left) + 1
        leaves += [left[node], right[node]]
        left += [-1, -1]
        right += [-1, -1]
    return np.array([left, right], dtype=np.int32)


def forest(rng, sizes, outputs=1, dtype=np.float32, chain=False):
    """Trees of so many leaves each; some thresholds and values of rows are the same."""
    links = [grown(rng, size, chain) for size in sizes]
    counts = np.array([one.shape[1] for one in links])
    roots = np.cumsum(counts) - counts
    left, right = np.hstack([np.where(one < 0, one, one + root) for one, root in zip(links, roots, strict=True)])
    n = len(left)
    return Trees(
        roots=roots,
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        feature=rng.integers(0, D, n).astype(np.int32),
        threshold=rng.integers(-4, 5, n).astype(dtype),
        missing_left=rng.random(n) < 0.5,
        value=np.where(left[:, None] < 0, rng.standard_normal((n, outputs)), 0.0),
    )


def rows_of(rng, n, gaps):
    X = rng.integers(-5, 6, (n, D)) + rng.integers(0, 2, (n, D)) * 0.25
    X[rng.random((n, D)) < gaps] = np.nan
    X[rng.random((n, D)) < 0.01] = np.inf
    return X


def both_ways(term, X):
    """Outputs for all rows at once, where trees are folded, and for few rows at a time, where they are not."""
    assert len(X) >= MIN_ROWS
    assert term.bottom_up[0][-1] == (term.left >= 0).sum()
    return term(X), np.concatenate([term(X[start : start + BLOCK]) for start in range(0, len(X), BLOCK)])


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_leaves_are_those_of_a_walk(dtype, outputs, chain, gaps):
    rng = np.random.default_rng(0)
    for n in (MIN_ROWS, -(-MIN_ROWS // BLOCK) * BLOCK, -(-MIN_ROWS // BLOCK) * BLOCK + 1):
        term, X = forest(rng, rng.integers(1, 50, 8), outputs, dtype, chain), rows_of(rng, n, gaps)
        folded, unfolded = both_ways(term, X)
        np.testing.assert_array_equal(folded, unfolded)
        np.testing.assert_array_equal(folded[-40:], [walked(term, row) for row in X[-40:]])


@pytest.mark.parametrize(("sizes", "n_columns"), [([1], D), ([2], D), ([1, 1, 2, 1], D), ([9, 9], 200)], ids=str)
def test_stumps_single_leaves_and_wide_rows(sizes, n_columns):
    rng = np.random.default_rng(1)
    term, X = forest(rng, sizes), np.full((1_500, n_columns), np.nan)
    X[:, :D] = rows_of(rng, len(X), 0.1)
    np.testing.assert_array_equal(*both_ways(term, X))


def test_trees_of_many_nodes_a_level_are_not_folded():
    """Of the others each inner node is evaluated once."""
    rng = np.random.default_rng(2)
    term = forest(rng, [700, 20, 1, 900, 60])
    first, levels, child, *_ = term.level_order
    begin, *_, used, _ = term.bottom_up
    inner = np.diff(np.append(first, len(child))) // 2
    np.testing.assert_array_equal(np.diff(begin), np.where(inner <= MAX_NODES_PER_LEVEL * levels, inner, 0))
    assert 0 < begin[-1] < inner.sum()
    assert used.tolist() == list(range(D))


def test_few_leaves_are_kept_at_a_time():
    """A chain needs two slots, whatever its length, and a balanced tree two for each level."""
    rng = np.random.default_rng(3)
    chain = np.arange(0, 80, 2)
    left, right = np.full((2, 81), -1, dtype=np.int32)
    left[chain], right[chain] = chain + 1, chain + 2
    zeros = {"feature": np.zeros(81, dtype=np.int32), "missing_left": np.zeros(81, dtype=bool)}
    values = {"threshold": np.zeros(81, dtype=np.float32), "value": rng.standard_normal((81, 1))}
    assert Trees(np.zeros(1, dtype=np.int64), left, right, **zeros, **values).bottom_up[-1] == 2
    assert forest(rng, [64]).bottom_up[-1] <= 2 * 6
