"""Metrics that scikit-learn does not have, of rankings and distributions; ``eval_metric`` takes their names."""

from .distributions import crps, nll
from .ranking import ndcg_score
from .registry import METRICS, NamedMetric

__all__ = ["METRICS", "NamedMetric", "crps", "ndcg_score", "nll"]
