"""Metrics of rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses.query_ranking import ndcg_of_queries, require_constant_weight, require_relevance
from ..rows.row_arguments import label_codes
from ..rows.tables import number_array
from ..rows.weights import check_sample_weight
from ..utils.param_validation import OPTIONAL, Integer, require
from ..utils.typing import Array
from .registry import METRICS, NamedMetric


def ndcg_score(y_true: Any, y_score: Any, qid: Any, *, k: int | None = None, sample_weight: Any = None) -> float:
    r"""The mean over queries of the normalised discounted cumulative gain, with gains :math:`2^y - 1`.

    .. math:: \mathrm{NDCG@k} = \frac{\sum_i (2^{y_i} - 1) D(r_i)}{\max_r \sum_i (2^{y_i} - 1) D(r_i)}, \quad
              D(r) = \frac{[r < k]}{\log_2(2 + r)},

    with the ranks r of the rows of a query by falling score, from 0. Tied rows share their discounts, as in
    :func:`sklearn.metrics.ndcg_score`. Queries without a relevant row are left out of the mean.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Relevance, from 0 to 31.
    y_score : array-like of shape (n,)
        Scores: the higher, the earlier.
    qid : array-like of shape (n,)
        The query of each row, of any hashable type and in any order.
    k : int, optional
        Number of ranks that count; all by default.
    sample_weight : array-like of shape (n,), optional
        Weights, constant within a query. Rows of weight 0 are left out.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, or no query has a relevant row.

    References
    ----------
    C. Burges et al., Learning to rank using gradient descent, ICML 2005.

    Examples
    --------
    >>> from rffboost_ext.metrics import ndcg_score
    >>> round(ndcg_score([0, 1, 2, 1], [0.1, 0.3, 0.2, 0.9], ["a", "a", "a", "b"]), 3)
    0.898
    """
    require("ndcg_score", "k", k, Integer(1) | OPTIONAL)
    relevance, score = (np.asarray(number_array(values), dtype=np.float64) for values in (y_true, y_score))
    if relevance.ndim != 1 or score.shape != relevance.shape:
        raise ValueError(
            f"ndcg_score: y_true and y_score must have shape (n,), got {relevance.shape} and {score.shape}"
        )
    require_relevance("ndcg_score: y_true", relevance)
    weight = check_sample_weight(sample_weight, len(relevance))
    y = np.column_stack([relevance, label_codes("ndcg_score", qid, relevance, "qid")])
    used = weight > 0.0
    return mean_ndcg(y[used], score[used], weight[used], k)


def mean_ndcg(y: Array, score: Array, sample_weight: Array | None = None, k: int | None = None) -> float:
    """The mean NDCG of queries by targets (n, 2) as losses of rankings take them, relevance and query."""
    if y.ndim != 2 or y.shape[1] != 2:
        raise ValueError(f"y must have two columns, relevance and code of the query, got shape {y.shape}")
    ranking, ndcg = ndcg_of_queries(y, score, k)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    require_constant_weight(y[:, 1], weight)
    of_queries, has_relevant = weight[ranking.order[ranking.start[:-1]]], ~np.isnan(ndcg)
    if not has_relevant.any():
        raise ValueError(f"y must have a query with a relevant row, got {len(ndcg)} without: all of y is 0")
    return float(np.average(ndcg[has_relevant], weights=of_queries[has_relevant]))


METRICS["ndcg"] = NamedMetric(mean_ndcg, greater_is_better=True, has_rank=True, of_groups=True)
