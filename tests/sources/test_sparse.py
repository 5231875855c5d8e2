"""Sources of sparse rows: an absent entry is 0, and what is kept is what is kept of dense rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, hstack, random_array

from rffboost_ext import RFFBoostRegressor, sources

from ..estimators.test_memory import traced_peak
from .cut_rows import WAYS, CutRows
from .test_fit import CASES, MEAN, N

FORMATS = [csr_array, csr_matrix, csc_matrix, coo_array]
X = random_array((N, 12), density=0.08, rng=np.random.default_rng(0), format="csr")
X.data[::100], X.data[1::100] = np.nan, 0.0


def batches(X, y, weight=None, group=None, max_rows="auto"):
    """Batches of which every second one is dense, as a ColumnTransformer may give."""

    def blocks():
        for start in range(0, N, 700):
            rows = slice(start, start + 700)
            part, columns = csr_array(X)[rows], (one if one is None else one[rows] for one in (y, weight, group))
            yield (part if start % 1400 else part.toarray(), *columns)

    return sources.batches(blocks, max_rows=max_rows)


def parts(X, y, **columns):
    """Parts, some without rows."""
    return CutRows(X, y, **columns, **WAYS["a tree of parts"])


# Each case in one form, and one case in all forms.
FORMS = [*((form, batches) for form in FORMATS), (csr_array, sources.arrays)]
KEPT = [*((case, csr_array, parts) for case in CASES), *((next(iter(CASES)), *form) for form in FORMS)]


@pytest.mark.parametrize(("case", "form", "kind"), KEPT, ids=lambda one: one.__name__)
def test_rows_that_are_kept_are_those_of_a_dense_copy(case, form, kind):
    model, columns = CASES[case]
    for max_rows in (500, N):
        dense = model.draw(sources.arrays(X.toarray(), **columns, max_rows=max_rows))
        sparse = model.draw(kind(form(X), **columns, max_rows=max_rows))
        assert_array_equal(sparse.X.toarray(), dense.X)
        assert_array_equal(sparse.y, dense.y)
        assert_array_equal(sparse.weight, dense.weight)
        assert sparse.columns == dense.columns


def test_sparse_columns_of_a_table_are_those_of_its_matrix():
    """They keep their names."""
    few = csr_matrix(X[:, :2])
    frame = pd.DataFrame.sparse.from_spmatrix(few, columns=list("ab"))
    y = np.arange(N)
    one, other = (RFFBoostRegressor().draw(CutRows(rows, y, cuts=[700], max_rows=500)) for rows in (few, frame))
    assert_array_equal(other.X.to_numpy(), one.X.toarray())
    assert list(other.X) == list(frame)
    assert one.columns == other.columns


@pytest.mark.parametrize("form", FORMATS)
def test_a_column_with_an_infinite_entry_is_named(form):
    wrong = X.copy()
    wrong.data[-1] = np.inf
    with pytest.raises(ValueError, match=f"infinity in column {wrong.indices[-1]}$"):
        RFFBoostRegressor().fit(sources.arrays(form(wrong), np.arange(N), max_rows=100))


def test_sparse_rows_hold_no_text():
    wide = hstack([X[:300], csr_array((300, 1000))], format="csr")
    model = RFFBoostRegressor(learner="tree", n_estimators=2, categorical_features="auto")
    one, other = (model.fit(sources.arrays(rows, MEAN[:300])).predict(wide) for rows in (wide, wide.toarray()))
    assert_array_equal(one, other)


def test_rows_are_counted_by_their_entries():
    """A row of 5 in 100,000 columns has 60 bytes, and one with many entries those of an array."""
    rows = csr_array((np.ones(500), np.arange(500), np.arange(0, 501, 5)), shape=(100, 100_000))
    assert sources.arrays(rows).row_limit() == 2**28 // 60
    many = np.ones((100, 3))
    assert sources.arrays(csr_matrix(many)).row_limit() == sources.arrays(many).row_limit()


def test_parts_of_a_matrix_are_no_copies():
    (part,) = sources.arrays(X).parts()
    assert np.shares_memory(part.columns["X"].data, X.data)


def test_wide_rows_are_never_dense():
    """Neither the sample nor predictions hold a batch as an array, of 320 MB."""

    def blocks():
        for seed in range(3):
            rows = random_array((1000, 40_000), density=1e-4, rng=np.random.default_rng(seed), format="csr")
            yield rows, rows[:, :20_000].sum(axis=1)

    rows = sources.batches(blocks, max_rows=1500)
    model = RFFBoostRegressor(learner="tree", n_estimators=1, early_stopping=False).fit(rows)
    assert traced_peak(lambda: model.draw(rows)) < 20e6
    assert traced_peak(lambda: sum(map(len, sources.predict(model, rows)))) < 100e6
