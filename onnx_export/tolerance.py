"""Tolerances for the difference between a graph's scores and Python's: bounds on rounding errors."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from rffboost_ext import Cosines, Term, Trees
from rffboost_ext.terms import Mapped
from rffboost_ext.utils.typing import Array

from .source import ExportSource

EPS = {"float32": float(np.finfo(np.float32).eps), "float64": float(np.finfo(np.float64).eps)}


@singledispatch
def rounding_error(term: Term, X: Array, eps: float) -> float:
    """A bound on the rounding error of a term's outputs on X, computed with relative precision `eps`.

    A custom term is assumed to lose five bits unless a bound is registered for its type.

    Parameters
    ----------
    term : Term
    X : ndarray of shape (n, d)
    eps : float
        Machine epsilon.

    Returns
    -------
    float
    """
    sizes = np.abs(term(X))
    return 32.0 * eps * (1.0 + float(sizes[np.isfinite(sizes)].max(initial=0.0)))


@rounding_error.register
def _(term: Cosines, X: Array, eps: float) -> float:
    # Plus rounding errors of T partial sums, the larger ones about as large as the outputs.
    sums = np.sqrt(len(term.phase)) * float(np.nanmax(np.abs(term(X)), initial=0.0))
    return eps * float(4.0 * (1.0 + largest_argument(term, X)) * norm(term.weight) + sums)


@rounding_error.register
def _(term: Trees, X: Array, eps: float) -> float:
    # Independent rounding errors of T partial sums, each bounded by the row's sum|leaf|.
    sizes = replace(term, value=np.abs(term.value))(X)
    return eps * float(np.sqrt(len(term.roots))) * float(sizes.max(initial=0.0))


@rounding_error.register
def _(term: Mapped, X: Array, eps: float) -> float:
    seen, inner, expansion = term.feature_map(X), term.term, term.feature_map.expansion
    bound = rounding_error(inner, seen, eps)
    if expansion is None or not expansion.regressions or not isinstance(inner, Cosines):
        return bound
    # In Python imputed values are rounded at their own magnitude, before the cosines' center is subtracted.
    return bound + rounding_error(replace(inner, center=None), seen, EPS["float64"])


def norm(weight: Array) -> float:
    """The largest Euclidean norm of a column, ``|v|_2``."""
    return float(np.sqrt(np.square(weight).sum(axis=0)).max(initial=0.0))


def largest_argument(term: Cosines, X: Array) -> float:
    """``max|z|`` of the arguments z of the cosines, and of the summands of z, which may cancel."""
    if not X.size or not term.omega.size:
        return 0.0
    clipped = term.clip_and_log(X)
    centered = clipped if term.center is None else clipped - term.center
    arguments = (np.abs(term.angles(rows)) for rows in row_blocks(X))
    whole = max(float(np.nanmax(z, initial=0.0)) for z in arguments)
    size = np.nanmax(np.abs(centered), axis=0, initial=0.0)
    if term.clipping is not None and term.clipping.log_scale is not None:
        # Rounding errors of logarithms are relative to the scale of the log transform.
        size = np.maximum(size, np.abs(term.clipping.log_scale))
    reach = size * np.abs(term.frequencies).max(axis=0)
    return max(whole, float(reach.max()), float(np.abs(term.phase).max()))


def row_blocks(X: Array, size: int = 4096) -> list[Array]:
    """The rows of X, a few thousand at a time."""
    return [X[start : start + size] for start in range(0, len(X), size)]


def score_tolerance(source: ExportSource, X: Any, dtype: str) -> float:
    """The largest error of a raw score on X by rounding, in the graph and in the estimator itself.

    The sum over terms of :func:`rounding_error` and ``eps sqrt(1 + trees) |baseline|``: for T cosines ``4 eps (1 +
    max|z|) |v|_2 + eps sqrt(T) max|f|``, where z is the argument of the cosine, v are the weights and f is the
    weighted sum. The constant is empirical: the largest error observed was a fourth to a seventh of the bound.
    """
    features, terms = source.features(X), source.ensemble.terms
    baseline = float(np.abs(source.ensemble.baseline).max(initial=0.0))
    # Tree libraries start from the baseline and round the running sum after every tree.
    times = np.sqrt(1 + sum(len(term.roots) for term in terms if isinstance(term, Trees)))

    def bound(eps: float) -> float:
        return eps * baseline * float(times) + sum(rounding_error(term, features, eps) for term in terms)

    graph = bound(EPS["float64" if dtype == "mixed" else dtype])
    if dtype == "mixed":
        graph += EPS["float32"] * float(np.nanmax(np.abs(source.ensemble.raw(features)), initial=0.0))
    return graph + bound(source.eps)


def response_tolerance(source: ExportSource, raw: Array, score: float, eps: float) -> float:
    """The largest error of probabilities or means if scores have errors of up to `score` each.

    Parameters
    ----------
    source : Source
    raw : ndarray of shape (n, C)
    score : float
        Tolerance of the scores.
    eps : float
        Precision of the output itself.
    """
    exact = source.response(raw)
    moved = np.zeros(len(exact))
    for shift in score * np.eye(raw.shape[1]):
        sides = [np.abs(source.response(raw + sign * shift) - exact).max(axis=1) for sign in (-1.0, 1.0)]
        moved += np.maximum(*sides)
    return float(np.nanmax(moved, initial=0.0) + 4.0 * eps * np.nanmax(np.abs(exact), initial=1.0))


def tolerance_text(source: ExportSource, dtype: str) -> str:
    """The tolerance as text, for the file's metadata."""
    eps = EPS["float32" if dtype == "float32" else "float64"]
    parts = [part for term in source.ensemble.terms for part in tolerance_parts(term, eps)]
    parts.append(f"{eps * float(np.abs(source.ensemble.baseline).max(initial=0.0)):.3g}")
    cause = "z = omega . x" if any("|z|" in part for part in parts) else "sums"
    return f"{' + '.join(parts)}, for rounding of {cause}"


def tolerance_parts(term: Term, eps: float) -> list[str]:
    """The contribution of a term to the tolerance, as text."""
    if isinstance(term, Mapped):
        return tolerance_parts(term.term, eps)
    if isinstance(term, Cosines):
        sums = f"{eps * np.sqrt(len(term.phase)):.3g} max|f|"
        return [f"{4.0 * eps * norm(term.weight):.3g} (1 + max|z|)", sums]
    if isinstance(term, Trees):
        return [f"{eps * np.sqrt(len(term.roots)):.3g} max sum|leaf|"]
    return [f"rounding({type(term).__name__})"]
