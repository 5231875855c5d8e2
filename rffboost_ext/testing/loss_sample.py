"""Rows and scores to check a loss on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Loss
from ..losses.coupling import derivatives_of_rows, is_coupled, losses_of_rows
from ..utils.typing import Array
from .comparison import require_shape, require_unchanged

# Rows of a loss of uncoupled rows that are checked.
MAX_ROWS = 500


@dataclass(frozen=True)
class LossSample:
    """A prepared loss with rows to check it on.

    Attributes
    ----------
    loss : Loss
        The prepared loss.
    y, weight, raw : ndarray
        Targets (n, K), sample weights (n,) and scores (n, C) about the baseline.
    baseline, scale : ndarray of shape (C,)
        The baseline, and the length of a Newton step from it.
    n_classes : int, optional
        Number of classes.
    """

    loss: Loss
    y: Array
    weight: Array
    raw: Array
    baseline: Array
    scale: Array
    n_classes: int | None

    @property
    def name(self) -> str:
        """The loss, for messages."""
        return f"loss {self.loss!r}"

    def values(self, raw: Array, rows: Any = slice(None)) -> Array:
        """Losses of some rows, at scores of these rows."""
        return np.asarray(losses_of_rows(self.loss, self.y[rows], raw, self.weight[rows]))

    def derivatives(self, raw: Array, rows: Any = slice(None)) -> tuple[Array, Array]:
        """Gradient and hessian of some rows, at scores of these rows."""
        gradient, hessian = derivatives_of_rows(self.loss, self.y[rows], raw, self.weight[rows])
        return gradient, hessian

    def total(self, raw: Array) -> float:
        """The weighted sum of the loss."""
        return float(self.weight @ self.values(raw))


def samples(loss: Loss, y: Array, n_classes: int | None) -> Iterator[LossSample]:
    """The loss at scores near its baseline, and further away."""
    y = y.reshape(len(y), -1)[: None if is_coupled(loss) else MAX_ROWS].copy()
    rng = np.random.default_rng(0)
    weight = sample_weights(loss, y, rng)
    if loss.task == "classification" and n_classes is None:
        n_classes = max(2, int(y.max()) + 1)
    n_scores = loss.n_scores(y, n_classes)
    loss.check_target(y)
    prepared = require_unchanged(
        f"loss {loss!r}: prepared", lambda: loss.prepared(y, weight, n_classes), y=y, weight=weight
    )
    baseline = require_unchanged(
        f"loss {loss!r}: baseline", lambda: prepared.baseline(y, weight), y=y, weight=weight
    )
    require_shape(f"loss {loss!r}: baseline, with the scores that n_scores says,", baseline, (n_scores,))
    start = np.tile(baseline, (len(y), 1))
    scale = newton_step(prepared, y, start, weight)
    for spread in (0.1, 1.0):
        raw = start + spread * scale * rng.standard_normal(start.shape).clip(-2.0, 2.0)
        yield LossSample(prepared, y, weight, raw, baseline, scale, n_classes)


def sample_weights(loss: Loss, y: Array, rng: np.random.Generator) -> Array:
    """Random weights, (n,), equal within a group."""
    weight = rng.uniform(0.5, 2.0, len(y))
    if loss.rows == "groups":
        _, group = np.unique(loss.groups(y), return_inverse=True)
        weight = weight[group]
    return weight


def newton_step(loss: Loss, y: Array, raw: Array, weight: Array) -> Array:
    """The length of a typical Newton step in each score, (C,), within 1e-3 to 1e3 times the size of the scores."""
    gradient, hessian = derivatives_of_rows(loss, y, raw, weight)
    step = np.sqrt(np.mean(np.square(gradient), axis=0)) / np.maximum(np.mean(hessian, axis=0), 1e-300)
    size = np.maximum(1.0, np.abs(raw[0]))
    return np.asarray(step.clip(1e-3 * size, 1e3 * size))
