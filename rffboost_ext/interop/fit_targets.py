"""Targets of an estimator's fit and of its evaluation sets, with queries as the hosts' rankers take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..boosting.evaluation import arrays_of_sets, is_set
from ..core import Loss
from ..estimators.ranker import ranking_target, require_weights_of_rows
from ..losses.registry import LOSSES
from ..losses.target_statistics import has_own_columns
from ..rows.tables import label_array
from ..rows.targets import RealTargets, TargetEncoder, class_targets
from ..utils.typing import Array


def read_targets_of_fit(owner: str, loss: Loss, y: Any) -> tuple[TargetEncoder, Array]:
    """The encoder of the targets of a loss, and a target as an array, (n,) or (n, K)."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    targets: TargetEncoder = RealTargets(owner, loss.infinite)
    if loss.task == "classification":
        targets = class_targets(owner, label_array(y), None, partial(has_own_columns, loss))
    y = targets.read(y)
    if y.ndim not in (1, 2) or len(y) == 0:
        raise ValueError(f"{owner}: y must have shape (n,) or (n, K) and at least one row, got {y.shape}")
    return targets, y


def add_queries(
    owner: str, loss: str | Loss, X: Any, y: Any, options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Target and arguments of ``fit``, in which ``qid`` and ``eval_qid`` are the second columns of all targets.

    An evaluation set that is X and y remains so. A ValueError is raised if the loss does not couple groups, or if
    queries do not suit the rows of a set. Weights of queries are refused, too.
    """
    others = {name: value for name, value in options.items() if name not in ("qid", "eval_qid")}
    qid, of_sets = options.get("qid"), options.get("eval_qid")
    if y is None or (qid is None and of_sets is None):
        return y, others
    if (made := LOSSES.create(loss)).rows != "groups":
        raise ValueError(f"{owner}: qid is for losses of groups of rows, such as 'lambdarank', got loss {made!r}")
    target, sets = ranking_target(owner, X, y, qid, "qid"), pairs_of_sets(others)
    require_weights_of_rows(owner, others.get("sample_weight"), target)
    codes = arrays_of_sets(owner, "eval_qid", of_sets, sets or None, qid)
    ranked = []
    for (rows, labels), queries in zip(sets, codes.values(), strict=True):
        same = rows is X and labels is y and queries is qid
        ranked.append((rows, target if same else ranking_target(owner, rows, labels, queries, "eval_qid")))
    return target, with_sets(others, ranked)


def pairs_of_sets(options: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """The evaluation sets, (X, y), in arguments of a host's ``fit``, which LightGBM takes in several forms."""
    if (sets := options.get("eval_set")) is not None:
        return [sets] if is_set(sets) else list(sets)
    if (y := options.get("eval_y")) is None:
        return []
    return list(zip(options["eval_X"], y, strict=True)) if isinstance(y, tuple) else [(options["eval_X"], y)]


def with_sets(options: dict[str, Any], sets: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    """Arguments of a host's ``fit`` with other evaluation sets, (X, y), in place of those that it has."""
    if options.get("eval_set") is not None:
        return options | {"eval_set": list(sets)}
    return options | dict(zip(("eval_X", "eval_y"), zip(*sets, strict=True), strict=True)) if sets else options
