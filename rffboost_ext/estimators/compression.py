"""Fewer cosines with nearly the same scores: small, fast models for deployment."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core import Term
from ..terms import ClipAndLog, Cosines, Expanded, ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.matching_pursuit import pursue
from ..utils.parallel import SINGLE_BLAS, threads
from ..utils.param_validation import SEED, Integer, Real, require
from ..utils.typing import Array
from .base import BaseRFFBoost
from .quantile import RFFBoostQuantileRegressor

E = TypeVar("E", bound=BaseRFFBoost | RFFBoostQuantileRegressor)

# At most so many frequencies of a model, those of the largest weights, are candidates.
CANDIDATES = 1_024
# Scores are reproduced on so many rows.
ROWS = 4_000
# Rows are mixed with the nearest of so many others.
NEIGHBOURS = 500

PARAMETERS = {"n_cosines": Integer(1), "tol": Real(0.0, 1.0, inclusive=True), "random_state": SEED}


def compress(model: E, X: Any, n_cosines: int = 256, tol: float = 1e-3, random_state: Any = None) -> E:
    """A model of few cosines that has nearly the scores of one of many.

    Some frequencies of the model are chosen and given new weights, such that they reproduce the sum of all its
    cosines on rows like those of X. Targets are not needed, and trees stay as they are. A default model of few
    rows, an average of several kernel machines, becomes a quarter as large and takes half the time to predict, by
    medians over the sets of ``benchmarks/sizes.py``.

    Parameters
    ----------
    model : fitted RFFBoostClassifier, RFFBoostRegressor or RFFBoostQuantileRegressor
    X : array-like of shape (n, d)
        Rows such as will be predicted, for example those of the fit. Up to 4,000 are used; where there are fewer,
        rows between a row and its neighbour stand in for more.
    n_cosines : int, default=256
        The most frequencies to keep. Where there are several raw scores each is a cosine and a sine; models
        of columns with gaps or categories that were averaged may have several sums of cosines, which share them.
    tol : float, default=1e-3
        Fewer are kept if they miss at most this share of the variance of the raw scores; on rows that are not in X
        it is a few times as much.
    random_state : int, RandomState or None, default=None
        Draws the rows.

    Returns
    -------
    RFFBoostClassifier, RFFBoostRegressor or RFFBoostQuantileRegressor
        A new model with the parameters of the given one; its rounds are no longer apart, so that
        ``staged_predict`` has few stages. It predicts, is saved and is exported like any other.

    Raises
    ------
    TypeError
        If `model` is no such estimator.
    ValueError
        If a parameter is out of range, or X has one row or is not of the columns of the fit.

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
    if not isinstance(model, BaseRFFBoost | RFFBoostQuantileRegressor):
        raise TypeError(
            f"compress: model must be a fitted RFFBoostClassifier, RFFBoostRegressor or "
            f"RFFBoostQuantileRegressor, got {model!r}"
        )
    given = {"n_cosines": n_cosines, "tol": tol, "random_state": random_state}
    for name, check in PARAMETERS.items():
        require("compress", name, given[name], check)
    check_is_fitted(model)
    if isinstance(model, RFFBoostQuantileRegressor):
        return model.with_boosters([compress(one, X, **given) for one in model.estimators_])
    X = model.encoder_.transform(X)
    if len(X) < 2:
        raise ValueError(f"compress: X must have at least 2 rows, got {len(X)}")
    rows = rows_like(X, check_random_state(random_state))
    with threads(model.n_jobs), SINGLE_BLAS:
        ensemble = compressed(model.ensemble_, rows, n_cosines, tol)
    return model.with_ensemble(ensemble, getattr(model, "feature_importances_", None))


@dataclass(frozen=True)
class CosineGroup:
    """A part of an ensemble: cosines of the same columns.

    Parameters
    ----------
    cosines : list of Cosines
        Those of different ranges are terms of their own.
    expansion : ImputeAndEncode, optional
        What makes their columns from those of X.
    """

    cosines: list[Cosines]
    expansion: ImputeAndEncode | None

    def columns(self, X: Array) -> Array:
        """What the cosines act on, (n, e), of the rows of X (n, d)."""
        return X if self.expansion is None else self.expansion(X)

    def terms(self) -> list[Term]:
        """The part as terms that act on X."""
        if self.expansion is None:
            return list(self.cosines)
        return [Expanded(one, self.expansion) for one in self.cosines]

    def __len__(self) -> int:
        """How many frequencies there are, without those of constants."""
        return sum(len(np.unique(one.omega[one.omega.any(axis=1)], axis=0)) for one in self.cosines)


def compressed(ensemble: Ensemble, X: Array, n_cosines: int, tol: float) -> Ensemble:
    """The ensemble with sums of cosines that have fewer frequencies, as far as they reproduce them on X (n, d)."""
    flat = ensemble.compact()
    parts, terms = smooth_parts(flat.terms)
    deviation = flat.raw(X).std(axis=0)
    # Outputs may have units of their own.
    unit = np.where(deviation > 0.0, deviation, 1.0)
    share = max(1, len(parts))
    most, enough = max(1, n_cosines // share), tol * np.count_nonzero(deviation) / share
    baseline = flat.baseline
    for part in parts:
        shift, smaller = fewer(part, X, unit, most, enough)
        baseline, terms = baseline + shift, terms + smaller.terms()
    return Ensemble(baseline, tuple(terms), np.ones((len(terms), 2)))


def smooth_parts(terms: Iterable[Term]) -> tuple[list[CosineGroup], list[Term]]:
    """Terms that are cosines, by the columns on which they act, and the others."""
    parts: dict[Hashable, CosineGroup] = {}
    others = []
    for term in terms:
        inner, expansion = (term.term, term.expansion) if isinstance(term, Expanded) else (term, None)
        # A type made of cosines may compute something else.
        if type(inner) is Cosines:
            key = None if expansion is None else expansion.key, bends_of(inner)
            parts.setdefault(key, CosineGroup([], expansion)).cosines.append(inner)
        else:
            others.append(term)
    return list(parts.values()), others


def fewer(part: CosineGroup, X: Array, unit: Array, most: int, enough: float) -> tuple[Array | float, CosineGroup]:
    """A constant (C,) and cosines of fewer frequencies that reproduce a part together; or the part itself."""
    columns = part.columns(X)
    candidates = strongest(part.cosines, unit)
    waves, target = wave_pairs(candidates, columns), sum(one(columns) for one in part.cosines) / unit
    means = waves.mean(axis=2), target.mean(axis=0)
    chosen, weight = pursue(waves - means[0][..., None], target - means[1], most, enough)
    if len(chosen) >= len(part):
        return 0.0, part
    shift = unit * (means[1] - np.einsum("km,kmc->c", means[0][:, chosen], weight))
    # Of one output a cosine and a sine are one cosine with a phase.
    term = candidates.with_pairs(candidates.omega[chosen], unit * weight).merged()
    return shift, replace(part, cosines=[term])


def strongest(sums: Sequence[Cosines], unit: Array) -> Cosines:
    """The frequencies (M, d) of the largest weights in several sums, without those of constants."""
    center, clipping = sums[0].center, reduce(union, (one.clipping for one in sums))
    joint = Cosines.stack([replace(one, clipping=clipping) for one in sums]).merged()
    omega, place = np.unique(joint.omega, axis=0, return_inverse=True)
    power = np.bincount(place.ravel(), np.square(joint.weight / unit).sum(axis=1))
    power[~omega.any(axis=1)] = -1.0
    order = np.argsort(-power, kind="stable")[: min(CANDIDATES, int((power >= 0.0).sum()))]
    none = np.zeros(len(order)), np.zeros((len(order), len(unit)))
    return Cosines(omega[order], *none, center, clipping)


def bends_of(term: Cosines) -> Hashable:
    """The same for cosines whose ranges can be joined: those without bends, or equal ones."""
    return None if term.clipping is None or term.clipping.bend is None else term.clipping.key


def union(one: ClipAndLog | None, other: ClipAndLog | None) -> ClipAndLog | None:
    """The range that holds two ranges; None, which has no ends, if one has none."""
    if one is None or other is None or one.key == other.key:
        return one if other is not None else None
    return one.union(other)


def wave_pairs(cosines: Cosines, X: Array) -> Array:
    """Cosine and sine of each frequency on the rows of X (n, d): (2, M, n)."""
    angles = cosines.angles(X.astype(np.float64)).T
    return np.stack([np.cos(angles), np.sin(angles)])


def rows_like(X: Array, random: np.random.RandomState) -> Array:
    """`ROWS` rows such as those of X (n, d): some of them, or all of them and further ones between neighbours.

    A further row takes each value from a row or, with probability 1/2, from the nearest of some others: so it is
    where rows are, and what columns have in common is kept; no value is new. NaN is a value.

    References
    ----------
    C. Bucila, R. Caruana and A. Niculescu-Mizil, Model compression, KDD 2006, whose algorithm MUNGE draws around
    a neighbour's values too.
    """
    n = len(X)
    if n >= ROWS:
        return X[np.sort(random.choice(n, ROWS, replace=False))]
    row = random.randint(n, size=ROWS - n)
    other = neighbours(X, random)[row]
    swapped = random.random_sample((len(row), X.shape[1])) < 0.5
    return np.concatenate([X, np.where(swapped, X[other], X[row])])


def neighbours(X: Array, random: np.random.RandomState) -> Array:
    """The nearest of at most `NEIGHBOURS` other rows, for each row of X (n, d): (n,)."""
    Z = np.where(np.isfinite(X), X, 0.0).astype(np.float64)
    deviation = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    pool = random.permutation(len(X))[:NEIGHBOURS]
    apart = np.square(Z).sum(axis=1)[:, None] + np.square(Z[pool]).sum(axis=1) - 2.0 * Z @ Z[pool].T
    apart[pool, np.arange(len(pool))] = np.inf
    return np.asarray(pool[apart.argmin(axis=1)])
