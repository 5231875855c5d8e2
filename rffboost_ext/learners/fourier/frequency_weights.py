"""Weightings of the K frequencies around a landmark, by the fit of each single cosine."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...core import Spec
from ...utils.registry import Registry
from ...utils.typing import Array


class Weighting(Spec, ABC):
    """A distribution over K frequencies."""

    @abstractmethod
    def weigh(self, risk: Array, beta: float, n: float) -> Array:
        """Probabilities, (K,), from the mean fit criterion of each single cosine, on data of total weight n."""


WEIGHTINGS: Registry[Weighting] = Registry("weighting", Weighting)  # type: ignore[type-abstract]


@WEIGHTINGS.register("uniform")
class UniformWeighting(Weighting):
    """``Q_j = 1 / K``: the prior, and a Monte Carlo estimate of the kernel at the landmark."""

    def weigh(self, risk: Array, beta: float, n: float) -> Array:
        return np.full(len(risk), 1.0 / len(risk))


@WEIGHTINGS.register("posterior")
class PosteriorWeighting(Weighting):
    """``Q_j ~ exp(-beta sqrt(n) risk_j)``: the pseudo-posterior of PAC-Bayes theory.

    References
    ----------
    Letarte, Morvant and Germain, Pseudo-Bayesian learning with kernel Fourier transform as prior, AISTATS
    2019, equation 12; Gautheron et al., ECML-PKDD 2020, algorithm 1.
    """

    def weigh(self, risk: Array, beta: float, n: float) -> Array:
        return softmax(-beta * np.sqrt(n) * risk)


@WEIGHTINGS.register("gibbs")
class GibbsWeighting(Weighting):
    """``Q_j ~ exp(-beta risk_j)``: the least-squares GBRFF of 2019, where beta is called c."""

    def weigh(self, risk: Array, beta: float, n: float) -> Array:
        return softmax(-beta * risk)


def softmax(score: Array) -> Array:
    """``exp(score)`` normalised to sum to 1, without overflow."""
    weight = np.exp(score - score.max())
    return weight / weight.sum()
