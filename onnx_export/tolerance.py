"""Tolerances for the difference between a graph's outputs and Python's: bounds on rounding errors."""

from __future__ import annotations

import numpy as np

from rffboost_ext.exporting import Array

from .conversion import rounding_error
from .source import ExportSource

EPS = {"float32": float(np.finfo(np.float32).eps), "float64": float(np.finfo(np.float64).eps)}


def score_tolerance(source: ExportSource, features: Array, dtype: str, n_trees: int) -> float:
    """The largest error of a raw score by rounding, in the graph and in the estimator itself.

    The sum over terms of :func:`rounding_error` and ``eps sqrt(1 + trees) |baseline|``: for T cosines ``4 eps (1 +
    max|z|) |v|_2 + eps sqrt(T) max|f|``, where z is the argument of the cosine, v are the weights and f is the
    weighted sum. The constant is empirical: the largest error observed was a fourth to a seventh of the bound.
    """
    ensemble = source.ensemble
    # Tree libraries start from the baseline and round the running sum after every tree.
    baseline = float(np.abs(ensemble.baseline).max(initial=0.0)) * float(np.sqrt(1 + n_trees))

    def bound(eps: float) -> float:
        return eps * baseline + sum(rounding_error(term, features, eps) for term in ensemble.terms)

    graph = bound(EPS["float64" if dtype == "mixed" else dtype])
    if dtype == "mixed":
        graph += EPS["float32"] * float(np.nanmax(np.abs(ensemble.raw(features)), initial=0.0))
    return graph + bound(source.eps)


def response_tolerance(source: ExportSource, raw: Array, score: float, eps: float) -> float:
    """The largest error of probabilities or means if scores have errors of up to `score` each.

    Parameters
    ----------
    source : ExportSource
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
