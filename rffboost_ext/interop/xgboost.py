"""Our losses as objectives of XGBoost's own loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Array, Loss
from ..losses import LOSSES

# A leaf divides by the sum of hessians; XGBoost bounds those of its own logistic loss by the same number.
LEAST_HESSIAN = 1e-16


@dataclass(frozen=True)
class Objective:
    """A loss as XGBoost's native interface wants it: ``obj(margin, matrix) -> gradient, hessian``.

    Instances can be pickled and hold no state, so one may serve many boosters at once. Sample weights of
    the matrix are applied; hessians are bounded below by 1e-16 times the weight.

    Parameters
    ----------
    loss : Loss
        The loss to minimise. A classification loss wants labels 0 .. K-1.
    """

    loss: Loss

    def __call__(self, margin: Array, matrix: Any) -> tuple[Array, Array]:
        """Derivatives at `margin`, (n,) or (n, C), for the labels and weights of a ``DMatrix``.

        Returns
        -------
        gradient, hessian : ndarray of the shape of `margin`

        Raises
        ------
        ValueError
            If the matrix has no labels, or labels that the loss cannot use.
        """
        raw = np.asarray(margin, dtype=np.float64).reshape(matrix.num_row(), -1)
        gradient, hessian = self.loss.derivatives(self._labels(matrix, raw.shape[1]), raw)
        hessian = np.maximum(hessian, LEAST_HESSIAN)
        weight = matrix.get_weight()
        if weight.size:
            gradient, hessian = gradient * weight[:, None], hessian * weight[:, None]
        return gradient.reshape(margin.shape), hessian.reshape(margin.shape)

    def _labels(self, matrix: Any, n_outputs: int) -> Array:
        y = matrix.get_label().astype(np.float64)
        if not y.size:
            raise ValueError(f"objective of {self.loss!r}: the matrix has no labels")
        if self.loss.task == "classification":
            require_indices(y, max(2, n_outputs), self.loss)
        return np.asarray(y.reshape(matrix.num_row(), -1))


def require_indices(y: Array, n_classes: int, loss: Loss) -> None:
    """Raise a ValueError unless y holds class indices; labels -1 and 1 would be taken for others silently."""
    strange = y[(y != np.floor(y)) | (y < 0) | (y >= n_classes)]
    if strange.size:
        raise ValueError(
            f"objective of {loss!r}: labels must be class indices 0 .. {n_classes - 1}, got {strange[0]:g}"
        )


def objective(loss: str | Loss) -> Objective:
    """The callable that makes ``xgboost.train`` minimise one of our losses.

    XGBoost does not fit an intercept for a callable: set ``base_score=0.0`` and hand the loss's own baseline
    over as the ``base_margin`` of every matrix, at prediction too. Margins become probabilities by the loss's
    ``inverse_link``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Returns
    -------
    Objective

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import objective
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> booster = xgboost.train(
    ...     {"base_score": 0.0, "max_depth": 2}, xgboost.DMatrix(X, y), 10, obj=objective("exponential")
    ... )
    >>> bool(((booster.predict(xgboost.DMatrix(X)) > 0) == y).all())
    True
    """
    return Objective(LOSSES.create(loss))
