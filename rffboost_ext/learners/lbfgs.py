"""Limited-memory BFGS without bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import compiled
from ..utils.typing import Array
from .line_search import MAX_STEP, WolfeSearch

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
            found = self._search(fun, x, value, gradient, tol)
            if found is None and self.pairs:
                # Discard the curvature estimate and follow the gradient.
                self.pairs = 0
                found = self._search(fun, x, value, gradient, tol)
            if found is None:
                break
            before = value
            x, value, gradient = found
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
