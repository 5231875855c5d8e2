"""The laws of a loss, checked on a target."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core import Loss, Observations
from ..core.spec import full_repr
from ..losses.coupling import group_codes, is_coupled
from ..losses.registry import LOSSES
from ..losses.units import scale_derivatives
from ..utils.typing import Array
from .comparison import named_errors, require, require_close, require_shape, require_unchanged
from .loss_sample import LossSample, samples

# Differences are over this share of a Newton step.
STEP = 1e-5
# Derivatives of a loss of coupled rows that are checked.
MAX_DERIVATIVES = 60


def check_loss(loss: str | Loss, y: Any, n_classes: int | None = None) -> None:
    """Raise an AssertionError that names the law that a loss breaks.

    Checked are: the number of scores; shapes, finite numbers and arguments left unchanged; the gradient if
    ``exact_gradient``, by differences of the loss, or of its weighted total if rows are coupled; the hessian by
    differences of the gradient if ``exact_hessian``, its sign, and that part of a Newton step lowers the loss;
    ``bounded_ratio``; that values stay with their rows when rows are permuted, twice (``rows = "set"``), alone
    (``rows = "independent"``) or a group at a time (``rows = "groups"``); that the baseline minimises the weighted
    sum; that weight 2 is the row twice; that the link, its inverse and the response agree and have one width;
    ``translation_invariant``; and ``prepared`` and ``clone``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    y : array-like of shape (n,) or (n, K)
        A typical target: class indices 0 .. K-1 for classification, all columns that the loss takes otherwise. Up
        to 500 rows are used, or all if they are coupled.
    n_classes : int, optional
        Number of classes; by default the largest class index plus 1.

    Raises
    ------
    AssertionError
        If the loss breaks a law, or refuses y.
    ValueError
        If y is no array of finite numbers; it may be infinite if ``infinite``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.testing import check_loss
    >>> check_loss("huber", np.random.default_rng(0).standard_normal(50))
    """
    with named_errors(f"loss {type(loss).__name__}: get_params"):
        repr(loss)
    with named_errors(f"loss {type(loss).__name__}: validate"):
        loss = LOSSES.create(loss)
    for sample in samples(loss, np.asarray(y, dtype=np.float64), n_classes):
        for check in CHECKS:
            with named_errors(f"{sample.name}: {check.__name__}"):
                check(sample)


def check_shapes(sample: LossSample) -> None:
    """Values and derivatives have shapes (n,) and (n, C), and are finite numbers of double precision."""
    y, raw, n = sample.y, sample.raw, len(sample.y)
    given = {"y": y, "raw": raw, "weight": sample.weight}
    values = require_unchanged(f"{sample.name}: value", lambda: sample.values(raw), **given)
    require_shape(f"{sample.name}: value", values, (n,), single=False)
    found = require_unchanged(f"{sample.name}: derivatives", lambda: sample.derivatives(raw), **given)
    for name, values in zip(("gradient", "hessian"), found, strict=True):
        require_shape(f"{sample.name}: {name}", values, raw.shape, single=False)
        require(
            not any(np.shares_memory(values, one) for one in given.values()),
            f"{sample.name}: {name} must be a new array",
        )
    require(bool((found[1] >= 0.0).all()), f"{sample.name}: hessian must be positive, got {found[1].min():g}")


def check_gradient(sample: LossSample) -> None:
    """An exact gradient is the derivative of the value, or of the weighted total if rows are coupled."""
    if not sample.loss.exact_gradient:
        return
    gradient, _ = sample.derivatives(sample.raw)
    what = f"{sample.name}: gradient must be the derivative of value"
    if is_coupled(sample.loss):
        rows = np.random.default_rng(1).permutation(len(sample.y))[: max(1, MAX_DERIVATIVES // len(sample.scale))]
        sides = np.stack([total_slopes(sample, row) / sample.weight[row] for row in rows], axis=1)
        what += " summed over rows with their weights, divided by the weight of the row"
        require_slopes(what, gradient[rows], sides)
        return
    moves = STEP * sample.scale * np.eye(len(sample.scale))
    sides = np.stack([slopes(sample.values, sample.raw, move) / move.sum() for move in moves], axis=-1)
    require_slopes(what, gradient, sides)


def slopes(function: Any, raw: Array, move: Array) -> Array:
    """The differences of a function of scores moved backwards and forwards, (2, ...)."""
    here = function(raw)
    return np.stack([here - function(raw - move), function(raw + move) - here])


def total_slopes(sample: LossSample, row: int) -> Array:
    """The derivatives of the total with respect to the scores of a row, to the left and to the right, (2, C)."""
    found = []
    for c, size in enumerate(STEP * sample.scale):
        move = np.zeros_like(sample.raw)
        move[row, c] = size
        # A difference of sums over rows would lose digits.
        found.append(slopes(sample.values, sample.raw, move) @ sample.weight / size)
    return np.transpose(found)


def require_slopes(what: str, found: Array, sides: Array) -> None:
    """Raise unless derivatives are between differences to both sides, up to 1e-4 of their size in each column.

    At a kink the derivative may be anything in between.
    """
    numeric = np.clip(found, sides.min(axis=0), sides.max(axis=0))
    size = np.abs(numeric).mean(axis=0) + np.abs(found).mean(axis=0)
    require_close(what, found, numeric, rtol=1e-4, atol=np.broadcast_to(1e-4 * size + 1e-12, found.shape))


def check_hessian(sample: LossSample) -> None:
    """An exact hessian is the derivative of the gradient; |gradient| <= hessian if ``bounded_ratio``."""
    gradient, hessian = sample.derivatives(sample.raw)
    excess = (np.abs(gradient) - hessian).max()
    require(
        not sample.loss.bounded_ratio or excess <= 1e-9,
        f"{sample.name}: |gradient| must be at most the hessian, as bounded_ratio says, got {excess:.3g} more",
    )
    if not sample.loss.exact_hessian or is_coupled(sample.loss):
        return
    moves = STEP * sample.scale * np.eye(len(sample.scale))
    sides = [
        slopes(lambda raw: sample.derivatives(raw)[0], sample.raw, move)[..., c] / move[c]
        for c, move in enumerate(moves)
    ]
    what = f"{sample.name}: hessian must be the derivative of the gradient, as exact_hessian says"
    require_slopes(what, hessian, np.stack(sides, axis=-1))


def check_newton_step(sample: LossSample) -> None:
    """A quarter of a Newton step of rows whose gradients have one sign, as in a leaf, lowers the loss."""
    if not sample.loss.exact_gradient:
        return
    # With the least hessian of the loss, as in fits.
    gradient, hessian = scale_derivatives(sample.loss, sample.derivatives(sample.raw))
    before = sample.values(sample.raw)
    rounding = 1e-12 * float(sample.weight @ np.abs(before))
    for c, sign in itertools.product(range(len(sample.scale)), (-1.0, 1.0)):
        rows, moved = sign * gradient[:, c] > 0.0, sample.raw.copy()
        slope, curvature = (sample.weight[rows] @ values[rows, c] for values in (gradient, hessian))
        moved[rows, c] -= 0.25 * slope / max(curvature, 1e-300)
        change = float(sample.weight @ (sample.values(moved) - before))
        require(
            change <= rounding,
            f"{sample.name}: hessian must bound the second derivative: a quarter of a Newton step of score {c} "
            f"must lower the loss, got a change of {change:.3g}",
        )


def check_rows(sample: LossSample) -> None:
    """The result of a row does not depend on its place, and on no other rows than Loss.rows says."""
    order = np.random.default_rng(2).permutation(len(sample.y))
    parts = {"in a second call": np.arange(len(order)), "wherever it stands": order}
    if sample.loss.rows == "set":
        parts["if all rows are there twice"] = np.tile(order, 2)
    if sample.loss.rows == "independent":
        parts["without the other rows"] = order[: max(1, len(order) // 3)]
    if sample.loss.rows == "groups":
        codes = group_codes(sample.loss, sample.y)
        parts["without the other groups"] = np.flatnonzero(codes == codes[0])
    whole = sample.values(sample.raw), *sample.derivatives(sample.raw)
    for where, rows in parts.items():
        taken = sample.values(sample.raw[rows], rows), *sample.derivatives(sample.raw[rows], rows)
        for name, found, wanted in zip(("value", "gradient", "hessian"), taken, whole, strict=True):
            atol = 1e-9 * float(np.abs(wanted).max())
            require_close(
                f"{sample.name}: {name} of a row must be the same {where}", found, wanted[rows], atol=atol
            )


def check_weights(sample: LossSample) -> None:
    """Weights are relative, and weight 2 is the row twice."""
    loss, y, n = sample.loss, sample.y, len(sample.y)
    if is_coupled(loss):
        double = Observations(y, 2.0 * sample.weight).derivatives(loss, sample.raw)
        what = f"{sample.name}: derivatives, divided by the weight of the row, must be those of twice all weights"
        for found, wanted in zip(double, sample.derivatives(sample.raw), strict=True):
            require_close(what, found, wanted, rtol=1e-7, atol=1e-9 * float(np.abs(wanted).max()))
        return
    counts = np.random.default_rng(3).integers(1, 4, n)
    weighted, repeated = loss.baseline(y, counts.astype(np.float64)), np.repeat(y, counts, axis=0)
    twice = loss.baseline(repeated, np.ones(len(repeated)))
    what = f"{sample.name}: baseline of a row of weight 2 must be that of the row twice"
    require_close(what, weighted, twice, rtol=1e-6, atol=1e-6 * sample.scale)


def check_baseline(sample: LossSample) -> None:
    """No constant scores near the baseline have a lower weighted sum of the loss."""
    start = np.tile(sample.baseline, (len(sample.y), 1))
    lowest = sample.values(start)
    rounding = 1e-12 * float(sample.weight @ np.abs(lowest))
    for c, size in enumerate(sample.scale):
        changes = []
        for length in (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0):
            moved = start.copy()
            moved[:, c] += length * size
            changes.append(float(sample.weight @ (sample.values(moved) - lowest)))
        slack = 1e-6 * max(map(abs, changes)) + rounding
        require(
            min(changes) >= -slack,
            f"{sample.name}: baseline must minimise the weighted loss, but another score {c} lowers it by "
            f"{-min(changes):.3g}",
        )


def check_response(sample: LossSample) -> None:
    """The response has one width for any rows, is the link's, and for classes has their probabilities."""
    loss, raw = sample.loss, sample.raw
    response = require_unchanged(f"{sample.name}: link.inverse", lambda: loss.link.inverse(raw), raw=raw)
    require(
        np.ndim(response) == 2, f"{sample.name}: link.inverse must have two dimensions, got {np.ndim(response)}"
    )
    require_shape(f"{sample.name}: link.inverse", response, (len(raw), response.shape[1]))
    for row in (0, len(raw) - 1):
        what = f"{sample.name}: link.inverse of a row alone"
        require_close(what, loss.link.inverse(raw[row : row + 1]), response[row : row + 1], rtol=1e-9, atol=1e-12)
    names = loss.link.names
    require(
        names is None or len(names) == len({*names}) == response.shape[1],
        f"{sample.name}: link.names must have a name for each of {response.shape[1]} columns, got {names}",
    )
    if loss.task == "classification":
        require(
            bool((response >= 0.0).all() and (response <= 1.0).all()),
            f"{sample.name}: probabilities must be between 0 and 1, got {response.min():g} to {response.max():g}",
        )
        if not loss.multilabel:
            check_probabilities(sample, response)


def check_probabilities(sample: LossSample, response: Array) -> None:
    """Probabilities of classes sum to 1, and even out at the score 0 of two classes."""
    width = response.shape[1]
    require(
        width == sample.n_classes,
        f"{sample.name}: link.inverse must have a column for each of {sample.n_classes} classes, got {width}",
    )
    require_close(
        f"{sample.name}: probabilities must sum to 1", response.sum(axis=1), np.ones(len(response)), 1e-9
    )
    if width == 2 and sample.raw.shape[1] == 1:
        even = sample.loss.link.inverse(np.array([[-1.0], [0.0], [1.0]]))[:, 1]
        require_close(
            f"{sample.name}: probability of the second class at score 0", even[1:2], np.array([0.5]), 1e-6
        )
        require(
            bool(even[0] < even[1] < even[2]),
            f"{sample.name}: the probability of the second class must increase with the score, got {even}",
        )


def check_copies(sample: LossSample) -> None:
    """Preparing a prepared loss returns it, and a clone has the same values."""
    loss, wanted = sample.loss, sample.values(sample.raw)
    again = loss.prepared(sample.y, sample.weight, sample.n_classes)
    require(
        full_repr(again) == full_repr(loss),
        f"{sample.name}: prepared of a prepared loss must be the loss, got {again!r}",
    )
    twin = clone(loss)
    require(
        full_repr(twin) == full_repr(loss), f"{sample.name}: clone must have the same parameters, got {twin!r}"
    )
    found = sample.rows.losses(twin, sample.raw)
    require_close(f"{sample.name}: value of a clone", found, wanted, 0.0)


def check_translation(sample: LossSample) -> None:
    """A loss that says so is invariant under a shift of target and scores."""
    if sample.loss.translation_invariant:
        shift = sample.scale * np.random.default_rng(2).standard_normal(sample.raw.shape)
        found = Observations(sample.y + shift, sample.weight).losses(sample.loss, sample.raw + shift)
        wanted = sample.values(sample.raw)
        what = f"{sample.name}: value must be translation_invariant, the same for y + a at raw + a"
        require_close(what, found, wanted, rtol=1e-6, atol=1e-9 * np.abs(wanted).max(initial=0.0))


CHECKS = (
    check_shapes,
    check_rows,
    check_gradient,
    check_hessian,
    check_newton_step,
    check_weights,
    check_baseline,
    check_response,
    check_translation,
    check_copies,
)
"""The laws, each a function of a sample."""
