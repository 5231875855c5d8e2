"""The minimum of a convex function of one variable, from its slope."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# If the root is below the first fraction of the stride, the bracket is narrowed, down to the second.
SHORT, TINY = 1e-5, 1e-280


def minimiser_along(slope: Callable[[float], float], longest: float, tol: float = 1e-12) -> float:
    """Where a convex function of one variable has its minimum: the root of its slope.

    Parameters
    ----------
    slope : callable
        The derivative at a float. It may jump through 0.
    longest : float
        The result is at most this far from 0; it is reached if there is no minimum.
    tol : float, default=1e-12
        Relative tolerance.
    """
    from scipy.optimize import brentq

    start = slope(0.0)
    if start == 0.0:
        return 0.0
    # The slope of a convex function changes sign once: double the stride until it does.
    near, far = 0.0, -np.sign(start)
    # Signs are compared because the product of two slopes may underflow to 0.
    while np.sign(slope(far)) == np.sign(start):
        near, far = far, 2.0 * far
        if abs(far) > longest:
            return float(np.sign(far) * longest)
    # Small numbers have a minimum far below the first stride.
    while near == 0.0 and abs(far) > TINY and np.sign(slope(SHORT * far)) != np.sign(start):
        far = SHORT * far
    # If the slope jumps through 0 at 0, only an absolute tolerance is met.
    return float(brentq(slope, near, far, xtol=1e-6 * tol * abs(far), rtol=tol, maxiter=10_000))
