"""Logarithms of skewed features for cosines, if kernel ridge regression gains by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core import Loss
from ..losses.constant_scores import constant_scores
from ..losses.coupling import whole_groups
from ..terms import ClipAndLog, ImputeAndEncode
from ..utils.kernel_ridge import GridIndex, search_loo_error
from ..utils.parallel import SINGLE_BLAS
from ..utils.typing import Array
from .dataset import Dataset
from .feature_expansion import fit_scaling, skewness
from .sampling import draw_uniform

# Log scales in multiples of a feature's mean distance from the end at which the logarithm starts, the mildest
# first. The strong ones are tried in addition to the mild ones.
MILD, STRONG = (1.0, 0.3), (0.1, 0.03, 0.01)
# Maximum number of rows to measure skewness and to compare kernels, and minimum number to compare anything.
SKEWNESS_ROWS, KERNEL_ROWS, MIN_ROWS = 1_000, 144, 16
# Minimum skewness of a feature to transform it, and minimum relative gain to transform any.
MIN_SKEWNESS, MIN_GAIN = 0.5, 0.01
# Smaller changes of skewness are rounding errors.
ROUNDING = 1e-6
GAMMAS, PENALTIES = np.geomspace(0.03, 3.0, 4), np.geomspace(1e-3, 1.0, 4)
# Where the first local search over kernels and penalties starts.
MIDDLE: GridIndex = (1, 2)


def choose_log_transform(
    clipping: ClipAndLog, rows: Dataset, loss: Loss, expansion: ImputeAndEncode | None, seed: int
) -> ClipAndLog:
    """The clipping with mild or strong logarithms of skewed features, if kernel ridge regression gains by them.

    The leave-one-out errors are compared, each with the best of several kernels and penalties by a local search.
    The target is the gradient of the loss before the first round.

    Parameters
    ----------
    clipping : ClipAndLog
        The training range of the expanded columns, without logarithms.
    rows : Dataset
        All rows of the fit.
    loss : Loss
        The loss, prepared for these rows.
    expansion : ImputeAndEncode, optional
        Imputation and encoding of the features.
    seed : int
        Seed of the samples.
    """
    rng = np.random.default_rng([seed, 2])
    drawn = draw_uniform(rng, np.arange(len(rows)), SKEWNESS_ROWS)
    sample = rows.take(drawn)
    numeric = np.asarray(sample.X) if expansion is None else expansion.impute(sample.X[:, expansion.numeric])
    numbers = numeric.astype(np.float64)
    mild, strong = candidate_log_scales(numbers, sample.weight, clipping, (MILD, STRONG))
    if len(sample) < MIN_ROWS or not mild.any():
        return clipping
    places = draw_uniform(rng, np.arange(len(sample)), KERNEL_ROWS)
    few, target = sample.take(places), regression_target(rows, drawn[places], loss)
    if not (np.isfinite(target).all() and target.any()):
        return clipping
    best, (least, place) = clipping, loo_error(few, target, clipping, expansion)
    for scales in [mild, strong] if (mild != strong).any() else [mild]:
        candidate = replace(clipping, log_scale=scales)
        # A logarithm hardly changes the best kernel: the search starts from the last one.
        error, candidate_place = loo_error(few, target, candidate, expansion, place)
        if error < (1.0 - MIN_GAIN) * least:
            best, least, place = candidate, error, candidate_place
    return best


def candidate_log_scales(
    X: Array, weight: Array, clipping: ClipAndLog, groups: Sequence[Sequence[float]]
) -> list[Array]:
    """For each expanded column, (e,), the log scale that leaves the least skewness of X (n, p), or 0 for none.

    There is one result for each group of strengths; it includes the strengths of the groups before.

    The logarithm starts at the end of the range without the long tail. Its shift, a parameter of Box and Cox (An
    analysis of transformations, Journal of the Royal Statistical Society B 1964), is chosen by skewness, as is
    common in applied statistics: for a free shift their likelihood has no maximum.
    """
    size, numbers = X.shape[1], clipping.take(slice(X.shape[1]))
    skew = skewness(X, weight)
    # A few distant values hardly change the mean distance, unlike the standard deviation.
    unit = weight @ X / weight.sum() - np.where(skew > 0.0, numbers.low, numbers.high)
    scales, least = np.zeros(size), np.where(np.abs(skew) > MIN_SKEWNESS, np.abs(skew), 0.0)
    results = []
    for strengths in groups:
        for strength in strengths:
            trial = np.where(skew == 0.0, 0.0, strength * unit)
            remaining = np.abs(skewness(replace(numbers, log_scale=trial)(X), weight))
            # The skewness of a binary column does not change, but for rounding.
            scales = np.where(remaining < least - ROUNDING, trial, scales)
            least = np.minimum(remaining, least)
        results.append(np.append(scales, np.zeros(len(clipping.low) - size)))
    return results


def regression_target(rows: Dataset, drawn: Array, loss: Loss) -> Array:
    """The negative gradient of drawn rows at the baseline, (m, C), scaled to at most 1, outputs in one unit."""
    whole = whole_groups(loss, rows.y, drawn)
    observations, place = rows.observations, np.searchsorted(whole, drawn)
    raw = np.tile(constant_scores(loss, observations), (len(whole), 1))
    gradient, _ = observations.take(whole).derivatives(loss, raw)
    target = -np.sqrt(loss.scales.unit) * np.asarray(gradient, dtype=np.float64)[place]
    return target / max(float(np.abs(target).max()), np.finfo(np.float64).tiny)


def loo_error(
    rows: Dataset,
    target: Array,
    clipping: ClipAndLog,
    expansion: ImputeAndEncode | None,
    start: GridIndex = MIDDLE,
) -> tuple[float, GridIndex]:
    """The leave-one-out error of kernel ridge regression of a target (n, C) on the transformed features.

    It is the least that a local search over `GAMMAS` and `PENALTIES` finds; the second result is its place there.
    """
    center, scale = fit_scaling(rows.X, rows.weight, expansion, clipping)
    X = (clipping(np.asarray(rows.X) if expansion is None else expansion(rows.X)) - center) / scale
    with SINGLE_BLAS:
        return search_loo_error(X, target, rows.weight / rows.weight.mean(), GAMMAS, PENALTIES, start)
