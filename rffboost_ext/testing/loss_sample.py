"""Rows and scores to check a loss on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Loss, Observations
from ..losses.coupling import group_codes, is_coupled
from ..losses.validation import check_pair, prepare_loss, require_finite_target
from ..utils.typing import Array
from .comparison import named_errors, require_shape, require_unchanged

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

    @property
    def rows(self) -> Observations:
        """The rows as a loss gets them."""
        return Observations(self.y, self.weight)

    def values(self, raw: Array, rows: Any = slice(None)) -> Array:
        """Losses of some rows, at scores of these rows."""
        with named_errors(f"{self.name}: value for {len(raw)} of {len(self.y)} rows"):
            return np.asarray(self.rows.take(rows).losses(self.loss, raw))

    def derivatives(self, raw: Array, rows: Any = slice(None)) -> tuple[Array, Array]:
        """Gradient and hessian of some rows, at scores of these rows."""
        with named_errors(f"{self.name}: derivatives for {len(raw)} of {len(self.y)} rows"):
            return check_pair(self.loss, self.rows.take(rows).derivatives(self.loss, raw))

    def total(self, raw: Array) -> float:
        """The weighted sum of the loss."""
        return float(self.weight @ self.values(raw))


def samples(loss: Loss, y: Array, n_classes: int | None) -> Iterator[LossSample]:
    """The loss at scores near its baseline, and further away."""
    if not len(y) or y.ndim > 2:
        raise ValueError(f"check_loss: y must have shape (n,) or (n, K) with at least one row, got {y.shape}")
    y = y.reshape(len(y), -1)[: None if is_coupled(loss) else MAX_ROWS].copy()
    require_finite_target(loss, y)
    rng = np.random.default_rng(0)
    if loss.task == "classification" and n_classes is None:
        n_classes = max(2, int(y[:, 0].max()) + 1)
    with named_errors(f"loss {loss!r}: the preparation for y"):
        weight = sample_weights(loss, y, rng)
        n_scores, prepared = loss.n_scores(y, n_classes), prepare_loss(loss, Observations(y, weight), n_classes)
    baseline = require_unchanged(
        f"loss {loss!r}: baseline", lambda: prepared.baseline(y, weight), y=y, weight=weight
    )
    require_shape(f"loss {loss!r}: baseline, with the scores that n_scores says,", baseline, (n_scores,))
    start = np.tile(baseline, (len(y), 1))
    with named_errors(f"loss {loss!r}: derivatives at the baseline"):
        scale = typical_step(prepared, y, start, weight)
    for spread in (0.1, 1.0):
        raw = start + spread * scale * rng.standard_normal(start.shape).clip(-2.0, 2.0)
        yield LossSample(prepared, y, weight, raw, baseline, scale, n_classes)


def sample_weights(loss: Loss, y: Array, rng: np.random.Generator) -> Array:
    """Random weights, (n,), equal within a group."""
    weight = rng.uniform(0.5, 2.0, len(y))
    if loss.rows == "groups":
        weight = weight[group_codes(loss, y)]
    return weight


def typical_step(loss: Loss, y: Array, raw: Array, weight: Array) -> Array:
    """The length of a typical Newton step in each score, (C,), within 1e-3 to 1e3 times the size of the scores."""
    gradient, hessian = check_pair(loss, Observations(y, weight).derivatives(loss, raw))
    step = np.sqrt(np.mean(np.square(gradient), axis=0)) / np.maximum(np.mean(hessian, axis=0), 1e-300)
    size = np.maximum(1.0, np.abs(raw[0]))
    return np.asarray(step.clip(1e-3 * size, 1e3 * size))
