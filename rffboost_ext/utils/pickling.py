"""Pickles, copies and joblib files of fitted objects: no caches, and shared arrays once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .typing import Array

# Arrays of more entries than this are pickled by their nonzero entries if fewer than one in so many is nonzero.
MIN_SPARSE, SPARSE = 1_000, 8


class SharedArray:
    """An array in the state of an object, pickled as the array.

    Picklers write an object that they meet again as a reference. joblib does this for every object but an array,
    of which it writes each occurrence in full; rounds of a kernel machine share their frequencies.
    """

    _alive: WeakValueDictionary[int, SharedArray] = WeakValueDictionary()

    def __init__(self, array: Array) -> None:
        self.array = array

    @classmethod
    def of(cls, array: Array) -> SharedArray:
        """The wrapper of `array`: one object as long as a pickler refers to it."""
        return cls._alive.setdefault(id(array), cls(array))

    def __reduce__(self) -> tuple[Any, ...]:
        # Frequencies of few of many features are mostly 0.
        if self.array.size > MIN_SPARSE and SPARSE * np.count_nonzero(self.array) < self.array.size:
            entries = np.flatnonzero(self.array)
            return from_entries, (self.array.shape, entries, self.array.ravel()[entries])
        return np.asarray, (self.array,)


def from_entries(shape: tuple[int, ...], entries: Array, values: Array) -> Array:
    """The array whose flat `entries` have these values, and all others are 0."""
    array = np.zeros(shape, dtype=values.dtype)
    array.reshape(-1)[entries] = values
    return array


class PickledByFields:
    """Base class of fitted objects: their state is their attributes without cached properties."""

    def __getstate__(self) -> dict[str, Any]:
        cls = type(self)
        state = {k: v for k, v in vars(self).items() if not isinstance(getattr(cls, k, None), cached_property)}
        return {k: SharedArray.of(v) if type(v) is np.ndarray else v for k, v in state.items()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # A shallow copy hands over the wrappers.
        vars(self).update({k: v.array if isinstance(v, SharedArray) else v for k, v in state.items()})
