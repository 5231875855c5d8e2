"""Functions of time: step functions as scikit-survival's, and those of distributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..losses import SurvivalLoss
from ..utils.typing import Array


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A function of time that is ``y[i]`` from ``x[i]`` up to ``x[i + 1]``.

    As in scikit-survival, it is ``y[0]`` before ``x[0]``, too, and is not defined outside of its domain.

    Parameters
    ----------
    x : ndarray of shape (T,)
        Times, increasing.
    y : ndarray of shape (T,)
        Values from these times on.
    smooth : callable, optional
        ``smooth(time)`` are the values at any times (m,) from 0 on, by a distribution instead of steps.
    """

    x: Array
    y: Array
    smooth: Callable[[Array], Array] | None = None

    @property
    def domain_(self) -> tuple[float, float]:
        """The first and the last time at which the function is defined: 0 and ``x[-1]``, or infinity if smooth."""
        return 0.0, float(self.x[-1]) if self.smooth is None else np.inf

    domain = domain_
    """The same as ``domain_``, as scikit-survival's functions have it."""

    def __call__(self, x: Any) -> Any:
        """Values at times.

        Parameters
        ----------
        x : float or array-like of shape (m,)
            Times within the domain.

        Returns
        -------
        float or ndarray of shape (m,)
            A number for a single time.

        Raises
        ------
        ValueError
            If a time is not finite or outside of the domain.
        """
        time = np.atleast_1d(np.asarray(x, dtype=np.float64))
        low, high = self.domain_
        if not ((time >= low) & (time <= high)).all():
            raise ValueError(
                f"x must be within [{low:g}, {high:g}], got values from {time.min():g} to {time.max():g}"
            )
        steps = np.maximum(np.searchsorted(self.x, time, side="right") - 1, 0)
        values = self.y[steps] if self.smooth is None else self.smooth(time)
        return values[0] if len(values) == 1 else values


def smooth_values(loss: SurvivalLoss, raw: float, of_hazard: Callable[[Array], Array], time: Array) -> Array:
    """A function of the cumulative hazard of a raw score at times (m,), by the distribution of a loss."""
    return of_hazard(loss.cumulative_hazard(np.full((1, 1), raw), time, time))[0]


def survival_of_hazard(hazard: Array) -> Array:
    """The probability of survival for a cumulative hazard."""
    return np.exp(-hazard)
