"""The parameters of XGBoost, LightGBM, CatBoost and scikit-learn: what to write instead.

The tables are those of the page about migration. They also explain unknown parameters of the constructors.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

WITHOUT = "Names without a counterpart"
CODE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """A parameter here, empty if there is none, its names elsewhere, and what differs here."""

    here: str
    elsewhere: list[str]
    note: str


@cache
def tables() -> dict[str, list[Row]]:
    """The rows of the table of each section of ``migration.md``, by its title."""
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in re.split("^## ", text, flags=re.MULTILINE)[1:])
    return {
        title: [read_row(line) for line in re.findall(r"^\|(.*)\|$", body, re.M)[2:]]
        for title, _, body in sections
    }


def read_row(line: str) -> Row:
    """A row of a table of three columns, or of two without a parameter here."""
    *here, elsewhere, note = (cell.strip() for cell in line.split("|"))
    return Row("".join(here).strip("`"), CODE.findall(elsewhere), note)


def translated(section: str, name: str) -> list[str]:
    """What the names of a section of the tables are here, such as losses, whatever the case of letters."""
    name = name.partition(":alpha")[0].partition(":delta")[0].partition(":variance")[0].lower()
    return [row.here for row in tables()[section] if name in map(str.lower, row.elsewhere)]


def advice(name: str, parameters: Sequence[Any], owner: str = "", method: str = "") -> str:
    """What to write instead of a parameter, such as ``learner__max_depth``, by the tables or by similarity.

    Parameters
    ----------
    name : str
    parameters : sequence of str
        The parameters that there are.
    owner, method : str, optional
        The estimator and its method, if the parameter is one of a method.
    """
    part, _, inner = name.rpartition("__")
    sections = [tables()["Parameters of predict"]] * (method != "fit") + [
        rows for title, rows in tables().items() if title.startswith("Parameters of") or title == WITHOUT
    ]
    every = [row for rows in sections for row in rows]
    if part:
        example = next((f", such as {part}={row.here}" for row in every if f"({inner}=" in row.here), "")
        return f" ({part} must be a part that has it{example})"
    rows = [row for row in every if name in row.elsewhere]
    if rows and not rows[0].here:
        return f" (there is none: {rows[0].note})"
    if method and rows and rows[0] in tables()["Parameters of predict"]:
        rows = rows[:1]
    hints = [f"learner={row.here}" if row.here.startswith("Tree") else row.here for row in rows]
    if method and rows and rows[0] in tables()["Parameters of the estimators"]:
        hints = [f"{owner}({one})" for one in hints]
    if len(rows) == 1 and rows[0].note and "..." not in rows[0].here:
        hints = [f"{hints[0]}: {rows[0].note}"]
    hints = hints or [f"{one}=..." for one in difflib.get_close_matches(name, parameters, n=3, cutoff=0.6)]
    return f" (use {' or '.join(hints)})" if hints else f" (the parameters are {', '.join(parameters)})"
