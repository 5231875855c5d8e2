"""Parts of Fourier learners: spectra, placements of the landmark, and weightings of the frequencies."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...core import Optimizer, Round, Spec
from ...utils.param_validation import POSITIVE, OneOf
from ...utils.registry import Registry
from ...utils.typing import Array
from .objectives import EmpiricalRisk

GAMMA = POSITIVE | OneOf(("scale",))


class Spectrum(Spec, ABC):
    """A distribution of frequencies; their mean cosine is a shift-invariant kernel (Bochner's theorem)."""

    @abstractmethod
    def sample(self, round: Round, size: int, gamma: float) -> Array:
        """Draw frequencies, (size, d), for a kernel of parameter `gamma`, with ``round.rng``."""


SPECTRA: Registry[Spectrum] = Registry("spectrum", Spectrum)  # type: ignore[type-abstract]


@SPECTRA.register("gaussian")
class Gaussian(Spectrum):
    """Frequencies ``N(0, 2 gamma I)`` of the RBF kernel ``exp(-gamma |x - x'|^2)`` (Rahimi and Recht, 2007)."""

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        return np.sqrt(2.0 * gamma) * round.rng.standard_normal((size, round.design.n_features))


def bandwidth(gamma: float | str, n_features: int) -> float:
    """The value of `gamma`; "scale" is 1 / n_features, for standardised features."""
    return 1.0 / n_features if isinstance(gamma, str) else float(gamma)


class Placement(Spec, ABC):
    """Chooses the landmark around which the K cosines of a round are centred."""

    @abstractmethod
    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        """The landmark, (d,), in the coordinates of ``round.design.X``, for frequencies `omega` (K, d).

        `objective` is the mean fit criterion of the cosines of `omega`, as a function of their phases.
        """


PLACEMENTS: Registry[Placement] = Registry("placement", Placement)  # type: ignore[type-abstract]


@PLACEMENTS.register("learned")
class LearnedLandmark(Placement):
    """Minimises the mean fit criterion of the uniformly weighted cosines, starting at the origin.

    References
    ----------
    Gautheron et al., ECML-PKDD 2020, equation 9 and algorithm 2; the frequency stays inside the sum over j in
    the gradient.
    """

    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        def at_landmark(landmark: Array) -> tuple[float, Array]:
            value, gradient = objective.at_phases(omega @ landmark)
            return value, gradient @ omega

        return np.asarray(optimizer.minimise(at_landmark, np.zeros(omega.shape[1])))


@PLACEMENTS.register("random")
class RandomLandmark(Placement):
    """Draws one of the training rows, with probability proportional to its weight."""

    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        X = round.design.X
        # Rows are ordered along a random direction, so that the draw does not depend on their order, and a row of
        # weight 2 is equivalent to the row twice.
        position = X @ round.rng.standard_normal(X.shape[1])
        order = np.argsort(position, kind="stable")
        cumulative = np.cumsum(round.weight[order])
        rank = np.searchsorted(cumulative, round.rng.uniform() * cumulative[-1], side="right")
        return np.array(X[order[min(rank, len(order) - 1)]])


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
    2019, equation 12; Gautheron et al., ECML-PKDD 2020, algorithm 2.
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
