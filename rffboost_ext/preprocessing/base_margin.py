"""Offsets of scores, which users pass as ``base_margin`` as in XGBoost."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.dataset import check_sample_weight
from ..utils.typing import Array
from .tables import number_array


def check_base_margin(given: Any, n_samples: int, n_scores: int, name: str = "base_margin") -> Array:
    """An offset as an array (n, C), float64.

    Parameters
    ----------
    given : array-like of shape (n,) or (n, C)
        The user's; (n,) is for one score.
    n_samples, n_scores : int
        Rows n and scores C.
    name : str, default="base_margin"
        The parameter, for messages.

    Raises
    ------
    ValueError, TypeError
        If it has another shape, or entries that are no finite real numbers.
    """
    offset, shape = number_array(given, name), (n_samples, n_scores)
    if offset.shape != shape and (n_scores > 1 or offset.shape != (n_samples,)):
        allowed = f"{shape}" if n_scores > 1 else f"({n_samples},) or {shape}"
        raise ValueError(
            f"{name} must have shape {allowed}, a number for each row and raw score, got {offset.shape}"
        )
    offset = offset.astype(np.float64).reshape(shape)
    if not np.isfinite(offset).all():
        row, column = np.argwhere(~np.isfinite(offset))[0].tolist()
        raise ValueError(f"{name} must be finite, got {offset[row, column]} in row {row}")
    return offset


def encode_base_margin(given: Any, X: Any, sample_weight: Any, n_scores: int) -> Array:
    """The offset of the rows of positive weight, (m, C), for all rows of X."""
    n_samples = _num_samples(X)
    offset = check_base_margin(given, n_samples, n_scores)
    return offset[check_sample_weight(sample_weight, n_samples) > 0.0]


def require_base_margin(owner: str, given: Any, is_used: bool) -> None:
    """Raise a ValueError unless an offset is passed to a model that was fitted with one, and to no other."""
    if is_used and given is None:
        raise ValueError(
            f"{owner}: base_margin must be given, since the model was fitted with one; zeros are no offset"
        )
    if given is not None and not is_used:
        raise ValueError(f"{owner}: base_margin must be None, since the model was fitted without one")
