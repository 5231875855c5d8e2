"""The search direction of limited-memory BFGS."""

from __future__ import annotations

import numba

from .kernel import INNER, kernel


@numba.njit(**INNER)
def inner_product(a, b):  # type: ignore[no-untyped-def]
    """The inner product of two vectors, summed in order."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel("f8[2] f8[2] i8 i8 f8[1] f8[1]* f8[1]*")
def quasi_newton_direction(moves, changes, newest, pairs, gradient, shares, direction):  # type: ignore[no-untyped-def]
    """Write the quasi-Newton direction by the two-loop recursion; return its slope and the largest ``|gradient|``.

    The last `pairs` moves and changes of the gradient are in rows of moves and changes (m, d), in a ring that ends
    at `newest`. Without pairs the direction is the negative gradient. `shares` (m,) is a buffer.
    """
    size, d = len(moves), len(gradient)
    largest = 0.0
    for i in range(d):
        direction[i] = -gradient[i]
        largest = largest if abs(gradient[i]) <= largest else abs(gradient[i])
    for age in range(pairs):
        move, change = moves[(newest - age) % size], changes[(newest - age) % size]
        shares[age] = inner_product(move, direction) / inner_product(move, change)
        for i in range(d):
            direction[i] -= shares[age] * change[i]
    if pairs > 0:
        # The initial Hessian is the identity in the scale of the newest pair.
        move, change = moves[newest], changes[newest]
        scale = inner_product(move, change) / inner_product(change, change)
        for i in range(d):
            direction[i] *= scale
    for age in range(pairs - 1, -1, -1):
        move, change = moves[(newest - age) % size], changes[(newest - age) % size]
        share = shares[age] - inner_product(change, direction) / inner_product(move, change)
        for i in range(d):
            direction[i] += share * move[i]
    return inner_product(gradient, direction), largest
