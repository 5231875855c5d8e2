"""XGBoost's C interface for the calls of each round.

With few rows the Python package of XGBoost spends more time on these calls than the library. If a call fails, it
is repeated by the package, which raises a named error.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_float, c_int, c_uint64, c_void_p
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...utils.typing import Array

if TYPE_CHECKING:
    from xgboost import Booster, DMatrix

PREDICTION_OPTIONS = b'{"type":1,"training":true,"iteration_begin":0,"iteration_end":0,"strict_shape":true}'
"""Options of a prediction: scores before the link, of all trees, for training."""

FUNCTIONS: dict[str, list[Any]] = {
    "XGBoosterTrainOneIter": [c_void_p, c_void_p, c_int, c_char_p, c_char_p],
    "XGBoosterPredictFromDMatrix": [
        *(c_void_p, c_void_p, c_char_p),
        *(POINTER(POINTER(c_uint64)), POINTER(c_uint64), POINTER(POINTER(c_float))),
    ],
    "XGDMatrixSetInfoFromInterface": [c_void_p, c_char_p, c_char_p],
}
"""C functions and the types of their arguments; they return 0 on success."""


@cache
def c_function(name: str) -> Any:
    """A function of the library that ``xgboost`` has loaded."""
    from xgboost.libpath import find_lib_path

    function = getattr(ctypes.CDLL(find_lib_path()[0]), name)
    function.argtypes = FUNCTIONS[name]
    return function


def array_interface(values: Array) -> bytes:
    """The array interface of a row-major array as JSON; the library reads the array in place."""
    start, shape = values.ctypes.data, list(values.shape)
    return f'{{"data":[{start},true],"shape":{shape},"typestr":"{values.dtype.str}","version":3}}'.encode()


def train_iteration(booster: Booster, matrix: DMatrix, iteration: int, gradient: Array, hessian: Array) -> None:
    """Grow the trees of one round from derivatives, (n, C) each."""
    gradient, hessian = np.ascontiguousarray(gradient), np.ascontiguousarray(hessian)
    train, arrays = c_function("XGBoosterTrainOneIter"), (array_interface(gradient), array_interface(hessian))
    if train(booster.handle, matrix.handle, iteration, *arrays):
        booster.boost(matrix, iteration=iteration, grad=gradient, hess=hessian)


def training_scores(booster: Booster, matrix: DMatrix, shape: tuple[int, int]) -> Array:
    """The sum of all trees on the rows of a matrix, (n, C), float32."""
    sizes, n_sizes, values = POINTER(c_uint64)(), c_uint64(), POINTER(c_float)()
    args = booster.handle, matrix.handle, PREDICTION_OPTIONS, *map(ctypes.byref, (sizes, n_sizes, values))
    if c_function("XGBoosterPredictFromDMatrix")(*args) or tuple(sizes[: n_sizes.value]) != shape:
        predicted: Array = booster.predict(matrix, output_margin=True, training=True, validate_features=False)
        return predicted.reshape(shape)
    # The memory of the library is valid until its next prediction.
    scores = np.empty(shape, dtype=np.float32)
    ctypes.memmove(scores.ctypes.data, values, scores.nbytes)
    return scores


def set_column_weights(matrix: DMatrix, weight: Array) -> None:
    """Set the sampling weights of columns, (d,)."""
    if c_function("XGDMatrixSetInfoFromInterface")(matrix.handle, b"feature_weights", array_interface(weight)):
        matrix.set_info(feature_weights=weight)
