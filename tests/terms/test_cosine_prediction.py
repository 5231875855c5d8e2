"""Prediction of cosines: compiled blocks of rows against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rffboost_ext import Cosines
from rffboost_ext.kernels.cosine_prediction import BLOCK
from rffboost_ext.utils.parallel import MIN_TILES_PER_THREAD, use_threads

from ..cases import Array

precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
ROWS = sorted({0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 255, 256, 257, 1000})
COSINES = [*range(1, 10), 100, 1000]
SHAPES = [(BLOCK + 3, 7, M) for M in COSINES] + [(n, 5, 6) for n in ROWS] + [(40, d, 7) for d in range(1, 21)]


def make_cosines(M: int, C: int, d: int, center: float | None = None, seed: int = 0) -> Cosines:
    rng = np.random.default_rng(seed)
    phase, weight = rng.uniform(-np.pi, np.pi, M), rng.standard_normal((M, C))
    middle = None if center is None else center + rng.standard_normal(d)
    return Cosines(rng.standard_normal((M, d)), phase, weight, middle)


def make_X(n: int, d: int, dtype: type = np.float64, center: float = 0.0, seed: int = 1) -> Array:
    return (center + np.random.default_rng(seed).standard_normal((n, d))).astype(dtype)


def plain(term: Cosines, X: Array) -> Array:
    """The formula, in float64."""
    middle = 0.0 if term.center is None else term.center
    return np.cos((X.astype(np.float64) - middle) @ term.omega.T - term.phase) @ term.weight


def allowed(term: Cosines, X: Array) -> Array:
    """What roundings in the precision of X may change, (n, C): a few in each angle, one or two in each product."""
    middle = 0.0 if term.center is None else term.center
    angle = np.abs(X - middle).astype(np.float64) @ np.abs(term.omega.T) + np.abs(term.phase) + 1.0
    # Roundings of an angle are many and of either sign: twice the size of one bounds their sum here.
    return 2.0 * np.finfo(X.dtype).eps * angle @ np.abs(term.weight) + 1e-13 * np.abs(term.weight).sum()


def check(term: Cosines, X: Array) -> None:
    got = term(X)
    assert got.shape == (len(X), term.weight.shape[1])
    assert got.dtype == np.float64
    assert (np.abs(got - plain(term, X)) <= allowed(term, X)).all()


@precisions
@pytest.mark.parametrize("C", [1, 3])
@pytest.mark.parametrize(("n", "d", "M"), SHAPES, ids=str)
def test_every_size(n, d, M, C, dtype):
    check(make_cosines(M, C, d), make_X(n, d, dtype))


@precisions
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(0, 2 * BLOCK + 20),
    d=st.integers(1, 20),
    M=st.integers(1, 30),
    C=st.integers(1, 4),
    center=st.sampled_from([None, 0.0, -3.0, 1e5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape(dtype, n, d, M, C, center, seed):
    check(make_cosines(M, C, d, center, seed), make_X(n, d, dtype, center or 0.0, seed + 1))


@precisions
def test_each_row_is_on_its_own(dtype):
    # Whatever block it is in, and whatever the block holds beside it: to the bit.
    term, X = make_cosines(9, 2, 5), make_X(2 * BLOCK + 9, 5, dtype)
    whole = term(X)
    for rows in ([0], [BLOCK], [len(X) - 1], range(3, BLOCK + 5), range(len(X) - 1, -1, -1)):
        np.testing.assert_array_equal(term(X[list(rows)]), whole[list(rows)])


@precisions
def test_no_row_is_read_or_written_beyond_the_last(dtype):
    # The block's buffer still holds the rows of the block before.
    term, X = make_cosines(5, 1, 3), make_X(BLOCK + 1, 3, dtype)
    X[:BLOCK] = 1e30
    np.testing.assert_array_equal(term(X)[BLOCK:], term(X[BLOCK:]))


def strided(X: Array) -> Array:
    wide = np.zeros((2 * len(X), 3 * X.shape[1]), dtype=X.dtype)
    view = wide[::2, 1::3]
    view[:] = X
    return view


def frozen(X: Array) -> Array:
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": frozen,
    "read-only Fortran": lambda X: np.asfortranarray(frozen(X)),
}


@precisions
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [1, 3, 300])
def test_layout_changes_no_bit(layout, n, dtype):
    term, X = make_cosines(6, 2, 4), make_X(n, 4, dtype)
    laid = LAYOUTS[layout](X)
    before = laid.copy()
    np.testing.assert_array_equal(term(laid), term(X))
    np.testing.assert_array_equal(laid, before)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, np.bool_, np.float16, ">f4", ">f8"], ids=str)
def test_other_numbers_are_taken_as_float64(dtype):
    term = make_cosines(6, 1, 4)
    X = np.random.default_rng(0).integers(0, 100, (20, 4)).astype(dtype)
    np.testing.assert_array_equal(term(X), term(X.astype(np.float64)))


@precisions
def test_read_only_terms(dtype):
    term, X = make_cosines(6, 2, 4, 1.0), make_X(30, 4, dtype)
    expected = term(X)
    for array in (term.omega, term.phase, term.weight, term.center):
        array.flags.writeable = False
    again = Cosines(term.omega, term.phase, term.weight, term.center)
    np.testing.assert_array_equal(again(X), expected)


@precisions
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_threads_change_no_bit(n_jobs, dtype):
    term, X = make_cosines(6, 2, 4), make_X((3 * MIN_TILES_PER_THREAD + 1) * BLOCK + 7, 4, dtype)
    expected = term(X)
    with use_threads(n_jobs):
        np.testing.assert_array_equal(term(X), expected)
