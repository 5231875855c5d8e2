"""Weak learners made of random Fourier features: RFF-K and RFF-1."""

from __future__ import annotations

import numpy as np

from ..checks import BOOL, NON_NEGATIVE, Integer
from ..core import Array, Learner, Optimizer, Round
from ..optimizers import OPTIMIZERS, Bounded
from ..terms import Cosines
from . import LEARNERS
from .matches import MATCHES, Match, choose_match
from .placement import PLACEMENTS, Placement
from .spectrum import GAMMA, SPECTRA, Spectrum, bandwidth
from .weighting import WEIGHTINGS, Weighting


@LEARNERS.register("rff_k")
class RFFK(Learner):
    r"""K random Fourier features around a landmark.

    .. math:: h(x) = \sum_{j=1}^K q_j \cos(\omega_j \cdot (x - x_t))

    The frequencies are drawn, the landmark x_t is learned (or drawn), the weights q follow from how well each
    frequency does alone. GBRFF1 of Gautheron et al. 2020 (algorithm 1) with the exponential match, GBRFF of
    2019 with the squared one.

    Parameters
    ----------
    n_components : int, default=10
        Number of frequencies, K.
    gamma : float or "scale", default="scale"
        Parameter of the kernel ``exp(-gamma |x - x'|^2)``; frequencies are ``N(0, 2 gamma)`` per standardised
        feature. "scale" is 1 / d.
    placement : str or Placement, default="learned"
        "learned" or "random" (one of the training rows).
    weighting : str or Weighting, default="posterior"
        "posterior", "gibbs" or "uniform".
    beta : float, default=1.0
        Inverse temperature of the weighting.
    match : str or Match, default="auto"
        "exponential", "squared", "linear", "newton", or the loss's own.
    spectrum : str or Spectrum, default="gaussian"
        Where frequencies come from.
    optimizer : str or Optimizer, default="lbfgs"
        What searches the landmark.
    """

    bounded = True
    constraints = {"n_components": Integer(1), "gamma": GAMMA, "beta": NON_NEGATIVE}

    def __init__(
        self,
        n_components: int = 10,
        gamma: float | str = "scale",
        placement: str | Placement = "learned",
        weighting: str | Weighting = "posterior",
        beta: float = 1.0,
        match: str | Match = "auto",
        spectrum: str | Spectrum = "gaussian",
        optimizer: str | Optimizer = "lbfgs",
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.placement = placement
        self.weighting = weighting
        self.beta = beta
        self.match = match
        self.spectrum = spectrum
        self.optimizer = optimizer

    def validate(self) -> None:
        """Raise a TypeError or ValueError that names the first hyperparameter out of range."""
        super().validate()
        PLACEMENTS.create(self.placement)
        WEIGHTINGS.create(self.weighting)
        validate_search(self.match, self.spectrum, self.optimizer)

    def fit(self, round: Round) -> Cosines:
        """The K cosines of this round."""
        d = round.design.n_features
        spectrum = SPECTRA.create(self.spectrum)
        omega = spectrum.sample(round.rng, self.n_components, d, bandwidth(self.gamma, d))
        match = choose_match(self.match, round)
        placement = PLACEMENTS.create(self.placement)
        landmark = placement.place(round, omega, match, OPTIMIZERS.create(self.optimizer))
        phase = omega @ landmark
        cosines = np.cos(round.design.X @ omega.T - phase)
        risk = round.mean(match(round, cosines.T)[0])
        weight = WEIGHTINGS.create(self.weighting).weigh(risk, self.beta, round.total_weight)
        term = Cosines(omega, phase, weight[:, None])
        round.design.remember(term, cosines @ term.weight)
        return term


@LEARNERS.register("rff_1")
class RFF1(Learner):
    r"""One cosine, ``h(x) = cos(omega . x - phase)``, whose phase and frequency are learned.

    From a random frequency, first the phase is found by bounded scalar minimisation over [-pi, pi], then the
    frequency by L-BFGS on

    .. math:: \frac1n \sum_i \mathrm{match}(r_i, \cos(\omega \cdot x_i - \varphi)) + \lambda |\omega|^2.

    GBRFF2 of Gautheron et al. 2020 (algorithm 2) with the exponential match.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Frequencies start at ``N(0, 2 gamma)`` per standardised feature. "scale" is 1 / d.
    l2 : float, default=0.0
        Penalty on the squared norm of the frequency, lambda.
    learn_frequency : bool, default=True
        Whether the frequency is learned, or stays as drawn.
    match : str or Match, default="auto"
        "exponential", "squared", "linear", "newton", or the loss's own.
    spectrum : str or Spectrum, default="gaussian"
        Where frequencies come from.
    optimizer : str or Optimizer, default="lbfgs"
        What searches the frequency.
    """

    bounded = True
    constraints = {"gamma": GAMMA, "l2": NON_NEGATIVE, "learn_frequency": BOOL}

    def __init__(
        self,
        gamma: float | str = "scale",
        l2: float = 0.0,
        learn_frequency: bool = True,
        match: str | Match = "auto",
        spectrum: str | Spectrum = "gaussian",
        optimizer: str | Optimizer = "lbfgs",
    ) -> None:
        self.gamma = gamma
        self.l2 = l2
        self.learn_frequency = learn_frequency
        self.match = match
        self.spectrum = spectrum
        self.optimizer = optimizer

    def validate(self) -> None:
        """Raise a TypeError or ValueError that names the first hyperparameter out of range."""
        super().validate()
        validate_search(self.match, self.spectrum, self.optimizer)

    def fit(self, round: Round) -> Cosines:
        """The cosine of this round."""
        X, d = round.design.X, round.design.n_features
        match = choose_match(self.match, round)
        omega = SPECTRA.create(self.spectrum).sample(round.rng, 1, d, bandwidth(self.gamma, d))[0]
        phase = search_phase(round, X @ omega, match)
        if self.learn_frequency:
            omega = self._search_frequency(round, omega, phase, match)
        term = Cosines(omega[None], np.array([phase]), np.ones((1, 1)))
        round.design.remember(term, np.cos(X @ omega - phase)[:, None])
        return term

    def _search_frequency(self, round: Round, start: Array, phase: float, match: Match) -> Array:
        X, total = round.design.X, round.total_weight

        def objective(omega: Array) -> tuple[float, Array]:
            z = X @ omega - phase
            value, slope = match(round, np.cos(z))
            gradient = -(round.weight * slope * np.sin(z)) @ X / total
            return round.mean(value) + self.l2 * (omega @ omega), gradient + 2.0 * self.l2 * omega

        return np.asarray(OPTIMIZERS.create(self.optimizer).minimise(objective, start))


def search_phase(round: Round, projected: Array, match: Match) -> float:
    """The phase of one cosine, given its frequency's projections ``omega . x`` (n,)."""

    def objective(phase: float) -> float:
        return float(round.mean(match(round, np.cos(projected - phase))[0]))

    return float(Bounded(tol=0.01).minimise(objective, None, bounds=(-np.pi, np.pi)))


def validate_search(match: str | Match, spectrum: str | Spectrum, optimizer: str | Optimizer) -> None:
    """Raise unless the parts that search a frequency or a landmark exist and are valid."""
    if not (isinstance(match, str) and match == "auto"):
        MATCHES.create(match)
    SPECTRA.create(spectrum)
    OPTIMIZERS.create(optimizer)
