r"""PAC-Bayesian guarantees on how well a weighted set of frequencies is aligned with labels.

A distribution q over frequencies is a kernel :math:`k_q(x - x') = E_{\omega \sim q} \cos \omega \cdot (x - x')`.
Its alignment loss is the mean of :math:`(1 - s \, k_q) / 2` over pairs of examples, s being 1 where their labels
agree and -1 where not; around a landmark, one example of the pair is fixed. The bounds hold with probability at
least 1 - epsilon over the draw of n examples, for all q at once; the prior p and the temperature t are fixed
before the data are seen.

The loss l of a pair is within [0, 1], so that :math:`E e^{t (E l - l)} \le e^{\sigma^2 t^2 / 2}`. Hoeffding's
lemma gives the variance proxy :math:`\sigma^2 = 1/4`, the default. Every larger proxy yields a bound that holds
too; a term :math:`t^2 / (2 (n - 1))` in a landmark's bound is the proxy 1.

References
----------
Letarte, Morvant and Germain, Pseudo-Bayesian learning with kernel Fourier transform as prior, AISTATS 2019,
theorems 1 and 3, corollaries 2 and 5. Hoeffding, Probability inequalities for sums of bounded random variables,
1963, section 5 (means over pairs). Alquier and Guedj, Simpler PAC-Bayesian bounds for hostile data, Machine
Learning 107, 2018 (the chi-square form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rffboost_ext.learners import WEIGHTINGS
from rffboost_ext.learners.fourier.parts import PosteriorWeighting
from rffboost_ext.terms import Cosines
from rffboost_ext.utils.param_validation import NON_NEGATIVE, OPTIONAL, POSITIVE, Integer, Real, require
from rffboost_ext.utils.typing import Array

from .feature_map import read_rows
from .greedy_kernel import GreedyKernel
from .landmarks import PBLandmarks

HOEFFDING = 0.25
"""Variance proxy of a random variable within an interval of length 1."""


def landmark_bound(
    loss: float, kl: float, n: int, epsilon: float = 0.05, t: float | None = None, proxy: float = HOEFFDING
) -> float:
    r"""Theorem 1: the loss around one landmark, which is one of the n examples.

    .. math:: L(q) \le \hat L(q) + \frac1t \left( KL(q \| p) + \frac{\sigma^2 t^2}{2 (n - 1)}
              + \ln \frac1\epsilon \right)

    Parameters
    ----------
    loss : float
        Empirical loss over the n - 1 other examples, within [0, 1].
    kl : float
        Kullback-Leibler divergence of q from the prior.
    n : int
        Number of examples, at least 2.
    epsilon : float, default=0.05
        Probability with which the bound may fail, within (0, 1].
    t : float, optional
        Temperature, fixed beforehand; sqrt(n) by default.
    proxy : float, default=0.25
        Variance proxy of the loss of a pair.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range.

    Examples
    --------
    >>> from benchmarks.papers.baselines import landmark_bound
    >>> round(landmark_bound(loss=0.2, kl=0.5, n=1000), 3)
    0.315
    """
    t = _temperature("landmark_bound", loss, n, epsilon, t, proxy, kl=kl)
    return float(loss + (kl + proxy * t * t / (2.0 * (n - 1)) - np.log(epsilon)) / t)


def alignment_bound(
    loss: float, kl: float, n: int, epsilon: float = 0.05, t: float | None = None, proxy: float = HOEFFDING
) -> float:
    r"""Corollary 2: the loss over all pairs, by a union over the n landmarks and their mean.

    .. math:: L(q) \le \hat L(q) + \frac2t \left( KL(q \| p) + \frac{\sigma^2 t^2}{2 (n - 1)}
              + \ln \frac{n + 1}{\epsilon} \right)

    Parameters
    ----------
    loss : float
        Empirical loss over all n (n - 1) ordered pairs, within [0, 1].
    kl, n, epsilon, t, proxy
        As in :func:`landmark_bound`.

    Returns
    -------
    float
    """
    t = _temperature("alignment_bound", loss, n, epsilon, t, proxy, kl=kl)
    return float(loss + 2.0 * (kl + proxy * t * t / (2.0 * (n - 1)) + np.log((n + 1) / epsilon)) / t)


def second_order_bound(
    loss: float, kl: float, n: int, epsilon: float = 0.05, t: float | None = None, proxy: float = HOEFFDING
) -> float:
    r"""Theorem 3: the loss over all pairs, as a mean over pairs in its own right (a U-statistic of order 2).

    .. math:: L(q) \le \hat L(q) + \frac1t \left( KL(q \| p) + \frac{\sigma^2 t^2}{2 \lfloor n / 2 \rfloor}
              + \ln \frac1\epsilon \right)

    The mean over all pairs is a mean, over orders of the examples, of means over ``n // 2`` independent pairs, so
    its exponential moment is at most that of one of these.

    Parameters
    ----------
    loss : float
        Empirical loss over all n (n - 1) ordered pairs, within [0, 1].
    kl, n, epsilon, t, proxy
        As in :func:`landmark_bound`.

    Returns
    -------
    float
    """
    t = _temperature("second_order_bound", loss, n, epsilon, t, proxy, kl=kl)
    return float(loss + (kl + proxy * t * t / (2.0 * (n // 2)) - np.log(epsilon)) / t)


def chi_square_bound(
    loss: float, chi_square: float, n: int, epsilon: float = 0.05, proxy: float = HOEFFDING
) -> float:
    r"""Corollary 5: the loss over all pairs, by the chi-square divergence, which OKRFF constrains.

    .. math:: L(q) \le \hat L(q) + \sqrt{\frac{2 \sigma^2}{n \epsilon} \left( \chi^2(q \| p) + 1 \right)}

    The first factor is a bound on the variance of a U-statistic of order 2, over epsilon.

    Parameters
    ----------
    loss : float
        Empirical loss over all n (n - 1) ordered pairs, within [0, 1].
    chi_square : float
        Chi-square divergence of q from the prior.
    n, epsilon, proxy
        As in :func:`landmark_bound`.

    Returns
    -------
    float
    """
    _temperature("chi_square_bound", loss, n, epsilon, None, proxy, chi_square=chi_square)
    return float(loss + np.sqrt(2.0 * proxy * (chi_square + 1.0) / (n * epsilon)))


def kl_divergence(q: Array) -> Array:
    """Kullback-Leibler divergence of distributions, along the last axis, from the uniform one."""
    return np.asarray(np.sum(np.where(q > 0.0, q * np.log(np.where(q > 0.0, q * q.shape[-1], 1.0)), 0.0), axis=-1))


def chi_square_divergence(q: Array) -> Array:
    """Chi-square divergence of distributions, along the last axis, from the uniform one: ``N sum q^2 - 1``."""
    return np.asarray(np.maximum(q.shape[-1] * np.square(q).sum(axis=-1) - 1.0, 0.0))


@dataclass(frozen=True)
class LandmarkReport:
    """PAC-Bayesian bounds for each landmark of a fitted map.

    Attributes
    ----------
    loss, kl, bound : ndarray of shape (L,)
        Empirical loss, divergence from the prior, and the bound of Theorem 1 on the true loss. Each bound holds
        separately; for all L at once, use epsilon / L.
    """

    loss: Array
    kl: Array
    bound: Array


@dataclass(frozen=True)
class PosteriorReport:
    """PAC-Bayesian bounds for a distribution over frequencies.

    Attributes
    ----------
    loss : float
        Empirical second-order loss of the distribution.
    kl, chi_square : float
        Divergences from the prior.
    alignment, second_order, chi_square_bound : float
        The bounds of Corollary 2, Theorem 3 and Corollary 5 on the true loss; each holds separately.
    """

    loss: float
    kl: float
    chi_square: float
    alignment: float
    second_order: float
    chi_square_bound: float


def report_landmarks(model: PBLandmarks, X: Any, y: Any, epsilon: float = 0.05) -> LandmarkReport:
    """Theorem 1 for each landmark of a fitted map, at the temperature that the map used, ``beta sqrt(n)``.

    The prior is uniform on the frequencies that were drawn. The theorem is for features that do not depend on the
    other examples: with ``standardize=True`` they do a little, through mean and variance.

    Parameters
    ----------
    model : PBLandmarks
        A fitted map whose landmarks are rows.
    X : array-like or sparse matrix of shape (n, d)
        The data that it was fitted to.
    y : array-like of shape (n,)
        Their labels.
    epsilon : float, default=0.05
        Probability with which each bound may fail.

    Returns
    -------
    LandmarkReport

    Raises
    ------
    ValueError
        If the landmarks are centroids, which Theorem 1 does not cover, X and y differ in length, or a label is not
        one of the map's.
    """
    check_is_fitted(model)
    if model.selection == "centroids":
        raise ValueError("report_landmarks: model must have landmarks that are rows, got selection='centroids'")
    X, y = read_rows(model, X, y, reset=False)
    strange = np.setdiff1d(y, model.classes_)
    if len(strange):
        raise ValueError(f"report_landmarks: y must hold labels of the fit, {model.classes_}, got {strange[0]!r}")
    n, t = len(y), _used_temperature(model.beta, len(y))
    q = np.vstack([term.weight[:, 0] for term in cast(Sequence[Cosines], model.ensemble_.terms)])
    loss, kl = np.clip(np.sum(q * model.losses(X, y), axis=1), 0.0, 1.0), kl_divergence(q)
    bound = [landmark_bound(float(a), float(b), n, epsilon, t) for a, b in zip(loss, kl, strict=True)]
    return LandmarkReport(loss, kl, np.array(bound))


def report_posterior(model: GreedyKernel, epsilon: float = 0.05) -> PosteriorReport:
    """The bounds for the distribution of a fitted :class:`GreedyKernel`, at temperature ``beta sqrt(n)``.

    For a weighting other than the posterior, whose beta is not a temperature, it is ``sqrt(n)``. The prior is
    uniform on the candidates. With ``standardize=True`` the features depend a little on all examples, which the
    theory does not cover.

    Parameters
    ----------
    model : GreedyKernel
        A fitted map.
    epsilon : float, default=0.05
        Probability with which each bound may fail.

    Returns
    -------
    PosteriorReport
    """
    check_is_fitted(model)
    n, q = model.n_samples_, model.probabilities_
    loss, kl, chi_square = float(q @ model.losses_), float(kl_divergence(q)), float(chi_square_divergence(q))
    loss = min(max(loss, 0.0), 1.0)
    gibbs = isinstance(WEIGHTINGS.make(model.weighting), PosteriorWeighting)
    t = _used_temperature(model.beta if gibbs else 1.0, n)
    return PosteriorReport(
        loss,
        kl,
        chi_square,
        alignment_bound(loss, kl, n, epsilon, t),
        second_order_bound(loss, kl, n, epsilon, t),
        chi_square_bound(loss, chi_square, n, epsilon),
    )


def _used_temperature(beta: float, n: int) -> float:
    """``beta sqrt(n)``, or ``sqrt(n)`` for a beta of 0, which leaves the prior as it is at any temperature."""
    return float((beta or 1.0) * np.sqrt(n))


def _temperature(
    owner: str, loss: float, n: int, epsilon: float, t: float | None, proxy: float, **divergence: float
) -> float:
    """Check the arguments of a bound, its divergence by name, and return its temperature."""
    require(owner, "loss", loss, Real(0.0, 1.0, closed="both"))
    for name, value in divergence.items():
        require(owner, name, value, NON_NEGATIVE)
    require(owner, "n", n, Integer(2))
    require(owner, "epsilon", epsilon, Real(0.0, 1.0))
    require(owner, "t", t, POSITIVE | OPTIONAL)
    require(owner, "proxy", proxy, POSITIVE)
    return float(np.sqrt(n) if t is None else t)
