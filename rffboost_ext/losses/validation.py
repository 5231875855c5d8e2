"""Runtime checks of what losses and learners return."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..core import Learner, Loss, Observations
from ..utils.param_validation import POSITIVE, POSITIVE_SEQUENCE, Integer, require
from ..utils.typing import Array
from .constant_scores import constant_scores
from .row_laws import call_on_rows, check_rows, first_rows, is_package_loss

V = TypeVar("V")

# Rows that are checked for changes in place and, of a fit, for what must not depend on other rows.
WATCHED_ROWS, MAX_ROWS = 1_000, 20_000
POSITIVE_INTEGER = Integer(1)
# Largest difference of a sum of probabilities from 1.
ROUNDING = 1e-3


def check_class_indices(loss: Loss, y: Array, baseline: Array) -> None:
    """Raise a ValueError if the target of a classification is not of indices of the classes of the response."""
    if loss.task != "classification":
        return
    y, n_classes = y[:, :1], response_at(loss, baseline[None]).shape[1]
    if y.min() < 0.0 or y.max() >= n_classes or (y != np.floor(y)).any():
        raise ValueError(
            f"loss {loss!r}: y must hold class indices 0 .. {n_classes - 1}, got values from {y.min():g} to "
            f"{y.max():g}"
        )


def require_accepted_target(loss: Loss, y: Array) -> None:
    """Raise a ValueError if a loss does not accept the values of a target, or changes them in place."""
    require_unchanged("loss {!r}: check_target", loss, lambda: loss.check_target(y), y=y)


def compute_baseline(loss: Loss, rows: Observations) -> Array:
    """The constant scores that minimise the loss, (C,), or a ValueError if it changes its arguments in place."""

    def compute() -> Array:
        baseline: Array = call_on_rows(loss, "baseline", rows.y, lambda: constant_scores(loss, rows))
        return baseline

    return require_unchanged("loss {!r}: baseline", loss, compute, y=rows.y, weight=rows.weight)


def count_scores(loss: Loss, y: Array, n_classes: int | None = None) -> int:
    """``loss.n_scores(y, n_classes)``, or a ValueError unless it is a positive integer."""
    n_scores = loss.n_scores(y, n_classes)
    if not POSITIVE_INTEGER.accepts(n_scores):
        raise ValueError(f"loss {loss!r}: n_scores must return {POSITIVE_INTEGER}, got {n_scores!r}")
    return int(n_scores)


def check_baseline(loss: Loss, baseline: Array, y: Array, n_classes: int | None = None) -> None:
    """Raise a ValueError unless a loss's baseline for the target y (n, K) is valid.

    Some rows may lack classes: then their scores are counted only where `n_classes` is given.
    """
    if not isinstance(baseline, np.ndarray) or baseline.ndim != 1 or not np.isfinite(baseline).all():
        raise ValueError(f"loss {loss!r}: baseline must be a finite array of shape (C,), got {baseline!r}")
    if loss.task == "classification" and n_classes is None:
        return
    n_scores = count_scores(loss, y, n_classes)
    if len(baseline) != n_scores:
        raise ValueError(
            f"loss {loss!r}: baseline must have an entry for each of {n_scores} scores, as n_scores says, got "
            f"{baseline!r}"
        )


def check_value_and_response(loss: Loss, rows: Observations, raw: Array, size: int = WATCHED_ROWS) -> None:
    """Raise a ValueError unless a loss's values and responses for scores (n, C) are numbers of the right shapes.

    The loss must not change its arguments in place, must not depend on the place of the first rows, about `size`,
    and its link must suit the prediction of classes.
    """

    def values_of_rows() -> Any:
        return call_on_rows(loss, "value", rows.y, lambda: rows.losses(loss, raw))

    values = require_unchanged("loss {!r}: value", loss, values_of_rows, y=rows.y, raw=raw)
    require_value_per_row(loss, values, len(rows))
    require_numbers(loss, "value", values)
    response = response_at(loss, raw)
    require_numbers(loss, "link.inverse", response)
    check_probabilities(loss, response)
    check_link(loss, raw.shape[1])
    check_rows(loss, rows, raw, size)


def response_at(loss: Loss, raw: Array) -> Array:
    """``loss.link.inverse(raw)`` for scores (n, C), or a ValueError unless it has n rows and enough columns."""
    response, least = loss.link.inverse(raw), 2 if loss.task == "classification" else 1
    found = np.shape(response)
    if len(found) != 2 or found[0] != len(raw) or found[1] < least:
        wanted = "(n, K), a column for each class" if least == 2 else "(n, W)"
        raise ValueError(f"loss {loss!r}: link.inverse must have shape {wanted}, n = {len(raw)}, got {found}")
    require_array(loss, "link.inverse", response)
    return response


def require_array(loss: Loss, method: str, found: object) -> None:
    """Raise a ValueError unless a method of a loss returns an array."""
    if not isinstance(found, np.ndarray):
        raise ValueError(f"loss {loss!r}: {method} must return an array, got a {type(found).__name__}")


def check_probabilities(loss: Loss, response: Array) -> None:
    """Raise a ValueError unless the response of a classification is of probabilities, of sum 1 but of labels."""
    if loss.task != "classification":
        return
    low, high = response.min(), response.max()
    if low < 0.0 or high > 1.0:
        raise ValueError(
            f"loss {loss!r}: link.inverse must hold probabilities from 0 to 1, got {low:g} to {high:g}"
        )
    total = response.sum(axis=1)
    if not loss.multilabel and (np.abs(total - 1.0) > ROUNDING).any():
        worst = total[np.abs(total - 1.0).argmax()]
        raise ValueError(f"loss {loss!r}: link.inverse must hold probabilities of sum 1, got {worst:g}")


def check_names(loss: Loss, width: int) -> None:
    """Raise a ValueError unless the names of the columns of the response, if there are any, are one for each."""
    names = loss.link.names
    if names is None:
        return
    is_list = not isinstance(names, str) and all(isinstance(name, str) for name in names)
    if not is_list or len(set(names)) != width or len(names) != width:
        raise ValueError(
            f"loss {loss!r}: link.names must be None or have a name of its own for each of {width} columns of "
            f"the response, got {names!r}"
        )


def check_response_of_classes(loss: Loss, baseline: Array, n_classes: int | None) -> None:
    """Raise a ValueError unless the response has a column for each class, of which regression has none."""
    width = response_at(loss, baseline[None]).shape[1]
    if n_classes is not None and width != n_classes:
        raise ValueError(
            f"loss {loss!r}: link.inverse must have a column for each of {n_classes} classes of y, got {width}"
        )
    check_names(loss, width)


def prepare_with_baseline(loss: Loss, rows: Observations, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), with every check that takes no round.

    Rows may lack some classes unless `n_classes` is given.
    """
    loss = prepare_loss(loss, rows, n_classes)
    baseline = compute_baseline(loss, rows)
    check_baseline(loss, baseline, rows.y, n_classes)
    check_response_of_classes(loss, baseline, n_classes)
    check_class_indices(loss, rows.y, baseline)
    check_values_of_some_rows(loss, rows, np.broadcast_to(baseline, (len(rows), len(baseline))))
    return loss, baseline


def check_values_of_some_rows(loss: Loss, rows: Observations, raw: Array) -> None:
    """Raise a ValueError unless values and responses of the first rows, and of their groups, are valid."""
    first = first_rows(loss, rows.y, MAX_ROWS)
    check_value_and_response(loss, rows.take(first), raw[first], MAX_ROWS)


def require_finite_target(loss: Loss, y: Array) -> None:
    """Raise a ValueError if a target (n, K) is NaN, or infinite where the loss does not take that."""
    if np.isnan(y).any() or not (loss.infinite or np.isfinite(y).all()):
        raise ValueError(f"loss {loss!r}: y must be finite, got NaN or infinity")


def require_multiclass(loss: Loss, n_classes: int) -> None:
    """Raise a ValueError if a loss is limited to two classes and there are more."""
    if n_classes > 2 and not loss.multiclass:
        raise ValueError(
            f"Only binary classification is supported by loss {loss!r}: y must have 2 classes, got {n_classes}"
        )


def require_numbers(loss: Loss, method: str, found: Array) -> None:
    """Raise a ValueError if a loss returns NaN or no real numbers at the baseline; infinity is allowed."""
    require_array(loss, method, found)
    if found.dtype.kind not in "fiu":
        raise ValueError(f"loss {loss!r}: {method} must hold real numbers, got {found.dtype}")
    lost = int(np.isnan(found).sum())
    if lost:
        raise ValueError(
            f"loss {loss!r}: {method} must be a number at the baseline, got NaN for {lost} of {np.size(found)}"
        )


def check_link(loss: Loss, n_outputs: int) -> None:
    """Raise a ValueError unless the predicted class, of two, is the more probable one at every raw score."""
    if loss.task != "classification" or n_outputs > 1:
        return
    response = np.asarray(loss.link.inverse(np.array([[-1.0], [0.0], [1.0]])))
    if response.shape[1] > 2:
        return
    below, even, above = response[:, 1]
    if not (abs(even - 0.5) < 1e-6 and below < above):
        raise ValueError(
            f"loss {loss!r}: link.inverse must give the second class a probability of 1/2 at a score of 0, and "
            f"more above, where it is predicted; got {below:g}, {even:g} and {above:g} at -1, 0 and 1"
        )


def require_value_per_row(loss: Loss, values: Array, n_samples: int) -> None:
    """Raise a ValueError unless a loss has one value for each row."""
    if np.shape(values) != (n_samples,):
        raise ValueError(f"loss {loss!r}: value must have shape (n,) = ({n_samples},), got {np.shape(values)}")


def check_pair(loss: Loss, found: tuple[Array, Array]) -> tuple[Array, Array]:
    """The result of a loss's ``derivatives``, or a ValueError if it is not a pair."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ValueError(f"loss {loss!r}: derivatives must return two arrays, gradient and hessian")
    return found


def compute_derivatives(loss: Loss, rows: Observations, raw: Array, index: int | None) -> tuple[Array, Array]:
    """The derivatives of a loss in round `index`; changes in place are found in the first, or if it is None."""

    def compute() -> tuple[Array, Array]:
        found: tuple[Array, Array] = rows.derivatives(loss, raw)
        return found

    found = compute() if index else require_unchanged("loss {!r}: derivatives", loss, compute, y=rows.y, raw=raw)
    return check_pair(loss, found)


def require_derivatives(loss: Loss, derivatives: tuple[Array, Array], raw: Array, where: str) -> None:
    """Raise a ValueError that says `where` unless derivatives are finite numbers of the shape of `raw` (n, C)."""
    for name, values in zip(("gradient", "hessian"), derivatives, strict=True):
        if not isinstance(values, np.ndarray) or values.shape != raw.shape:
            found = values.shape if isinstance(values, np.ndarray) else f"a {type(values).__name__}"
            raise ValueError(f"loss {loss!r}: {name} must have shape {raw.shape}, got {found}")
        if values.dtype.kind not in "fiu":
            raise ValueError(f"loss {loss!r}: {name} must hold real numbers, got {values.dtype}")
        if not is_finite(values):
            raise ValueError(f"loss {loss!r}: {name} must be finite, got NaN or infinity {where}")


def check_derivatives(loss: Loss, derivatives: tuple[Array, Array], raw: Array, index: int | None) -> None:
    """Raise a ValueError unless a loss's derivatives in round `index`, None if unknown, are valid."""
    where = "in training" if index is None else f"in round {index}"
    require_derivatives(loss, derivatives, raw, where)
    gradient, hessian = derivatives
    least = hessian.min()
    # Hessians may be 0 once the fit is perfect.
    if least < 0.0 or (index == 0 and least == 0.0 and gradient.any() and not hessian.any()):
        raise ValueError(f"loss {loss!r}: hessian must be positive, got {least:g} {where}")


def is_finite(values: Array) -> bool:
    """Whether all values are finite. A sum is cheap, but may overflow although all values are finite."""
    return math.isfinite(np.add.reduce(values, axis=None)) or bool(np.isfinite(values).all())


def require_unchanged(what: str, part: Loss | Learner, call: Callable[[], V], **arrays: Array) -> V:
    """The result of a call, or a ValueError if it has changed one of `arrays` in place.

    The repr of `part`, which is slow, is inserted into `what` only in case of an error.
    """
    before = {name: values[:WATCHED_ROWS].tobytes() for name, values in arrays.items()}
    found = call()
    for name, values in arrays.items():
        if values[:WATCHED_ROWS].tobytes() != before[name]:
            raise ValueError(f"{what.format(part)} must not change {name} in place")
    return found


def describe_returned(found: object) -> str:
    """A short description of a returned object, of any number of rows."""
    if isinstance(found, np.ndarray):
        return f"an array of {found.dtype} and shape {found.shape}"
    return f"{reprlib.repr(found)} of type {type(found).__name__}"


def prepare_loss(loss: Loss, rows: Observations, n_classes: int | None = None) -> Loss:
    """The loss to minimise, ``loss.prepared(y, weight, n_classes)``, checked."""
    y, weight = rows.target(loss), rows.weight
    count_scores(loss, y, n_classes)
    require_accepted_target(loss, y)
    given = {"y": y, "weight": weight}
    prepared = require_unchanged("loss {!r}: prepared", loss, lambda: loss.prepared(y, weight, n_classes), **given)
    if not isinstance(prepared, Loss):
        raise TypeError(f"loss {loss!r}: prepared must return a Loss, got {describe_returned(prepared)}")
    require(type(prepared).__name__, "unit", prepared.unit, POSITIVE | POSITIVE_SEQUENCE)
    if rows.offset is not None and prepared.translation_invariant and not is_package_loss(prepared):
        require_invariance(prepared, rows.take(first_rows(prepared, rows.y, WATCHED_ROWS)))
    return prepared


def require_invariance(loss: Loss, rows: Observations) -> None:
    """Raise a ValueError if a loss changes with the offset as a shift of target and scores."""
    raw, shift = np.zeros_like(rows.offset), rows.offset
    found = Observations(rows.y + shift, rows.weight).losses(loss, raw + shift)
    wanted = Observations(rows.y, rows.weight).losses(loss, raw)
    if not np.allclose(found, wanted, rtol=1e-6, atol=1e-9 * np.abs(wanted).max(initial=0.0)):
        raise ValueError(
            f"loss {loss!r}: translation_invariant must be False, since value(y + a, raw + a) is not value(y, raw)"
        )
