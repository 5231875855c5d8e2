"""Metrics that scikit-learn does not have, of rankings, times and distributions, for ``eval_metric``."""

from .distributions import crps, nll
from .ranking import ndcg_score
from .registry import METRICS, NamedMetric
from .survival import concordance_index

__all__ = ["METRICS", "NamedMetric", "concordance_index", "crps", "ndcg_score", "nll"]
