"""Fitted estimators inside of others."""

from __future__ import annotations

from typing import Any


def final_estimator(estimator: Any) -> Any:
    """The fitted estimator whose predictions a pipeline or a search returns."""
    from sklearn.pipeline import Pipeline

    while isinstance(estimator, Pipeline) or hasattr(estimator, "best_estimator_"):
        is_pipeline = isinstance(estimator, Pipeline)
        estimator = estimator.steps[-1][1] if is_pipeline else estimator.best_estimator_
    return estimator
