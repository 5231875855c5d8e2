r"""Branchless sine, cosine, exponential and logarithm, which LLVM vectorises.

Arguments are reduced by Cody and Waite's method: a multiple k of pi / 2, pi or log 2 is subtracted in parts, so
that only the last difference is rounded. Polynomials interpolate the functions at Chebyshev nodes, or are minimax
polynomials (Remez) if this saves a degree. Quadrant and power of two are assembled from bits.

Beyond 2^51 in float64 and 2^22 in float32 the reduction fails: results are arbitrary, but at most 1 in absolute
value.

Errors: sine and cosine at most 2 ulp in float64 for \|z\| <= 1e6, and 2.5e-7 in float32 for \|z\| <= 1e4;
exponential at most 2 ulp, logarithm at most 4 ulp. All constants have the precision of the argument, because one
float64 constant would promote a float32 expression.
"""

from __future__ import annotations

import numba
import numpy as np
from numba.extending import overload

from .float_bits import fma, halve, is_odd, negate_if_odd, times_power_of_two
from .kernel import INLINED, kernel

# Fast-math flags without reassociation, which would undo the reduction in parts.
EXACT = {"contract", "nnan", "ninf", "nsz", "arcp"}
f32 = np.float32

TWO_OVER_PI = 2.0 / np.pi
HALF_PI_1, HALF_PI_2, HALF_PI_3 = 1.5707963267341256, 6.077100506506192e-11, 3.5215598651832e-27
# Adding and subtracting this rounds to an integer, which is in the low bits of the sum.
MAGIC, MAGIC_F = 1.5 * 2.0**52, f32(1.5 * 2.0**23)
ONE_OVER_PI = 1.0 / np.pi
PI_1, PI_2 = 3.1415926534682512, 1.2154201013012384e-10
ONE_OVER_PI_F = f32(ONE_OVER_PI)
PI_F1, PI_F2 = f32(3.1415927410125732), f32(-8.742277657347586e-08)
LOG2_E = 1.0 / np.log(2.0)
LOG_2_HIGH, LOG_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LOG_2_FHIGH, LOG_2_FLOW = f32(0.693115234375), f32(3.1946184945309415e-05)
LOG2_E_F = f32(LOG2_E)
ONE_F, HALF_F = f32(1.0), f32(0.5)
# Bounds on reduced arguments, somewhat above pi / 2, pi / 4 and 1 / 2: polynomials are bounded there if the
# reduction fails.
HALF_BOUND, QUARTER_BOUND, HALF_BOUND_F = 2.0, 1.0, f32(2.0)

# Arguments of exp are clipped, so that results are normal numbers.
EXP_LOW, EXP_HIGH = -708.0, 709.0
EXP_FLOW, EXP_FHIGH = f32(-87.0), f32(88.0)

# (sin(r) - r) / r^3 in powers of r^2; (exp(r) - 1 - r - r^2 / 2) / r^3 in powers of r.
S0, S1, S2, S3, S4, S5 = (
    -0.1666666666666666462,
    0.008333333333330947294,
    -0.0001984126983675677253,
    2.755731610161787444e-6,
    -2.505113165023518147e-8,
    1.591811526326597519e-10,
)
# (cos(r) - 1) / r^2 in powers of r^2, minimax: the relative error of the cosine is at most 0.55 * 2^-53.
C0, C1, C2, C3, C4, C5 = (
    -0.4999999999999941378,
    0.04166666666648783227,
    -0.001388888887059079448,
    0.00002480157864909977292,
    -2.755524237588450649e-7,
    2.063063473815898132e-9,
)
E0, E1, E2, E3, E4, E5, E6, E7, E8 = (
    0.1666666666666666667,
    0.04166666666665135503,
    0.008333333333332155748,
    0.00138888889058815425,
    0.0001984126985433861141,
    0.00002480153638869076781,
    2.755728006701697959e-6,
    2.761380686153828809e-7,
    2.509555467711111097e-8,
)
# (cos(r) - 1 + r^2 / 2) / r^4 again, on [-pi / 2, pi / 2].
D0, D1, D2, D3, D4, D5, D6 = (
    0.04166666666666665628,
    -0.001388888888888476211,
    0.00002480158729891088831,
    -2.755731857284834123e-7,
    2.087668151390943373e-9,
    -1.146625047862580441e-11,
    4.646409716539861741e-14,
)
# In float32, on [-pi / 2, pi / 2]: (sin(r) - r) / r^3, and (cos(r) - 1) / r^2 with an error of 8.5e-8.
SF0, SF1, SF2, SF3 = (
    f32(-0.166666570916863),
    f32(0.00833301717253948),
    f32(-0.0001980660653951127),
    f32(2.600035486463141e-06),
)
CF0, CF1, CF2, CF3 = (
    f32(-0.499999071593702),
    f32(0.04166349333117475),
    f32(-0.0013852907137495956),
    f32(2.313646833791742e-05),
)
# (cos(pi r) - 1) / r^2 in powers of r^2, on [-1/2, 1/2].
P0, P1, P2, P3, P4, P5, P6, P7 = (
    -4.934802200544679246,
    4.05871212641673593,
    -1.33526276885187714,
    0.2353306302720713616,
    -0.02580689002479039239,
    0.001929562645537773922,
    -0.0001045828418105409012,
    4.166372548512457442e-6,
)
PF0, PF1, PF2, PF3, PF4 = (
    f32(-4.934802196983450282),
    f32(4.058711414118671687),
    f32(-1.335239947160185111),
    f32(0.2350742672941550138),
    f32(-0.0246268808089994544),
)
EF0, EF1, EF2, EF3 = (
    f32(0.1666663081083607501),
    f32(0.04166662186183431131),
    f32(0.008357204929019697165),
    f32(0.001391871966948309642),
)
# (2 atanh(z) / z - 2) / z^2 in powers of z^2, on [0, 1/3].
L0, L1, L2, L3, L4, L5, L6, L7, L8 = (
    0.6666666666666697,
    0.39999999999560126,
    0.2857142867666099,
    0.22222212557929713,
    0.18182261108419745,
    0.15373274876358003,
    0.135023424717571,
    0.10322669270499082,
    0.1687070066109721,
)


@numba.njit(fastmath=EXACT, **INLINED)
def _clamp(r, low, high):  # type: ignore[no-untyped-def]
    # Conditions compile faster than Python's min and max.
    r = low if r < low else r
    return high if r > high else r


@numba.njit(fastmath=EXACT, **INLINED)
def _sincos64(z):  # type: ignore[no-untyped-def]
    shifted = z * TWO_OVER_PI + MAGIC
    k = shifted - MAGIC
    r = _clamp(fma(-k, HALF_PI_3, fma(-k, HALF_PI_2, fma(-k, HALF_PI_1, z))), -QUARTER_BOUND, QUARTER_BOUND)
    # Two Horner chains in several vectors hide their latency; Estrin's scheme would need more loads.
    u = r * r
    sine = r + r * u * (S0 + u * (S1 + u * (S2 + u * (S3 + u * (S4 + u * S5)))))
    cosine = 1.0 + u * (C0 + u * (C1 + u * (C2 + u * (C3 + u * (C4 + u * C5)))))
    odd = is_odd(shifted)
    s, t = (cosine if odd else sine), (sine if odd else cosine)
    half = halve(shifted)
    return negate_if_odd(s, half), negate_if_odd(negate_if_odd(t, half), shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def _sincos32(z):  # type: ignore[no-untyped-def]
    # Reduction by multiples of pi: more coefficients cost less than selecting the quadrant.
    shifted = z * ONE_OVER_PI_F + MAGIC_F
    k = shifted - MAGIC_F
    # The first difference is exact: a multiple of 2^-23, like both terms, and at most pi / 2.
    r = _clamp(fma(-k, PI_F2, fma(-k, PI_F1, z)), -HALF_BOUND_F, HALF_BOUND_F)
    u = r * r
    sine = r + r * u * (SF0 + u * (SF1 + u * (SF2 + u * SF3)))
    cosine = ONE_F + u * (CF0 + u * (CF1 + u * (CF2 + u * CF3)))
    return negate_if_odd(sine, shifted), negate_if_odd(cosine, shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def _cos64(z):  # type: ignore[no-untyped-def]
    shifted = z * ONE_OVER_PI + MAGIC
    k = shifted - MAGIC
    r = _clamp((z - k * PI_1) - k * PI_2, -HALF_BOUND, HALF_BOUND)
    u = r * r
    v = u * u
    tail = (D0 + u * D1) + v * ((D2 + u * D3) + v * ((D4 + u * D5) + v * D6))
    value = (1.0 - 0.5 * u) + v * tail
    return negate_if_odd(value, shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def _cos32(z):  # type: ignore[no-untyped-def]
    return _sincos32(z)[1]


@numba.njit(fastmath=EXACT, **INLINED)
def _cospi64(z):  # type: ignore[no-untyped-def]
    shifted = z + MAGIC
    r = _clamp(z - (shifted - MAGIC), -0.5, 0.5)
    u = r * r
    v = u * u
    value = 1.0 + u * (((P0 + u * P1) + v * (P2 + u * P3)) + v * v * ((P4 + u * P5) + v * (P6 + u * P7)))
    return negate_if_odd(value, shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def _cospi32(z):  # type: ignore[no-untyped-def]
    shifted = z + MAGIC_F
    r = _clamp(z - (shifted - MAGIC_F), -HALF_F, HALF_F)
    u = r * r
    v = u * u
    value = ONE_F + u * ((PF0 + u * PF1) + v * ((PF2 + u * PF3) + v * PF4))
    return negate_if_odd(value, shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def _exp64(x):  # type: ignore[no-untyped-def]
    x = _clamp(x, EXP_LOW, EXP_HIGH)
    shifted = x * LOG2_E + MAGIC
    k = shifted - MAGIC
    r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
    u = r * r
    v = u * u
    low = (0.5 + r * E0) + u * (E1 + r * E2)
    high = (E3 + r * E4) + u * (E5 + r * E6) + v * (E7 + r * E8)
    value = 1.0 + (r + u * (low + v * high))
    return times_power_of_two(value, shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def _exp32(x):  # type: ignore[no-untyped-def]
    x = _clamp(x, EXP_FLOW, EXP_FHIGH)
    shifted = x * LOG2_E_F + MAGIC_F
    k = shifted - MAGIC_F
    r = (x - k * LOG_2_FHIGH) - k * LOG_2_FLOW
    value = ONE_F + (r + r * r * (HALF_F + r * (EF0 + r * (EF1 + r * (EF2 + r * EF3)))))
    return times_power_of_two(value, shifted)


@numba.njit(fastmath=EXACT, **INLINED)
def log1p(x):  # type: ignore[no-untyped-def]
    """Logarithm of 1 + x in float64, for x from 0 to 1."""
    z = x / (2.0 + x)
    u = z * z
    v = u * u
    low = (L0 + u * L1) + v * (L2 + u * L3)
    high = (L4 + u * L5) + v * (L6 + u * L7) + v * v * L8
    return z * (2.0 + u * (low + v * v * high))


def by_precision(double, single):  # type: ignore[no-untyped-def]
    """The decorator of a function that compiled code replaces by one of two, by the type of the argument."""

    def decorate(function):  # type: ignore[no-untyped-def]
        overload(function)(lambda z: (lambda z: single(z)) if z == numba.float32 else (lambda z: double(z)))
        return function

    return decorate


@by_precision(_sincos64, _sincos32)
def sincos(z):  # type: ignore[no-untyped-def]
    """Sine and cosine of z, in the precision of z; inside compiled code."""


@by_precision(_cos64, _cos32)
def cosine(z):  # type: ignore[no-untyped-def]
    """Cosine of z alone, with an absolute error of one rounding, at half the cost; inside compiled code."""


@by_precision(_cospi64, _cospi32)
def cospi(z):  # type: ignore[no-untyped-def]
    """Cosine of pi z, with an absolute error of one rounding and the cheapest reduction; inside compiled code."""


@by_precision(_exp64, _exp32)
def exp(z):  # type: ignore[no-untyped-def]
    """Exponential of z, in the precision of z; inside compiled code."""


@kernel("T[1] T[1]*")
def exp_array(x, out):  # type: ignore[no-untyped-def]
    """Write the exponential of x (n,) into an array of the same shape and precision."""
    for i in range(len(x)):
        out[i] = exp(x[i])
