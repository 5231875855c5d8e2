"""Skewed features: how far they are bent before cosines see them, and whether that helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..data.sampling import draw_uniform
from ..losses.validation import check_pair, checked_baseline
from ..terms import ClipAndLog, ImputeAndEncode
from ..utils.kernel_ridge import Place, least_loo_error
from ..utils.parallel import SINGLE_BLAS
from ..utils.typing import Array
from .scaling import column_scaling

# Bends as multiples of a feature's mean distance from the end from which it is bent, the mildest first: those of
# the first choice, and further ones of the second.
MILD, STRONG = (1.0, 0.3), (0.1, 0.03, 0.01)
# Rows on which skewness is measured, and kernels are compared; fewer than the last tell nothing.
MEASURED, SCORED, LEAST = 1_000, 144, 16
# Features of less skewness are left alone, and so are all of them if a kernel machine gains a smaller share by it.
SKEWED, GAIN = 0.5, 0.01
# What is a change of skewness and not rounding, and a deviation, as a share of the largest value.
ROUNDING, CONSTANT = 1e-6, 1e-9
GAMMAS, PENALTIES = np.geomspace(0.03, 3.0, 4), np.geomspace(1e-3, 1.0, 4)

# Where the first walk over kernels and penalties begins.
MIDDLE: Place = (1, 2)


def choose_log_transform(
    clipping: ClipAndLog, rows: Dataset, loss: Loss, expansion: ImputeAndEncode | None, seed: int
) -> ClipAndLog:
    """The range of the features, with mild or any bends of skewed ones if kernel ridge regression gains by it.

    What is compared is the error of leaving one row out, with the best of several kernels and penalties each, as a
    walk finds it; the target is the gradient of the loss before the first round.

    Parameters
    ----------
    extent : ClipAndLog
        The range of what learners see, without bends.
    rows : Rows
        All rows of the fit.
    loss : Loss
        Prepared for them.
    expansion : ImputeAndEncode, optional
        What makes those columns from the features.
    seed : int
        Seed of the rows that are drawn.
    """
    rng = np.random.default_rng([seed, 2])
    some = rows.take(draw_uniform(rng, np.arange(len(rows)), MEASURED))
    numbers = numeric_columns(some.X, expansion)
    bends = candidate_log_scales(numbers, some.weight, clipping, (MILD, STRONG))
    if len(some) < LEAST or not bends[0].any():
        return clipping
    few = some.take(draw_uniform(rng, np.arange(len(some)), SCORED))
    target = regression_target(few, loss, checked_baseline(loss, rows.y, rows.weight))
    if not (np.isfinite(target).all() and target.any()):
        return clipping
    best, (least, place) = clipping, loo_error(few, target, clipping, expansion)
    # Where no feature calls for a strong bend both are the same.
    for bend in bends[: 1 + bool((bends[0] != bends[1]).any())]:
        bent = replace(clipping, bend=bend)
        # The kernel that suits best is changed little by bends.
        error, there = loo_error(few, target, bent, expansion, place)
        if error < (1.0 - GAIN) * least:
            best, least, place = bent, error, there
    return best


def numeric_columns(X: Array, expansion: ImputeAndEncode | None) -> Array:
    """The columns of numbers, imputed, (n, p): the first ones that learners see."""
    return (X if expansion is None else expansion.imputed(X[:, expansion.numbers])).astype(np.float64)


def candidate_log_scales(
    X: Array, weight: Array, clipping: ClipAndLog, groups: Sequence[Sequence[float]]
) -> list[Array]:
    """For each column that learners see, (e,), the bend that leaves the least skewness of X (n, p), or 0.

    The strengths of each group are compared with those of the groups before; a result for each group.

    The logarithm begins at the end that is not skewed. That the shift of a logarithm, a parameter of Box and Cox
    (An analysis of transformations, Journal of the Royal Statistical Society B 1964), is chosen by skewness is a
    rule of applied statistics: where it is free, their likelihood has no maximum.
    """
    size, numbers = X.shape[1], clipping.first(X.shape[1])
    skew = skewness(X, weight)
    # Unlike the deviation, this is hardly larger than most values where few are far away.
    unit = weight @ X / weight.sum() - np.where(skew > 0.0, numbers.low, numbers.high)
    bend, least = np.zeros(size), np.where(np.abs(skew) > SKEWED, np.abs(skew), 0.0)
    found = []
    for strengths in groups:
        for strength in strengths:
            trial = np.where(skew == 0.0, 0.0, strength * unit)
            left = np.abs(skewness(replace(numbers, bend=trial)(X), weight))
            # What has two values remains as skewed as it was, but for rounding.
            bend, least = np.where(left < least - ROUNDING, trial, bend), np.minimum(left, least)
        found.append(np.append(bend, np.zeros(len(clipping.low) - size)))
    return found


def skewness(X: Array, weight: Array) -> Array:
    """Weighted skewness of each column of X (n, p); 0 where it is constant."""
    share = weight / weight.sum()
    # Of columns that are too large for a variance to be a number, which is refused later, nothing is said here.
    with np.errstate(over="ignore", invalid="ignore"):
        moved = X - share @ X
        deviation = np.sqrt(share @ np.square(moved))
    usable = (deviation > CONSTANT * np.abs(X).max(axis=0)) & np.isfinite(deviation)
    unit = np.where(usable, deviation, 1.0)
    return share @ np.where(usable, moved / unit, 0.0) ** 3


def regression_target(rows: Dataset, loss: Loss, baseline: Array) -> Array:
    """The negative gradient at constant scores (C,), (n, C), at most 1, in units in which outputs add up."""
    raw = np.tile(baseline, (len(rows), 1))
    gradient, _ = check_pair(loss, loss.derivatives(rows.y, raw))
    target = -np.sqrt(loss.unit) * np.asarray(gradient, dtype=np.float64)
    return target / max(float(np.abs(target).max()), np.finfo(np.float64).tiny)


def loo_error(
    rows: Dataset, target: Array, clipping: ClipAndLog, expansion: ImputeAndEncode | None, start: Place = MIDDLE
) -> tuple[float, Place]:
    """What kernel ridge regression of a target (n, C) misses of rows that are left out, with features as bent.

    It is the least found on a walk over `GAMMAS` and `PENALTIES`; where that ended is the second result.
    """
    center, scale = column_scaling(rows.X, rows.weight, expansion, clipping)
    X = (clipping(rows.X if expansion is None else expansion(rows.X)) - center) / scale
    with SINGLE_BLAS:
        return least_loo_error(X, target, rows.weight / rows.weight.mean(), GAMMAS, PENALTIES, start)
