"""Copies of a row are recognised by a conformal regressor, unless rows are equal by coincidence."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext.estimators.copies import MIN_DISTINCT, find_copies

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))


def test_copies_have_the_number_of_their_first_row() -> None:
    rows = np.r_[np.arange(60), [5, 5, 0]]
    distinct, code = find_copies(X[rows], X[rows, :1])
    np.testing.assert_array_equal(distinct, np.arange(60))
    np.testing.assert_array_equal(code, rows)
    assert find_copies(X, X[:, :1]) is None


@pytest.mark.parametrize("n", [MIN_DISTINCT - 1, MIN_DISTINCT])
def test_few_distinct_rows_stay(n: int) -> None:
    rows = np.arange(3 * n) % n
    assert (find_copies(X[rows], X[rows, :1]) is None) == (n < MIN_DISTINCT)


@pytest.mark.parametrize("n_levels", [3, 6])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.01])
def test_equal_rows_of_a_table_of_few_values_stay(n_levels: int, share: float) -> None:
    """Each is an observation: without its equals, the others of the same features would contradict it."""
    cells = RNG.integers(0, n_levels, (2_000, 4)).astype(float)
    y = (RNG.random((2_000, 1)) < np.where(cells[:, :1] > 0.0, share, 2.0 * share)).astype(float)
    assert find_copies(cells, y) is None
    # The minority class twenty times, in a table of few values and some more of its own.
    own = np.c_[cells, RNG.random(2_000)]
    often = np.r_[np.arange(2_000), np.repeat(np.flatnonzero(y), 20)]
    assert len(find_copies(own[often], y[often])[0]) == 2_000
