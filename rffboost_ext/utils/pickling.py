"""Pickles, copies and joblib files of fitted objects: no caches, and shared arrays once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .typing import Array


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
        return np.asarray, (self.array,)


class PickledByFields:
    """Base class of fitted objects: their state is their attributes without cached properties."""

    def __getstate__(self) -> dict[str, Any]:
        cls = type(self)
        state = {k: v for k, v in vars(self).items() if not isinstance(getattr(cls, k, None), cached_property)}
        return {k: SharedArray.of(v) if type(v) is np.ndarray else v for k, v in state.items()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        # A shallow copy hands over the wrappers.
        vars(self).update({k: v.array if isinstance(v, SharedArray) else v for k, v in state.items()})
