"""GBRFF1 and GBRFF2 in NumPy and SciPy: what a careful author writes who does not compile.

Whole-array operations in float64, products by BLAS, projections computed once where a search allows it. The
algorithms are those of Gautheron et al., ECML-PKDD 2020, with the settings of the presets.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import fmin_l_bfgs_b, fminbound
from scipy.special import softmax

Array = np.ndarray
Weak = Callable[[Array, Array, np.random.Generator], Array]
ITERATIONS = 10
PHASE_TOLERANCE = 0.01


def gbrff1(X: Array, y: Array, rounds: int = 100, n_components: int = 10, seed: int = 0) -> Array:
    """Scores of the rows of X after so many rounds of GBRFF1 (algorithm 1).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features; they are standardised here.
    y : ndarray of shape (n,)
        Classes, 0 and 1.
    rounds, n_components, seed : int
        T, K and the seed of the draws.

    Returns
    -------
    ndarray of shape (n,)
    """

    def weak(X: Array, residual: Array, rng: np.random.Generator) -> Array:
        return landmark_cosines(X, residual, draw(rng, n_components, X.shape[1]))

    return boost(X, y, weak, rounds, seed)


def gbrff2(X: Array, y: Array, rounds: int = 100, seed: int = 0) -> Array:
    """Scores of the rows of X after so many rounds of GBRFF2 (algorithm 2); parameters as in :func:`gbrff1`."""

    def weak(X: Array, residual: Array, rng: np.random.Generator) -> Array:
        return learned_cosine(X, residual, draw(rng, 1, X.shape[1])[0])

    return boost(X, y, weak, rounds, seed)


def draw(rng: np.random.Generator, k: int, d: int) -> Array:
    """Frequencies (k, d) of the kernel of width gamma = 1 / d."""
    return np.sqrt(2.0 / d) * rng.standard_normal((k, d))


def boost(X: Array, y: Array, weak: Weak, rounds: int, seed: int) -> Array:
    """The outer loop: `weak` maps features, residuals and randomness to outputs on the rows."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    sign = np.where(y > 0, 1.0, -1.0)
    scores = np.full(len(y), np.arctanh(sign.mean()))
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        weight = np.exp(-sign * scores)
        residual = sign * weight
        output = weak(X, residual, rng)
        scores += np.arctanh(residual @ output / weight.sum()) * output
    return scores


def learned_cosine(X: Array, residual: Array, omega: Array) -> Array:
    """One cosine: its phase by equation 9, then its frequency by equation 10."""
    start = X @ omega

    def at_phase(turns: float) -> float:
        return float(np.exp(-residual * np.cos(start - 2.0 * np.pi * turns)).mean())

    phase = 2.0 * np.pi * fminbound(at_phase, -0.5, 0.5, xtol=PHASE_TOLERANCE)

    def at_frequency(omega: Array) -> tuple[float, Array]:
        z = X @ omega - phase
        loss = np.exp(-residual * np.cos(z))
        return float(loss.mean()), (residual * loss * np.sin(z)) @ X / len(X)

    omega = fmin_l_bfgs_b(at_frequency, omega, maxiter=ITERATIONS)[0]
    return np.cos(X @ omega - phase)


def landmark_cosines(X: Array, residual: Array, omegas: Array) -> Array:
    """K cosines: their landmark by equation 6, then their weights by the pseudo-posterior of beta = 1."""
    n, k = len(X), len(omegas)
    start = X @ omegas.T

    def at_landmark(landmark: Array) -> tuple[float, Array]:
        z = start - omegas @ landmark
        loss = np.exp(-residual * np.cos(z).mean(axis=1))
        return float(loss.mean()), -((residual * loss) @ np.sin(z)) @ omegas / (k * n)

    landmark = fmin_l_bfgs_b(at_landmark, np.zeros(X.shape[1]), maxiter=ITERATIONS)[0]
    cosines = np.cos(start - omegas @ landmark)
    risks = np.exp(-residual[:, None] * cosines).mean(axis=0)
    return cosines @ softmax(-np.sqrt(n) * risks)
