"""Optimizers: L-BFGS and Brent's method."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Optimizer
from ..utils.param_validation import NON_NEGATIVE, POSITIVE, Integer
from ..utils.registry import Registry
from .lbfgs import QuasiNewton

OPTIMIZERS: Registry[Optimizer] = Registry("optimizer", Optimizer)  # type: ignore[type-abstract]

# Iterations of L-BFGS on all rows after a start on a subset; they reuse its curvature estimate.
FINAL_ITERATIONS = 3


@OPTIMIZERS.register("lbfgs")
@dataclass(eq=False, repr=False)
class LBFGS(Optimizer):
    """Limited-memory BFGS on ``fun(x) -> (value, gradient)``, without bounds.

    The iterates are those of SciPy's L-BFGS-B, at a lower cost per call.

    Parameters
    ----------
    max_iter : int, default=10
        Maximum number of iterations; 10 as in the experiments of the GBRFF papers.
    tol : float, default=1e-5
        Stop if no component of the gradient exceeds this.
    rel_tol : float, default=2.22e-9
        Stop if an iteration lowers the value by less than this, relative to the value or to 1.
    memory : int, default=10
        Number of stored corrections.
    """

    max_iter: int = 10
    tol: float = 1e-5
    rel_tol: float = 2.220446049250313e-09
    memory: int = 10

    constraints = {"max_iter": Integer(1), "tol": NON_NEGATIVE, "rel_tol": NON_NEGATIVE, "memory": Integer(1)}

    def minimise(
        self, fun: Callable[[Any], Any], x0: Any, bounds: tuple[float, float] | None = None
    ) -> np.ndarray:
        if bounds is not None:
            raise ValueError(f"LBFGS: bounds must be None, got {bounds!r}")
        return self._run([(fun, self.max_iter)], x0)

    def minimise_in_stages(self, rough: Callable[[Any], Any], fun: Callable[[Any], Any], x0: Any) -> np.ndarray:
        """All iterations on `rough`, then a few on `fun` that reuse the curvature estimate."""
        if type(self).minimise is not LBFGS.minimise:
            # A subclass overrides the search.
            return np.asarray(self.minimise(fun, x0))
        return self._run([(rough, self.max_iter), (fun, min(FINAL_ITERATIONS, self.max_iter))], x0)

    def _run(self, stages: Sequence[tuple[Callable[[Any], Any], int]], x0: Any) -> np.ndarray:
        """Minimise functions in turn, each from the result of the one before, with its number of iterations."""
        x = np.array(x0, dtype=np.float64)
        search = QuasiNewton(len(x), min(self.memory, sum(iterations for _, iterations in stages)))
        # The search fails, and the best point is returned, if numbers overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            for fun, iterations in stages:
                x = search.minimise(fun, x, iterations, self.tol, self.rel_tol)
        return x


@OPTIMIZERS.register("bounded")
@dataclass(eq=False, repr=False)
class Bounded(Optimizer):
    """Brent's bounded minimisation of ``fun(x) -> value`` over an interval; finds a local minimum.

    Parameters
    ----------
    tol : float, default=0.01
        Tolerance on x, relative to the length of the interval.
    """

    tol: float = 0.01

    constraints = {"tol": POSITIVE}

    def minimise(self, fun: Callable[[Any], Any], x0: Any, bounds: tuple[float, float] | None = None) -> float:
        if bounds is None:
            raise ValueError("Bounded: bounds must be a pair of numbers, got None")
        low, high = bounds
        return brent(fun, low, high, self.tol * (high - low))


GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
# SciPy's constant: L-BFGS would amplify a difference of 1e-10 in a phase.
RELATIVE_PRECISION = math.sqrt(2.2e-16)


def brent(fun: Callable[[float], float], low: float, high: float, tol: float) -> float:
    """A local minimum of `fun` in (low, high) by golden sections and parabolas through the best three points.

    References
    ----------
    R. P. Brent, Algorithms for minimization without derivatives, 1973, chapter 5.
    """
    best = second = third = low + GOLDEN * (high - low)
    best_value = second_value = third_value = fun(best)
    stride = stride_before = 0.0
    while True:
        middle = 0.5 * (low + high)
        min_step = RELATIVE_PRECISION * abs(best) + tol / 3.0
        if abs(best - middle) <= 2.0 * min_step - 0.5 * (high - low):
            return best
        fitted = None
        if abs(stride_before) > min_step:
            points = (best, best_value), (second, second_value), (third, third_value)
            fitted = _parabola_step(points, low - best, high - best, 0.5 * stride_before)
        if fitted is None:
            stride_before = (low if best >= middle else high) - best
            stride = GOLDEN * stride_before
        else:
            stride_before, stride = stride, fitted
            if min(best + stride - low, high - best - stride) < 2.0 * min_step:
                stride = math.copysign(min_step, middle - best)
        point = best + math.copysign(max(abs(stride), min_step), stride)
        value = fun(point)
        if value <= best_value:
            low, high = (best, high) if point >= best else (low, best)
            third, third_value, second, second_value = second, second_value, best, best_value
            best, best_value = point, value
            continue
        low, high = (point, high) if point < best else (low, point)
        if value <= second_value or second == best:
            third, third_value, second, second_value = second, second_value, point, value
        elif value <= third_value or third in (best, second):
            third, third_value = point, value


def _parabola_step(points: Sequence[tuple[float, float]], low: float, high: float, longest: float) -> float | None:
    """The step from the first point to the vertex of the parabola through three, if it is short and inside."""
    (x, fx), (v, fv), (w, fw) = points
    r = (x - v) * (fx - fw)
    q = (x - w) * (fx - fv)
    top, bottom = (x - w) * q - (x - v) * r, 2.0 * (q - r)
    if bottom > 0.0:
        top = -top
    bottom = abs(bottom)
    good = bottom * low < top < bottom * high and abs(top) < abs(bottom * longest)
    return top / bottom if good else None
