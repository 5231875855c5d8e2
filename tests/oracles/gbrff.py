"""GBRFF, GBRFF0.5, GBRFF1, GBRFF1.5 and GBRFF2, line by line from the papers; slow and plain on purpose.

References
----------
[E] Gautheron, Germain, Habrard, Morvant, Sebban and Zantedeschi, Landmark-based ensemble learning with random
    Fourier features and gradient boosting, ECML-PKDD 2020; settings of its experiments where the text is silent.
[W] The same authors, Learning landmark-based ensembles with random Fourier features and gradient boosting, 2019.

Every algorithm takes standardised X, labels y in {-1, 1} and the draws of each round; it returns the scores of the
rows Z after the last round. Where `states` are given, round t starts from the scores ``states[t]`` of the rows X
instead of its own, which shows each round by itself: L-BFGS multiplies a rounding error from round to round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import fmin_l_bfgs_b, fminbound

Array = np.ndarray
Hypothesis = Callable[[Array], Array]
Draws = Sequence[Array]
States = Sequence[Array] | None
ITERATIONS = 10
HALF_TURN = 0.5
PHASE_TOLERANCE = 0.01


def exponential_boosting(
    y: Array, X: Array, Z: Array, weak: Callable[[int, Array], Hypothesis], rounds: int, states: States
) -> Array:
    """The outer loop of [E], algorithms 2 and 3: `weak` maps (t, ytilde) to the weak hypothesis."""
    n = len(y)
    start = 0.5 * np.log((1.0 + y.sum() / n) / (1.0 - y.sum() / n))
    scores, scores_of_Z = np.full(n, start), np.full(len(Z), start)
    for t in range(rounds):
        scores = scores if states is None else states[t]
        w = np.exp(-y * scores)
        h = weak(t, y * w)
        alpha = 0.5 * np.log(np.sum((1.0 + y * h(X)) * w) / np.sum((1.0 - y * h(X)) * w))
        scores = scores + alpha * h(X)
        scores_of_Z = scores_of_Z + alpha * h(Z)
    return scores_of_Z


def mixture(landmark: Array, omegas: Array, q: Array) -> Hypothesis:
    """The hypothesis ``h(x) = sum_j q_j cos(omega_j . (landmark - x))``."""

    def h(X: Array) -> Array:
        total = np.zeros(len(X))
        for omega, q_j in zip(omegas, q, strict=True):
            total += q_j * np.cos((landmark - X) @ omega)
        return total

    return h


def pseudo_posterior(X: Array, ytilde: Array, landmark: Array, omegas: Array, beta: float) -> Array:
    """[E], algorithm 2: ``Q_j = exp(-beta sqrt(n) / n sum_i exp(-ytilde_i h_j(x_i))) / Z``."""
    n = len(X)
    risks = [np.sum(np.exp(-ytilde * np.cos((landmark - X) @ omega))) / n for omega in omegas]
    unnormalised = np.exp(-beta * np.sqrt(n) * (np.array(risks) - min(risks)))
    return unnormalised / unnormalised.sum()


def learn_landmark(X: Array, ytilde: Array, omegas: Array) -> Array:
    """[E], equation 9, from the origin: the uniform mean of cosines against the pseudo-residuals."""
    n, d = X.shape

    def objective(landmark: Array) -> tuple[float, Array]:
        angles = (landmark - X) @ omegas.T
        loss = np.exp(-ytilde * np.mean(np.cos(angles), axis=1))
        per_row = np.sin(angles) @ omegas / len(omegas)
        return np.sum(loss) / n, np.sum((ytilde * loss)[:, None] * per_row, axis=0) / n

    return fmin_l_bfgs_b(objective, np.zeros(d), maxiter=ITERATIONS)[0]


def gbrff05(
    X: Array, y: Array, Z: Array, omegas: Draws, landmarks: Draws, beta: float, states: States = None
) -> Array:
    """GBRFF0.5: given landmarks, the pseudo-posterior over the K frequencies of each round."""

    def weak(t: int, ytilde: Array) -> Hypothesis:
        return mixture(landmarks[t], omegas[t], pseudo_posterior(X, ytilde, landmarks[t], omegas[t], beta))

    return exponential_boosting(y, X, Z, weak, len(omegas), states)


def gbrff1(X: Array, y: Array, Z: Array, omegas: Draws, beta: float, states: States = None) -> Array:
    """GBRFF1: [E], algorithm 2."""

    def weak(t: int, ytilde: Array) -> Hypothesis:
        landmark = learn_landmark(X, ytilde, omegas[t])
        return mixture(landmark, omegas[t], pseudo_posterior(X, ytilde, landmark, omegas[t], beta))

    return exponential_boosting(y, X, Z, weak, len(omegas), states)


def learn_phase(X: Array, ytilde: Array, omega: Array) -> float:
    """[E], the phase, over b / 2 pi in half a turn to each side."""

    def objective(turns: float) -> float:
        return float(np.mean(np.exp(-ytilde * np.cos(X @ omega - 2.0 * np.pi * turns))))

    return 2.0 * np.pi * float(fminbound(objective, -HALF_TURN, HALF_TURN, xtol=PHASE_TOLERANCE))


def learn_frequency(X: Array, ytilde: Array, omega: Array, b: float, l2: float) -> Array:
    """[E], the frequency: L-BFGS from the draw, with the penalty ``l2 |omega|^2``."""
    n = len(X)

    def objective(w: Array) -> tuple[float, Array]:
        loss = np.exp(-ytilde * np.cos(X @ w - b))
        slope = np.sum((ytilde * loss * np.sin(X @ w - b))[:, None] * X, axis=0) / n
        return np.sum(loss) / n + l2 * np.sum(w**2), slope + 2.0 * l2 * w

    return fmin_l_bfgs_b(objective, omega, maxiter=ITERATIONS)[0]


def gbrff15(X: Array, y: Array, Z: Array, omegas: Draws, states: States = None) -> Array:
    """GBRFF1.5: one cosine per round, its phase learned."""

    def weak(t: int, ytilde: Array) -> Hypothesis:
        b = learn_phase(X, ytilde, omegas[t][0])
        return lambda rows: np.cos(rows @ omegas[t][0] - b)

    return exponential_boosting(y, X, Z, weak, len(omegas), states)


def gbrff2(X: Array, y: Array, Z: Array, omegas: Draws, l2: float, states: States = None) -> Array:
    """GBRFF2: [E], algorithm 3, one cosine per round, first its phase, then its frequency learned."""

    def weak(t: int, ytilde: Array) -> Hypothesis:
        b = learn_phase(X, ytilde, omegas[t][0])
        omega = learn_frequency(X, ytilde, omegas[t][0], b, l2)
        return lambda rows: np.cos(rows @ omega - b)

    return exponential_boosting(y, X, Z, weak, len(omegas), states)


def gbrff(
    X: Array, y: Array, Z: Array, omegas: Draws, c: float, learning_rate: float, states: States = None
) -> Array:
    """GBRFF with the least-squares loss: [W], algorithm 1."""
    scores, scores_of_Z = np.full(len(y), y.mean()), np.full(len(Z), y.mean())
    for t, frequencies in enumerate(omegas):
        scores = scores if states is None else states[t]
        r = y - scores
        landmark = least_squares_landmark(X, r, frequencies)
        fits = np.array([np.mean((r - np.cos((landmark - X) @ omega)) ** 2) for omega in frequencies])
        q = np.exp(-c * (fits - fits.min()))
        h = mixture(landmark, frequencies, q / q.sum())
        alpha = learning_rate * np.sum(r * h(X)) / np.sum(h(X) ** 2)
        scores, scores_of_Z = scores + alpha * h(X), scores_of_Z + alpha * h(Z)
    return scores_of_Z


def least_squares_landmark(X: Array, r: Array, omegas: Array) -> Array:
    """[W], equation 5, from the origin: mean squared residual of the uniform mean of cosines."""
    n, d = X.shape

    def objective(landmark: Array) -> tuple[float, Array]:
        angles = (landmark - X) @ omegas.T
        error = r - np.mean(np.cos(angles), axis=1)
        per_row = np.sin(angles) @ omegas / len(omegas)
        return np.sum(error**2) / n, 2.0 * np.sum(error[:, None] * per_row, axis=0) / n

    return fmin_l_bfgs_b(objective, np.zeros(d), maxiter=ITERATIONS)[0]
