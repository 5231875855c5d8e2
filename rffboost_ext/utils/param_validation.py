"""Allowed values of parameters, declared as data and checked before any work is done."""

from __future__ import annotations

import inspect
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

R = TypeVar("R", bound=Any)


class Check(ABC):
    """A condition on one parameter that can describe itself."""

    @abstractmethod
    def fits(self, value: object) -> bool:
        """Whether `value` is of a kind that can be allowed at all; if not, the error is a TypeError."""

    @abstractmethod
    def accepts(self, value: object) -> bool:
        """Whether a `value` of a fitting kind is allowed; if not, the error is a ValueError."""

    @abstractmethod
    def __str__(self) -> str:
        """What is allowed, in words that follow 'must be'."""

    def __or__(self, other: Check) -> Check:
        return AnyOf(self, other)


@dataclass(frozen=True)
class Integer(Check):
    """An integer of at least `low` and at most `high`."""

    low: int
    high: float = math.inf

    def fits(self, value: object) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool)

    def accepts(self, value: object) -> bool:
        return self.low <= int(value) <= self.high  # type: ignore[call-overload]

    def __str__(self) -> str:
        return f"an integer >= {self.low}" + ("" if math.isinf(self.high) else f" and <= {self.high}")


@dataclass(frozen=True)
class Real(Check):
    """A finite number above `low` (or equal to it, if `inclusive`) and at most `high`."""

    low: float
    high: float = math.inf
    inclusive: bool = False

    def fits(self, value: object) -> bool:
        return isinstance(value, numbers.Real) and not isinstance(value, bool)

    def accepts(self, value: object) -> bool:
        number = float(value)  # type: ignore[arg-type]
        above = number >= self.low if self.inclusive else number > self.low
        return above and number <= self.high and math.isfinite(number)

    def __str__(self) -> str:
        text = f"a number {'>=' if self.inclusive else '>'} {self.low:g}"
        return text if math.isinf(self.high) else f"{text} and <= {self.high:g}"


@dataclass(frozen=True)
class OpenInterval(Check):
    """A number strictly between `low` and `high`."""

    low: float
    high: float

    def fits(self, value: object) -> bool:
        return Real(self.low).fits(value)

    def accepts(self, value: object) -> bool:
        return self.low < float(value) < self.high  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"a number > {self.low:g} and < {self.high:g}"


@dataclass(frozen=True)
class Range(Check):
    """A pair of positive finite numbers, the first not above the second."""

    def fits(self, value: object) -> bool:
        number = Real(0.0)
        return isinstance(value, tuple | list) and len(value) == 2 and all(number.fits(end) for end in value)

    def accepts(self, value: object) -> bool:
        ends: Any = value
        low, high = ends
        number = Real(0.0)
        return number.accepts(low) and number.accepts(high) and low <= high

    def __str__(self) -> str:
        return "a pair of positive numbers, the first not above the second"


@dataclass(frozen=True)
class Positives(Check):
    """A sequence of positive finite numbers."""

    def fits(self, value: object) -> bool:
        number = Real(0.0)
        return isinstance(value, tuple | list | np.ndarray) and all(number.fits(item) for item in value)

    def accepts(self, value: object) -> bool:
        numbers: Any = value
        return all(Real(0.0).accepts(number) for number in numbers)

    def __str__(self) -> str:
        return "a sequence of positive numbers"


@dataclass(frozen=True)
class OneOf(Check):
    """One of a few values, compared by type and value; a NumPy scalar counts as the Python value that it is."""

    values: tuple[object, ...]

    def fits(self, value: object) -> bool:
        return any(type(plain(value)) is type(allowed) for allowed in self.values)

    def accepts(self, value: object) -> bool:
        found = plain(value)
        return any(type(found) is type(allowed) and found == allowed for allowed in self.values)

    def __str__(self) -> str:
        return " or ".join(repr(value) for value in self.values)


@dataclass(frozen=True)
class Instance(Check):
    """An instance of a class."""

    kind: type

    def fits(self, value: object) -> bool:
        return isinstance(value, self.kind)

    def accepts(self, value: object) -> bool:
        return True

    def __str__(self) -> str:
        return f"an instance of {self.kind.__name__}"


@dataclass(frozen=True)
class Function(Check):
    """Something that can be called with one argument, but no class, described by what it is a function of."""

    of: str

    def fits(self, value: object) -> bool:
        return callable(value) and not isinstance(value, type) and takes_one(value)

    def accepts(self, value: object) -> bool:
        # A part with hyperparameters of its own names the one that is wrong.
        if hasattr(value, "validate"):
            value.validate()
        return True

    def __str__(self) -> str:
        return f"a function of {self.of}"


@dataclass(frozen=True)
class Functions(Function):
    """A sequence of such functions."""

    def fits(self, value: object) -> bool:
        return isinstance(value, Sequence) and all(super(Functions, self).fits(item) for item in value)

    def accepts(self, value: object) -> bool:
        return True

    def __str__(self) -> str:
        return f"a sequence of functions of {self.of}"


@dataclass(frozen=True, init=False)
class AnyOf(Check):
    """At least one of several conditions."""

    options: tuple[Check, ...]

    def __init__(self, *options: Check) -> None:
        object.__setattr__(self, "options", options)

    def fits(self, value: object) -> bool:
        return any(option.fits(value) for option in self.options)

    def accepts(self, value: object) -> bool:
        return any(option.fits(value) and option.accepts(value) for option in self.options)

    def __str__(self) -> str:
        return " or ".join(str(option) for option in self.options)


def plain(value: object) -> object:
    """The Python value of a NumPy scalar, such as arrays of choices yield; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def takes_one(function: Callable[..., object]) -> bool:
    """Whether a function can be called with one argument; a compiled one without a signature counts as such."""
    try:
        known = inspect.signature(function)
    except ValueError:
        return True
    try:
        known.bind(None)
    except TypeError:
        return False
    return True


BOOL = OneOf((True, False))
POSITIVE = Real(0.0)
NON_NEGATIVE = Real(0.0, inclusive=True)
OPTIONAL = OneOf((None,))
SEED = Integer(0, 2**32 - 1) | Instance(np.random.RandomState) | OPTIONAL
THREADS = Integer(1) | Integer(-1024, -1) | OPTIONAL
"""Allowed values of `n_jobs`, as in scikit-learn."""
PRECISION = OneOf(("float32", "float64"))
EXTRAPOLATION = OneOf(("constant", "continue"))
"""What cosines may do beyond the range of the features in fit."""


def require(owner: str, name: str, value: object, check: Check) -> None:
    """Raise unless `value` is allowed for the parameter `name` of `owner`.

    Raises
    ------
    TypeError
        If the kind of value is never allowed.
    ValueError
        If the kind is right and the value is not.
    """
    if not check.fits(value):
        raise TypeError(f"{owner}: {name} must be {check}, got {value!r} of type {type(value).__name__}")
    if not check.accepts(value):
        raise ValueError(f"{owner}: {name} must be {check}, got {value!r}")


def require_all(owner: object, checks: Mapping[str, Check]) -> None:
    """Apply `checks` to the attributes of `owner` that they name."""
    for name, check in checks.items():
        require(type(owner).__name__, name, getattr(owner, name), check)


def may_be_auto(owner: type, name: str) -> bool:
    """Whether "auto" is the default of a parameter, and so stands for a choice, or it is not in the signature."""
    known = defaults_of(owner.__init__)  # type: ignore[misc]
    return name not in known or known[name] == "auto"


@cache
def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """The default of each parameter of a function, in its order."""
    return {name: given.default for name, given in inspect.signature(function).parameters.items()}


def is_auto(value: object) -> bool:
    """Whether a parameter leaves the choice to the estimator."""
    return isinstance(value, str) and value == "auto"
