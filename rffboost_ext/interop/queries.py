"""Queries as the hosts' rankers take them: an argument of ``fit`` that becomes the last column of the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Loss
from ..estimators.ranker import require_weights_of_rows
from ..losses.registry import LOSSES
from ..preprocessing.groups import label_codes
from ..preprocessing.tables import number_array
from ..utils.param_validation import Integer, require
from ..utils.typing import Array
from .matrix_rows import require_groups_of_queries
from .score_conversion import as_columns

LABELS, SIZES = "qid", "group"


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
        Arguments of ``fit``: ``qid`` and ``eval_qid``, a label of each row, or ``group`` and ``eval_group``, the
        numbers of successive rows, are left out of the result.

    Raises
    ------
    ValueError, TypeError
        If queries are given to a loss that does not couple groups, twice, not for all sets, or do not suit the
        rows; or if there are weights of queries instead of rows.
    """
    names = [*both(LABELS), *both(SIZES)]
    given = {name: options[name] for name in names if options.get(name) is not None}
    others = {name: value for name, value in options.items() if name not in names}
    if not given or y is None:
        return y, others
    loss = LOSSES.create(loss)
    name = find_name(owner, loss, given)
    target = with_queries(owner, name, y, given[name])
    require_groups_of_queries(loss, target)
    require_weights_of_rows(owner, others.get("sample_weight"), target[:, [0, -1]])
    sets = EvaluatedQueries(owner, name, (X, y, given[name]), target, given.get(f"eval_{name}", ()))
    others = replace_eval_targets(others, sets.target_of)
    if len(sets.queries) > sets.n_read:
        raise ValueError(
            f"{owner}: eval_{name} must have an entry for each of {sets.n_read} evaluation sets, got "
            f"{len(sets.queries)}"
        )
    return target, others


@dataclass
class EvaluatedQueries:
    """The queries of evaluation sets, one entry each; `training` are X, y and queries of the training data."""

    owner: str
    name: str
    training: tuple[Any, Any, Any]
    target: Array
    queries: Sequence[Any]
    n_read: int = 0

    def target_of(self, number: int, X: Any, y: Any) -> Array:
        """The target of a set with the queries; that of the training data remains the same object."""
        X_trained, y_trained, trained = self.training
        self.n_read += 1
        is_training = X is X_trained and y is y_trained
        queries = self.queries[number] if number < len(self.queries) else trained if is_training else None
        if queries is None:
            raise ValueError(
                f"{self.owner}: eval_{self.name} must have an entry for each evaluation set, got "
                f"{len(self.queries)}"
            )
        same = is_training and np.array_equal(queries, trained)
        return self.target if same else with_queries(self.owner, f"eval_{self.name}", y, queries)


def both(name: str) -> tuple[str, str]:
    """The arguments for training and evaluation."""
    return name, f"eval_{name}"


def find_name(owner: str, loss: Loss, given: Mapping[str, Any]) -> str:
    """Whether queries are labels or sizes, or a ValueError."""
    if loss.rows != "groups":
        raise ValueError(
            f"{owner}: {next(iter(given))} is for losses of groups of rows, such as 'lambdarank', "
            f"got loss {loss!r}"
        )
    names = [name for name in (LABELS, SIZES) if name in given]
    if len(names) != 1 or not {*given} <= {*both(names[0])}:
        raise ValueError(
            f"{owner}: queries must be either {LABELS} or {SIZES}, with that of evaluation sets, got "
            f"{' and '.join(given)}"
        )
    return names[0]


def with_queries(owner: str, name: str, y: Any, queries: Any) -> Array:
    """A target (n,) or (n, K) with the number of the query of each row as a further column."""
    columns = as_columns(number_array(y))
    code = codes_of_sizes if name.endswith(SIZES) else label_codes
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


def replace_eval_targets(options: dict[str, Any], replaced: Callable[[int, Any, Any], Any]) -> dict[str, Any]:
    """Arguments of a host's ``fit`` with ``replaced(number, X, y)`` as the target of each evaluation set."""
    sets, y = options.get("eval_set"), options.get("eval_y")
    if sets is not None:
        # LightGBM takes a single pair, too.
        pairs = [sets] if isinstance(sets, tuple) and not isinstance(sets[0], tuple) else sets
        return options | {"eval_set": [(one, replaced(i, one, label)) for i, (one, label) in enumerate(pairs)]}
    if y is None:
        return options
    if not isinstance(y, tuple):
        return options | {"eval_y": replaced(0, options["eval_X"], y)}
    pairs = zip(options["eval_X"], y, strict=True)
    return options | {"eval_y": tuple(replaced(i, one, label) for i, (one, label) in enumerate(pairs))}
