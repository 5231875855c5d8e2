"""Skewed data, and whether a model log-transforms them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rffboost_ext import Cosines

N = 240
PLAIN: dict[str, Any] = {"learner": "rff_newton", "n_estimators": 15, "early_stopping": False, "random_state": 0}


def skewed_data():
    """Lognormal features, one mirrored and one even, and a target that is smooth in their logarithms."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((N, 3))
    X = np.column_stack([np.exp(1.2 * Z[:, 0]), 50.0 - np.exp(1.2 * Z[:, 1]), Z[:, 2]])
    return X, np.sin(2.0 * Z[:, 0]) + Z[:, 1] + 0.1 * rng.standard_normal(N)


def extents_of(model):
    """The distinct ranges of the cosines of a model."""
    terms = (getattr(term, "term", term) for term in model.ensemble_.terms)
    return {term.clipping.key: term.clipping for term in terms if isinstance(term, Cosines)}.values()


def is_transformed(model) -> bool:
    return any(clipping.log_scale is not None for clipping in extents_of(model))
