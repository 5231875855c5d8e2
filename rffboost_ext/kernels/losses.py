"""Derivatives of the margin losses, one visit per row."""

from __future__ import annotations

import numba

from .elementary import exp


@numba.njit(fastmath=True, cache=True, nogil=True, error_model="numpy")
def exponential_derivatives(y, raw, largest, gradient, hessian):  # type: ignore[no-untyped-def]
    """Derivatives of ``exp(-s raw)`` with s = 2 y - 1; all arrays are (n, 1), exponents are cut at largest."""
    for i in range(len(raw)):
        s = 2.0 * y[i, 0] - 1.0
        weight = exp(min(-s * raw[i, 0], largest))
        gradient[i, 0] = -s * weight
        hessian[i, 0] = weight


@numba.njit(fastmath=True, cache=True, nogil=True, error_model="numpy")
def logistic_derivatives(y, raw, gradient, hessian):  # type: ignore[no-untyped-def]
    """Derivatives of ``log(1 + exp(-s raw))`` with s = 2 y - 1; all arrays are (n, 1)."""
    for i in range(len(raw)):
        s = 2.0 * y[i, 0] - 1.0
        margin = s * raw[i, 0]
        # With exp of a negative number only, small probabilities keep all their digits.
        tail = exp(-abs(margin))
        small, large = tail / (1.0 + tail), 1.0 / (1.0 + tail)
        gradient[i, 0] = -s * (small if margin > 0.0 else large)
        hessian[i, 0] = small * large
