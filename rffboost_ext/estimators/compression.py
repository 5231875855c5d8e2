"""Compression of the cosines of a fitted model, for deployment."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core import Term
from ..terms import ClipAndLog, Cosines, FeatureMap
from ..terms.ensemble import Ensemble
from ..utils.matching_pursuit import matching_pursuit
from ..utils.parallel import SINGLE_BLAS, use_threads
from ..utils.param_validation import SEED, Integer, Real, require
from ..utils.typing import Array
from .base import BaseRFFBoost

E = TypeVar("E", bound=BaseRFFBoost)

# Maximum number of candidate frequencies: those of the largest weights.
MAX_CANDIDATES = 1_024
# Number of rows on which the raw scores are reproduced.
N_ROWS = 4_000
# Maximum number of rows to search for a nearest neighbour.
MAX_NEIGHBOURS = 500

PARAMETERS = {"n_cosines": Integer(1), "tol": Real(0.0, 1.0, closed="both"), "random_state": SEED}


def compress(model: E, X: Any, n_cosines: int = 256, tol: float = 1e-3, random_state: Any = None) -> E:
    """A model with fewer cosines and nearly the same raw scores.

    Orthogonal matching pursuit selects frequencies of the model and fits their weights to the sum of all cosines
    on X. Targets are not needed. Trees do not change.

    Parameters
    ----------
    model : fitted estimator
        Any but ConformalRegressor.
    X : array-like of shape (n, d)
        Rows like those to predict, for example the training rows. Up to 4,000 are used; if there are fewer, rows
        between a row and its neighbour are added.
    n_cosines : int, default=256
        Maximum number of frequencies. With several raw scores each is a cosine and a sine. An average of models
        with missing values or categories may have several sums of cosines, which share this number.
    tol : float, default=1e-3
        Share of the variance of the raw scores on X that may be lost: fewer frequencies are used if they reproduce
        the rest. On other rows the loss is a few times as large.
    random_state : int, RandomState or None, default=None
        Seed of the sample of rows.

    Returns
    -------
    estimator
        A new model with the parameters of the given one. Its rounds are merged, so that ``staged_predict`` has few
        stages.

    Raises
    ------
    TypeError
        If `model` is another estimator.
    ValueError
        If a parameter is out of range, or X has one row or other columns than in fit.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rffboost_ext import RFFBoostRegressor, compress
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RFFBoostRegressor(random_state=0).fit(X, y)
    >>> small = compress(model, X, random_state=0)
    >>> bool(abs(small.score(X, y) - model.score(X, y)) < 0.01)
    True
    """
    if not isinstance(model, BaseRFFBoost):
        raise TypeError(f"compress: model must be a fitted estimator but ConformalRegressor, got {model!r}")
    given = {"n_cosines": n_cosines, "tol": tol, "random_state": random_state}
    for name, check in PARAMETERS.items():
        require("compress", name, given[name], check)
    check_is_fitted(model)
    X = model.encoder_.transform(X)
    if len(X) < 2:
        raise ValueError(f"compress: X must have at least 2 rows, got {len(X)}")
    rows = augment_rows(X, check_random_state(random_state))
    with use_threads(model.n_jobs), SINGLE_BLAS:
        ensemble = compress_ensemble(model.ensemble_, rows, n_cosines, tol)
    return model.with_ensemble(ensemble, getattr(model, "feature_importances_", None))


@dataclass(frozen=True)
class CosineGroup:
    """The cosines of an ensemble that act on the same columns.

    Parameters
    ----------
    cosines : list of Cosines
        One term for each range of the features.
    columns : FeatureMap
        The columns of X, imputed and encoded.
    """

    cosines: list[Cosines]
    columns: FeatureMap

    def terms(self) -> list[Term]:
        """The cosines as terms that act on X."""
        return [self.columns.around(one) for one in self.cosines]

    def __len__(self) -> int:
        """The number of frequencies other than 0."""
        return sum(len(np.unique(one.omega[one.omega.any(axis=1)], axis=0)) for one in self.cosines)


def compress_ensemble(ensemble: Ensemble, X: Array, n_cosines: int, tol: float) -> Ensemble:
    """The ensemble with each group of cosines compressed to reproduce its scores on X (n, d)."""
    flat = ensemble.compact()
    groups, terms = group_cosines(flat.terms)
    deviation = flat.raw(X).std(axis=0)
    # Outputs may have different units.
    unit = np.where(deviation > 0.0, deviation, 1.0)
    n_groups = max(1, len(groups))
    size, residual = max(1, n_cosines // n_groups), tol * np.count_nonzero(deviation) / n_groups
    baseline = flat.baseline
    for group in groups:
        shift, compressed = compress_group(group, X, unit, size, residual)
        baseline, terms = baseline + shift, terms + compressed.terms()
    return Ensemble(baseline, tuple(terms), np.ones((len(terms), 2)))


def group_cosines(terms: Iterable[Term]) -> tuple[list[CosineGroup], list[Term]]:
    """The cosines, grouped by the columns on which they act, and the other terms."""
    groups: dict[Hashable, CosineGroup] = {}
    others = []
    for term in terms:
        found = Cosines.within(term)
        if found is None:
            others.append(term)
        else:
            cosines, columns = found
            groups.setdefault((columns.key, log_scale_key(cosines)), CosineGroup([], columns)).cosines.append(
                cosines
            )
    return list(groups.values()), others


def compress_group(
    group: CosineGroup, X: Array, unit: Array, size: int, residual: float
) -> tuple[Array | float, CosineGroup]:
    """A constant (C,) and at most `size` cosines that reproduce a group; 0 and the group if it is smaller."""
    columns = group.columns(X)
    candidates = candidate_frequencies(group.cosines, unit)
    waves, target = cosines_and_sines(candidates, columns), sum(one(columns) for one in group.cosines) / unit
    wave_mean, target_mean = waves.mean(axis=2), target.mean(axis=0)
    chosen, weight = matching_pursuit(waves - wave_mean[..., None], target - target_mean, size, residual)
    if len(chosen) >= len(group):
        return 0.0, group
    shift = unit * (target_mean - np.einsum("km,kmc->c", wave_mean[:, chosen], weight))
    # With one output a cosine and a sine are merged into one cosine with a phase.
    term = candidates.with_cos_sin_weights(candidates.omega[chosen], unit * weight).merged()
    return shift, replace(group, cosines=[term])


def candidate_frequencies(sums: Sequence[Cosines], unit: Array) -> Cosines:
    """Cosines with the frequencies of the largest weights in several sums, other than 0, and weights of 0."""
    center, clipping = sums[0].center, reduce(range_union, (one.clipping for one in sums))
    joint = Cosines.stack([replace(one, clipping=clipping) for one in sums]).merged()
    omega, inverse = np.unique(joint.omega, axis=0, return_inverse=True)
    power = np.bincount(inverse.ravel(), np.square(joint.weight / unit).sum(axis=1))
    power[~omega.any(axis=1)] = -1.0
    order = np.argsort(-power, kind="stable")[: min(MAX_CANDIDATES, int((power >= 0.0).sum()))]
    phase, weight = np.zeros(len(order)), np.zeros((len(order), len(unit)))
    return Cosines(omega[order], phase, weight, center, clipping)


def log_scale_key(term: Cosines) -> Hashable:
    """Equal for cosines whose ranges have a union: ranges without logarithms, or equal ones."""
    return None if term.clipping is None or term.clipping.log_scale is None else term.clipping.key


def range_union(one: ClipAndLog | None, other: ClipAndLog | None) -> ClipAndLog | None:
    """The union of two ranges; None, which is unbounded, if one is None."""
    if one is None or other is None or one.key == other.key:
        return one if other is not None else None
    return one.union(other)


def cosines_and_sines(cosines: Cosines, X: Array) -> Array:
    """Cosine and sine of each frequency at X (n, d), (2, M, n)."""
    angles = cosines.angles(X.astype(np.float64)).T
    return np.stack([np.cos(angles), np.sin(angles)])


def augment_rows(X: Array, random: np.random.RandomState) -> Array:
    """`N_ROWS` rows like those of X (n, d): a sample, or all of them and further ones between neighbours.

    A further row takes each value from a row or, with probability 1/2, from its nearest neighbour. This preserves
    the dependence between columns, and no value is new. NaN is a value.

    References
    ----------
    C. Bucila, R. Caruana and A. Niculescu-Mizil, Model compression, KDD 2006 (MUNGE, which also adds noise).
    """
    n = len(X)
    if n >= N_ROWS:
        return X[np.sort(random.choice(n, N_ROWS, replace=False))]
    row = random.randint(n, size=N_ROWS - n)
    other = nearest_neighbours(X, random)[row]
    swapped = random.random_sample((len(row), X.shape[1])) < 0.5
    return np.concatenate([X, np.where(swapped, X[other], X[row])])


def nearest_neighbours(X: Array, random: np.random.RandomState) -> Array:
    """The nearest of at most `MAX_NEIGHBOURS` other rows, for each row of X (n, d), (n,)."""
    Z = np.where(np.isfinite(X), X, 0.0).astype(np.float64)
    deviation = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    pool = random.permutation(len(X))[:MAX_NEIGHBOURS]
    distance = np.square(Z).sum(axis=1)[:, None] + np.square(Z[pool]).sum(axis=1) - 2.0 * Z @ Z[pool].T
    distance[pool, np.arange(len(pool))] = np.inf
    return np.asarray(pool[distance.argmin(axis=1)])
