"""Which matrices become sparse rows, and what a row takes."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from rffboost_ext.rows.selection import ENTRY, NUMBER, row_bytes
from rffboost_ext.utils.sparse import MOST_BYTES, MOST_COLUMNS, SparseRows, compressed


@pytest.mark.parametrize("n_columns", [MOST_COLUMNS, MOST_COLUMNS + 1])
@pytest.mark.parametrize("every", [1, 100])
def test_wide_matrices_of_few_entries_are_sparse_rows(n_columns, every):
    X = np.zeros((4, n_columns))
    X[:, ::every] = 2.0
    for matrix in (X, csr_array(X)):
        is_sparse = isinstance(compressed(matrix), SparseRows)
        assert is_sparse == (n_columns > MOST_COLUMNS and every > 1)
        np.testing.assert_array_equal(np.asarray(compressed(matrix)), X)


def test_a_matrix_of_many_bytes_is_sparse_rows():
    assert isinstance(compressed(csr_array((MOST_BYTES // (8 * MOST_COLUMNS) + 1, MOST_COLUMNS))), SparseRows)


def test_bytes_of_a_row_are_those_of_its_matrix():
    dense, few = np.ones((5, 40)), np.eye(5, 40)
    for X in (dense, csr_array(dense), pd.DataFrame(dense), pd.DataFrame(dense, dtype="float32")):
        assert row_bytes(X) == 40 * NUMBER
    assert row_bytes(dense.astype(np.float32)) == 40 * 4
    assert row_bytes(csr_array(few)) == ENTRY
