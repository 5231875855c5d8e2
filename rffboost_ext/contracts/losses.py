"""The laws of a loss, each a function of a case, a loss with rows and scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from ..core import CoupledLoss, Observations
from ..losses.coupling import group_codes
from ..utils.registry import full_repr
from ..utils.typing import Array
from .comparison import (
    keeping_nothing,
    require_close,
    require_derivatives,
    require_shape,
    require_that,
    require_unchanged,
)
from .derivatives import gradient_is_the_derivative, hessian_bounds_the_loss, hessian_is_the_derivative
from .loss_case import ADVICE, LossCase


def shapes_and_numbers(case: LossCase) -> None:
    """Values and derivatives have shapes (n,) and (n, C), and are numbers; no argument is changed."""
    raw, n = case.raw, len(case.rows)
    arrays = {"y": case.rows.y, "raw": raw, "weight": case.rows.weight}
    values = require_unchanged(f"{case.name}: value", lambda: case.values(raw), **arrays)
    require_shape(f"{case.name}: value", values, (n,), finite=False)
    actual = require_unchanged(f"{case.name}: derivatives", lambda: case.derivatives(raw), **arrays)
    require_derivatives(case.loss, actual, raw, "near the baseline")
    gradient, hessian = actual
    flat = bool(gradient.any() and not hessian.any())
    require_that(not flat, f"{case.name}: hessian must be positive, got {hessian.min():g} for all rows")


def new_doubles(case: LossCase) -> None:
    """Values and derivatives are finite and of double precision; derivatives are new arrays."""
    actual = {"value": case.values(case.raw)}
    actual |= zip(("gradient", "hessian"), case.derivatives(case.raw), strict=True)
    for name, values in actual.items():
        require_shape(f"{case.name}: {name}", values, values.shape, single=False)
        is_new = not any(np.shares_memory(values, argument) for argument in (case.rows.y, case.raw))
        require_that(is_new or name == "value", f"{case.name}: {name} must be a new array")


def nothing_is_kept(case: LossCase) -> None:
    """No method leaves anything on the loss: a new instance has the same results after calls for other rows."""
    rows, raw = case.rows, case.raw
    half = np.arange(0, len(rows), 2)
    used, fresh = (replace(case, loss=clone(case.loss)) for _ in range(2))
    calls = {
        "n_scores": lambda: used.loss.n_scores(rows.y, case.n_classes),
        "check_target": lambda: used.loss.check_target(rows.y),
        "value": lambda: used.values(raw),
        "derivatives": lambda: used.derivatives(raw),
        "baseline": lambda: used.loss.baseline(rows.y, rows.weight),
        "prepared": lambda: used.loss.prepared(rows.y, rows.weight, case.n_classes),
    }
    for method, call in calls.items():
        with keeping_nothing(f"{case.name}: {method}", used.loss):
            call()
    if not isinstance(case.loss, CoupledLoss):
        for (name, expected), actual in zip(fresh.results(half).items(), used.results(half).values(), strict=True):
            require_close(f"{case.name}: {name} must not depend on earlier calls", actual, expected, 0.0)


def rows_stand_alone(case: LossCase) -> None:
    """The result of a row does not depend on its place, and on no other rows than Loss.rows says.

    The response of a row depends on no other rows.
    """
    few = case.raw[: max(1, len(case.rows) // 3)]
    order = np.random.default_rng(2).permutation(len(case.rows))
    with np.errstate(all="ignore"):
        every, alone = case.loss.link.inverse(case.raw), case.loss.link.inverse(few)
        what = f"{case.name}: link.inverse of a row must be the same without the other rows"
        require_close(what, alone, every[: len(few)], rtol=1e-9, atol=1e-12)
        predicted = case.loss.prediction(every)
        require_shape(f"{case.name}: prediction", predicted, (len(every), np.shape(predicted)[-1]), finite=False)
        what = f"{case.name}: prediction of a row must be the same wherever it stands"
        require_close(what, case.loss.prediction(every[order]), predicted[order], rtol=1e-9, atol=1e-12)
    parts = {"in a second call": np.arange(len(order)), "wherever it stands": order}
    if case.loss.rows == "independent":
        parts["without the other rows"] = order[: max(1, len(order) // 3)]
    if case.loss.rows == "groups":
        codes = group_codes(case.loss, case.rows.y)
        parts["without the other groups"] = np.flatnonzero(codes == codes[0])
    with np.errstate(all="ignore"):
        for where, rows in parts.items():
            require_same_results(case, where, rows)


def rows_may_repeat(case: LossCase) -> None:
    """The results of rows are the same if each is there twice, for losses of sets of rows."""
    if case.loss.rows == "set":
        require_same_results(case, "if all rows are there twice", np.tile(np.arange(len(case.rows)), 2))


def require_same_results(case: LossCase, where: str, rows: Array) -> None:
    """Raise unless value, gradient and hessian of some rows by themselves are the same as among all rows."""
    for (name, expected), actual in zip(case.results().items(), case.results(rows).values(), strict=True):
        what = f"{case.name}: {name} of a row must be the same {where}{ADVICE}"
        size = np.abs(expected).max(initial=0.0, where=np.isfinite(expected))
        require_close(what, actual, expected[rows], rtol=1e-6, atol=1e-8 * size)


def weights_are_counts(case: LossCase) -> None:
    """Weights are relative, and weight 2 is the row twice."""
    loss, y, n = case.loss, case.rows.y, len(case.rows)
    if isinstance(loss, CoupledLoss):
        double = Observations(y, 2.0 * case.rows.weight).derivatives(loss, case.raw)
        what = f"{case.name}: derivatives, divided by the weight of the row, must be those of twice all weights"
        for actual, expected in zip(double, case.derivatives(case.raw), strict=True):
            require_close(what, actual, expected, rtol=1e-7, atol=1e-9 * float(np.abs(expected).max()))
        return
    counts = np.random.default_rng(3).integers(1, 4, n)
    weighted, repeated = loss.baseline(y, counts.astype(np.float64)), np.repeat(y, counts, axis=0)
    twice = loss.baseline(repeated, np.ones(len(repeated)))
    what = f"{case.name}: baseline of a row of weight 2 must be that of the row twice"
    require_close(what, weighted, twice, rtol=1e-6, atol=1e-6 * case.scale)


def baseline_is_the_minimum(case: LossCase) -> None:
    """No constant scores near the baseline have a lower weighted sum of the loss."""
    start = np.tile(case.baseline, (len(case.rows), 1))
    lowest = case.values(start)
    rounding = 1e-12 * float(case.rows.weight @ np.abs(lowest))
    for c, size in enumerate(case.scale):
        changes = []
        for length in (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0):
            moved = start.copy()
            moved[:, c] += length * size
            changes.append(float(case.rows.weight @ (case.values(moved) - lowest)))
        slack = 1e-6 * max(map(abs, changes)) + rounding
        require_that(
            min(changes) >= -slack,
            f"{case.name}: baseline must minimise the weighted loss, but another score {c} lowers it by "
            f"{-min(changes):.3g}",
        )


def response_suits_the_task(case: LossCase) -> None:
    """The response has one width and names for it, and for classes it is of probabilities."""
    loss, raw, what = case.loss, case.raw, f"{case.name}: link.inverse"
    response = require_unchanged(what, lambda: loss.link.inverse(raw), raw=raw)
    classes = " with a column for each class" if loss.task == "classification" else ""
    width = np.shape(response)[1] if np.ndim(response) == 2 else 0
    require_that(width > bool(classes), f"{what} must have shape (n, W){classes}, got {np.shape(response)}")
    require_shape(what, response, (len(raw), width), finite=False)
    names = loss.link.names
    require_that(
        names is None or (isinstance(names, tuple) and len(names) == len({*names}) == width),
        f"{case.name}: link.names must be None or have a name for each of {width} columns, got {names!r}",
    )
    if classes:
        require_that(
            bool((response >= 0.0).all() and (response <= 1.0).all()),
            f"{what} must hold probabilities between 0 and 1, got {response.min():g} to {response.max():g}",
        )
        if not loss.multilabel:
            require_probabilities(case, what, response)


def require_probabilities(case: LossCase, what: str, response: Array) -> None:
    """Probabilities of classes sum to 1, and even out at the score 0 of two classes."""
    n_classes, width = case.n_classes, response.shape[1]
    require_that(
        n_classes in (None, width), f"{what} must have a column for each of {n_classes} classes of y, got {width}"
    )
    require_close(f"{what}: probabilities must sum to 1", response.sum(axis=1), np.ones(len(response)), 1e-3)
    if width == 2 and case.raw.shape[1] == 1:
        below, even, above = case.loss.link.inverse(np.array([[-1.0], [0.0], [1.0]]))[:, 1]
        require_that(
            abs(even - 0.5) < 1e-6 and below < above,
            f"{what} must give the second class a probability of 1/2 at a score of 0, and more above, where it is "
            f"predicted; got {below:g}, {even:g} and {above:g} at -1, 0 and 1",
        )


def both_classes_matter(case: LossCase) -> None:
    """Rows of the first of two classes have gradients: a loss for labels -1 and +1 has none for the label 0."""
    y = case.rows.y[:, 0]
    if case.loss.task == "classification" and case.raw.shape[1] == 1 and {0.0, 1.0} == {*y}:
        gradient, _ = case.derivatives(case.raw)
        require_that(
            bool(gradient[y == 0.0].any() or not gradient[y == 1.0].any()),
            f"{case.name}: gradient must not be 0 for all rows of the first class: y holds class indices 0 "
            f"and 1, not labels -1 and +1",
        )


def constants_are_predicted(case: LossCase) -> None:
    """A constant target of one column is predicted as itself, if the response has one column without a name."""
    loss, y = case.loss, case.rows.y
    response = np.shape(loss.link.inverse(case.raw[:1]))
    if loss.task != "regression" or isinstance(loss, CoupledLoss) or loss.link.names or loss.infinite:
        return
    if y.shape[1] != 1 or response != (1, 1) or case.raw.shape[1] != 1:
        return
    target = y[np.abs(y[:, 0]).argmax()]
    actual = loss.link.inverse(loss.baseline(np.tile(target, (len(y), 1)), np.ones(len(y)))[None])[0, 0]
    require_that(
        bool(abs(actual - target[0]) <= 0.1 * (abs(target[0]) + np.std(y))),
        f"{case.name}: link must be that of the loss: a constant target of {target[0]:g} is predicted as "
        f"{actual:g}",
    )


def attributes_are_right(case: LossCase) -> None:
    """``positive``, ``canonical``, ``monotone`` and ``levels`` say what the loss is."""
    for law in (negative_targets_are_refused, gradient_is_the_error, predictions_are_monotone):
        law(case)


def negative_targets_are_refused(case: LossCase) -> None:
    """Negative targets of one column are refused if the loss is ``positive``, and only then."""
    loss, y = case.loss, case.rows.y
    if loss.task != "regression" or y.shape[1] > 1 or isinstance(loss, CoupledLoss) or loss.infinite:
        return
    below = replace(case, rows=Observations(-np.abs(y) - 1.0, case.rows.weight))
    try:
        loss.check_target(below.rows.y)
        with np.errstate(all="ignore"):
            takes = loss.positive or bool(np.isfinite(below.values(case.raw)).all())
    except ValueError:
        takes = False
    require_that(
        takes != loss.positive,
        f"{case.name}: positive must be True if, and only if, check_target refuses negative targets, got "
        f"{loss.positive} and {'no refusal' if takes else 'a refusal, or losses that are no numbers'}",
    )


def gradient_is_the_error(case: LossCase) -> None:
    """The gradient of a ``canonical`` loss is the response less the target, or the class of the row."""
    if not case.loss.canonical:
        return
    response, (gradient, _) = case.loss.link.inverse(case.raw), case.derivatives(case.raw)
    target = case.rows.y
    if case.loss.task == "classification" and not case.loss.multilabel:
        target = (target[:, :1] == np.arange(response.shape[1])).astype(np.float64)
    error = (response - target)[:, -gradient.shape[1] :]
    what = f"{case.name}: gradient must be the response less the target, as canonical says"
    require_close(what, gradient, error, rtol=1e-6, atol=1e-9 * np.abs(target).max(initial=1.0))


def predictions_are_monotone(case: LossCase) -> None:
    """Predictions of a regression change with each score in the direction that ``monotone`` says."""
    loss = case.loss
    if loss.task != "regression":
        return
    signs = np.ones(len(case.scale)) if loss.monotone is None else np.asarray(loss.monotone)
    require_that(
        signs.shape == case.scale.shape and bool(np.isin(signs, (-1, 0, 1)).all()),
        f"{case.name}: monotone must be None or -1, 0 or 1 for each of {len(case.scale)} scores, got "
        f"{loss.monotone!r}",
    )
    actual = loss.prediction(loss.link.inverse(case.raw))
    for c, sign in enumerate(signs):
        moved = case.raw.copy()
        moved[:, c] += case.scale[c]
        change = loss.prediction(loss.link.inverse(moved)) - actual
        rounding = 1e-9 * np.abs(actual).max(initial=0.0)
        wrong = np.abs(change) if sign == 0 else -sign * change
        require_that(
            bool(np.nanmax(wrong, initial=0.0) <= rounding),
            f"{case.name}: predictions must not {('change', 'fall', 'rise')[int(sign)]} with score {c}, as "
            f"monotone={loss.monotone!r} says",
        )


def copies_are_equal(case: LossCase) -> None:
    """Preparing a prepared loss returns it, and a clone has the same values."""
    loss, expected = case.loss, case.values(case.raw)
    again = loss.prepared(case.rows.y, case.rows.weight, case.n_classes)
    require_that(
        full_repr(again) == full_repr(loss),
        f"{case.name}: prepared of a prepared loss must be the loss, got {again!r}",
    )
    twin = clone(loss)
    require_that(
        full_repr(twin) == full_repr(loss), f"{case.name}: clone must have the same parameters, got {twin!r}"
    )
    actual = case.rows.losses(twin, case.raw)
    require_close(f"{case.name}: value of a clone", actual, expected, 0.0)


def translation(case: LossCase) -> None:
    """A loss that says so is invariant under a shift of target and scores, without the offset of a fit."""
    if case.loss.translation_invariant:
        shifts = np.zeros_like(case.raw), np.random.default_rng(2).standard_normal(case.raw.shape)
        expected, actual = (
            Observations(case.rows.y + move, case.rows.weight).losses(case.loss, case.raw + move)
            for move in (case.scale * shift for shift in shifts)
        )
        what = f"{case.name}: value must be translation_invariant, the same for y + a at raw + a"
        require_close(what, actual, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max(initial=0.0))


LAWS_OF_FIT = shapes_and_numbers, response_suits_the_task, rows_stand_alone
"""The laws that a fit relies on, each a function of a case."""
LAWS = (
    *LAWS_OF_FIT,
    nothing_is_kept,
    rows_may_repeat,
    new_doubles,
    gradient_is_the_derivative,
    hessian_is_the_derivative,
    hessian_bounds_the_loss,
    weights_are_counts,
    baseline_is_the_minimum,
    both_classes_matter,
    constants_are_predicted,
    translation,
    attributes_are_right,
    copies_are_equal,
)
"""All laws."""
