"""Optimizers: L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Optimizer
from ..utils.param_validation import NON_NEGATIVE, Integer
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

    def minimise(self, fun: Callable[[Any], Any], x0: Any) -> np.ndarray:
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
