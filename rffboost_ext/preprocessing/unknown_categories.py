"""Unknown categories at prediction: they count as missing, with an error or a warning if they look wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..utils.warnings import warn_user


def require_category_kind(column: str, values: Sequence[Any], known: Any) -> None:
    """Raise a ValueError if all values of a column are text and a known category is a number, or vice versa."""
    kinds = {isinstance(value, str) for value in values}
    if kinds == {not isinstance(known, str)}:
        words = ("numbers", "text") if isinstance(known, str) else ("text", "numbers")
        raise ValueError(
            f"column {column} of X must hold categories as in fit, such as {known!r}, got {values[0]!r}: "
            f"{words[0]} where fit had {words[1]}"
        )


def require_category_precision(column: str, values: Sequence[Any], known: Sequence[Any]) -> None:
    """Raise a ValueError if a value equals a known category in single precision only, as 0.1 may do."""
    categories = {as_float32(one): one for one in known if is_fraction(one)}
    value = next(
        (one for one in values if categories and is_fraction(one) and as_float32(one) in categories), None
    )
    if value is not None:
        raise ValueError(
            f"column {column} of X must hold categories as in fit, such as {categories[as_float32(value)]!r}, got "
            f"{value!r}: they are equal in float32 only, so use the type of X in fit"
        )


def is_fraction(value: object) -> bool:
    """Whether a value is a number with a fraction."""
    if not isinstance(value, float | np.floating):
        return False
    number = float(value)
    return not number.is_integer() and abs(number) < 2.0**53


def as_float32(value: float) -> float:
    """A number rounded to single precision."""
    return float(np.float32(value))


def warn_of_unknown(column: str, values: Sequence[Any]) -> None:
    """Warn if none of the values of several rows is a known category, as with another spelling."""
    if len(values) > 1:
        warn_user(
            f"column {column} of X: none of the categories of these {len(values)} rows, such as {values[0]!r}, "
            f"was in fit; all count as missing"
        )
