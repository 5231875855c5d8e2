"""Penalised least squares on fixed features, for many targets in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Array


@dataclass(frozen=True)
class LeastSquares:
    r"""Minimises :math:`\sum_i w_i (a \cdot \phi_i - z_i)^2 + \lambda |a|^2`, factored once for all targets z.

    Of the two systems that give the same a, with a row for each feature or for each row of the data, it is the
    smaller one.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        The rows of the design that are fitted.
    features : ndarray of shape (p, m)
        Their features, in the precision of the products.
    weight : ndarray of shape (m,)
        Sample weights, positive.
    factor : tuple
        The Cholesky factor of the system, as SciPy has it.
    """

    rows: Array
    features: Array
    weight: Array
    factor: tuple[Array, bool]

    @classmethod
    def of(cls, rows: Array, features: Array, weight: Array, l2: float) -> LeastSquares:
        """Factor the system for a penalty lambda, which must not be 0."""
        scaled = features * np.sqrt(weight).astype(features.dtype)
        by_rows = scaled.shape[1] < scaled.shape[0]
        system = (scaled.T @ scaled if by_rows else scaled @ scaled.T).astype(np.float64)
        rounding = float(np.finfo(features.dtype).eps) * float(np.trace(system))
        return cls(rows, features, weight, factored(system, l2, rounding))

    def solve(self, target: Array) -> Array:
        """The amplitudes a, (C, p), for targets (m, C)."""
        from scipy.linalg import cho_solve

        weighted = self.weight[:, None] * target
        if len(self.factor[0]) == len(self.features):
            return np.asarray(cho_solve(self.factor, self._summed(weighted), check_finite=False).T)
        root = np.sqrt(self.weight)[:, None]
        return self._summed(root * cho_solve(self.factor, root * target, check_finite=False)).T

    def _summed(self, values: Array) -> Array:
        """The features (p, m) times values (m, C)."""
        return (self.features @ values.astype(self.features.dtype)).astype(np.float64)

    def outputs(self, amplitudes: Array) -> Array:
        """What amplitudes (C, p) give on the rows, (m, C)."""
        return (self.features.T @ amplitudes.T.astype(self.features.dtype)).astype(np.float64)


def factored(system: Array, l2: float, rounding: float) -> tuple[Array, bool]:
    """The Cholesky factor of a system with a penalty, which covers rounding where that makes it indefinite."""
    from scipy.linalg import LinAlgError, cho_factor

    diagonal = np.diag_indices_from(system)
    for penalty in (l2, l2 + rounding):
        penalised = system.copy()
        penalised[diagonal] += penalty
        try:
            return cho_factor(penalised, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
    raise ValueError("sample_weight: weights are too far apart for the cosines to be fitted together")
