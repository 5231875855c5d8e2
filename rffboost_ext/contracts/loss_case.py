"""Rows and scores on which a loss is checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core import CoupledLoss, Loss, Observations
from ..losses.coupling import group_codes, whole_groups
from ..utils.typing import Array
from .comparison import contract_errors

# Rows of a loss of uncoupled rows that `check_loss` uses.
MAX_ROWS = 500
# Rows that a fit looks at. Of coupled rows a part may be no valid target, such as one without an event.
ROWS_OF_FIT, COUPLED_ROWS_OF_FIT = 100, 1_000
ADVICE = (
    ". A fit sorts, samples and merges rows, and arrays that a loss holds do not follow them: numbers that belong "
    "to rows, such as costs, are further columns of y, where the loss defines 'n_scores'"
)


@dataclass(frozen=True)
class LossCase:
    """A prepared loss with rows and scores to check it on.

    Attributes
    ----------
    loss : Loss
        The prepared loss.
    rows : Observations
        Targets and case weights.
    raw : ndarray of shape (n, C)
        Scores about the baseline.
    baseline, scale : ndarray of shape (C,)
        The baseline, and the length of a Newton step from it.
    n_classes : int, optional
        Number of classes.
    """

    loss: Loss
    rows: Observations
    raw: Array
    baseline: Array
    scale: Array
    n_classes: int | None

    @cached_property
    def name(self) -> str:
        """The loss, for messages."""
        return f"loss {self.loss!r}"

    def values(self, raw: Array, index: Any = slice(None)) -> Any:
        """Losses of some rows, at scores of these rows."""
        with contract_errors(f"{self.name}: value for {len(raw)} of {len(self.rows)} rows", ADVICE):
            return self.rows.take(index).losses(self.loss, raw)

    def derivatives(self, raw: Array, index: Any = slice(None)) -> Any:
        """Gradient and hessian of some rows, at scores of these rows."""
        with contract_errors(f"{self.name}: derivatives for {len(raw)} of {len(self.rows)} rows", ADVICE):
            return self.rows.take(index).derivatives(self.loss, raw)

    def results(self, index: Any = slice(None)) -> dict[str, Any]:
        """Value, gradient and hessian of some rows, by name."""
        raw = self.raw[index]
        gradient, hessian = self.derivatives(raw, index)
        return {"value": self.values(raw, index), "gradient": gradient, "hessian": hessian}


def random_cases(loss: Loss, rows: Observations, baseline: Array, n_classes: int | None) -> Iterator[LossCase]:
    """A prepared loss at random scores near its baseline, and further away."""
    rng, scale = np.random.default_rng(1), typical_step(loss, rows, baseline)
    for spread in (0.1, 1.0):
        moves = rng.standard_normal((len(rows), len(baseline))).clip(-2.0, 2.0)
        yield LossCase(loss, rows, baseline + spread * scale * moves, baseline, scale, n_classes)


def cases_of_fit(loss: Loss, rows: Observations, baseline: Array, n_classes: int | None) -> Iterator[LossCase]:
    """A prepared loss on some rows of a fit, at its baseline, and at scores that differ from row to row."""
    rows = rows.take(some_rows(loss, rows.y))
    scale = typical_step(loss, rows, baseline)
    for spread in (0.0, 1.0):
        raw = baseline + spread * scale * np.linspace(-1.0, 1.0, len(rows))[:, None]
        yield LossCase(loss, rows, raw, baseline, scale, n_classes)


def some_rows(loss: Loss, y: Array) -> Array:
    """Indices of some targets y (n, K), evenly spaced; of coupled ones the first, with their groups."""
    if isinstance(loss, CoupledLoss):
        first = np.arange(min(len(y), COUPLED_ROWS_OF_FIT))
        return whole_groups(loss, y, first) if loss.rows == "groups" else first
    return np.unique(np.linspace(0, len(y) - 1, min(len(y), ROWS_OF_FIT)).astype(np.intp))


def sample_weights(loss: Loss, y: Array) -> Array:
    """Random weights, (n,), equal within a group."""
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    return weight[group_codes(loss, y)] if loss.rows == "groups" else weight


def typical_step(loss: Loss, rows: Observations, baseline: Array) -> Array:
    """The length of a typical Newton step in each score, (C,), within 1e-6 to 1e3 times the size of the scores.

    It is the size of the scores where all gradients are 0.
    """
    size = np.maximum(1.0, np.abs(baseline))
    try:
        with np.errstate(all="ignore"):
            gradient, hessian = rows.derivatives(loss, np.tile(baseline, (len(rows), 1)))
            step = np.sqrt(np.mean(np.square(gradient), axis=0)) / np.maximum(np.mean(hessian, axis=0), 1e-300)
            return np.where(
                np.isfinite(step) & (step > 0.0), np.clip(step, 1e-6 * np.abs(baseline), 1e3 * size), size
            )
    except Exception:  # a law of derivatives names the error
        return size
