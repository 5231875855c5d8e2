"""Writes the tables of the page about migration: ``python -m docs.migration_tables``."""

from __future__ import annotations

import re
from pathlib import Path

from rffboost_ext.utils.migration_table import LIBRARIES, TABLE, Place, Row

PAGE = Path(__file__).parent / "migration.md"


def quoted(row: Row, names: list[str]) -> str:
    """Names in code, with an asterisk if their values do not carry over."""
    differing = names if row.differing == "*" else row.differing.split()
    return ", ".join(f"`{name}`" + r"\*" * (name in differing) for name in names)


def cells(row: Row) -> list[str]:
    """What is here, in each library, and the note."""
    here = row.here if row.place is Place.NOWHERE else f"`{row.here}`"
    example = f"`{row.example.format(value='...')}`" * bool(row.example)
    return [
        here,
        *(quoted(row, names) for names in row.names.values()),
        ": ".join(filter(None, (row.note, example))),
    ]


def table(place: Place) -> str:
    """The table of one section, without empty columns."""
    head = ["here", *LIBRARIES.values(), "what differs here"]
    head[0] = "what, and why" if place is Place.NOWHERE else head[0]
    columns = list(zip(head, *(cells(row) for row in TABLE if row.place is place), strict=True))
    rows = list(zip(*(column for column in columns if any(column[1:])), strict=True))
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |").replace("|  |", "| |") for line in lines)


def with_tables(text: str) -> str:
    """The page with the present tables in its sections."""
    for place in Place:
        section = re.compile(rf"(^## {re.escape(place.value)}\n(?:(?!\||## ).*\n)*)((?:\|.*\n)+)", re.MULTILINE)
        text, count = section.subn(lambda match, place=place: match[1] + table(place), text)
        assert count == 1, place
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
