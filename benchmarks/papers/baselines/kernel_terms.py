"""Kernels, and the terms that boosting over support vector machines yields: sums of kernel values, and votes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rffboost_ext.core import Term
from rffboost_ext.utils.typing import Array


@dataclass(frozen=True)
class Kernel:
    """A kernel as scikit-learn's support vector machines name it.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly"}
        ``x . x'``, ``exp(-gamma |x - x'|^2)`` or ``(gamma x . x' + coef0)^degree``.
    gamma, degree, coef0 : float, int, float
        Parameters of those kernels that have them.
    """

    kernel: str
    gamma: float = 1.0
    degree: int = 1
    coef0: float = 0.0

    def __call__(self, X: Array, Z: Array) -> Array:
        """Values, (n, m), for X (n, d) and Z (m, d)."""
        from sklearn.metrics.pairwise import pairwise_kernels

        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return np.asarray(pairwise_kernels(X, Z, metric=self.kernel, filter_params=True, **params))


def rbf_kernels(low: int, high: int) -> tuple[Kernel, ...]:
    """Gaussian kernels of parameter 2^low, ..., 2^high."""
    return tuple(Kernel("rbf", gamma=2.0**power) for power in range(low, high + 1))


@dataclass(frozen=True, eq=False)
class KernelSum(Term):
    """``x -> sum_m weight[m] k(x, points[m]) + intercept``: what a support vector machine computes.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    points : ndarray of shape (m, d)
        Support vectors.
    weight : ndarray of shape (m,)
        Their coefficients.
    intercept : float
        Added to the sum.
    """

    kernel: Kernel
    points: Array
    weight: Array
    intercept: float

    def __call__(self, X: Array) -> Array:
        if not len(self.points):
            return np.full((len(X), 1), self.intercept)
        return (self.kernel(X, self.points) @ self.weight + self.intercept)[:, None]

    def scaled(self, factor: float) -> KernelSum:
        return replace(self, weight=factor * self.weight, intercept=factor * self.intercept)

    @classmethod
    def stack(cls, terms: Sequence[KernelSum]) -> KernelSum:
        # Rounds share most of their support vectors: each is kept once.
        points, place = np.unique(np.vstack([t.points for t in terms]), axis=0, return_inverse=True)
        weight = np.bincount(place.ravel(), np.concatenate([t.weight for t in terms]), minlength=len(points))
        return cls(terms[0].kernel, points, weight, sum(t.intercept for t in terms))

    @property
    def family(self) -> Hashable:
        """Sums of one kernel."""
        return KernelSum, self.kernel


@dataclass(frozen=True, eq=False)
class Votes(Term):
    """``x -> sum_t weight[t] sign(terms[t](x))``, the sign of 0 being 1.

    Parameters
    ----------
    terms : tuple of Term
        The voters.
    weight : ndarray of shape (T,)
        Their weights.
    """

    terms: tuple[Term, ...]
    weight: Array

    def __call__(self, X: Array) -> Array:
        return np.asarray(sum(w * votes(term(X)) for term, w in zip(self.terms, self.weight, strict=True)))

    def scaled(self, factor: float) -> Votes:
        return replace(self, weight=factor * self.weight)

    @classmethod
    def stack(cls, terms: Sequence[Votes]) -> Votes:
        return cls(tuple(v for t in terms for v in t.terms), np.concatenate([t.weight for t in terms]))


def votes(output: Array) -> Array:
    """-1 or 1 by the sign of an output; 1 where it is 0."""
    return np.where(output >= 0.0, 1.0, -1.0)
