"""Kernel learning by choosing among many random frequencies: greedy PBRFF and OKRFF."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from rffboost_ext.learners import WEIGHTINGS, Spectrum, Weighting
from rffboost_ext.terms import Cosines
from rffboost_ext.utils.param_validation import Integer, Real
from rffboost_ext.utils.typing import Array

from .feature_map import TrainingData
from .random_fourier_features import PairMap, pairs

ELEMENTS = 2_000_000
"""Cosines that are held in memory at once."""
MULTIPLIER_TOL = 1e-12
"""Relative width at which the bisection on the multiplier ends."""


def second_order_loss(X: Array, codes: Array, omega: Array) -> Array:
    r"""How badly the kernel of each frequency alone is aligned with the labels, over all pairs of rows.

    .. math:: f_j = \frac{1}{n (n - 1)} \sum_{i \ne k} \frac{1 - s_{ik} \cos \omega_j \cdot (x_i - x_k)}{2}

    where s is 1 for two rows of one class, else -1. One pass: with :math:`Z_c` the sum of
    :math:`\exp(\mathrm{i} \, \omega \cdot x)` over class c, the double sum of s cos, i = k included, is
    :math:`2 \sum_c |Z_c|^2 - |\sum_c Z_c|^2`, which for two classes is :math:`|Z_1 - Z_0|^2`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    codes : ndarray of shape (n,)
        Class indices, from 0.
    omega : ndarray of shape (N, d)
        Frequencies.

    Returns
    -------
    ndarray of shape (N,)
        Losses, within [0, 1].

    References
    ----------
    Letarte, Morvant and Germain, AISTATS 2019, section 5. Their published code subtracts 1 / (n - 1) where the
    pairs of a row with itself add 1 / (2 (n - 1)); the posterior does not depend on it.
    """
    n, member = len(X), (codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64)
    sums = np.zeros((member.shape[1], len(omega)), dtype=np.complex128)
    for rows in gen_batches(n, max(1, ELEMENTS // len(omega))):
        z = X[rows] @ omega.T
        sums += member[rows].T @ np.cos(z) + 1j * (member[rows].T @ np.sin(z))
    aligned = 2.0 * np.square(np.abs(sums)).sum(axis=0) - np.square(np.abs(sums.sum(axis=0)))
    return np.asarray(0.5 * (1.0 - (aligned - n) / (n * (n - 1.0))))


class ChiSquare(Weighting):
    r"""The distribution of least mean risk within a chi-square ball around the uniform one: OKRFF.

    .. math:: \min_{q \in \Delta} \sum_j q_j f_j \quad \text{subject to} \quad
              \sum_j (q_j - \tfrac1N)^2 \le \rho

    so that the chi-square divergence from the uniform distribution is at most :math:`N \rho`. The radius rho is
    what :meth:`weigh` gets as `beta`. For a multiplier lambda the solution is the projection of
    :math:`1/N - f / \lambda` onto the simplex; its distance falls as lambda grows, which bisection uses.

    References
    ----------
    Sinha and Duchi, Learning kernels with random features, NIPS 2016; Letarte, Morvant and Germain, AISTATS
    2019, equations 17 and 18. The radius is that of both papers' experiments.
    """

    def weigh(self, risk: Array, beta: float, n: float) -> Array:
        order = np.argsort(risk, kind="stable")
        weight = np.empty(len(risk))
        weight[order] = chi_square_weights(risk[order] - risk[order[0]], beta)
        return weight


def chi_square_weights(risk: Array, rho: float) -> Array:
    """The solution of :class:`ChiSquare` for risks (N,) in ascending order, the first of them 0."""
    N, spread = len(risk), float(risk[-1])
    if spread == 0.0 or rho == 0.0:
        return np.full(N, 1.0 / N)
    best = risk == 0.0
    if 1.0 / best.sum() - 1.0 / N <= rho:
        return best / best.sum()

    def distance(multiplier: float) -> float:
        return float(np.square(simplex_projection(-risk / multiplier) - 1.0 / N).sum())

    low = high = spread
    while distance(high) > rho:
        high *= 2.0
    while distance(low) <= rho:
        low *= 0.5
    while high - low > MULTIPLIER_TOL * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if distance(middle) > rho else (low, middle)
    return simplex_projection(-risk / high)


def simplex_projection(point: Array) -> Array:
    """The distribution nearest to `point` (N,), which is in descending order; invariant to an added constant."""
    excess = (np.cumsum(point) - 1.0) / np.arange(1, len(point) + 1)
    last = np.flatnonzero(point > excess)[-1]
    return np.maximum(point - excess[last], 0.0)


@dataclass(eq=False, repr=False)
class GreedyKernel(PairMap):
    r"""Random Fourier features resampled by how well each frequency is aligned with the labels.

    Of N candidate frequencies, drawn from the kernel's Fourier transform, D are drawn again, with replacement and
    with probabilities q that follow from their second-order losses f:

    - "posterior", PBRFF: :math:`q_j \propto \exp(-\beta \sqrt n \, f_j)`;
    - :class:`ChiSquare`, OKRFF: least mean loss within a ball of radius `beta` around the uniform distribution.

    The map is the one of :class:`RandomFourier` at the D frequencies. Losses are computed in one pass over the
    data; :meth:`reweighted` returns the map for another `beta` or D without a further one.

    Parameters
    ----------
    n_components : int, default=100
        Frequencies in the map, D; there are 2 D features.
    n_candidates : int, default=20000
        Frequencies that are drawn from the prior, N.
    gamma : float or "scale", default="scale"
        Parameter of the kernel, see the spectra; "scale" is 1 / d.
    beta : float, default=1.0
        Inverse temperature of the posterior; for :class:`ChiSquare` the radius, rho.
    weighting : str or Weighting, default="posterior"
        How losses become probabilities.
    kernel : str or Spectrum, default="gaussian"
        "gaussian", "laplace", "cauchy", "matern", any registered spectrum, or an instance.
    standardize : bool, default=True
        Whether features are brought to mean 0 and variance 1 before they are mapped.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    losses_ : ndarray of shape (N,)
        Second-order loss of each candidate.
    probabilities_ : ndarray of shape (N,)
        The distribution that the frequencies of the map are drawn from, q.
    n_samples_ : int
        Number of rows seen in fit.
    cosines_ : Cosines
        The features, as functions of X in its own units.
    n_features_in_ : int
        Number of features seen in fit.

    References
    ----------
    Letarte, Morvant and Germain, Pseudo-Bayesian learning with kernel Fourier transform as prior, AISTATS 2019,
    section 5.4 and equation 19; Sinha and Duchi, Learning kernels with random features, NIPS 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from benchmarks.papers.baselines import GreedyKernel
    >>> X, y = load_wine(return_X_y=True)
    >>> fitted = GreedyKernel(50, n_candidates=1000, random_state=0).fit(X, y)
    >>> fitted.reweighted(beta=10.0).transform(X).shape
    (178, 100)
    """

    n_components: int = 100
    n_candidates: int = 20_000
    gamma: float | str = "scale"
    beta: float = 1.0
    weighting: str | Weighting = "posterior"
    kernel: str | Spectrum = "gaussian"
    standardize: bool = True
    random_state: Any = None

    # The product of beta with the root of the number of rows is finite.
    constraints = PairMap.constraints | {"n_candidates": Integer(1), "beta": Real(0.0, 1e300, closed="both")}
    roles = PairMap.roles | {"weighting": WEIGHTINGS}

    def reweighted(
        self, beta: float | None = None, n_components: int | None = None, weighting: str | Weighting | None = None
    ) -> GreedyKernel:
        """The map for other parameters, fitted from the losses already computed.

        Parameters
        ----------
        beta, n_components, weighting : optional
            As in the constructor; None keeps the map's own. The draws are those of a new fit.

        Returns
        -------
        GreedyKernel
            A new map; this one is not changed.

        Raises
        ------
        ValueError, TypeError
            If a parameter is invalid.
        """
        check_is_fitted(self)
        changes = {"beta": beta, "n_components": n_components, "weighting": weighting}
        made = copy.copy(self).set_params(**{name: value for name, value in changes.items() if value is not None})
        made._validate_parameters()
        made._draw()
        return made

    def _learn(self, data: TrainingData) -> None:
        design = data.design
        omega = self._frequencies(data, self.n_candidates)
        self.losses_ = second_order_loss(design.X, data.codes, omega)
        self.n_samples_ = len(data.codes)
        self._candidates, self._seed = pairs(design, omega), data.seed()
        self._draw()

    def _draw(self) -> None:
        """Draw the frequencies of the map from the distribution that the losses define."""
        weighting = WEIGHTINGS.make(self.weighting)
        self.probabilities_ = weighting.weigh(self.losses_, self.beta, self.n_samples_)
        drawn = check_random_state(self._seed).choice(
            self.n_candidates, self.n_components, p=self.probabilities_ / self.probabilities_.sum()
        )
        both = np.concatenate([drawn, drawn + self.n_candidates])
        omega, phase, center = self._candidates.omega, self._candidates.phase, self._candidates.center
        weight = np.full((len(both), 1), 1.0 / np.sqrt(self.n_components))
        self.cosines_ = Cosines(omega[both], phase[both], weight, center)
