"""The squared error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import Loss, Scales
from ..utils.param_validation import OPTIONAL, POSITIVE_SEQUENCE, OneOf
from ..utils.typing import Array
from .links import IdentityLink
from .registry import LOSSES
from .target_statistics import CONSTANT_SPREAD, EstimatedLoss

# Log2 of the largest ratio of two weights: weighted values stay within the range of single precision.
LARGEST_LOG2_RATIO = 60.0


@LOSSES.register("squared_error")
class SquaredError(EstimatedLoss):
    r"""Half the squared error, the sum over outputs of ``v_c (raw_c - y_c)^2 / 2``; the response is the raw score.

    A single target has the weight v = 1. Several are weighted by inverse variance, relative to the largest
    variance and rounded to powers of two. This minimises, up to the rounding, the sum of :math:`1 - R^2` over the
    targets, so that a fit does not depend on their units. Learners and their penalties treat each target as if it
    were the only one; the weights apply to sums over outputs.

    Parameters
    ----------
    output_weights : "balanced", None or sequence of float, default="balanced"
        Weight of each target. "balanced" is by inverse variance as above, computed in each fit, and equal weights
        outside of a fit. None is equal weights, so that targets on a larger scale count more. A sequence has one
        positive number for each target.

    Raises
    ------
    ValueError
        In fit, if the number of weights is not that of the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.losses import SquaredError
    >>> X = np.arange(20.0)[:, None]
    >>> model = RFFBoostRegressor(SquaredError(output_weights=[1.0, 2.0]), "tree", n_estimators=5)
    >>> model.fit(X, np.hstack([X, X**2])).predict(X).shape
    (20, 2)
    """

    link = IdentityLink()
    rows = "independent"
    translation_invariant = True
    fit_criterion = "scaled"
    scored_by = "r2"
    estimated = ("output_weights",)
    constraints = {"output_weights": OneOf(("balanced",)) | OPTIONAL | POSITIVE_SEQUENCE}

    def __init__(self, output_weights: str | Sequence[float] | None = "balanced") -> None:
        self.output_weights = output_weights

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with the weights of the targets computed from them."""
        weights, n_outputs = self._weights, y.shape[1]
        if weights is not None and len(weights) != n_outputs:
            raise ValueError(
                f"SquaredError: output_weights must be a number for each of {n_outputs} targets, "
                f"got {len(weights)}"
            )
        return super().prepared(y, weight, n_classes)

    def estimated_output_weights(self, y: Array, weight: Array) -> tuple[float, ...] | None:
        """Inverse-variance weights of targets (n, C), relative to the largest variance; None if all are equal.

        Powers of two: multiplying by them is exact.
        """
        if y.shape[1] == 1:
            return None
        center = np.average(y, axis=0, weights=weight)
        spread = np.sqrt(np.average(np.square(y - center), axis=0, weights=weight))
        spread[spread <= CONSTANT_SPREAD * np.abs(y).max(axis=0)] = 0.0
        ratio = np.divide(spread.max(), spread, out=np.ones_like(spread), where=spread > 0.0)
        weights = np.exp2(np.round(2.0 * np.log2(ratio)).clip(max=LARGEST_LOG2_RATIO))
        return None if (weights == 1.0).all() else tuple(weights.tolist())

    def value(self, y: Array, raw: Array) -> Array:
        square, weights = np.square(raw - y), self._weights
        return 0.5 * (square if weights is None else weights * square).sum(axis=1)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        error, weights = raw - y, self._weights
        if weights is None:
            return error, np.ones_like(raw)
        return weights * error, np.tile(weights, (len(raw), 1))

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.average(y, axis=0, weights=weight)

    @property
    def scales(self) -> Scales:  # type: ignore[override]
        """The inverse weights as units, which make all hessians 1."""
        weights = self._weights
        return Scales() if weights is None else Scales(tuple((1.0 / weights).tolist()))

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One for each target."""
        return y.shape[1]

    @property
    def _weights(self) -> Array | None:
        weights = self.output_weights
        return None if weights is None or isinstance(weights, str) else np.asarray(weights, dtype=np.float64)
