"""Random Fourier features: pairs of cosine and sine at frequencies drawn from the kernel's Fourier transform."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...learners.design import Design
from ...learners.fourier.spectra import GAMMA, Spectrum, bandwidth
from ...terms import Cosines
from ...utils.param_validation import Integer
from ...utils.typing import Array
from .feature_map import FeatureMap, Sample
from .spectra import make_spectrum


def pairs(design: Design, omega: Array) -> Cosines:
    """Cosine and sine at the frequencies omega (D, d) of ``design.X``, as 2 D cosines of the original features."""
    phase = np.repeat([0.0, 0.5 * np.pi], len(omega))
    weight = np.full((2 * len(omega), 1), 1.0 / np.sqrt(len(omega)))
    return cast(Cosines, design.restore(Cosines(np.vstack([omega, omega]), phase, weight)))


class PairMap(FeatureMap):
    """A map to cosines and sines over sqrt(D), so that the dot product of two rows is a mean of cosines."""

    cosines_: Cosines

    def _features(self, X: Array) -> Array:
        features = self.cosines_.features(X)
        features *= self.cosines_.weight[:, 0]
        return features


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

    supervised = False
    constraints = {"n_components": Integer(1), "gamma": GAMMA}

    def __init__(
        self,
        n_components: int = 100,
        gamma: float | str = "scale",
        kernel: str | Spectrum = "gaussian",
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.kernel = kernel
        self.standardize = standardize
        self.random_state = random_state

    def _validate_parts(self) -> None:
        make_spectrum(self.kernel)

    def _learn(self, sample: Sample) -> None:
        design = sample.design
        gamma = bandwidth(self.gamma, design.n_features)
        omega = make_spectrum(self.kernel).sample(sample.first_round(), self.n_components, gamma)
        self.cosines_ = pairs(design, omega)
