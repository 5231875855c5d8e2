"""The search direction of limited-memory BFGS."""

from __future__ import annotations

from .kernel import kernel


@kernel("f8[2] f8[2] i8 i8 f8[1] f8[1]* f8[1]*")
def quasi_newton_direction(moves, changes, newest, pairs, gradient, shares, direction):  # type: ignore[no-untyped-def]
    """Write the quasi-Newton direction by the two-loop recursion; return its slope and the largest ``|gradient|``.

    The last `pairs` moves and changes of the gradient are in rows of moves and changes (m, d), in a ring that ends
    at `newest`. Without pairs the direction is the negative gradient. `shares` (m,) is a buffer.
    """
    size, d = len(moves), len(gradient)
    slope, largest = 0.0, 0.0
    for i in range(d):
        direction[i] = -gradient[i]
        largest = largest if abs(gradient[i]) <= largest else abs(gradient[i])
    for age in range(pairs):
        move, change = moves[(newest - age) % size], changes[(newest - age) % size]
        along, product = 0.0, 0.0
        for i in range(d):
            along += move[i] * direction[i]
            product += move[i] * change[i]
        shares[age] = along / product
        for i in range(d):
            direction[i] -= shares[age] * change[i]
    if pairs > 0:
        # The initial Hessian is the identity in the scale of the newest pair.
        move, change = moves[newest], changes[newest]
        product, square = 0.0, 0.0
        for i in range(d):
            product += move[i] * change[i]
            square += change[i] * change[i]
        for i in range(d):
            direction[i] *= product / square
    for age in range(pairs - 1, -1, -1):
        move, change = moves[(newest - age) % size], changes[(newest - age) % size]
        along, product = 0.0, 0.0
        for i in range(d):
            along += change[i] * direction[i]
            product += move[i] * change[i]
        for i in range(d):
            direction[i] += (shares[age] - along / product) * move[i]
    for i in range(d):
        slope += gradient[i] * direction[i]
    return slope, largest
