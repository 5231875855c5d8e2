"""Optimizers: SciPy's, as specs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .checks import POSITIVE, Integer
from .core import Optimizer
from .registry import Registry

OPTIMIZERS: Registry[Optimizer] = Registry("optimizer", Optimizer)  # type: ignore[type-abstract]


@OPTIMIZERS.register("lbfgs")
class LBFGS(Optimizer):
    """Limited-memory BFGS on ``fun(x) -> (value, gradient)``.

    Parameters
    ----------
    max_iter : int, default=10
        Iterations at most; 10 is what the experiments behind the GBRFF papers used.
    tol : float, default=1e-5
        Stops when no component of the projected gradient exceeds this.
    """

    constraints = {"max_iter": Integer(1), "tol": POSITIVE}

    def __init__(self, max_iter: int = 10, tol: float = 1e-5) -> None:
        self.max_iter = max_iter
        self.tol = tol

    def minimise(
        self, fun: Callable[[Any], Any], x0: Any, bounds: tuple[float, float] | None = None
    ) -> np.ndarray:
        from scipy.optimize import fmin_l_bfgs_b

        box = None if bounds is None else [bounds] * len(x0)
        return fmin_l_bfgs_b(fun, x0, bounds=box, maxiter=self.max_iter, pgtol=self.tol)[0]


@OPTIMIZERS.register("bounded")
class Bounded(Optimizer):
    """Brent's bounded minimisation of ``fun(x) -> value`` over an interval; finds a local minimum.

    Parameters
    ----------
    tol : float, default=0.01
        Tolerance on x, as a share of the interval's length.
    """

    constraints = {"tol": POSITIVE}

    def __init__(self, tol: float = 0.01) -> None:
        self.tol = tol

    def minimise(self, fun: Callable[[Any], Any], x0: Any, bounds: tuple[float, float] | None = None) -> float:
        from scipy.optimize import fminbound

        if bounds is None:
            raise ValueError("Bounded: bounds must be a pair of numbers, got None")
        return float(fminbound(fun, *bounds, xtol=self.tol * (bounds[1] - bounds[0])))
