"""Limited-memory BFGS without bounds, and Moré and Thuente's line search."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..kernels import compiled
from ..utils.typing import Array

# Sufficient decrease, curvature, relative width of the bracket.
DECREASE, CURVATURE, WIDTH = 1e-3, 0.9, 0.1
MAX_STEP = 1e10

Point: TypeAlias = tuple[float, float, float]
"""A step, its value and its slope."""


class WolfeSearch:
    """A search for a step that satisfies the strong Wolfe conditions.

    The interval is between the best step ("low") and its other end ("high"). Scalars in Python take less time than
    a call of compiled code.

    Parameters
    ----------
    value, slope : float
        Value and derivative at step 0; the slope is negative.
    step : float
        The first trial step.

    References
    ----------
    J. J. Moré and D. J. Thuente, Line search algorithms with guaranteed sufficient decrease, ACM TOMS 20, 1994.
    """

    def __init__(self, value: float, slope: float, step: float) -> None:
        self.step, self.start_value, self.start_slope = step, value, slope
        self.low, self.low_value, self.low_slope = 0.0, value, slope
        self.high, self.high_value, self.high_slope = 0.0, value, slope
        self.smallest, self.largest = 0.0, 5.0 * step
        self.width, self.width_before = MAX_STEP, 2.0 * MAX_STEP
        self.is_bracketed, self.is_first_stage = False, True

    def is_over(self, value: float, slope: float) -> bool:
        """Whether the step, with this value and slope, satisfies the conditions or cannot be improved."""
        step, test = self.step, DECREASE * self.start_slope
        bound = self.start_value + step * test
        if self.is_first_stage and value <= bound and slope >= 0.0:
            self.is_first_stage = False
        longest = step == MAX_STEP and value <= bound and slope <= test
        shortest = step == 0.0 and (value > bound or slope >= test)
        wolfe = value <= bound and abs(slope) <= CURVATURE * -self.start_slope
        return self._is_stuck or longest or shortest or wolfe

    @property
    def _is_stuck(self) -> bool:
        """Whether the bracket is too narrow for another step, or the step is not inside it."""
        narrow = self.largest - self.smallest <= WIDTH * self.largest
        outside = self.step <= self.smallest or self.step >= self.largest
        return self.is_bracketed and (outside or narrow)

    def advance(self, value: float, slope: float) -> None:
        """Choose the next trial step; it is NaN if values contradict their slopes."""
        step, test = self.step, DECREASE * self.start_slope
        # The first stage searches on the function minus the sufficient decrease.
        shifted = self.is_first_stage and self.start_value + step * test < value <= self.low_value
        shift = test if shifted else 0.0
        self._add_linear(-shift)
        try:
            step = self._trial_step(value - step * shift, slope - shift)
        except ZeroDivisionError:
            step = math.nan
        self._add_linear(shift)
        if self.is_bracketed:
            if abs(self.high - self.low) >= 0.66 * self.width_before:
                step = self.low + 0.5 * (self.high - self.low)
            self.width_before, self.width = self.width, abs(self.high - self.low)
            self.smallest, self.largest = min(self.low, self.high), max(self.low, self.high)
        else:
            self.smallest, self.largest = step + 1.1 * (step - self.low), step + 4.0 * (step - self.low)
        self.step = min(max(step, 0.0), MAX_STEP) if math.isfinite(step) else step
        if self._is_stuck:
            self.step = self.low

    def _add_linear(self, slope: float) -> None:
        """Add a linear function to the values and slopes at the ends of the interval."""
        self.low_value += self.low * slope
        self.low_slope += slope
        self.high_value += self.high * slope
        self.high_slope += slope

    def _trial_step(self, value: float, slope: float) -> float:
        """A trial step near a minimiser, given value and slope at the step; reduces the interval (section 4)."""
        step, low = self.step, self.low
        here, best = (step, value, slope), (low, self.low_value, self.low_slope)
        opposite = slope < 0.0 < self.low_slope or self.low_slope < 0.0 < slope
        secant = step + (slope / (slope - self.low_slope)) * (low - step) if slope != self.low_slope else step
        if value > self.low_value:
            cubic = low + cubic_minimiser(best, here)[0] * (step - low)
            curvature = (self.low_value - value) / (step - low) + self.low_slope
            quadratic = low + 0.5 * (self.low_slope / curvature) * (step - low)
            is_nearer = abs(cubic - low) < abs(quadratic - low)
            trial = cubic if is_nearer else cubic + 0.5 * (quadratic - cubic)
        elif opposite:
            cubic = step + cubic_minimiser(here, best)[0] * (low - step)
            trial = cubic if abs(cubic - step) > abs(secant - step) else secant
        elif abs(slope) < abs(self.low_slope):
            trial = self._trial_of_flatter_slope(here, best, secant)
        elif self.is_bracketed:
            worst = self.high, self.high_value, self.high_slope
            trial = step + cubic_minimiser(here, worst)[0] * (self.high - step)
        else:
            trial = self.largest if step > low else self.smallest
        self._shrink(here, opposite)
        return trial

    def _trial_of_flatter_slope(self, here: Point, best: Point, secant: float) -> float:
        """The trial step for a lower value and a slope of the same sign but smaller size (case 3)."""
        (step, *_), (low, *_) = here, best
        ratio, gamma = cubic_minimiser(here, best)
        end = self.largest if step > low else self.smallest
        cubic = step + ratio * (low - step) if ratio < 0.0 and gamma != 0.0 else end
        is_cubic_nearer = abs(cubic - step) < abs(secant - step)
        if not self.is_bracketed:
            trial = secant if is_cubic_nearer else cubic
            return max(self.smallest, min(self.largest, trial))
        limit, trial = step + 0.66 * (self.high - step), cubic if is_cubic_nearer else secant
        return min(limit, trial) if step > low else max(limit, trial)

    def _shrink(self, here: Point, opposite: bool) -> None:
        """Replace one end of the interval by a point; if the slope changed its sign, the best is the other end."""
        is_higher = here[1] > self.low_value
        if is_higher:
            self.high, self.high_value, self.high_slope = here
        else:
            if opposite:
                self.high, self.high_value, self.high_slope = self.low, self.low_value, self.low_slope
            self.low, self.low_value, self.low_slope = here
        self.is_bracketed |= is_higher or opposite


def cubic_minimiser(a: Point, b: Point) -> tuple[float, float]:
    """The minimiser of the cubic through two points with their slopes, as a share of the way from a to b.

    Second, gamma of the paper: 0 if the cubic has no minimiser.
    """
    (ta, fa, ga), (tb, fb, gb) = a, b
    theta = 3.0 * (fa - fb) / (tb - ta) + ga + gb
    size = max(abs(theta), abs(ga), abs(gb))
    gamma = size * math.sqrt(max(0.0, (theta / size) ** 2 - (ga / size) * (gb / size)))
    if tb < ta:
        gamma = -gamma
    return ((gamma - ga) + theta) / (((gamma - ga) + gamma) + gb), gamma


# Maximum number of evaluations of a line search.
MAX_EVALUATIONS = 20
EPS = float(np.finfo(np.float64).eps)


class QuasiNewton:
    """Minimisation by limited-memory BFGS and Moré and Thuente's line search.

    The iterates are those of L-BFGS-B without bounds (Byrd, Lu, Nocedal and Zhu, 1995), at a lower cost per
    evaluation than SciPy's wrapper. The curvature estimate is kept from one function to the next.

    Parameters
    ----------
    size : int
        Number of variables, d.
    memory : int
        Number of stored corrections.

    References
    ----------
    J. Nocedal and S. J. Wright, Numerical optimization, 2nd edition, algorithms 7.4 and 7.5.
    """

    def __init__(self, size: int, memory: int) -> None:
        self.moves, self.changes = np.zeros((2, memory, size))
        self.newest, self.pairs, self.is_first = -1, 0, True
        self._shares = np.empty(memory)
        self._find_direction = compiled("lbfgs").quasi_newton_direction

    def minimise(self, fun: Callable[[Array], Any], x: Array, max_iter: int, tol: float, rel_tol: float) -> Array:
        """A minimiser of ``fun(x) -> (value, gradient)`` from x (d,) on, with the criteria of :class:`LBFGS`."""
        value, gradient = evaluate(fun, x)
        for _ in range(max_iter):
            iterate = self._search(fun, x, value, gradient, tol)
            if iterate is None and self.pairs:
                # Discard the curvature estimate and follow the gradient.
                self.pairs = 0
                iterate = self._search(fun, x, value, gradient, tol)
            if iterate is None:
                break
            before = value
            x, value, gradient = iterate
            if before - value <= rel_tol * max(abs(before), abs(value), 1.0):
                break
        return x

    def _search(
        self, fun: Callable[[Array], Any], x: Array, value: float, gradient: Array, tol: float
    ) -> tuple[Array, float, Array] | None:
        """The next iterate, its value and its gradient; None if the gradient vanishes or the line search fails."""
        direction = np.empty(len(x))
        pairs = self.moves, self.changes, self.newest, self.pairs
        slope, largest = self._find_direction(*pairs, gradient, self._shares, direction)
        if largest <= tol or slope >= 0.0:
            return None
        line = WolfeSearch(value, slope, min(1.0 / math.sqrt(-slope), MAX_STEP) if self.is_first else 1.0)
        for _ in range(MAX_EVALUATIONS):
            point = x + line.step * direction
            reached, new_gradient = evaluate(fun, point)
            new_slope = float(new_gradient @ direction)
            if line.is_over(reached, new_slope):
                self.is_first = False
                if (new_slope - slope) * line.step > EPS * -slope * line.step:
                    self._store(point - x, new_gradient - gradient)
                return point, reached, new_gradient
            line.advance(reached, new_slope)
            if not math.isfinite(line.step):
                break
        return None

    def _store(self, move: Array, change: Array) -> None:
        """Replace the oldest pair by the newest."""
        self.newest = (self.newest + 1) % len(self.moves)
        self.moves[self.newest], self.changes[self.newest] = move, change
        self.pairs = min(self.pairs + 1, len(self.moves))


def evaluate(fun: Callable[[Array], Any], x: Array) -> tuple[float, Array]:
    """Value and gradient in float64; the gradient is copied, because functions may reuse its memory."""
    value, gradient = fun(x)
    return float(value), np.array(gradient, dtype=np.float64)
