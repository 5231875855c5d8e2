"""Early stopping for a whole fit: which rows are held out, and how models are combined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..terms.ensemble import Ensemble
from ..utils.typing import Array

# Models of a smaller weight are dropped from a stack.
LEAST_WEIGHT = 1e-3
# Where all models are nearly right, their change from the start says little of what tells them apart. With this
# the squared error of four functions without noise falls by 0.3 (geometric mean of 8 fits), losses on 25 real sets
# change by 0.1 % (50 fits).
APART = 16.0


def stacking_weights(
    loss: Loss, models: Sequence[Ensemble], scores: Sequence[Sequence[Array]], held: Sequence[Dataset]
) -> Array:
    """A weight for each kind of model, given the raw scores of its k-th models on the k-th held-out rows.

    `models` are those of the first kind.
    """
    if len(scores) == 1:
        return np.ones(1)
    raw = np.stack([np.concatenate(row) for row in scores])
    y, weight = (np.concatenate([getattr(out, name) for out in held]) for name in ("y", "weight"))
    start = np.concatenate([np.tile(m.baseline, (len(out), 1)) for m, out in zip(models, held, strict=True)])
    return simplex_weights(loss, y, weight, raw, start)


def simplex_weights(loss: Loss, y: Array, weight: Array, raw: Array, start: Array) -> Array:
    r"""Non-negative weights (m,) of sum 1 for the best average of m models' raw scores (m, n, C).

    They minimise :math:`\ell(v) / s + \frac{10}{n} \sum_k (v_k - 1/m)^2`: the weighted mean loss, in units s of
    the mean absolute change of row losses from `start` to the plain average, or `APART` times that from a model to
    it, if this is less, and a penalty that keeps the weights equal unless the rows say otherwise. Neither depends
    on the unit of the target. Weights below `LEAST_WEIGHT` become 0.

    Parameters
    ----------
    loss : Loss
    y : ndarray of shape (n, C)
        Targets of held-out rows.
    weight : ndarray of shape (n,)
        Sample weights.
    raw : ndarray of shape (m, n, C)
        Raw scores of the models.
    start : ndarray of shape (n, C)
        Raw scores before the first round: the models' baseline.

    Returns
    -------
    ndarray of shape (m,)
    """
    from scipy.optimize import minimize

    m, n = raw.shape[:2]
    equal = np.full(m, 1.0 / m)
    plain = loss.value(y, raw.mean(axis=0))
    change = np.average(np.abs(plain - loss.value(y, start)), weights=weight)
    apart = np.mean([np.average(np.abs(plain - loss.value(y, one)), weights=weight) for one in raw])
    size = min(change, APART * apart)
    if not size > 0.0:
        return equal
    known = np.average(plain, weights=weight)

    def objective(v: Array) -> tuple[float, Array]:
        mixed = np.tensordot(v, raw, 1)
        value = np.average(loss.value(y, mixed), weights=weight) - known
        gradient, _ = loss.derivatives(y, mixed)
        slope = np.einsum("kic,ic,i->k", raw, gradient, weight) / weight.sum()
        uneven = v - equal
        return float(value / size + 10.0 / n * np.square(uneven).sum()), slope / size + 20.0 / n * uneven

    within = {"bounds": [(0.0, 1.0)] * m, "constraints": {"type": "eq", "fun": lambda v: v.sum() - 1.0}}
    found = minimize(objective, equal, jac=True, method="SLSQP", **within).x.clip(0.0)
    found[found < LEAST_WEIGHT * found.sum()] = 0.0
    return np.asarray(found / found.sum())


def mean_curve(scores: Sequence[Array]) -> Array:
    """The mean of curves of different lengths; one that has ended is continued with its best value."""
    longest = max(map(len, scores))
    return np.mean([np.append(curve, np.full(longest - len(curve), curve.min())) for curve in scores], axis=0)
