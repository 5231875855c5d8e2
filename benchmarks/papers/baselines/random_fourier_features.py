"""Random Fourier features, and spectra of further shift-invariant kernels to draw their frequencies from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rffboost_ext.core import Round
from rffboost_ext.learners import SPECTRA, Spectrum
from rffboost_ext.learners.design import Design
from rffboost_ext.learners.fourier.parts import GAMMA, bandwidth
from rffboost_ext.terms import Cosines
from rffboost_ext.utils.param_validation import POSITIVE, Integer
from rffboost_ext.utils.typing import Array

from .feature_map import FeatureMap, TrainingData


@SPECTRA.register("laplace")
class Laplace(Spectrum):
    """Frequencies of the Laplace kernel ``exp(-gamma |x - x'|_1)``: Cauchy, of scale gamma, per feature.

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007, figure 1.
    """

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        return gamma * round.rng.standard_cauchy((size, round.design.n_features))


@SPECTRA.register("cauchy")
class Cauchy(Spectrum):
    """Frequencies of the Cauchy kernel ``prod_k 1 / (1 + gamma (x_k - x'_k)^2)``: Laplace, of scale sqrt(gamma).

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007, figure 1.
    """

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        return round.rng.laplace(scale=np.sqrt(gamma), size=(size, round.design.n_features))


@SPECTRA.register("matern")
@dataclass(eq=False, repr=False)
class Matern(Spectrum):
    r"""Frequencies of the Matern kernel of smoothness nu and length scale ``1 / sqrt(2 gamma)``: Student's t.

    .. math:: \omega = \sqrt{2 \gamma} \, z / \sqrt{g / \nu}, \quad z \sim N(0, I), \; g \sim \Gamma(\nu, 1)

    that is, a multivariate t of ``2 nu`` degrees of freedom. As nu grows the kernel becomes the Gaussian
    ``exp(-gamma |x - x'|^2)``.

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness, above 0; 0.5 is ``exp(-|x - x'| sqrt(2 gamma))``.

    References
    ----------
    Rasmussen and Williams, Gaussian processes for machine learning, MIT Press 2006, equations 4.14 and 4.15.
    """

    nu: float = 1.5

    constraints = {"nu": POSITIVE}

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        normal = round.rng.standard_normal((size, round.design.n_features))
        spread = round.rng.gamma(self.nu, size=(size, 1)) / self.nu
        return np.sqrt(2.0 * gamma / spread) * normal


def pairs(design: Design, omega: Array) -> Cosines:
    """Cosine and sine at the frequencies omega (D, d) of ``design.X``, as 2 D cosines of the original features."""
    phase = np.repeat([0.0, 0.5 * np.pi], len(omega))
    weight = np.full((2 * len(omega), 1), 1.0 / np.sqrt(len(omega)))
    return cast(Cosines, design.restore(Cosines(np.vstack([omega, omega]), phase, weight)))


class PairMap(FeatureMap):
    """A map to cosines and sines over sqrt(D), so that the dot product of two rows is a mean of cosines."""

    gamma: float | str
    kernel: str | Spectrum
    cosines_: Cosines

    constraints = {"n_components": Integer(1), "gamma": GAMMA}
    roles = {"kernel": SPECTRA}

    def _frequencies(self, data: TrainingData, size: int) -> Array:
        """Frequencies (size, d) drawn from the kernel's Fourier transform."""
        gamma = bandwidth(self.gamma, data.design.n_features)
        return SPECTRA.make(self.kernel).sample(data.first_round(), size, gamma)

    def _features(self, X: Array) -> Array:
        features = self.cosines_.features(X)
        features *= self.cosines_.weight[:, 0]
        return features


@dataclass(eq=False, repr=False)
class RandomFourier(PairMap):
    r"""Random Fourier features of a shift-invariant kernel.

    .. math:: \phi(x) = \tfrac{1}{\sqrt D} \left( \cos \omega_j \cdot x, \; \sin \omega_j \cdot x \right)_{j=1}^D,
              \qquad \phi(x) \cdot \phi(x') = \tfrac1D \sum_j \cos \omega_j \cdot (x - x') \approx k(x - x')

    with frequencies drawn from the Fourier transform of k; the standard error of a kernel value is at most
    ``1 / sqrt(D)``.

    Parameters
    ----------
    n_components : int, default=100
        Number of frequencies, D; there are 2 D features.
    gamma : float or "scale", default="scale"
        Parameter of the kernel, see the spectra; "scale" is 1 / d.
    kernel : str or Spectrum, default="gaussian"
        "gaussian", "laplace", "cauchy", "matern" (of smoothness 1.5), any registered spectrum, or an instance.
    standardize : bool, default=True
        Whether features are brought to mean 0 and variance 1 before they are mapped.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    cosines_ : Cosines
        The features, as functions of X in its own units.
    n_features_in_ : int
        Number of features seen in fit.

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007, algorithm 1. Letarte, Morvant
    and Germain, AISTATS 2019, section 2.
    """

    n_components: int = 100
    gamma: float | str = "scale"
    kernel: str | Spectrum = "gaussian"
    standardize: bool = True
    random_state: Any = None

    supervised = False

    def _learn(self, data: TrainingData) -> None:
        self.cosines_ = pairs(data.design, self._frequencies(data, self.n_components))
