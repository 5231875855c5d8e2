"""What splits are found by: derivatives of a few columns, and samples of the features."""

from __future__ import annotations

import math

import numpy as np

from ....core import Round
from ....utils.typing import Array

# With a larger total weight values keep their leading bits, and weights are numbers of rows up to rounding.
MAX_REPEATED = 2.0**26


def exact_derivatives(round: Round) -> tuple[Array, Array]:
    """Weighted gradients and hessians, (n, C) each, rounded so that sums of them are exact."""
    total = float(round.weight.sum())
    parts = round.gradient, round.hessian
    return tuple(  # type: ignore[return-value]
        np.stack([exactly_summable(column, round.weight, total) for column in part.T], axis=1) for part in parts
    )


def exactly_summable(values: Array, weight: Array, total: float) -> Array:
    """Weighted values (n,), rounded to multiples of a power of two, so that sums of them are exact.

    They do not depend on an order then, and a row of weight 2 counts as two rows to the last bit, up to a total
    weight of :data:`MAX_REPEATED`.
    """
    size = max(float(values.max()), -float(values.min()))
    values = round_to_bits(values, size * min(max(total, 1.0), MAX_REPEATED))
    return round_to_bits(weight * values, size * total)


def round_to_bits(values: Array, most: float) -> Array:
    """Values rounded to 52 bits below the next power of two above `most`."""
    # The last bit of this number is the unit.
    large = 1.5 * power_of_two(most)
    return np.asarray((values + large) - large)


def power_of_two(number: float) -> float:
    """The next power of two above a number."""
    return math.ldexp(1.0, math.frexp(number)[1])


def split_derivatives(
    gradient: Array, hessian: Array, n_projections: int, rng: np.random.Generator
) -> list[Array]:
    """Gradients, of all outputs or of random projections of them, and the hessian, (n,) each, from (n, C) each.

    The hessian is the mean of those of all outputs. Each gradient is in units in which its output has this
    hessian.
    """
    n_outputs = gradient.shape[1]
    if n_outputs == 1:
        return [gradient[:, 0], hessian[:, 0]]
    curvature = hessian.sum(axis=0)
    mean = curvature.mean()
    relative = np.divide(mean, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    mixing = np.diag(np.sqrt(relative))
    if n_outputs > n_projections:
        mixing = mixing @ rng.standard_normal((n_outputs, n_projections)) / np.sqrt(n_projections)
    mixed = [*(gradient @ mixing).T, hessian @ relative / n_outputs]
    one = np.ones(len(gradient))
    return [exactly_summable(part, one, float(len(part))) for part in mixed]


def sampled_columns(rng: np.random.Generator, n_columns: int, share: float) -> Array:
    """A sample of the columns, ascending; at least one."""
    if share == 1.0:
        return np.arange(n_columns)
    return np.sort(rng.permutation(n_columns)[: max(1, int(share * n_columns))])
