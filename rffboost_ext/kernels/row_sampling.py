"""Random samples of rows, and sums over the rows that are left out."""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INNER, kernel

# Maximum number of iterations to find the probabilities that reach 1.
MAX_ITERATIONS = 10


@numba.njit(**INNER)
def uniform_of(seed, i):  # type: ignore[no-untyped-def]
    """A uniform number in [0, 1) for row i: SplitMix64 of Steele, Lea and Flood (2014)."""
    z = seed + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@numba.njit(**INNER)
def fill_mass(gradient, weight, share, mass):  # type: ignore[no-untyped-def]
    """Write the mass of each row, of sum 1, to mass (n,); a `share` of it is by weight, the rest by gradient."""
    total, slope = 0.0, 0.0
    for i in range(len(mass)):
        size = 0.0
        for c in range(gradient.shape[1]):
            size += abs(gradient[i, c])
        mass[i] = size
        total += weight[i]
        slope += weight[i] * size
    by_weight = share / total if slope > 0.0 else 1.0 / total
    by_slope = (1.0 - share) / slope if slope > 0.0 else 0.0
    for i in range(len(mass)):
        mass[i] = weight[i] * (by_weight + by_slope * mass[i])


@kernel("f8[2] f8[1] f8 i8 u8 i8[1]* f8[1]*")
def draw_rows(gradient, weight, share, size, seed, rows, chance):  # type: ignore[no-untyped-def]
    """Draw about `size` of n rows, and return their number; rows and chances (n,) begin with the drawn ones.

    A row has the chance ``min(1, k mass)``, k such that all sum to `size`, by fixed-point iteration.
    At least one row is drawn.
    """
    n, mass = len(weight), chance
    fill_mass(gradient, weight, share, mass)
    rate, certain = np.float64(size), 0
    for _ in range(MAX_ITERATIONS):
        before, certain, rest = certain, 0, 0.0
        for i in range(n):
            is_certain = rate * mass[i] >= 1.0
            certain += int(is_certain)
            rest += 0.0 if is_certain else mass[i]
        if certain == before:
            break
        rate = max(size - certain, 1) / max(rest, 1e-300)
    drawn = 0
    for i in range(n):
        p = min(rate * mass[i], 1.0)
        rows[drawn], chance[drawn] = i, p
        drawn += int(uniform_of(seed, i) < p)
    if drawn == 0:
        fill_mass(gradient, weight, share, mass)
        rest = uniform_of(seed, n)
        for i in range(n):
            if rest >= 0.0 and mass[i] > 0.0:
                rows[0] = i
            rest -= mass[i]
        chance[0], drawn = min(rate * mass[rows[0]], 1.0), 1
    return drawn


@kernel("f8[1] f8 u8 f8[1]* f8[1]*")
def divide_weights(weight, share, seed, inside, outside):  # type: ignore[no-untyped-def]
    """Write the weight of a row, with the chance `share`, to `inside`, otherwise to `outside`, and 0 to the other.

    The result is whether any weight is that of several rows, at least 1.5.
    """
    has_repeats = False
    for i in range(len(weight)):
        kept = weight[i] if uniform_of(seed, i) < share else 0.0
        inside[i], outside[i] = kept, weight[i] - kept
        has_repeats |= weight[i] >= 1.5
    return has_repeats


@kernel("f8[2] f8[2] f8[2] f8[1] f8[1]")
def expansion_sums(gradient, hessian, output, unit, weight):  # type: ignore[no-untyped-def]
    """Sums over rows of positive weight of ``-(g + h v / 2) v``, ``g^2 / 2``, h, and 1, weighted.

    v is the output (n, C) times a unit (C,).
    """
    gain, possible, curvature, total = 0.0, 0.0, 0.0, 0.0
    for i in range(len(weight)):
        w = weight[i]
        if w <= 0.0:
            continue
        total += w
        for c in range(len(unit)):
            g, h, v = gradient[i, c], hessian[i, c], output[i, c] * unit[c]
            gain -= w * (g + 0.5 * h * v) * v
            possible += 0.5 * w * g * g
            curvature += w * h
    return gain, possible, curvature, total
