"""Penalised least squares on fixed features, for many targets in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...utils.linalg import cholesky
from ...utils.typing import Array


@dataclass(frozen=True)
class LeastSquares:
    r"""Minimises :math:`\sum_i w_i (a \cdot \phi_i - z_i)^2 + \lambda \sum_k a_k^2 / u_k^2` for many targets z.

    The system is factored once. Of the two that give the same a, with a row for each feature or for each row of
    the data, it is the smaller one.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        The rows of the design that are fitted.
    features : ndarray of shape (p, m)
        Their features, in the precision of the products.
    weight : ndarray of shape (m,)
        Sample weights, positive, as shares of the largest.
    unit : ndarray of shape (p,)
        What amplitudes are measured in, u: the larger, the less the penalty holds them.
    factor : ndarray of shape (p, p) or (m, m)
        The Cholesky factor of the smaller system, as :func:`cholesky` gives it.
    """

    rows: Array
    features: Array
    weight: Array
    unit: Array
    factor: Array

    @classmethod
    def of(cls, rows: Array, features: Array, weight: Array, unit: Array, l2: float) -> LeastSquares:
        """Factor the system for a penalty lambda, which must not be 0."""
        # In single precision weights are to be numbers of order 1.
        largest = weight.max()
        weight, l2 = weight / largest, l2 / largest
        # Features that hardly differ between rows drown the penalty in the rounding of single precision.
        for dtype in dict.fromkeys((features.dtype, np.dtype(np.float64))):
            features = features.astype(dtype, copy=False)
            factor = factored(features, weight, unit, l2)
            if factor is not None:
                return cls(rows, features, weight, unit, factor)
        raise ValueError(
            f"sample_weight must be less far apart for the cosines to be fitted together, got shares "
            f"of the largest down to {weight.min():.1e}"
        )

    def solve(self, target: Array) -> Array:
        """The amplitudes a, (C, p), for targets (m, C)."""
        from scipy.linalg.lapack import dpotrs

        unit = self.unit[:, None]
        if len(self.factor) == len(self.features):
            pull = unit * self._summed(self.weight[:, None] * target)
            return np.asarray((unit * dpotrs(self.factor, pull, lower=1)[0]).T)
        root = np.sqrt(self.weight)[:, None]
        return np.asarray((unit**2 * self._summed(root * dpotrs(self.factor, root * target, lower=1)[0])).T)

    def _summed(self, values: Array) -> Array:
        """The features (p, m) times values (m, C)."""
        return (self.features @ values.astype(self.features.dtype)).astype(np.float64)

    def outputs(self, amplitudes: Array) -> Array:
        """What amplitudes (C, p) give on the rows, (m, C)."""
        return (self.features.T @ amplitudes.T.astype(self.features.dtype)).astype(np.float64)


def factored(features: Array, weight: Array, unit: Array, l2: float) -> Array | None:
    """The Cholesky factor of the smaller system of :class:`LeastSquares`, None if it is not definite."""
    scaled = features * np.sqrt(weight).astype(features.dtype)
    scaled *= unit[:, None].astype(features.dtype)
    by_rows = scaled.shape[1] < scaled.shape[0]
    system = (scaled.T @ scaled if by_rows else scaled @ scaled.T).astype(np.float64, copy=False)
    rounding = float(np.finfo(features.dtype).eps) * float(np.trace(system))
    return cholesky(system, (l2, l2 + rounding))
