"""Targets of an estimator's fit, and weights of their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, check_array

from ..core import Loss
from ..preprocessing.tables import target_array
from ..preprocessing.targets import encode_targets
from ..utils.param_validation import POSITIVE, require
from ..utils.typing import Array

NEUTRAL, NO = {"scale_pos_weight": (1,)}, (False, "false")
"""Values without effect of parameters that weight the second of two classes."""


def host_class_factors(
    owner: str, loss: Loss, given: Mapping[str, Any], y: Array, n_classes: int | None
) -> Array | None:
    """Factors on the weights of two classes, (2,), by parameters of the host; None without any.

    ``is_unbalance`` gives both classes the same total weight, by a factor on the smaller one.
    """
    given = {name: value for name, value in given.items() if value not in NEUTRAL.get(name, NO)}
    if not given:
        return None
    name, value = next(iter(given.items()))
    if n_classes != 2:
        raise ValueError(
            f"{owner}: {name} weights the second of two classes, use sample_weight for loss {loss!r}; got "
            f"{value!r}"
        )
    if len(given) > 1:
        raise ValueError(f"{owner}: only one of {', '.join(given)} may be set")
    if name != "scale_pos_weight":
        counts = np.bincount(y[:, 0].astype(np.intp))
        return counts.max() / counts
    require(owner, name, value, POSITIVE)
    return np.array([1.0, value])


def check_target_array(owner: str, loss: Loss, y: Any) -> Array:
    """A target, (n,) or (n, K), as float64 of shape (n, K), finite unless the loss allows infinity."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    values = target_array(y)
    if values.ndim not in (1, 2) or len(values) == 0:
        raise ValueError(f"{owner}: y must have shape (n,) or (n, K) and at least one row, got {values.shape}")
    if values.dtype.kind == "c":
        check_array(values, ensure_2d=False, input_name="y", estimator=owner)
    if loss.task == "classification" and values.dtype.kind not in "biufO":
        raise ValueError(f"{owner}: y must be class indices 0 .. K-1, got {values.ravel().tolist()[0]!r}")
    numbers = encode_targets(values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values)
    if not loss.infinite:
        assert_all_finite(numbers, input_name="y")
    return numbers
