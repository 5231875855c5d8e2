"""Checks of the state that learners of this package keep across rounds, where it comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..terms.cosine_arrays import Projection
from .fourier.second_order import RFFNewton
from .fourier.sparse_supports import FeatureGains
from .kernel_machines.base import KernelMachine
from .kernel_machines.irls import RFFIRLS
from .mixture import Mixture


def check_learner_state(state: Any, n_features: int, n_outputs: int) -> None:
    """Raise a ValueError unless values have the types and shapes that ``Design.learner_state`` gives to learners.

    `n_features` is the number of columns of ``Design.X``. States of learners of other packages are not checked.
    """
    if not isinstance(state, dict):
        raise ValueError(f"holds a state of learners that is no dict, {state!r}")
    for key, value in state.items():
        if not (isinstance(key, tuple) and key and isinstance(key[0], type)):
            continue
        learner, name = key[0], key[-1]
        if issubclass(learner, KernelMachine) and name == "kernel":
            is_right = is_kernel(value, issubclass(learner, RFFIRLS), n_features, n_outputs)
        elif (learner, name) == (RFFNewton, "earnings"):
            is_right = isinstance(value, FeatureGains) and is_positive(value.gains, n_features, with_zero=True)
        elif (learner, name) == (RFFNewton, "hessian"):
            is_right = is_positive(value, n_outputs, with_zero=True)
        else:
            is_right = (learner, name) != (Mixture, "books") or is_float64(value, (2,))
        if not is_right:
            raise ValueError(f"holds a state of {learner.__name__} whose {name} cannot be, {value!r}")


def is_kernel(value: Any, has_bounds: bool, n_features: int, n_outputs: int) -> bool:
    """Whether a value holds frequencies, a projection, and a penalty, or bounds of curvatures and a round."""
    if not isinstance(value, tuple) or len(value) != (5 if has_bounds else 3):
        return False
    omega, projection, *others, last = value
    if isinstance(projection, Projection):
        if not has_finite_floats(projection.matrix, (len(projection.matrix), n_features)):
            return False
        n_features = len(projection.matrix)
    elif projection is not None:
        return False
    if not (isinstance(omega, np.ndarray) and len(omega) and has_finite_floats(omega, (len(omega), n_features))):
        return False
    if not has_bounds:
        return isinstance(last, float) and 0.0 < last < np.inf
    return all(is_positive(bound, n_outputs) for bound in others) and isinstance(last, int | np.integer)


def has_finite_floats(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is an array of finite float32 or float64 with this shape."""
    is_floats = isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64)
    return is_floats and array.shape == shape and bool(np.isfinite(array).all())


def is_float64(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is an array of float64 with this shape."""
    return isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape


def is_positive(array: Any, size: int, with_zero: bool = False) -> bool:
    """Whether a value is an array of positive float64 (size,), infinity included."""
    return is_float64(array, (size,)) and bool(((array > 0.0) | (with_zero & (array == 0.0))).all())
