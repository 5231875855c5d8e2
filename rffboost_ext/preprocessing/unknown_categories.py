"""Categories that the fit has not seen: what is an error, what a warning, and what counts as missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..utils.warnings import warn_user


def require_kind(column: str, values: Sequence[Any], known: Any) -> None:
    """Raise a ValueError if all values of a column are text and a known category is a number, or vice versa."""
    kinds = {isinstance(value, str) for value in values}
    if kinds == {not isinstance(known, str)}:
        words = ("numbers", "text") if isinstance(known, str) else ("text", "numbers")
        raise ValueError(
            f"column {column} of X must hold categories as in fit, such as {known!r}, got {values[0]!r}: "
            f"{words[0]} where fit had {words[1]}"
        )


def require_precision(column: str, values: Sequence[Any], known: Sequence[Any]) -> None:
    """Raise a ValueError if a value is a known fraction in single precision and not in double, as 0.1 may be."""
    ours = {in_single(one): one for one in known if is_fraction(one)}
    found = next((one for one in values if ours and is_fraction(one) and in_single(one) in ours), None)
    if found is not None:
        raise ValueError(
            f"column {column} of X must hold categories as in fit, such as {ours[in_single(found)]!r}, got "
            f"{found!r}: the same in float32 only, so take the type that X had in fit"
        )


def is_fraction(value: object) -> bool:
    """Whether a value is a number that is not whole, such as float32 has too."""
    if not isinstance(value, float | np.floating):
        return False
    number = float(value)
    return not number.is_integer() and abs(number) < 2.0**53


def in_single(value: float) -> float:
    """A number rounded to single precision."""
    return float(np.float32(value))


def warn_of_unknown(column: str, values: Sequence[Any]) -> None:
    """Warn where several rows have values and none of these is a known category, as if they were other words."""
    if len(values) > 1:
        warn_user(
            f"column {column} of X: fit has seen none of the categories of these {len(values)} rows, such as "
            f"{values[0]!r}; all count as missing"
        )
