"""Weak learners of random Fourier features fitted by first-order criteria: RFF-K and RFF-1."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import fminbound

from ...core import Learner, Optimizer, Round, Term
from ...terms import Cosines
from ...utils.param_validation import BOOL, NON_NEGATIVE, OPTIONAL, Integer, OneOf, is_auto
from ...utils.registry import Registry
from ...utils.typing import Array
from ..optimizers import OPTIMIZERS
from ..registry import LEARNERS
from .fit_criteria import FIT_CRITERIA, FitCriterion, choose_fit_criterion
from .fitted_frequencies import angles, of_single_frequency
from .objectives import EmpiricalRisk, FrequencyObjective, empirical_risk
from .parts import GAMMA, PLACEMENTS, SPECTRA, WEIGHTINGS, Placement, Spectrum, Weighting, bandwidth

# The tolerance of phases: a hundredth of a turn, as in the experiments of the papers.
PHASE_TOL = 0.01 * (2.0 * np.pi)

# Default number of rows on which the search of a frequency starts, by precision.
START_ROWS = {"float32": 131_072}

# The parts that search a frequency or a landmark.
SEARCH_ROLES: dict[str, Registry[Any]] = {
    "fit_criterion": FIT_CRITERIA,
    "spectrum": SPECTRA,
    "optimizer": OPTIMIZERS,
}


@LEARNERS.register("rff_k")
@dataclass(eq=False, repr=False)
class RFFK(Learner):
    r"""K random Fourier features around a landmark.

    .. math:: h(x) = \sum_{j=1}^K q_j \cos(\omega_j \cdot (x - x_t))

    The frequencies are drawn, the landmark x_t is learned or drawn, and the weights q follow from the fit of each
    single cosine. This is GBRFF1 of Gautheron et al. 2020 (algorithm 2) with the exponential fit criterion, and
    GBRFF of 2019 with the squared one.

    Parameters
    ----------
    n_components : int, default=10
        Number of frequencies, K.
    gamma : float or "scale", default="scale"
        Parameter of the kernel ``exp(-gamma |x - x'|^2)``; frequencies are ``N(0, 2 gamma)`` per standardised
        feature. "scale" is 1 / d.
    placement : str or Placement, default="learned"
        "learned", or "random": one of the training rows.
    weighting : str or Weighting, default="posterior"
        "posterior", "gibbs" or "uniform".
    beta : float, default=1.0
        Inverse temperature of the weighting.
    fit_criterion : str or FitCriterion, default="auto"
        "exponential", "squared", "scaled", "linear" or "newton"; "auto" is that of the loss.
    spectrum : str or Spectrum, default="gaussian"
        Distribution of the frequencies.
    optimizer : str or Optimizer, default="lbfgs"
        Optimizer of the landmark.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import RFFBoostClassifier, RFFK
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RFFBoostClassifier("exponential", RFFK(n_components=5), n_estimators=10, random_state=0)
    >>> model.fit(X, y).predict_proba(X).shape
    (569, 2)
    """

    n_components: int = 10
    gamma: float | str = "scale"
    placement: str | Placement = "learned"
    weighting: str | Weighting = "posterior"
    beta: float = 1.0
    fit_criterion: str | FitCriterion = "auto"
    spectrum: str | Spectrum = "gaussian"
    optimizer: str | Optimizer = "lbfgs"

    bounded = True
    constraints = {"n_components": Integer(1), "gamma": GAMMA, "beta": NON_NEGATIVE}
    roles = SEARCH_ROLES | {"placement": PLACEMENTS, "weighting": WEIGHTINGS}

    def fit(self, round: Round) -> tuple[Cosines, Array]:
        """The K cosines of this round."""
        d = round.design.n_features
        spectrum = SPECTRA.make(self.spectrum)
        omega = spectrum.sample(round, self.n_components, bandwidth(self.gamma, d))
        objective = empirical_risk(round, choose_fit_criterion(self.fit_criterion, round))
        objective.project(omega)
        optimizer = OPTIMIZERS.make(self.optimizer)
        phase = omega @ PLACEMENTS.make(self.placement).place(round, omega, objective, optimizer)
        risk = objective.component_risks(phase)
        weight = WEIGHTINGS.make(self.weighting).weigh(risk, self.beta, round.total_weight)
        return Cosines(omega, phase, weight[:, None]), objective.weighted_sum(weight)[:, None]

    def refit(self, term: Term, round: Round) -> tuple[Cosines, Array]:
        """The frequencies and the landmark of `term`, with weights for this round."""
        cosines, criterion = Cosines.of(term), choose_fit_criterion(self.fit_criterion, round)
        outputs = np.cos(angles(cosines, round.design) - cosines.phase[:, None])
        risk = round.mean(criterion(round, outputs)[0])
        weight = WEIGHTINGS.make(self.weighting).weigh(risk, self.beta, round.total_weight)
        return replace(cosines, weight=weight[:, None]), (weight @ outputs)[:, None]


@LEARNERS.register("rff_1")
@dataclass(eq=False, repr=False)
class RFF1(Learner):
    r"""One cosine, ``h(x) = cos(<omega, x> - phase)``, whose phase and frequency are learned.

    Starting from a random frequency, the phase is found by bounded scalar minimisation over [-pi, pi], then the
    frequency by L-BFGS on

    .. math:: \frac1n \sum_i \mathrm{criterion}(r_i, \cos(\omega \cdot x_i - \varphi)) + \lambda |\omega|^2.

    This is GBRFF2 of Gautheron et al. 2020 (algorithm 3) with the exponential fit criterion.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Frequencies start at ``N(0, 2 gamma)`` per standardised feature. "scale" is 1 / d.
    l2 : float, default=0.0
        Penalty on the squared norm of the frequency, lambda.
    learn_frequency : bool, default=True
        Whether the frequency is learned; otherwise it stays random.
    fit_criterion : str or FitCriterion, default="auto"
        "exponential", "squared", "scaled", "linear" or "newton"; "auto" is that of the loss.
    spectrum : str or Spectrum, default="gaussian"
        Distribution of the frequencies.
    optimizer : str or Optimizer, default="lbfgs"
        Optimizer of the frequency.
    start_rows : int, None or "auto", default="auto"
        Minimum number of rows on which the search of the frequency starts (every k-th block of 2,048 rows), if
        there are at least four times as many rows. The search ends with a few iterations on all rows. None uses
        all rows, as published; "auto" is None in float64 and 131,072 in float32. Requires a built-in fit criterion
        and an optimizer with :meth:`~rffboost_ext.Optimizer.minimise_in_stages`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import RFF1, RFFBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> learner = RFF1(fit_criterion="exponential")
    >>> model = RFFBoostClassifier("exponential", learner, n_estimators=20, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    gamma: float | str = "scale"
    l2: float = 0.0
    learn_frequency: bool = True
    fit_criterion: str | FitCriterion = "auto"
    spectrum: str | Spectrum = "gaussian"
    optimizer: str | Optimizer = "lbfgs"
    start_rows: int | str | None = "auto"

    bounded = True
    constraints = {
        "gamma": GAMMA,
        "l2": NON_NEGATIVE,
        "learn_frequency": BOOL,
        "start_rows": Integer(1) | OneOf(("auto",)) | OPTIONAL,
    }
    roles = SEARCH_ROLES

    def fit(self, round: Round) -> tuple[Cosines, Array]:
        """The cosine of this round."""
        d = round.design.n_features
        omega = SPECTRA.make(self.spectrum).sample(round, 1, bandwidth(self.gamma, d))[0]
        objective = empirical_risk(round, choose_fit_criterion(self.fit_criterion, round))
        objective.project(omega[None])
        phase = float(fminbound(objective.at_phase, -np.pi, np.pi, xtol=PHASE_TOL, disp=0))
        if self.learn_frequency:
            omega = self._search_frequency(objective, omega, phase, round.design.precision)
        term = Cosines(omega[None], np.array([phase]), np.ones((1, 1)))
        return term, objective.output(omega, phase)[:, None]

    def refit(self, term: Term, round: Round) -> tuple[Cosines, Array]:
        """The cosine of `term`, whose amplitude is the length of the step of this round."""
        cosines = of_single_frequency(term)
        output = np.cos(angles(cosines, round.design) - cosines.phase[:, None])
        return replace(cosines, weight=np.ones((1, 1))), output.T

    def _search_frequency(self, objective: EmpiricalRisk, start: Array, phase: float, precision: str) -> Array:
        optimizer, fun = OPTIMIZERS.make(self.optimizer), self._with_penalty(objective.frequency_objective(phase))
        rows: Any = START_ROWS.get(precision) if is_auto(self.start_rows) else self.start_rows
        rough = None if rows is None else objective.subsampled_frequency_objective(phase, int(rows))
        if rough is None:
            return np.asarray(optimizer.minimise(fun, start))
        return np.asarray(optimizer.minimise_in_stages(self._with_penalty(rough), fun, start))

    def _with_penalty(self, objective: FrequencyObjective) -> FrequencyObjective:
        """The objective plus the penalty on the frequency."""
        if self.l2 == 0.0:
            return objective

        def fun(omega: Array) -> tuple[float, Array]:
            value, gradient = objective(omega)
            return value + self.l2 * float(omega @ omega), gradient + 2.0 * self.l2 * omega

        return fun
