"""Declarative checks of parameter values."""

from __future__ import annotations

import inspect
import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np

R = TypeVar("R", bound=Any)


class Check(ABC):
    """A condition on the value of a parameter, with a description."""

    @abstractmethod
    def fits(self, value: object) -> bool:
        """Whether the type of `value` is allowed; otherwise the error is a TypeError."""

    def accepts(self, value: object) -> bool:
        """Whether a `value` of any type is allowed; otherwise, if its type is, the error is a ValueError."""
        return self.fits(value)

    @abstractmethod
    def __str__(self) -> str:
        """The allowed values, in words that follow 'must be'."""

    def __or__(self, other: Check) -> Check:
        return AnyOf((self, other))


@dataclass(frozen=True)
class Integer(Check):
    """An integer of at least `low` and at most `high`."""

    low: int
    high: float = math.inf

    def fits(self, value: object) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)

    def accepts(self, value: object) -> bool:
        return self.fits(value) and self.low <= int(value) <= self.high  # type: ignore[call-overload]

    def __str__(self) -> str:
        return f"an integer >= {self.low}" + ("" if math.isinf(self.high) else f" and <= {self.high}")


@dataclass(frozen=True)
class Real(Check):
    """A finite number between `low` and `high`, closed at the left, the right, both or neither."""

    low: float
    high: float = math.inf
    closed: str = "right"

    def fits(self, value: object) -> bool:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)

    def accepts(self, value: object) -> bool:
        if not self.fits(value) or not math.isfinite(number := float(value)):  # type: ignore[arg-type]
            return False
        above = number >= self.low if self.closed in ("left", "both") else number > self.low
        return above and (number <= self.high if self.closed in ("right", "both") else number < self.high)

    def __str__(self) -> str:
        low, high = (
            ">=" if self.closed in ("left", "both") else ">",
            "<=" if self.closed in ("right", "both") else "<",
        )
        return f"a number {low} {self.low:g}" + ("" if math.isinf(self.high) else f" and {high} {self.high:g}")


@dataclass(frozen=True)
class Range(Check):
    """A pair of positive finite numbers, the first not above the second."""

    def fits(self, value: object) -> bool:
        number = Real(0.0)
        return isinstance(value, tuple | list) and len(value) == 2 and all(number.fits(end) for end in value)

    def accepts(self, value: object) -> bool:
        ends: Any = value
        return self.fits(value) and all(map(Real(0.0).accepts, ends)) and ends[0] <= ends[1]

    def __str__(self) -> str:
        return "a pair of positive numbers, the first not above the second"


@dataclass(frozen=True)
class SequenceOf(Check):
    """A sequence or array whose items satisfy a check; `items` describes them."""

    item: Check
    items: str

    def fits(self, value: object) -> bool:
        is_sequence = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
        return is_sequence and all(map(self.item.fits, value))  # type: ignore[call-overload]

    def accepts(self, value: object) -> bool:
        return self.fits(value) and all(map(self.item.accepts, value))  # type: ignore[call-overload]

    def __str__(self) -> str:
        return f"a sequence of {self.items}"


@dataclass(frozen=True)
class OneOf(Check):
    """One of a few values, compared by type and value; NumPy scalars are compared as Python values."""

    values: tuple[object, ...]

    def fits(self, value: object) -> bool:
        kind = type(value.item() if isinstance(value, np.generic) else value)
        return kind in map(type, self.values)

    def accepts(self, value: object) -> bool:
        if isinstance(value, np.generic):
            value = value.item()
        # Types are compared first: the value may be an array.
        return (type(value), value) in zip(map(type, self.values), self.values, strict=True)

    def __str__(self) -> str:
        return " or ".join(repr(value) for value in self.values)


@dataclass(frozen=True)
class Instance(Check):
    """An instance of a class."""

    kind: type

    def fits(self, value: object) -> bool:
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        return f"an instance of {self.kind.__name__}"


@dataclass(frozen=True)
class Function(Check):
    """A callable that is not a class; `of` names its argument."""

    of: str

    def fits(self, value: object) -> bool:
        return callable(value) and not isinstance(value, type)

    def accepts(self, value: object) -> bool:
        # Parts validate their own hyperparameters.
        if not self.fits(value):
            return False
        if hasattr(value, "validate"):
            value.validate()
        return True

    def __str__(self) -> str:
        return f"a function of {self.of}"


@dataclass(frozen=True)
class AnyOf(Check):
    """At least one of several conditions."""

    options: tuple[Check, ...]

    def fits(self, value: object) -> bool:
        return any(map(methodcaller("fits", value), self.options))

    def accepts(self, value: object) -> bool:
        return any(map(methodcaller("accepts", value), self.options))

    def __str__(self) -> str:
        return " or ".join(str(option) for option in self.options)


BOOL = OneOf((True, False))
POSITIVE = Real(0.0)
NON_NEGATIVE = Real(0.0, closed="both")
FRACTION = Real(0.0, 1.0, closed="both")
POSITIVE_FRACTION = Real(0.0, 1.0)
POSITIVE_SEQUENCE = SequenceOf(POSITIVE, "positive numbers")
OPTIONAL = OneOf((None,))
SEED = Integer(0, 2**32 - 1) | Instance(np.random.RandomState) | OPTIONAL
THREADS = Integer(1) | Integer(-1024, -1) | OPTIONAL
"""Allowed values of `n_jobs`, as in scikit-learn."""
PRECISION = OneOf(("float32", "float64"))
EXTRAPOLATION = OneOf(("constant", "continue"))
"""Behaviour of cosines beyond the range of the training features."""


def told(value: object) -> str:
    """A value in a message: numbers as Python writes them, and objects without their places in memory."""
    text = re.sub(r"np\.(?:float|int|uint|bool|str)\d*_?\(('?[^()']*'?)\)", r"\1", repr(value))
    return re.sub(r"(?: object)? at 0x[0-9A-Fa-f]+", "", text)


def require(owner: str, name: str, value: object, check: Check) -> None:
    """Raise unless `value` is allowed for the parameter `name` of `owner`.

    Raises
    ------
    TypeError
        If the type of the value is not allowed.
    ValueError
        If the type is allowed and the value is not.
    """
    if check.accepts(value):
        return
    if not check.fits(value):
        raise TypeError(f"{owner}: {name} must be {check}, got {told(value)} of type {type(value).__name__}")
    raise ValueError(f"{owner}: {name} must be {check}, got {told(value)}")


def require_all(owner: object, checks: Mapping[str, Check]) -> None:
    """Apply `checks` to the attributes of `owner` with the same names, unless they are its defaults."""
    cls = type(owner)
    defaults = parameter_defaults(cls.__init__)
    for name, check in checks.items():
        value = getattr(owner, name)
        if name not in defaults or value is not defaults[name]:
            require(cls.__name__, name, value, check)


def allows_auto(owner: type, name: str) -> bool:
    """Whether "auto" is the default of a parameter, or the parameter is not in the signature."""
    defaults = parameter_defaults(owner.__init__)  # type: ignore[misc]
    return name not in defaults or defaults[name] == "auto"


@cache
def parameter_defaults(function: Callable[..., object]) -> dict[str, object]:
    """The default of each parameter of a function, in order."""
    return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}


def is_auto(value: object) -> bool:
    """Whether a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def check_metadata(owner: str, metadata: Any, model_version: Any) -> dict[str, Any]:
    """A user's entries and version of a file, by these names; a TypeError or ValueError if they are invalid."""
    require(owner, "model_version", model_version, Integer(0))
    entries = {} if metadata is None else metadata
    if not isinstance(entries, Mapping) or not all(isinstance(text, str) for text in chain(*entries.items())):
        raise TypeError(f"{owner}: metadata must be a dict of texts by name, got {metadata!r:.100}")
    return {"metadata": dict(entries), "model_version": model_version}
