"""XGBoost's C interface, for what each round asks of a booster.

With few rows the library needs less time for these calls than its package to prepare them: 0.16 ms for scores
that are there already, as each call defines a class of arrays, and 0.05 ms each to hand over derivatives and
column weights. Here they take 0.02, 0.01 and 0.01 ms, of a round of 1 ms. What fails is left to the package, which
names it.
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

MARGIN = b'{"type":1,"training":true,"iteration_begin":0,"iteration_end":0,"strict_shape":true}'
"""What is asked of a prediction: scores before the link, from all trees, for training."""

FUNCTIONS: dict[str, list[Any]] = {
    "XGBoosterTrainOneIter": [c_void_p, c_void_p, c_int, c_char_p, c_char_p],
    "XGBoosterPredictFromDMatrix": [
        *(c_void_p, c_void_p, c_char_p),
        *(POINTER(POINTER(c_uint64)), POINTER(c_uint64), POINTER(POINTER(c_float))),
    ],
    "XGDMatrixSetInfoFromInterface": [c_void_p, c_char_p, c_char_p],
}
"""The types of their arguments; all return 0 unless they fail."""


@cache
def function(name: str) -> Any:
    """A function of the library that ``xgboost`` has loaded."""
    from xgboost.libpath import find_lib_path

    found = getattr(ctypes.CDLL(find_lib_path()[0]), name)
    found.argtypes = FUNCTIONS[name]
    return found


def described(values: Array) -> bytes:
    """An array in row-major order, for the library, which reads it where it is."""
    start, shape = values.ctypes.data, list(values.shape)
    return f'{{"data":[{start},true],"shape":{shape},"typestr":"{values.dtype.str}","version":3}}'.encode()


def boost(booster: Booster, matrix: DMatrix, iteration: int, gradient: Array, hessian: Array) -> None:
    """Grow one more round of trees on derivatives, (n, C) each."""
    gradient, hessian = np.ascontiguousarray(gradient), np.ascontiguousarray(hessian)
    train, given = function("XGBoosterTrainOneIter"), (described(gradient), described(hessian))
    if train(booster.handle, matrix.handle, iteration, *given):
        booster.boost(matrix, iteration=iteration, grad=gradient, hess=hessian)


def margins(booster: Booster, matrix: DMatrix, shape: tuple[int, int]) -> Array:
    """The sum of all trees on the rows of a matrix, (n, C), float32."""
    sizes, count, found = POINTER(c_uint64)(), c_uint64(), POINTER(c_float)()
    given = booster.handle, matrix.handle, MARGIN, *map(ctypes.byref, (sizes, count, found))
    if function("XGBoosterPredictFromDMatrix")(*given) or tuple(sizes[: count.value]) != shape:
        scores: Array = booster.predict(matrix, output_margin=True, training=True, validate_features=False)
        return scores.reshape(shape)
    # The library keeps them only until its next prediction.
    copied = np.empty(shape, dtype=np.float32)
    ctypes.memmove(copied.ctypes.data, found, copied.nbytes)
    return copied


def weigh_columns(matrix: DMatrix, weight: Array) -> None:
    """Set the weights of columns, (d,), by which trees draw them."""
    if function("XGDMatrixSetInfoFromInterface")(matrix.handle, b"feature_weights", described(weight)):
        matrix.set_info(feature_weights=weight)
