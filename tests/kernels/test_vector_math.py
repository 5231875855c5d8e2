"""Sine, cosine, exponential and logarithm against arithmetic of 200 bits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rffboost_ext.kernels import vector_math as elementary
from rffboost_ext.kernels.kernel import CompiledKernel, kernel

from ..cases import Array

BITS = 200
PRECISIONS = [np.float64, np.float32]
precisions = pytest.mark.parametrize("dtype", PRECISIONS, ids=["float64", "float32"])
# Arguments for which the errors are promised, and below which no multiple of pi / 2 is.
FAR = {np.float64: 1e6, np.float32: 1e4}
RANGE = {np.float64: (-708.0, 709.0), np.float32: (-87.0, 88.0)}


@kernel("T[1] T[1]* T[1]*")
def sincos_array(z, sine, cosine):
    for i in range(len(z)):
        sine[i], cosine[i] = elementary.sincos(z[i])


@kernel("T[1] T[1]*")
def cosine_array(z, out):
    for i in range(len(z)):
        out[i] = elementary.cosine(z[i])


@kernel("T[1] T[1]*")
def cospi_array(z, out):
    for i in range(len(z)):
        out[i] = elementary.cospi(z[i])


@kernel("f8[1] f8[1]*")
def log1p_array(x, out):
    for i in range(len(x)):
        out[i] = elementary.log1p(x[i])


def sincos(z: Array) -> tuple[Array, Array]:
    sine, cosine = np.empty_like(z), np.empty_like(z)
    sincos_array(z, sine, cosine)
    return sine, cosine


def elementwise(pass_over_array: CompiledKernel) -> Callable[[Array], Array]:
    """The function of an array that a kernel writes to another one."""

    def function(x: Array) -> Array:
        out = np.empty_like(x)
        pass_over_array(x, out)
        return out

    return function


cosine, cospi, log1p = (elementwise(one) for one in (cosine_array, cospi_array, log1p_array))
exp = elementwise(elementary.exp_array)


def errors(got: Array, function: Callable[[mpmath.mpf], mpmath.mpf], at: Array) -> tuple[float, float]:
    """Largest error of the values `got`: in units in the last place of the true ones, and as it is."""
    with mpmath.workprec(BITS):
        true = [function(mpmath.mpf(float(x))) for x in at]
        off = np.array([float(abs(mpmath.mpf(float(g)) - t)) for g, t in zip(got, true, strict=True)])
    place = np.spacing(np.abs(np.array([float(t) for t in true], dtype=got.dtype)))
    return float((off / place).max()), float(off.max())


def multiples_of_half_pi(dtype: type) -> Array:
    """The numbers nearest to k pi / 2, for all of them below FAR: where sine or cosine nearly vanishes."""
    with mpmath.workprec(2 * BITS):
        numerator = int(mpmath.pi / 2 * mpmath.mpf(2) ** BITS)
    last = int(FAR[dtype] * 2.0 / np.pi)
    # The quotient of two integers is rounded once.
    return np.array([k * numerator / 2**BITS for k in range(1, last + 1)]).astype(dtype)


def hardest(z: Array, count: int) -> Array:
    """Those of which most digits are lost in the reduction, with both signs."""
    left = np.minimum(np.abs(np.sin(z)), np.abs(np.cos(z)))
    worst = z[np.argsort(left)[:count]]
    return np.concatenate([worst, -worst])


def spread(dtype: type, far: float, count: int) -> Array:
    """Numbers up to `far` of either sign: some uniform, some small, some of every order of magnitude."""
    rng = np.random.default_rng(0)
    parts = rng.uniform(-far, far, count), rng.uniform(-8.0, 8.0, count), far * 10.0 ** rng.uniform(-30, 0, count)
    return np.concatenate(parts).astype(dtype)


def test_sine_and_cosine_to_two_units_in_the_last_place():
    near = multiples_of_half_pi(np.float64)
    assert abs(near[-1] - FAR[np.float64]) < np.pi
    near = hardest(near, 200)
    assert np.minimum(np.abs(np.sin(near)), np.abs(np.cos(near))).min() < 1e-16, "the test is a hard one"
    z = np.concatenate([spread(np.float64, FAR[np.float64], 400), near])
    for got, function in zip(sincos(z), (mpmath.sin, mpmath.cos), strict=True):
        assert errors(got, function, z)[0] <= 2.0


def test_sine_and_cosine_in_float32():
    z = np.concatenate([spread(np.float32, FAR[np.float32], 200_000), multiples_of_half_pi(np.float32)])
    for got, function in zip(sincos(z), (np.sin, np.cos), strict=True):
        assert got.dtype == np.float32
        assert np.abs(got - function(z.astype(np.float64))).max() <= 2.5e-7


@pytest.mark.parametrize(("dtype", "bound"), [(np.float64, 4e-16), (np.float32, 2.5e-7)], ids=["f8", "f4"])
@pytest.mark.parametrize(("function", "true"), [(cosine, mpmath.cos), (cospi, mpmath.cospi)], ids=["cos", "cospi"])
def test_absolute_error_of_cosines(function, true, dtype, bound):
    z = np.concatenate([spread(dtype, FAR[dtype], 300), hardest(multiples_of_half_pi(dtype), 100)])
    got = function(z)
    assert got.dtype == dtype
    assert errors(got, true, z)[1] <= bound


@precisions
def test_cosine_of_whole_and_half_turns(dtype):
    k = np.arange(-1000, 1001)
    np.testing.assert_array_equal(cospi(k.astype(dtype)), np.where(k % 2 == 0, 1.0, -1.0))
    assert np.abs(cospi((k + 0.5).astype(dtype))).max() <= np.finfo(dtype).eps


@precisions
def test_exponential_to_two_units_in_the_last_place(dtype):
    low, high = RANGE[dtype]
    rng = np.random.default_rng(0)
    near = 10.0 ** rng.uniform(-30, 0, 200)
    half = np.arange(int(low / np.log(2.0)), int(high / np.log(2.0))) + 0.5
    x = np.concatenate([rng.uniform(low, high, 500), near, -near, half * np.log(2.0), [low, high]]).astype(dtype)
    got = exp(x)
    assert got.dtype == dtype
    assert errors(got, mpmath.exp, x)[0] <= 2.0


def test_logarithm_to_four_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.random(700), 10.0 ** rng.uniform(-300, 0, 300), [1.0]])
    assert errors(log1p(x), mpmath.log1p, x)[0] <= 4.0


@precisions
def test_exponential_is_cut_where_it_would_leave_the_normal_numbers(dtype):
    low, high = (dtype(end) for end in RANGE[dtype])
    huge = np.finfo(dtype).max
    ends = exp(np.array([low, high]))
    beyond = exp(np.array([np.nextafter(low, -huge), -huge, np.nextafter(high, huge), huge]))
    np.testing.assert_array_equal(beyond, ends[[0, 0, 1, 1]])
    assert ends[0] >= np.finfo(dtype).tiny
    assert np.isfinite(ends[1])


@precisions
def test_exact_values(dtype):
    zero = np.array([0.0, -0.0], dtype=dtype)
    sine, cosines = sincos(zero)
    np.testing.assert_array_equal(sine, 0.0)
    for ones in (cosines, cosine(zero), cospi(zero), exp(zero)):
        np.testing.assert_array_equal(ones, 1.0)


def numbers(dtype: type, low: float, high: float) -> st.SearchStrategy[Array]:
    """Arrays of 1 to 80 numbers: several vectors, and a remainder."""
    width = np.dtype(dtype).itemsize * 8
    element = st.floats(np.float32(low), np.float32(high), width=width, allow_subnormal=False)
    return arrays(dtype, st.integers(1, 80), elements=element)


@precisions
@given(data=st.data())
def test_identities(dtype, data):
    z = data.draw(numbers(dtype, -FAR[dtype], FAR[dtype]))
    eps = np.finfo(dtype).eps
    sine, cosines = sincos(z)
    mirrored = sincos(-z)
    np.testing.assert_array_equal(mirrored[0], -sine)
    np.testing.assert_array_equal(mirrored[1], cosines)
    np.testing.assert_array_equal(cosine(-z), cosine(z))
    np.testing.assert_allclose(sine**2 + cosines**2, 1.0, rtol=0, atol=4.0 * eps)
    np.testing.assert_allclose(cosine(z), cosines, rtol=0, atol=4.0 * eps)
    assert np.abs(cosine(z)).max() <= 1.0 + eps


@precisions
@given(data=st.data())
def test_a_value_does_not_depend_on_its_neighbours(dtype, data):
    # Vector code and the code for what a vector leaves over must round alike.
    z = data.draw(numbers(dtype, *RANGE[dtype]))
    for function in (lambda z: sincos(z)[0], lambda z: sincos(z)[1], cosine, cospi, exp):
        alone = np.concatenate([function(z[i : i + 1].copy()) for i in range(len(z))])
        np.testing.assert_array_equal(function(z), alone)


@precisions
def test_values_are_bounded_where_no_multiple_of_pi_can_be_told(dtype: type) -> None:
    """At any finite argument: a cosine of garbage is garbage, but no larger than 1."""
    most = np.log10(np.finfo(dtype).max)
    far = np.geomspace(FAR[dtype], 10.0 ** (most - 1.0), 5_000).astype(dtype)
    for z in (far, -far):
        for value in (*sincos(z), cosine(z), cospi(z)):
            assert np.isfinite(value).all()
            assert np.abs(value).max() <= 1.0 + 1e-6
