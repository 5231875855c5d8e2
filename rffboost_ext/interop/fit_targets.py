"""Targets of an estimator's fit: checks, weights of classes, and queries as the hosts' rankers take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..core import Loss
from ..estimators.ranker import require_weights_of_rows
from ..losses.registry import LOSSES
from ..preprocessing.row_arguments import label_codes
from ..preprocessing.tables import number_array, target_array
from ..preprocessing.targets import encode_targets
from ..utils.param_validation import POSITIVE, Integer, require
from ..utils.typing import Array
from .score_conversion import as_columns

QUERIES = ("qid", "eval_qid", "group", "eval_group")
"""Arguments of ``fit``: a label of each row, or the numbers of successive rows."""
NEUTRAL, NO = {"scale_pos_weight": (1,)}, (False, "false")
"""Values without effect of parameters that weight the second of two classes."""


def host_class_factors(
    owner: str, loss: Loss, given: Mapping[str, Any], y: Array, n_classes: int | None
) -> Array | None:
    """Factors on the weights of two classes, (2,), by parameters of the host; None without any.

    ``is_unbalance`` gives both classes the same total weight, by a factor on the smaller one.
    """
    given = {name: value for name, value in given.items() if value not in NEUTRAL.get(name, NO)}
    if not given:
        return None
    name, value = next(iter(given.items()))
    if n_classes != 2:
        raise ValueError(
            f"{owner}: {name} weights the second of two classes, use sample_weight for loss {loss!r}; got "
            f"{value!r}"
        )
    if len(given) > 1:
        raise ValueError(f"{owner}: only one of {', '.join(given)} may be set")
    if name != "scale_pos_weight":
        counts = np.bincount(y[:, 0].astype(np.intp))
        return counts.max() / counts
    require(owner, name, value, POSITIVE)
    return np.array([1.0, value])


def check_target_array(owner: str, loss: Loss, y: Any) -> Array:
    """A target, (n,) or (n, K), as float64 of shape (n, K), finite unless the loss allows infinity."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    values = target_array(y)
    if values.ndim not in (1, 2) or len(values) == 0:
        raise ValueError(f"{owner}: y must have shape (n,) or (n, K) and at least one row, got {values.shape}")
    if values.dtype.kind == "c":
        check_array(values, ensure_2d=False, input_name="y", estimator=owner)
    if loss.task == "classification" and values.dtype.kind not in "biufO":
        raise ValueError(f"{owner}: y must be class indices 0 .. K-1, got {values.ravel().tolist()[0]!r}")
    return encode_targets(values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values, loss.infinite)


def add_queries(
    owner: str, loss: str | Loss, X: Any, y: Any, options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Target and arguments of a fit, with the queries as the last column of all targets.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    loss : str or Loss
        A loss of groups, if there are queries.
    X, y : array-like of shape (n, d), (n,) or (n, K)
        Training data. An evaluation set of the same objects remains one.
    options : mapping
        Arguments of ``fit``. Those of :data:`QUERIES` are left out of the result.

    Raises
    ------
    ValueError, TypeError
        If queries are given to a loss that does not couple groups, twice, not for all sets, or do not suit the
        rows; or if there are weights of queries instead of rows.
    """
    given = {name: options[name] for name in QUERIES if options.get(name) is not None}
    others = {name: value for name, value in options.items() if name not in QUERIES}
    if not given or y is None:
        return y, others
    loss = LOSSES.create(loss)
    name = find_name(owner, loss, given)
    target, of_sets = with_query_column(owner, name, y, given[name]), given.get(f"eval_{name}", ())
    require_weights_of_rows(owner, others.get("sample_weight"), target[:, [0, -1]])

    def target_of(number: int, rows: Any, labels: Any) -> Array:
        is_training = rows is X and labels is y
        queries = of_sets[number] if number < len(of_sets) else given[name] if is_training else None
        if queries is None:
            raise wrong_number_of_entries("evaluation set")
        same = is_training and np.array_equal(queries, given[name])
        return target if same else with_query_column(owner, f"eval_{name}", labels, queries)

    def wrong_number_of_entries(sets: str) -> ValueError:
        return ValueError(f"{owner}: eval_{name} must have an entry for each {sets}, got {len(of_sets)}")

    others, n_sets = replace_eval_targets(others, target_of)
    if len(of_sets) > n_sets:
        raise wrong_number_of_entries(f"of {n_sets} evaluation sets")
    return target, others


def find_name(owner: str, loss: Loss, given: Mapping[str, Any]) -> str:
    """Whether queries are labels or sizes, or a ValueError."""
    if loss.rows != "groups":
        raise ValueError(
            f"{owner}: {next(iter(given))} is for losses of groups of rows, such as 'lambdarank', "
            f"got loss {loss!r}"
        )
    name = next((name for name in ("qid", "group") if name in given), "qid")
    if name not in given or not {*given} <= {name, f"eval_{name}"}:
        raise ValueError(
            f"{owner}: queries must be either qid or group, with that of evaluation sets, got "
            f"{' and '.join(given)}"
        )
    return name


def with_query_column(owner: str, name: str, y: Any, queries: Any) -> Array:
    """A target (n,) or (n, K) with the number of the query of each row as a further column."""
    columns = as_columns(number_array(y))
    code = codes_of_sizes if name.endswith("group") else label_codes
    return np.column_stack([columns, code(owner, queries, columns, name)])


def codes_of_sizes(owner: str, sizes: Any, rows: Array, name: str) -> Array:
    """The number of the query of each row, (n,), by the sizes of queries of successive rows."""
    sizes = np.asarray(sizes).tolist()
    for size in sizes:
        require(owner, name, size, Integer(1))
    if sum(sizes) != len(rows):
        raise ValueError(
            f"{owner}: {name} must hold sizes of queries that add up to {len(rows)} rows, got {sum(sizes)}"
        )
    return np.repeat(np.arange(len(sizes)), sizes)


def replace_eval_targets(
    options: dict[str, Any], replaced: Callable[[int, Any, Any], Any]
) -> tuple[dict[str, Any], int]:
    """Arguments of a host's ``fit`` with ``replaced(number, X, y)`` as the target of each evaluation set.

    The second result is the number of these sets.
    """
    sets, y = options.get("eval_set"), options.get("eval_y")
    if sets is not None:
        # LightGBM takes a single pair, too.
        pairs = [sets] if isinstance(sets, tuple) and not isinstance(sets[0], tuple) else sets
        sets = [(rows, replaced(number, rows, label)) for number, (rows, label) in enumerate(pairs)]
        return options | {"eval_set": sets}, len(sets)
    if y is None:
        return options, 0
    if not isinstance(y, tuple):
        return options | {"eval_y": replaced(0, options["eval_X"], y)}, 1
    pairs = zip(options["eval_X"], y, strict=True)
    targets = tuple(replaced(number, rows, label) for number, (rows, label) in enumerate(pairs))
    return options | {"eval_y": targets}, len(targets)
