"""Stacking: the weights of several models by their loss on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...core import Loss, Observations
from ...rows.dataset import Dataset
from ...terms.ensemble import Ensemble
from ...utils.typing import Array

# Models of a smaller weight are dropped from a stack.
MIN_WEIGHT = 1e-3
# If all models are nearly right, losses are scaled by the differences between models instead of their progress.
MODEL_DIFFERENCES = 16.0


def stacking_weights(
    loss: Loss,
    models: Sequence[Ensemble],
    scores: Sequence[Sequence[Array]],
    held: Sequence[Dataset],
    by_score: bool = False,
) -> Array:
    """The weight of each member of a stack, (m,), or `by_score` of each of its scores, (m, C).

    The first member has one of `models` for each validation set of `held`; ``scores[member][k]`` are raw scores on
    the k-th set.
    """
    if len(scores) == 1:
        return np.ones(1)
    raw = np.stack([np.concatenate(row) for row in scores])
    y, weight = (np.concatenate([getattr(out, name) for out in held]) for name in ("y", "weight"))
    offset = None if held[0].offset is None else np.concatenate([out.offset for out in held])
    start = np.concatenate([np.tile(m.baseline, (len(out), 1)) for m, out in zip(models, held, strict=True)])
    return simplex_weights(loss, Observations(y, weight, offset), raw, start, [len(out) for out in held], by_score)


def simplex_weights(
    loss: Loss,
    rows: Observations,
    raw: Array,
    start: Array,
    sizes: Sequence[int] | None = None,
    by_score: bool = False,
) -> Array:
    r"""Non-negative weights (m,) of sum 1 for the best average of m models' raw scores (m, n, C).

    They minimise :math:`\ell(v) / s + \frac{10}{n} \sum_k (v_k - 1/m)^2`. The first part is the weighted mean
    loss; its unit s is the mean absolute difference of row losses between `start` and the equally weighted
    average, or `MODEL_DIFFERENCES` times that between a model and the average, if this is less. The penalty draws
    the weights towards equal ones. Weights below `MIN_WEIGHT` become 0.

    Parameters
    ----------
    loss : Loss
    rows : Observations
        Held-out rows.
    raw : ndarray of shape (m, n, C)
        Raw scores of the models.
    start : ndarray of shape (n, C)
        Raw scores before the first round: the models' baseline.
    sizes : sequence of int, optional
        The sizes of the sets that the rows are of, one after the other; by default they are one set.
    by_score : bool, default=False
        Whether each score has weights of its own, as one model may be the best for a mean, another for a scale.

    Returns
    -------
    ndarray of shape (m,) or (m, C)
    """
    from scipy.optimize import minimize

    (m, n, n_scores), weight = raw.shape, rows.weight
    # The parts that are weighted: models, or single scores of models.
    parts = (raw[:, None] * np.eye(n_scores)[:, None]).reshape(-1, n, n_scores) if by_score else raw
    equal = np.full(len(parts), 1.0 / m)
    ends = np.cumsum([n] if sizes is None or loss.rows == "independent" else sizes)
    sets = [(rows.take(one), one) for one in (slice(*bounds) for bounds in pairwise([0, *ends]))]

    def values(scores: Array) -> Array:
        return np.concatenate([some.losses(loss, scores[one]) for some, one in sets])

    average = values(raw.mean(axis=0))

    def distance(scores: Array) -> Any:
        return np.average(np.abs(average - values(scores)), weights=weight)

    change, difference = distance(start), np.mean([distance(one) for one in raw])
    unit = min(change, MODEL_DIFFERENCES * difference)
    if not unit > 0.0:
        return equal.reshape(m, -1) if by_score else equal

    def objective(v: Array) -> tuple[float, Array]:
        mixed = np.tensordot(v, parts, 1)
        # Differences row by row lose no digits to a constant in the loss.
        value = np.average(values(mixed) - average, weights=weight)
        gradient = np.concatenate([some.derivatives(loss, mixed[one])[0] for some, one in sets])
        slope = np.einsum("kic,ic,i->k", parts, gradient, weight) / weight.sum()
        uneven = v - equal
        return float(value / unit + 10.0 / n * np.square(uneven).sum()), slope / unit + 20.0 / n * uneven

    total = {"type": "eq", "fun": lambda v: v.reshape(m, -1).sum(axis=0) - 1.0}
    limits = {"bounds": [(0.0, 1.0)] * len(parts), "constraints": total}
    solution = minimize(objective, equal, jac=True, method="SLSQP", **limits).x.clip(0.0).reshape(m, -1)
    solution[solution < MIN_WEIGHT * solution.sum(axis=0)] = 0.0
    solution /= solution.sum(axis=0)
    return np.asarray(solution if by_score else solution[:, 0])


def mean_curve(scores: Sequence[Array]) -> Array:
    """The mean of curves, up to the end of the shortest."""
    shortest = min(map(len, scores))
    return np.mean([curve[:shortest] for curve in scores], axis=0)
