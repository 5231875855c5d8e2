"""Spectra of further shift-invariant kernels: the priors that random Fourier features can be drawn from."""

from __future__ import annotations

import numpy as np

from ...core import Round
from ...learners import SPECTRA, Spectrum
from ...utils.param_validation import POSITIVE
from ...utils.typing import Array


class Laplace(Spectrum):
    """Frequencies of the Laplace kernel ``exp(-gamma |x - x'|_1)``: Cauchy, of scale gamma, per feature.

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007, figure 1.
    """

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        return gamma * round.rng.standard_cauchy((size, round.design.n_features))


class Cauchy(Spectrum):
    """Frequencies of the Cauchy kernel ``prod_k 1 / (1 + gamma (x_k - x'_k)^2)``: Laplace, of scale sqrt(gamma).

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007, figure 1.
    """

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        return round.rng.laplace(scale=np.sqrt(gamma), size=(size, round.design.n_features))


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

    constraints = {"nu": POSITIVE}

    def __init__(self, nu: float = 1.5) -> None:
        self.nu = nu

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        normal = round.rng.standard_normal((size, round.design.n_features))
        spread = round.rng.gamma(self.nu, size=(size, 1)) / self.nu
        return np.sqrt(2.0 * gamma / spread) * normal


PRIORS: dict[str, type[Spectrum]] = {"laplace": Laplace, "cauchy": Cauchy, "matern": Matern}
"""The spectra of this module; "gaussian" and custom ones are in the registry of all learners."""


def make_spectrum(kernel: str | Spectrum) -> Spectrum:
    """The spectrum of that name, here or in the registry of spectra, or the instance itself, validated.

    Raises
    ------
    ValueError, TypeError
        If there is none of that name, or its parameters are invalid.
    """
    known = PRIORS.get(kernel) if isinstance(kernel, str) else None
    if known is None and isinstance(kernel, str) and kernel not in SPECTRA.names():
        names = ", ".join(map(repr, sorted({*PRIORS, *SPECTRA.names()})))
        raise ValueError(f"kernel must be one of {names} or a Spectrum, got {kernel!r}")
    return SPECTRA.create(kernel if known is None else known())
