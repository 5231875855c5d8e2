"""Moré and Thuente's line search and limited-memory BFGS, with reverse communication.

:func:`take_lbfgs_step` takes the value and gradient at the last point and writes the next point, so that the
function may be a compiled pass, run by threads, or Python. The iterates are those of L-BFGS-B without bounds
(Byrd, Lu, Nocedal and Zhu, 1995), at a lower cost per evaluation than SciPy's wrapper.

References
----------
J. J. Moré and D. J. Thuente, Line search algorithms with guaranteed sufficient decrease, ACM TOMS 20, 1994.
J. Nocedal and S. J. Wright, Numerical optimization, 2nd edition, algorithms 7.4 and 7.5.
"""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INNER, KERNEL

RUNNING, DONE, RESTART = range(3)

# Line search: sufficient decrease, curvature, relative width of the bracket, maximum number of evaluations.
DECREASE, CURVATURE, WIDTH, MAX_EVALUATIONS = 1e-3, 0.9, 0.1, 20
MAX_STEP = 1e10
EPS = float(np.finfo(np.float64).eps)

# Indices of the float state. The interval is between the best step ("low") and the other end ("high").
(
    STEP,
    START_VALUE,
    START_SLOPE,
    LOW,
    LOW_VALUE,
    LOW_SLOPE,
    HIGH,
    HIGH_VALUE,
    HIGH_SLOPE,
    SMALLEST,
    LARGEST,
    INTERVAL,
    INTERVAL_BEFORE,
) = range(13)
# They are followed by the products of moves and gradient changes, and the coefficients of the two-loop recursion.
PRODUCTS = 13
# Indices of the integer state.
ITERATION, PAIRS, NEWEST, BRACKETED, STAGE, TRIES, STARTED = range(7)


def initial_state(size, pairs):  # type: ignore[no-untyped-def]
    """The state of :func:`take_lbfgs_step` for a search in `size` dimensions that stores `pairs` corrections."""
    return (
        np.zeros(PRODUCTS + 2 * pairs),
        np.zeros(7, dtype=np.int64),
        np.zeros((3, size)),
        *np.zeros((2, pairs, size)),
    )


@numba.njit(**INNER)
def cubic_step(a, fa, ga, b, fb, gb):  # type: ignore[no-untyped-def]
    """Theta and gamma of Moré and Thuente, for the cubic through two points with given slopes."""
    theta = 3.0 * (fa - fb) / (b - a) + ga + gb
    s = max(abs(theta), abs(ga), abs(gb))
    gamma = s * np.sqrt(max(0.0, (theta / s) ** 2 - (ga / s) * (gb / s)))
    return theta, gamma


@numba.njit(**INNER)
def trial_step(state, flags, step, value, slope, smallest, largest):  # type: ignore[no-untyped-def]
    """The next trial step; the interval is reduced around a minimiser (section 4 of Moré and Thuente)."""
    low, low_value, low_slope = state[LOW], state[LOW_VALUE], state[LOW_SLOPE]
    high, high_value, high_slope = state[HIGH], state[HIGH_VALUE], state[HIGH_SLOPE]
    opposite = slope * (low_slope / abs(low_slope)) < 0.0
    secant = step + (slope / (slope - low_slope)) * (low - step) if slope != low_slope else step
    if value > low_value:
        # Case 1: higher value, so a minimum is bracketed.
        theta, gamma = cubic_step(low, low_value, low_slope, step, value, slope)
        gamma = -gamma if step < low else gamma
        r = ((gamma - low_slope) + theta) / (((gamma - low_slope) + gamma) + slope)
        cubic = low + r * (step - low)
        curvature = (low_value - value) / (step - low) + low_slope
        quadratic = low + ((low_slope / curvature) / 2.0) * (step - low)
        nearer = abs(cubic - low) < abs(quadratic - low)
        trial = cubic if nearer else cubic + (quadratic - cubic) / 2.0
        flags[BRACKETED] = 1
    elif opposite:
        # Case 2: lower value, slope of opposite sign, so a minimum is bracketed.
        theta, gamma = cubic_step(low, low_value, low_slope, step, value, slope)
        gamma = -gamma if step > low else gamma
        r = ((gamma - slope) + theta) / (((gamma - slope) + gamma) + low_slope)
        cubic = step + r * (low - step)
        trial = cubic if abs(cubic - step) > abs(secant - step) else secant
        flags[BRACKETED] = 1
    elif abs(slope) < abs(low_slope):
        # Case 3: lower value, same sign, flatter.
        theta, gamma = cubic_step(low, low_value, low_slope, step, value, slope)
        gamma = -gamma if step > low else gamma
        r = ((gamma - slope) + theta) / ((gamma + (low_slope - slope)) + gamma)
        end = largest if step > low else smallest
        cubic = step + r * (low - step) if r < 0.0 and gamma != 0.0 else end
        if flags[BRACKETED] == 1:
            trial = cubic if abs(cubic - step) < abs(secant - step) else secant
            limit = step + 0.66 * (high - step)
            trial = min(limit, trial) if step > low else max(limit, trial)
        else:
            trial = cubic if abs(cubic - step) > abs(secant - step) else secant
            trial = max(smallest, min(largest, trial))
    elif flags[BRACKETED] == 1:
        # Case 4: lower value, same sign, not flatter, bracketed.
        theta, gamma = cubic_step(step, value, slope, high, high_value, high_slope)
        gamma = -gamma if step > high else gamma
        r = ((gamma - slope) + theta) / (((gamma - slope) + gamma) + high_slope)
        trial = step + r * (high - step)
    else:
        trial = largest if step > low else smallest
    shrink_interval(state, step, value, slope, opposite)
    return trial


@numba.njit(**INNER)
def shrink_interval(state, step, value, slope, opposite):  # type: ignore[no-untyped-def]
    """Replace one end of the interval by a step; if the slope changed its sign, the best step is the other end."""
    if value > state[LOW_VALUE]:
        state[HIGH], state[HIGH_VALUE], state[HIGH_SLOPE] = step, value, slope
        return
    if opposite:
        state[HIGH], state[HIGH_VALUE], state[HIGH_SLOPE] = state[LOW], state[LOW_VALUE], state[LOW_SLOPE]
    state[LOW], state[LOW_VALUE], state[LOW_SLOPE] = step, value, slope


@numba.njit(**INNER)
def start_line(state, flags, step, value, slope):  # type: ignore[no-untyped-def]
    """Start a line search from a point with this value and slope along the direction."""
    state[STEP], state[START_VALUE], state[START_SLOPE] = step, value, slope
    state[LOW], state[LOW_VALUE], state[LOW_SLOPE] = 0.0, value, slope
    state[HIGH], state[HIGH_VALUE], state[HIGH_SLOPE] = 0.0, value, slope
    state[SMALLEST], state[LARGEST] = 0.0, 5.0 * step
    state[INTERVAL], state[INTERVAL_BEFORE] = MAX_STEP, 2.0 * MAX_STEP
    flags[BRACKETED], flags[STAGE], flags[TRIES] = 0, 1, 0


@numba.njit(**INNER)
def line_search_is_over(state, flags, value, slope):  # type: ignore[no-untyped-def]
    """Whether the step satisfies the strong Wolfe conditions or cannot be improved."""
    step = state[STEP]
    test = DECREASE * state[START_SLOPE]
    bound = state[START_VALUE] + step * test
    if flags[STAGE] == 1 and value <= bound and slope >= 0.0:
        flags[STAGE] = 2
    narrow = state[LARGEST] - state[SMALLEST] <= WIDTH * state[LARGEST]
    outside = step <= state[SMALLEST] or step >= state[LARGEST]
    stuck = flags[BRACKETED] == 1 and (outside or narrow)
    longest = step == MAX_STEP and value <= bound and slope <= test
    shortest = step == 0.0 and (value > bound or slope >= test)
    wolfe = value <= bound and abs(slope) <= CURVATURE * -state[START_SLOPE]
    return stuck or longest or shortest or wolfe


@numba.njit(**INNER)
def add_linear(state, slope):  # type: ignore[no-untyped-def]
    """Add a linear function of this slope to the values and slopes at the ends of the interval."""
    state[LOW_VALUE] += state[LOW] * slope
    state[LOW_SLOPE] += slope
    state[HIGH_VALUE] += state[HIGH] * slope
    state[HIGH_SLOPE] += slope


@numba.njit(**INNER)
def next_step(state, flags, value, slope):  # type: ignore[no-untyped-def]
    """Choose the next trial step of a line search."""
    step = state[STEP]
    test = DECREASE * state[START_SLOPE]
    smallest, largest = state[SMALLEST], state[LARGEST]
    # The first stage searches on the function minus the sufficient decrease.
    first = flags[STAGE] == 1 and state[START_VALUE] + step * test < value <= state[LOW_VALUE]
    shift = test if first else 0.0
    add_linear(state, -shift)
    step = trial_step(state, flags, step, value - step * shift, slope - shift, smallest, largest)
    add_linear(state, shift)
    low, high = state[LOW], state[HIGH]
    if flags[BRACKETED] == 1:
        if abs(high - low) >= 0.66 * state[INTERVAL_BEFORE]:
            step = low + 0.5 * (high - low)
        state[INTERVAL_BEFORE], state[INTERVAL] = state[INTERVAL], abs(high - low)
        state[SMALLEST], state[LARGEST] = min(low, high), max(low, high)
    else:
        state[SMALLEST], state[LARGEST] = step + 1.1 * (step - low), step + 4.0 * (step - low)
    step = min(max(step, 0.0), MAX_STEP)
    outside = step <= state[SMALLEST] or step >= state[LARGEST]
    narrow = state[LARGEST] - state[SMALLEST] <= WIDTH * state[LARGEST]
    if flags[BRACKETED] == 1 and (outside or narrow):
        step = low
    state[STEP] = step


@numba.njit(**INNER)
def dot(a, b):  # type: ignore[no-untyped-def]
    """The scalar product of two vectors, as a loop, which compiles faster than array expressions."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@numba.njit(**INNER)
def combine(a, factor, b, out):  # type: ignore[no-untyped-def]
    """Write ``a + factor * b`` to out, which may be a or b."""
    for i in range(len(out)):
        out[i] = a[i] + factor * b[i]


@numba.njit(**INNER)
def scale(a, factor, out):  # type: ignore[no-untyped-def]
    """Write ``factor * a`` to out."""
    for i in range(len(out)):
        out[i] = factor * a[i]


@numba.njit(**INNER)
def all_equal(a, b):  # type: ignore[no-untyped-def]
    """Whether two vectors are equal in every component."""
    different = 0
    for i in range(len(a)):
        different += a[i] != b[i]
    return different == 0


@numba.njit(**INNER)
def largest_component(a):  # type: ignore[no-untyped-def]
    """The largest absolute value of a component."""
    size = 0.0
    for i in range(len(a)):
        size = max(size, abs(a[i]))
    return size


@numba.njit(**INNER)
def store_pair(state, flags, moves, changes, x, base, gradient, base_gradient):  # type: ignore[no-untyped-def]
    """Replace the oldest stored move, gradient change and their product by the newest."""
    size = len(moves)
    slot = (flags[NEWEST] + 1) % size
    combine(x, -1.0, base, moves[slot])
    combine(gradient, -1.0, base_gradient, changes[slot])
    state[PRODUCTS + slot] = dot(moves[slot], changes[slot])
    flags[NEWEST] = slot
    flags[PAIRS] = min(flags[PAIRS] + 1, size)


@numba.njit(**INNER)
def quasi_newton_direction(state, flags, moves, changes, gradient, direction):  # type: ignore[no-untyped-def]
    """Write the quasi-Newton direction by the two-loop recursion; without pairs it is the negative gradient."""
    size, pairs, newest = len(moves), flags[PAIRS], flags[NEWEST]
    shares = PRODUCTS + size
    scale(gradient, -1.0, direction)
    for age in range(pairs):
        slot = (newest - age) % size
        state[shares + age] = dot(moves[slot], direction) / state[PRODUCTS + slot]
        combine(direction, -state[shares + age], changes[slot], direction)
    if pairs > 0:
        scale(direction, state[PRODUCTS + newest] / dot(changes[newest], changes[newest]), direction)
    for age in range(pairs - 1, -1, -1):
        slot = (newest - age) % size
        back = dot(changes[slot], direction) / state[PRODUCTS + slot]
        combine(direction, state[shares + age] - back, moves[slot], direction)


@numba.njit(**INNER)
def begin_iteration(state, flags, vectors, moves, changes, x, value, gradient):  # type: ignore[no-untyped-def]
    """Choose a direction and the first trial point along it; DONE if there is no descent direction."""
    base, direction, base_gradient = vectors[0], vectors[1], vectors[2]
    slope = 0.0
    while slope >= 0.0:
        quasi_newton_direction(state, flags, moves, changes, gradient, direction)
        slope = dot(gradient, direction)
        if slope >= 0.0:
            if flags[PAIRS] == 0:
                return DONE
            # Discard the curvature estimate and follow the gradient.
            flags[PAIRS] = 0
    step = min(1.0 / np.sqrt(-slope), MAX_STEP) if flags[ITERATION] == 0 else 1.0
    scale(x, 1.0, base)
    scale(gradient, 1.0, base_gradient)
    start_line(state, flags, step, value, slope)
    combine(base, step, direction, x)
    return RUNNING


@numba.njit(**INNER)
def continue_line(state, flags, vectors, x, value, slope):  # type: ignore[no-untyped-def]
    """Choose the next point of a line search, or return to its start if the search failed.

    RESTART asks for the direction of steepest descent; DONE means that this one has failed too.
    """
    flags[TRIES] += 1
    if flags[TRIES] < MAX_EVALUATIONS:
        next_step(state, flags, value, slope)
        # The step is not finite if values contradict their slopes.
        if np.isfinite(state[STEP]):
            combine(vectors[0], state[STEP], vectors[1], x)
            return RUNNING
    scale(vectors[0], 1.0, x)
    steepest = flags[PAIRS] == 0
    flags[PAIRS] = 0
    return DONE if steepest else RESTART


@numba.njit(**INNER)
def finish_line(state, flags, vectors, moves, changes, x, value, gradient, slope, rel_tol):  # type: ignore[no-untyped-def]
    """End a line search at x and store the correction; return whether the value has converged."""
    flags[ITERATION] += 1
    decrease = state[START_VALUE] - value
    curvature = (slope - state[START_SLOPE]) * state[STEP]
    if curvature > EPS * -state[START_SLOPE] * state[STEP]:
        store_pair(state, flags, moves, changes, x, vectors[0], gradient, vectors[2])
    return decrease <= rel_tol * max(abs(state[START_VALUE]), abs(value), 1.0)


@numba.njit(**KERNEL)
def take_lbfgs_step(state, flags, vectors, moves, changes, x, value, gradient, max_iter, tol, rel_tol):  # type: ignore[no-untyped-def]
    """Take value and gradient at x, and write the next point to x; with DONE, x is the result.

    Parameters are the float state (13 + 2 m,), the integer state (7,), base point, direction and base gradient
    (3, d), the stored moves and gradient changes (m, d), the point (d,), and the stopping criteria: iterations,
    largest component of the gradient, decrease relative to the value.
    """
    started, flags[STARTED] = flags[STARTED], 1
    slope = dot(gradient, vectors[1])
    if started == 1 and not line_search_is_over(state, flags, value, slope):
        status = continue_line(state, flags, vectors, x, value, slope)
        if status != RESTART:
            return status
        value, gradient = state[START_VALUE], vectors[2]
    else:
        converged = started == 1 and finish_line(
            state, flags, vectors, moves, changes, x, value, gradient, slope, rel_tol
        )
        if converged or largest_component(gradient) <= tol or flags[ITERATION] >= max_iter:
            return DONE
    # A single call site, because each one is compiled separately.
    return begin_iteration(state, flags, vectors, moves, changes, x, value, gradient)
