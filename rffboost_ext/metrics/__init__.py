"""Metrics that scikit-learn does not have, such as of rankings; ``eval_metric`` takes their names."""

from .ranking import ndcg_score
from .registry import METRICS, NamedMetric

__all__ = ["METRICS", "NamedMetric", "ndcg_score"]
