"""The base class of distributions: losses whose scores are the parameters of a distribution of the target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from ...core import Scales
from ...utils.param_validation import NON_NEGATIVE, POSITIVE, POSITIVE_SEQUENCE, OneOf
from ...utils.registry import Registry
from ...utils.typing import Array
from ..target_statistics import ScaledLoss, round_to_24_bits

# Numbers beyond this, and Fisher information below its inverse, occur at scores without meaning only.
LARGEST = 1e300
# The resolution of a target, as a share of its spread.
RESOLUTION = 1e-6
# Relative learning rate of all parameters but the first: scales would soon follow the errors of training rows,
# which are smaller than those of other rows.
FURTHER_RATE = 0.125
# In units of the information at the baseline.
LEAST_INFORMATION = 0.1


class Distribution(ScaledLoss):
    r"""A distribution of one target given the features, fitted by its negative log-likelihood.

    The response has a column for each parameter of the distribution, ``link.names``. The loss of a row is
    ``-log p(y)``, constants included. The hessian is the diagonal of the Fisher information of the scores,
    :math:`E[(\partial_c \log p)^2]`, which does not depend on y and is positive. Newton steps are then natural
    gradients (Duan et al.) as far as parameters are orthogonal. Steps t above 1 in logs of parameters, as of rare
    events or outliers, are shortened to 1 + log t by a larger hessian. Each score has its own unit: one over the
    Fisher information at the baseline. In a fit the information is at least a tenth of
    that, since steps would be too long where a parameter hardly matters, such as the degrees of freedom of a
    nearly normal distribution. Steps of parameters other than the first, as of scales, are an eighth of natural
    gradients: they would follow the errors of the training rows, which soon are smaller than those of others.

    A new distribution defines ``link`` with names, ``negative_log_density``, ``gradient``,
    ``information``, ``frozen``, ``mean`` unless it is the first parameter, and ``baseline`` or ``start``. Its
    numbers may overflow: they are limited here. With the registration ``@DISTRIBUTIONS.register("name")`` it is
    known by name.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives of each score in a fit; "auto" is computed in each fit.

    References
    ----------
    Duan et al., NGBoost: Natural gradient boosting for probabilistic prediction, ICML 2020. Rigby and
    Stasinopoulos, Generalized additive models for location, scale and shape, Applied Statistics 54, 2005.
    """

    rows = "independent"
    exact_hessian = False
    has_location: ClassVar[bool] = False
    """Whether the first score is in the unit of the target; other scores are logs, or logits."""
    constraints = {"unit": POSITIVE | POSITIVE_SEQUENCE | OneOf(("auto",))}

    def estimated_unit(self, y: Array, weight: Array) -> tuple[float, ...]:
        """One over the Fisher information of each score at the baseline.

        Raises
        ------
        ValueError
            If it is out of the range of numbers, for targets near 1e150 or 1e-150.
        """
        information = self._information(self.baseline(y, weight)[None])[0]
        if not ((information > 1.0 / LARGEST) & (information < LARGEST)).all():
            size = float(np.abs(y).max())
            raise ValueError(f"loss {self!r}: y must be given in other units, got numbers of up to {size:g}")
        return self._rounded_units(1.0 / information, y[:, 0])

    def _rounded_units(self, unit: Array, y: Array) -> tuple[float, ...]:
        """Units (C,) without digits that depend on the order of targets (n,)."""
        return tuple(map(round_to_24_bits, unit))

    @property
    def scales(self) -> Scales:  # type: ignore[override]
        """The unit, a rate of 1 for the first parameter and less for others, and the least information."""
        rates = 1.0, *[FURTHER_RATE] * (self.n_parameters - 1)
        return replace(super().scales, relative_rates=rates, min_hessian=LEAST_INFORMATION)

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for each parameter of the distribution."""
        super().n_scores(y)
        return self.n_parameters

    @property
    def monotone(self) -> tuple[int, ...]:  # type: ignore[override]
        """The mean changes with the first parameter, and no other one."""
        return 1, *[0] * (self.n_parameters - 1)

    @property
    def n_parameters(self) -> int:
        """Number of parameters, each with a name in the link."""
        return len(self.link.names or ())

    def value(self, y: Array, raw: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.clip(self.negative_log_density(y, raw)[:, 0], -LARGEST, LARGEST)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        with np.errstate(over="ignore"):
            gradient = np.clip(np.hstack(self.gradient(y, raw)), -LARGEST, LARGEST)
        hessian, first = self._information(raw), int(self.has_location)
        hessian[:, first:] = bounding_hessian(gradient[:, first:], hessian[:, first:])
        return gradient, hessian

    def _information(self, raw: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.clip(np.hstack(self.information(raw)), 1.0 / LARGEST, LARGEST)

    def baseline(self, y: Array, weight: Array) -> Array:
        """The maximum likelihood estimate at constant scores, within the bounds of ``start``."""
        return maximum_likelihood(self, y, weight, *self.start(y[:, 0], weight))

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        """Scores (C,) from moments of the target (n,), with the bounds of maximum likelihood estimates."""
        raise NotImplementedError(f"loss {self!r} must define 'baseline' or 'start'")

    @abstractmethod
    def negative_log_density(self, y: Array, raw: Array) -> Array:
        """``-log p(y)`` of targets (n, 1) at scores (n, C): (n, 1)."""

    @abstractmethod
    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        """The derivative of the loss with respect to each score: C columns (n, 1)."""

    @abstractmethod
    def information(self, raw: Array) -> Sequence[Array]:
        """The diagonal of the Fisher information of the scores (n, C): C columns (n, 1)."""

    @abstractmethod
    def frozen(self, response: Array) -> Any:
        """The frozen distribution of :mod:`scipy.stats` of each row of a response (n, W), vectorised over rows."""

    def mean(self, response: Array) -> Array:
        """The mean of each row of a response (n, W), (n,): by default the first parameter."""
        return response[:, 0]

    def prediction(self, response: Array) -> Array:
        """The mean, (n, 1)."""
        return self.mean(response)[:, None]


class ContinuousDistribution(Distribution):
    """Base class of distributions of real targets, whose likelihood is bounded by a resolution.

    The density of targets that are predicted exactly, such as equal ones, grows without limit as the scale falls:
    a fit would never end. The loss is therefore that of targets which are known up to errors of a size, the
    resolution, and the best scale of an exact prediction is the resolution. Elsewhere it makes no difference.

    The loss and gradient of a new distribution use ``error``; it may define ``estimated_resolution``.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.
    resolution : "auto" or float, default="auto"
        The size of errors of the target; "auto" is a millionth of its spread, computed in each fit. Outside of a
        fit it is then 0.
    """

    estimated = ("resolution", "unit")
    constraints = Distribution.constraints | {"resolution": NON_NEGATIVE | OneOf(("auto",))}
    resolution: float | str

    def __init__(self, unit: float | str | Sequence[float] = "auto", resolution: float | str = "auto") -> None:
        super().__init__(unit)
        self.resolution = resolution

    def estimated_resolution(self, y: Array, weight: Array) -> float:
        """The resolution for a target (n, 1): a millionth, where it is relative to targets or bounded."""
        return RESOLUTION

    @property
    def error(self) -> float:
        """The resolution as a number."""
        return 0.0 if isinstance(self.resolution, str) else float(self.resolution)


DISTRIBUTIONS: Registry[Distribution] = Registry("distribution", Distribution)  # type: ignore[type-abstract]


def bounding_hessian(gradient: Array, information: Array) -> Array:
    """Hessians of logs of parameters (n, C): the information, or more for rows of long steps.

    The information of rare events is small, and a step multiplies the mean by the exponential of the ratio of an
    event to its mean. A step of length t above 1 is shortened to 1 + log(t), about the log of this ratio.
    """
    with np.errstate(over="ignore"):
        length = np.clip(np.abs(gradient) / information, 1.0, LARGEST)
    return information * (length / (1.0 + np.log(length)))


def maximum_likelihood(
    loss: Distribution, y: Array, weight: Array, start: Array, least: Array, largest: Array
) -> Array:
    """The constant scores (C,), within bounds, that minimise the weighted loss of targets (n, 1)."""
    values, of_row = np.unique(y[:, 0], return_inverse=True)
    y, share = values[:, None], np.bincount(of_row, weight) / weight.sum()
    unit = np.sqrt(loss.derivatives(y[:1], start[None])[1][0])

    def objective(point: Array) -> tuple[float, Array]:
        raw = np.tile(start + point / unit, (len(y), 1))
        gradient, _ = loss.derivatives(y, raw)
        # Not a product of matrices, whose last bits depend on the threads of BLAS.
        return float((share * loss.value(y, raw)).sum()), (share[:, None] * gradient).sum(axis=0) / unit

    bounds = list(zip((least - start) * unit, (largest - start) * unit, strict=True))
    options = {"ftol": 1e-15, "gtol": 1e-9}
    optimum = minimize(
        objective, np.zeros(len(start)), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(start + optimum.x / unit)


def weighted_moments(y: Array, weight: Array) -> tuple[float, float]:
    """The weighted mean and variance of a target (n,)."""
    mean = float(np.average(y, weights=weight))
    return mean, float(np.average(np.square(y - mean), weights=weight))
