"""Penalised least squares on fixed features: for many targets, or with weights that change in each round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...utils.kernel_ridge import cholesky
from ...utils.typing import Array


@dataclass(frozen=True)
class LeastSquares:
    r"""Minimises :math:`\sum_i w_i (a \cdot \phi_i - z_i)^2 + \lambda \sum_k a_k^2 / u_k^2` for many targets z.

    The primal system (one row per feature) or the dual one (one row per data row), whichever is smaller, is
    factorised once.

    Parameters
    ----------
    features : ndarray of shape (p, m)
        Features of the rows that are fitted, in the precision of the products.
    weight : ndarray of shape (m,)
        Sample weights, positive, as shares of the largest.
    norms : ndarray of shape (p,)
        Norms u of the features: the larger, the lower the penalty on the amplitude.
    factor : ndarray of shape (p, p) or (m, m)
        The Cholesky factor of the smaller system, from :func:`cholesky`.
    """

    features: Array
    weight: Array
    norms: Array
    factor: Array

    @classmethod
    def factorised(cls, features: Array, weight: Array, norms: Array, l2: float) -> LeastSquares:
        """Factorise the system for a positive penalty lambda."""
        # In single precision weights are to be numbers of order 1.
        largest = weight.max()
        weight, l2 = weight / largest, l2 / largest
        # If features hardly differ between rows, the rounding errors of single precision exceed the penalty.
        for dtype in dict.fromkeys((features.dtype, np.dtype(np.float64))):
            features = features.astype(dtype, copy=False)
            factor = factorise(features, weight, norms, l2)
            if factor is not None:
                return cls(features, weight, norms, factor)
        raise ValueError(
            f"sample_weight must span fewer orders of magnitude: the least-squares system of the cosines is "
            f"singular; got weights from {weight.min():.1e} to 1 times the largest"
        )

    def solve(self, target: Array) -> Array:
        """The amplitudes a, (C, p), for targets (m, C)."""
        from scipy.linalg.lapack import dpotrs

        norms = self.norms[:, None]
        if len(self.factor) == len(self.features):
            right = norms * self._project(self.weight[:, None] * target)
            return np.asarray((norms * dpotrs(self.factor, right, lower=1)[0]).T)
        root = np.sqrt(self.weight)[:, None]
        return np.asarray((norms**2 * self._project(root * dpotrs(self.factor, root * target, lower=1)[0])).T)

    def _project(self, values: Array) -> Array:
        """The features (p, m) times values (m, C)."""
        return (self.features @ values.astype(self.features.dtype)).astype(np.float64)

    def predict(self, amplitudes: Array) -> Array:
        """Outputs (m, C) of amplitudes (C, p) on the rows."""
        return (self.features.T @ amplitudes.T.astype(self.features.dtype)).astype(np.float64)


def factorise(features: Array, weight: Array, norms: Array, l2: float) -> Array | None:
    """The Cholesky factor of the smaller system of :class:`LeastSquares`; None if it is not positive definite."""
    scaled = features * np.sqrt(weight).astype(features.dtype)
    scaled *= norms[:, None].astype(features.dtype)
    is_dual = scaled.shape[1] < scaled.shape[0]
    system = (scaled.T @ scaled if is_dual else scaled @ scaled.T).astype(np.float64, copy=False)
    rounding = float(np.finfo(features.dtype).eps) * float(np.trace(system))
    return cholesky(system, (l2, l2 + rounding))


@dataclass(frozen=True)
class ReweightedLeastSquares:
    """Ridge regression on features (p, m) of some rows, whose weights differ from call to call."""

    features: Array

    @cached_property
    def kernel(self) -> Array:
        """The kernel matrix of the features, (m, m)."""
        return np.asarray(self.features.T @ self.features)

    @property
    def is_dual(self) -> bool:
        """Whether the dual system takes less time to solve; its products are cached."""
        n_features, n_rows = self.features.shape
        return 3 * n_rows < 5 * n_features

    def solve(self, curvature: Array, negative_gradient: Array, penalty: float) -> Array:
        r"""The coefficients b, (p,), that minimise :math:`\sum_i (h_i f_i^2 / 2 - u_i f_i) + \lambda |b|^2 / 2`.

        Parameters
        ----------
        curvature, negative_gradient : ndarray of shape (m,)
            h, positive, and u.
        penalty : float
            Lambda, positive.
        """
        from scipy.linalg.lapack import dpotrs

        root = np.sqrt(curvature)
        if self.is_dual:
            system, right = root[:, None] * self.kernel, negative_gradient / root
            system *= root
        else:
            scaled = self.features * root
            system, right = scaled @ scaled.T, self.features @ negative_gradient
        rounding = float(np.finfo(np.float64).eps) * float(np.trace(system))
        factor = cholesky(system, [penalty, penalty + rounding, penalty + len(system) * rounding])
        if factor is None:
            raise ValueError(
                "sample_weight must span fewer orders of magnitude: the least-squares system of the cosines is "
                "singular"
            )
        solution = dpotrs(factor, right, lower=1)[0]
        return np.asarray(self.features @ (root * solution) if self.is_dual else solution)

    def predict(self, coefficients: Array) -> Array:
        """Outputs (m, C) of coefficients (C, p) on the rows."""
        return np.asarray((coefficients @ self.features).T)
