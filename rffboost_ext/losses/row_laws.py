"""The laws of rows, checked on some of them for losses of users' own classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import Loss, Observations
from ..utils.typing import Array
from .coupling import whole_groups
from .wrapper import LossWrapper

# Largest difference, relative to a number and to the largest one.
RTOL, ATOL = 1e-6, 1e-8

ROWS_OF_A_LOSS = (
    "A fit sorts, samples and merges rows, and arrays that a loss holds do not follow them: numbers that belong "
    "to rows, such as costs, are further columns of y, where the loss defines 'n_scores'"
)


def check_rows(loss: Loss, rows: Observations, raw: Array, size: int) -> None:
    """Raise a ValueError that names the law if a user's loss breaks one on the first rows, about `size`.

    Value, gradient and hessian of a row must not depend on where it stands, nor on other rows than ``Loss.rows``
    says. The response of a row must depend on its scores only.
    """
    if is_package_loss(loss):
        return
    first = first_rows(loss, rows.y, size)
    rows = rows.take(first)
    raw, half = spread_scores(loss, rows, raw[first]), first_rows(loss, rows.y, (len(rows) + 1) // 2)
    orders = {"wherever it stands, but the order of the rows changes it": np.arange(len(rows))[::-1]}
    orders |= {
        "independent": {"without the other rows, as rows = 'independent' says": half},
        "groups": {"without the other groups": half},
    }.get(loss.rows, {})
    with np.errstate(all="ignore"):
        whole = results_of_rows(loss, rows, raw)
        for where, order in orders.items():
            found = results_of_rows(loss, rows.take(order), raw[order])
            require_same(loss, where, found, {name: values[order] for name, values in whole.items()})
        if loss.rows == "set":
            # The results of a part may differ, but there must be some.
            results_of_rows(loss, rows.take(half), raw[half])
        part = {"link.inverse": loss.link.inverse(raw[half])}
        require_same(loss, "without the other rows", part, {"link.inverse": loss.link.inverse(raw)[half]})


def is_package_loss(loss: Loss) -> bool:
    """Whether the loss that a fit minimises, without wrappers, is one of this package."""
    while isinstance(loss, LossWrapper):
        loss = loss.loss
    return type(loss).__module__.partition(".")[0] == __name__.partition(".")[0]


def first_rows(loss: Loss, y: Array, size: int) -> Array:
    """The first rows of targets (n, K), with those of their groups; a part of coupled rows is a set of its own."""
    rows = np.arange(min(len(y), size))
    return whole_groups(loss, y, rows) if loss.rows == "groups" else rows


def call_on_rows(loss: Loss, method: str, y: Array, call: Callable[[], Any]) -> Any:
    """The result of a method for targets (n, K), or a ValueError that says what the arrays of a loss must do."""
    try:
        return call()
    except (ValueError, IndexError, KeyError) as error:
        if is_package_loss(loss):
            raise
        raise ValueError(
            f"loss {loss!r}: {method} fails for y of shape {y.shape}: {error}. {ROWS_OF_A_LOSS}"
        ) from error


def results_of_rows(loss: Loss, rows: Observations, raw: Array) -> dict[str, Array]:
    """What a loss returns for rows, by name, without what is no array of n numbers or rows of them."""
    value = call_on_rows(loss, "value", rows.y, lambda: rows.losses(loss, raw))
    # A copy: what a loss changes in place is found in the first round.
    copied = replace(rows, y=rows.y.copy())
    pair = call_on_rows(loss, "derivatives", rows.y, lambda: copied.derivatives(loss, raw.copy()))
    gradient, hessian = pair if isinstance(pair, tuple | list) and len(pair) == 2 else (None, None)
    found = {"value": value, "gradient": gradient, "hessian": hessian, "link.inverse": loss.link.inverse(raw)}
    return {
        name: values
        for name, values in found.items()
        if isinstance(values, np.ndarray) and values.shape[:1] == (len(rows),) and values.dtype.kind in "fiu"
    }


def spread_scores(loss: Loss, rows: Observations, raw: Array) -> Array:
    """Scores (n, C) that differ from row to row by about a Newton step: equal ones may hide what couples rows."""
    found = results_of_rows(loss, rows, raw)
    gradient, hessian = found.get("gradient", raw), found.get("hessian", raw)
    if gradient.shape != raw.shape or hessian.shape != raw.shape:
        return raw
    with np.errstate(all="ignore"):
        size = np.abs(gradient).mean(axis=0) / hessian.mean(axis=0)
    size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)
    return np.asarray(raw + size * np.linspace(-1.0, 1.0, len(raw))[:, None])


def require_same(loss: Loss, where: str, found: dict[str, Array], wanted: dict[str, Array]) -> None:
    """Raise a ValueError that says `where` a result differs from the wanted one."""
    for name, values in wanted.items():
        other, finite = found.get(name, values[:0]), np.abs(values[np.isfinite(values)])
        slack = ATOL * finite.max(initial=0.0)
        if other.shape != values.shape or not np.allclose(other, values, RTOL, slack, equal_nan=True):
            raise ValueError(f"loss {loss!r}: {name} must be the same for a row {where}. {ROWS_OF_A_LOSS}")
