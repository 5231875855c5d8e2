"""What splits are found by: derivatives of a few columns, and samples of the features."""

from __future__ import annotations

import math

import numpy as np

from ....core import Round
from ....kernels import compiled
from ....utils.typing import Array


def exact_derivatives(round: Round) -> tuple[Array, Array]:
    """Weighted gradients and hessians, (n, C) each, rounded so that sums of them are exact."""
    return tuple(exactly_summable(part, round.weight) for part in (round.gradient, round.hessian))  # type: ignore[return-value]


def exactly_summable(values: Array, weight: Array) -> Array:
    """Weighted values (n, s), rounded to multiples of a power of two for each column."""
    out = np.empty(values.shape)
    compiled("symmetric_trees").exact_products(values, weight, float(weight.sum()), out)
    return out


def power_of_two(number: float) -> float:
    """The next power of two above a number."""
    return math.ldexp(1.0, math.frexp(number)[1])


def split_derivatives(gradient: Array, hessian: Array, n_projections: int, rng: np.random.Generator) -> Array:
    """Gradients, of all outputs or of random projections of them, and the hessian: (n, s), from (n, C) each.

    The hessian is the mean of those of all outputs. Each gradient is in units in which its output has this
    hessian. A column of zeros makes s even.
    """
    n_rows, n_outputs = gradient.shape
    if n_outputs == 1:
        return np.hstack([gradient, hessian])
    one = np.ones(n_rows)
    curvature = one @ hessian
    mean = curvature.mean()
    relative = np.divide(mean, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    mixing = np.diag(np.sqrt(relative))
    if n_outputs > n_projections:
        mixing = mixing @ rng.standard_normal((n_outputs, n_projections)) / np.sqrt(n_projections)
    mixing = np.pad(mixing, ((0, 0), (0, 1 - mixing.shape[1] % 2)))
    mixed = np.column_stack([gradient @ mixing, hessian @ relative / n_outputs])
    return exactly_summable(mixed, one)


def sampled_columns(rng: np.random.Generator, n_columns: int, share: float) -> Array:
    """A sample of the columns, ascending; at least one."""
    if share == 1.0:
        return np.arange(n_columns)
    return np.sort(rng.permutation(n_columns)[: max(1, int(share * n_columns))])
