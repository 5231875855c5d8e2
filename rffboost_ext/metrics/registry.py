"""Metrics by name, for ``eval_metric``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

WITH_RANK = re.compile(r"(?P<name>\w+)@(?P<k>[1-9]\d*)")


@dataclass(frozen=True)
class NamedMetric:
    """A metric of targets, in the columns of the loss, and predictions.

    Parameters
    ----------
    function : callable
        ``function(y, prediction, sample_weight=None) -> float`` of targets (n,) or (n, K), predictions (n,) or
        (n, W) and weights (n,); with a parameter `k` if `has_rank`.
    greater_is_better : bool
    has_rank : bool, default=False
        Whether a name such as "ndcg@10" sets the parameter `k`, the number of ranks that count.
    of_groups : bool, default=False
        Whether it is of the groups of the loss, such as queries: fits then hold out and sample whole groups.
    needs_loss : bool, default=False
        Whether the loss of the fit is passed as the keyword ``loss``, without which a response of several columns
        has no meaning.

    Examples
    --------
    >>> from rffboost_ext.metrics import METRICS
    >>> METRICS["ndcg"].greater_is_better, METRICS["ndcg"].has_rank
    (True, True)
    """

    function: Callable[..., float]
    greater_is_better: bool
    has_rank: bool = False
    of_groups: bool = False
    needs_loss: bool = False


METRICS: dict[str, NamedMetric] = {}
"""The metrics of this package by their names in ``eval_metric``, which users may extend."""


def find_metric(name: str) -> NamedMetric | None:
    """The metric of a name, such as "ndcg" or "ndcg@10"; None if there is none."""
    ranked = WITH_RANK.fullmatch(name)
    if ranked is None:
        return METRICS.get(name)
    metric = METRICS.get(ranked["name"])
    if metric is None or not metric.has_rank:
        return None
    return replace(metric, function=partial(metric.function, k=int(ranked["k"])))
