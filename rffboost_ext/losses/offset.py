"""A loss with an offset: numbers of each row that are added to its scores, as the log of an exposure."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..utils.param_validation import Integer
from ..utils.typing import Array
from .constant_scores import WeightedMean, minimising_constant
from .coupling import derivatives_of_rows, is_coupled, losses_of_rows
from .wrapper import LossWrapper

# Rows on which the invariance of a loss is checked.
WATCHED_ROWS = 100


class WithOffset(LossWrapper):
    r"""Another loss at ``raw + offset``: the offset of a row is in the last columns of its target.

    An offset thus moves with its row wherever rows are sampled, divided or merged. The baseline is the constant
    :math:`b` that minimises the weighted mean of :math:`\ell(y, b + o)` given the offsets o. If the inner loss is
    invariant under translation, the offset is subtracted from the target instead, which is the same.

    Parameters
    ----------
    loss : Loss
        The inner loss.
    n_columns : int
        Columns of the offset: the number of scores of the inner loss, C.
    """

    translation_invariant = False
    constraints = {"n_columns": Integer(1)}

    def __init__(self, loss: Loss, n_columns: int) -> None:
        super().__init__(loss)
        self.n_columns = n_columns

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The user's loss: messages contain it."""
        return f"{self.loss!r} with base_margin"

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> WithOffset:
        """The loss with its inner loss prepared; a ValueError if that is not as invariant as it says."""
        loss = super().prepared(y, weight, n_classes)
        if self.loss.translation_invariant:
            rows = slice(None if is_coupled(loss) else WATCHED_ROWS)
            require_invariance(loss.loss, self.own_columns(y[rows]), self.offset(y[rows]), weight[rows])
        return loss

    def own_columns(self, y: Array) -> Array:
        """The columns of the inner loss's own target, (n, K)."""
        return np.ascontiguousarray(y[:, : -self.n_columns])

    def offset(self, y: Array) -> Array:
        """The offset, (n, C)."""
        return y[:, -self.n_columns :]

    def inner_target(self, y: Array) -> Array:
        """The target of the inner loss, (n, K); less the offset if the loss is invariant under translation."""
        own = self.own_columns(y)
        return own - self.offset(y) if self.loss.translation_invariant else own

    def inner_raw(self, y: Array, raw: Array) -> Array:
        """The scores of the inner loss, (n, C)."""
        return raw if self.loss.translation_invariant else raw + self.offset(y)

    def value(self, y: Array, raw: Array, weight: Array | None = None) -> Array:
        return losses_of_rows(self.loss, self.inner_target(y), self.inner_raw(y, raw), weight)

    def derivatives(self, y: Array, raw: Array, weight: Array | None = None) -> tuple[Array, Array]:
        return derivatives_of_rows(self.loss, self.inner_target(y), self.inner_raw(y, raw), weight)

    def baseline(self, y: Array, weight: Array) -> Array:
        own = self.inner_target(y)
        without = self.loss.baseline(own, weight)
        if self.loss.translation_invariant:
            return without
        start = without - np.average(self.offset(y), axis=0, weights=weight)
        held = WeightedMean(self.loss, own, weight).held_scores(without)
        return minimising_constant(WeightedMean(self, y, weight), start, ~held)


def require_invariance(loss: Loss, y: Array, shift: Array, weight: Array) -> None:
    """Raise a ValueError if a loss changes with a shift (n, C) of target and scores, as a derived class may."""
    raw = np.zeros_like(shift)
    wanted, found = (losses_of_rows(loss, y + moved, raw + moved, weight) for moved in (0.0, shift))
    if not np.allclose(found, wanted, rtol=1e-6, atol=1e-9 * np.abs(wanted).max(initial=0.0)):
        raise ValueError(
            f"loss {loss!r}: translation_invariant must be False, since value(y + a, raw + a) is not value(y, raw)"
        )


def with_same_offset(loss: Loss, other: Loss) -> Loss:
    """The loss `other` for the targets of `loss`, whose last columns may be an offset."""
    return WithOffset(other, loss.n_columns) if isinstance(loss, WithOffset) else other


def without_offset(loss: Loss) -> Loss:
    """The user's loss: the inner one of a loss with an offset."""
    return loss.loss if isinstance(loss, WithOffset) else loss


def own_columns(loss: Loss, y: Array) -> Array:
    """The columns of a target that are the user's, (n, K), without those of an offset."""
    return loss.own_columns(y) if isinstance(loss, WithOffset) else y


def total_scores(loss: Loss, y: Array, raw: Array) -> Array:
    """Scores (n, C) with the offset, which the target of the loss may hold."""
    return raw + loss.offset(y) if isinstance(loss, WithOffset) else raw
