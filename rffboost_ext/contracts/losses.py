"""The laws of a loss, each a function of a sample of rows and scores."""

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
from .loss_sample import ADVICE, LossSample


def shapes_and_numbers(sample: LossSample) -> None:
    """Values and derivatives have shapes (n,) and (n, C), and are numbers; no argument is changed."""
    raw, n = sample.raw, len(sample.rows)
    given = {"y": sample.rows.y, "raw": raw, "weight": sample.rows.weight}
    values = require_unchanged(f"{sample.name}: value", lambda: sample.values(raw), **given)
    require_shape(f"{sample.name}: value", values, (n,), finite=False)
    actual = require_unchanged(f"{sample.name}: derivatives", lambda: sample.derivatives(raw), **given)
    require_derivatives(sample.loss, actual, raw, "near the baseline")
    gradient, hessian = actual
    flat = bool(gradient.any() and not hessian.any())
    require_that(not flat, f"{sample.name}: hessian must be positive, got {hessian.min():g} for all rows")


def new_doubles(sample: LossSample) -> None:
    """Values and derivatives are finite and of double precision; derivatives are new arrays."""
    actual = {"value": sample.values(sample.raw)}
    actual |= zip(("gradient", "hessian"), sample.derivatives(sample.raw), strict=True)
    for name, values in actual.items():
        require_shape(f"{sample.name}: {name}", values, values.shape, single=False)
        is_new = not any(np.shares_memory(values, given) for given in (sample.rows.y, sample.raw))
        require_that(is_new or name == "value", f"{sample.name}: {name} must be a new array")


def nothing_is_kept(sample: LossSample) -> None:
    """No method leaves anything on the loss: a new instance has the same results after calls for other rows."""
    rows, raw = sample.rows, sample.raw
    half = np.arange(0, len(rows), 2)
    used, fresh = (replace(sample, loss=clone(sample.loss)) for _ in range(2))
    calls = {
        "n_scores": lambda: used.loss.n_scores(rows.y, sample.n_classes),
        "check_target": lambda: used.loss.check_target(rows.y),
        "value": lambda: used.values(raw),
        "derivatives": lambda: used.derivatives(raw),
        "baseline": lambda: used.loss.baseline(rows.y, rows.weight),
        "prepared": lambda: used.loss.prepared(rows.y, rows.weight, sample.n_classes),
    }
    for method, call in calls.items():
        with keeping_nothing(f"{sample.name}: {method}", used.loss):
            call()
    if not isinstance(sample.loss, CoupledLoss):
        for (name, expected), actual in zip(fresh.results(half).items(), used.results(half).values(), strict=True):
            require_close(f"{sample.name}: {name} must not depend on earlier calls", actual, expected, 0.0)


def rows_stand_alone(sample: LossSample) -> None:
    """The result of a row does not depend on its place, and on no other rows than Loss.rows says.

    The response of a row depends on no other rows.
    """
    few = sample.raw[: max(1, len(sample.rows) // 3)]
    order = np.random.default_rng(2).permutation(len(sample.rows))
    with np.errstate(all="ignore"):
        every, alone = sample.loss.link.inverse(sample.raw), sample.loss.link.inverse(few)
        what = f"{sample.name}: link.inverse of a row must be the same without the other rows"
        require_close(what, alone, every[: len(few)], rtol=1e-9, atol=1e-12)
        predicted = sample.loss.prediction(every)
        require_shape(f"{sample.name}: prediction", predicted, (len(every), np.shape(predicted)[-1]), finite=False)
        what = f"{sample.name}: prediction of a row must be the same wherever it stands"
        require_close(what, sample.loss.prediction(every[order]), predicted[order], rtol=1e-9, atol=1e-12)
    parts = {"in a second call": np.arange(len(order)), "wherever it stands": order}
    if sample.loss.rows == "independent":
        parts["without the other rows"] = order[: max(1, len(order) // 3)]
    if sample.loss.rows == "groups":
        codes = group_codes(sample.loss, sample.rows.y)
        parts["without the other groups"] = np.flatnonzero(codes == codes[0])
    with np.errstate(all="ignore"):
        for where, rows in parts.items():
            require_same_results(sample, where, rows)


def rows_may_repeat(sample: LossSample) -> None:
    """The results of rows are the same if each is there twice, for losses of sets of rows."""
    if sample.loss.rows == "set":
        require_same_results(sample, "if all rows are there twice", np.tile(np.arange(len(sample.rows)), 2))


def require_same_results(sample: LossSample, where: str, rows: Array) -> None:
    """Raise unless value, gradient and hessian of some rows by themselves are the same as among all rows."""
    for (name, expected), actual in zip(sample.results().items(), sample.results(rows).values(), strict=True):
        what = f"{sample.name}: {name} of a row must be the same {where}{ADVICE}"
        size = np.abs(expected).max(initial=0.0, where=np.isfinite(expected))
        require_close(what, actual, expected[rows], rtol=1e-6, atol=1e-8 * size)


def weights_are_counts(sample: LossSample) -> None:
    """Weights are relative, and weight 2 is the row twice."""
    loss, y, n = sample.loss, sample.rows.y, len(sample.rows)
    if isinstance(loss, CoupledLoss):
        double = Observations(y, 2.0 * sample.rows.weight).derivatives(loss, sample.raw)
        what = f"{sample.name}: derivatives, divided by the weight of the row, must be those of twice all weights"
        for actual, expected in zip(double, sample.derivatives(sample.raw), strict=True):
            require_close(what, actual, expected, rtol=1e-7, atol=1e-9 * float(np.abs(expected).max()))
        return
    counts = np.random.default_rng(3).integers(1, 4, n)
    weighted, repeated = loss.baseline(y, counts.astype(np.float64)), np.repeat(y, counts, axis=0)
    twice = loss.baseline(repeated, np.ones(len(repeated)))
    what = f"{sample.name}: baseline of a row of weight 2 must be that of the row twice"
    require_close(what, weighted, twice, rtol=1e-6, atol=1e-6 * sample.scale)


def baseline_is_the_minimum(sample: LossSample) -> None:
    """No constant scores near the baseline have a lower weighted sum of the loss."""
    start = np.tile(sample.baseline, (len(sample.rows), 1))
    lowest = sample.values(start)
    rounding = 1e-12 * float(sample.rows.weight @ np.abs(lowest))
    for c, size in enumerate(sample.scale):
        changes = []
        for length in (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0):
            moved = start.copy()
            moved[:, c] += length * size
            changes.append(float(sample.rows.weight @ (sample.values(moved) - lowest)))
        slack = 1e-6 * max(map(abs, changes)) + rounding
        require_that(
            min(changes) >= -slack,
            f"{sample.name}: baseline must minimise the weighted loss, but another score {c} lowers it by "
            f"{-min(changes):.3g}",
        )


def response_suits_the_task(sample: LossSample) -> None:
    """The response has one width and names for it, and for classes it is of probabilities."""
    loss, raw, what = sample.loss, sample.raw, f"{sample.name}: link.inverse"
    response = require_unchanged(what, lambda: loss.link.inverse(raw), raw=raw)
    classes = " with a column for each class" if loss.task == "classification" else ""
    width = np.shape(response)[1] if np.ndim(response) == 2 else 0
    require_that(width > bool(classes), f"{what} must have shape (n, W){classes}, got {np.shape(response)}")
    require_shape(what, response, (len(raw), width), finite=False)
    names = loss.link.names
    require_that(
        names is None or (isinstance(names, tuple) and len(names) == len({*names}) == width),
        f"{sample.name}: link.names must be None or have a name for each of {width} columns, got {names!r}",
    )
    if classes:
        require_that(
            bool((response >= 0.0).all() and (response <= 1.0).all()),
            f"{what} must hold probabilities between 0 and 1, got {response.min():g} to {response.max():g}",
        )
        if not loss.multilabel:
            require_probabilities(sample, what, response)


def require_probabilities(sample: LossSample, what: str, response: Array) -> None:
    """Probabilities of classes sum to 1, and even out at the score 0 of two classes."""
    n_classes, width = sample.n_classes, response.shape[1]
    require_that(
        n_classes in (None, width), f"{what} must have a column for each of {n_classes} classes of y, got {width}"
    )
    require_close(f"{what}: probabilities must sum to 1", response.sum(axis=1), np.ones(len(response)), 1e-3)
    if width == 2 and sample.raw.shape[1] == 1:
        below, even, above = sample.loss.link.inverse(np.array([[-1.0], [0.0], [1.0]]))[:, 1]
        require_that(
            abs(even - 0.5) < 1e-6 and below < above,
            f"{what} must give the second class a probability of 1/2 at a score of 0, and more above, where it is "
            f"predicted; got {below:g}, {even:g} and {above:g} at -1, 0 and 1",
        )


def both_classes_matter(sample: LossSample) -> None:
    """Rows of the first of two classes have gradients: a loss for labels -1 and +1 has none for the label 0."""
    y = sample.rows.y[:, 0]
    if sample.loss.task == "classification" and sample.raw.shape[1] == 1 and {0.0, 1.0} == {*y}:
        gradient, _ = sample.derivatives(sample.raw)
        require_that(
            bool(gradient[y == 0.0].any() or not gradient[y == 1.0].any()),
            f"{sample.name}: gradient must not be 0 for all rows of the first class: y holds class indices 0 "
            f"and 1, not labels -1 and +1",
        )


def constants_are_predicted(sample: LossSample) -> None:
    """A constant target of one column is predicted as itself, if the response has one column without a name."""
    loss, y = sample.loss, sample.rows.y
    response = np.shape(loss.link.inverse(sample.raw[:1]))
    if loss.task != "regression" or isinstance(loss, CoupledLoss) or loss.link.names or loss.infinite:
        return
    if y.shape[1] != 1 or response != (1, 1) or sample.raw.shape[1] != 1:
        return
    target = y[np.abs(y[:, 0]).argmax()]
    actual = loss.link.inverse(loss.baseline(np.tile(target, (len(y), 1)), np.ones(len(y)))[None])[0, 0]
    require_that(
        bool(abs(actual - target[0]) <= 0.1 * (abs(target[0]) + np.std(y))),
        f"{sample.name}: link must be that of the loss: a constant target of {target[0]:g} is predicted as "
        f"{actual:g}",
    )


def attributes_are_right(sample: LossSample) -> None:
    """``positive``, ``canonical``, ``monotone`` and ``levels`` say what the loss is."""
    for law in (negative_targets_are_refused, gradient_is_the_error, predictions_are_monotone):
        law(sample)


def negative_targets_are_refused(sample: LossSample) -> None:
    """Negative targets of one column are refused if the loss is ``positive``, and only then."""
    loss, y = sample.loss, sample.rows.y
    if loss.task != "regression" or y.shape[1] > 1 or isinstance(loss, CoupledLoss) or loss.infinite:
        return
    below = replace(sample, rows=Observations(-np.abs(y) - 1.0, sample.rows.weight))
    try:
        loss.check_target(below.rows.y)
        with np.errstate(all="ignore"):
            takes = loss.positive or bool(np.isfinite(below.values(sample.raw)).all())
    except ValueError:
        takes = False
    require_that(
        takes != loss.positive,
        f"{sample.name}: positive must be True if, and only if, check_target refuses negative targets, got "
        f"{loss.positive} and {'no refusal' if takes else 'a refusal, or losses that are no numbers'}",
    )


def gradient_is_the_error(sample: LossSample) -> None:
    """The gradient of a ``canonical`` loss is the response less the target, or the class of the row."""
    if not sample.loss.canonical:
        return
    response, (gradient, _) = sample.loss.link.inverse(sample.raw), sample.derivatives(sample.raw)
    target = sample.rows.y
    if sample.loss.task == "classification" and not sample.loss.multilabel:
        target = (target[:, :1] == np.arange(response.shape[1])).astype(np.float64)
    error = (response - target)[:, -gradient.shape[1] :]
    what = f"{sample.name}: gradient must be the response less the target, as canonical says"
    require_close(what, gradient, error, rtol=1e-6, atol=1e-9 * np.abs(target).max(initial=1.0))


def predictions_are_monotone(sample: LossSample) -> None:
    """Predictions of a regression change with each score in the direction that ``monotone`` says."""
    loss = sample.loss
    if loss.task != "regression":
        return
    signs = np.ones(len(sample.scale)) if loss.monotone is None else np.asarray(loss.monotone)
    require_that(
        signs.shape == sample.scale.shape and bool(np.isin(signs, (-1, 0, 1)).all()),
        f"{sample.name}: monotone must be None or -1, 0 or 1 for each of {len(sample.scale)} scores, got "
        f"{loss.monotone!r}",
    )
    actual = loss.prediction(loss.link.inverse(sample.raw))
    for c, sign in enumerate(signs):
        moved = sample.raw.copy()
        moved[:, c] += sample.scale[c]
        change = loss.prediction(loss.link.inverse(moved)) - actual
        rounding = 1e-9 * np.abs(actual).max(initial=0.0)
        wrong = np.abs(change) if sign == 0 else -sign * change
        require_that(
            bool(np.nanmax(wrong, initial=0.0) <= rounding),
            f"{sample.name}: predictions must not {('change', 'fall', 'rise')[int(sign)]} with score {c}, as "
            f"monotone={loss.monotone!r} says",
        )


def copies_are_equal(sample: LossSample) -> None:
    """Preparing a prepared loss returns it, and a clone has the same values."""
    loss, expected = sample.loss, sample.values(sample.raw)
    again = loss.prepared(sample.rows.y, sample.rows.weight, sample.n_classes)
    require_that(
        full_repr(again) == full_repr(loss),
        f"{sample.name}: prepared of a prepared loss must be the loss, got {again!r}",
    )
    twin = clone(loss)
    require_that(
        full_repr(twin) == full_repr(loss), f"{sample.name}: clone must have the same parameters, got {twin!r}"
    )
    actual = sample.rows.losses(twin, sample.raw)
    require_close(f"{sample.name}: value of a clone", actual, expected, 0.0)


def translation(sample: LossSample) -> None:
    """A loss that says so is invariant under a shift of target and scores, without the offset of a fit."""
    if sample.loss.translation_invariant:
        shifts = np.zeros_like(sample.raw), np.random.default_rng(2).standard_normal(sample.raw.shape)
        expected, actual = (
            Observations(sample.rows.y + move, sample.rows.weight).losses(sample.loss, sample.raw + move)
            for move in (sample.scale * shift for shift in shifts)
        )
        what = f"{sample.name}: value must be translation_invariant, the same for y + a at raw + a"
        require_close(what, actual, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max(initial=0.0))


LAWS_OF_FIT = shapes_and_numbers, response_suits_the_task, rows_stand_alone
"""The laws that a fit relies on, each a function of a sample."""
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
