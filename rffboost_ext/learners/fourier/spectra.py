"""Spectra: distributions of frequencies."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ...core import Round, Spec
from ...utils.param_validation import POSITIVE, OneOf
from ...utils.registry import Registry
from ...utils.typing import Array

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
