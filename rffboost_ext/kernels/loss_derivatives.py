"""Derivatives of the margin losses in vectorised loops.

Columns are flattened first, because the compiler cannot tell that an (n, 1) array is contiguous.
"""

from __future__ import annotations

from .kernel import kernel
from .vector_math import exp


@kernel("f8[2] f8[2] f8 f8[2]* f8[2]*", fastmath=True)
def exponential_derivatives(y, raw, largest, gradient, hessian):  # type: ignore[no-untyped-def]
    """Derivatives of ``exp(-s raw)`` with s = 2 y - 1; all arrays are (n, 1), exponents are clipped at largest."""
    y, raw, gradient, hessian = y.reshape(-1), raw.reshape(-1), gradient.reshape(-1), hessian.reshape(-1)
    for i in range(len(raw)):
        s = 2.0 * y[i] - 1.0
        weight = exp(min(-s * raw[i], largest))
        gradient[i] = -s * weight
        hessian[i] = weight


@kernel("f8[2] f8[2] f8[2]* f8[2]*", fastmath=True)
def logistic_derivatives(y, raw, gradient, hessian):  # type: ignore[no-untyped-def]
    """Derivatives of ``log(1 + exp(-s raw))`` with s = 2 y - 1, entry by entry."""
    y, raw, gradient, hessian = y.reshape(-1), raw.reshape(-1), gradient.reshape(-1), hessian.reshape(-1)
    # The exponential of a non-positive number keeps the relative precision of small probabilities.
    for i in range(len(raw)):
        hessian[i] = exp(-abs(raw[i]))
    # Two loops are faster than one.
    for i in range(len(raw)):
        s, tail = 2.0 * y[i] - 1.0, hessian[i]
        large = 1.0 / (1.0 + tail)
        gradient[i] = -s * (tail if s * raw[i] > 0.0 else 1.0) * large
        hessian[i] = tail * large * large


@kernel("f8[2] f8[2] f8 f8[2]* f8[2]*", fastmath=True)
def multinomial_derivatives(y, raw, least, gradient, hessian):  # type: ignore[no-untyped-def]
    """Derivatives of ``logsumexp(raw) - raw[y]``, y (n, 1) and raw (n, K): p - [y = c] and 2 p (1 - p).

    The second derivatives are at least `least`.
    """
    n, n_classes = raw.shape
    flat = gradient.reshape(-1)
    for i in range(n):
        largest = raw[i, 0]
        for c in range(1, n_classes):
            largest = max(largest, raw[i, c])
        for c in range(n_classes):
            gradient[i, c] = raw[i, c] - largest
    # One loop over all rows: a row of few classes would not fill a vector.
    for i in range(len(flat)):
        flat[i] = exp(flat[i])
    for i in range(n):
        total, own = 0.0, int(y[i, 0])
        for c in range(n_classes):
            total += gradient[i, c]
        for c in range(n_classes):
            p = gradient[i, c] / total
            gradient[i, c] = p
            hessian[i, c] = max(2.0 * p * (1.0 - p), least)
        # 1 - p as the sum of the others is precise also if p is nearly 1.
        p = gradient[i, own]
        gradient[i, own] = 0.0
        others = 0.0
        for c in range(n_classes):
            others += gradient[i, c]
        gradient[i, own] = -others
        hessian[i, own] = max(2.0 * p * others, least)
