"""Names that a user chooses."""

from __future__ import annotations

from collections.abc import Sequence

from .registry import did_you_mean


def choices_text(what: str, name: str, choices: Sequence[str]) -> str:
    """An unknown name, similar choices, and all choices."""
    return f"{what}.{did_you_mean(name, choices)} Choices: {', '.join(choices)}"


def comma_separated(text: str) -> list[str]:
    """The names in a text, at least one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"at least one name is needed, separated by commas, got {text!r}")
    return names


def check_choices(kind: str, names: Sequence[str], choices: Sequence[str]) -> None:
    """Raise a ValueError that lists the choices unless all names are among them, none of them twice."""
    for name in names:
        if name not in choices:
            raise ValueError(f"unknown {kind} {choices_text(repr(name), name, choices)}")
        if names.count(name) > 1:
            raise ValueError(f"{kind} {name!r} is given more than once")
