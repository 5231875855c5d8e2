"""The table of docs/clients.md; ``python -m tests.clients.table`` writes it with the installed versions."""

from __future__ import annotations

import re
from pathlib import Path

from . import explaining, onnx_files, serving, tables, tuning  # noqa: F401
from .jobs import JOBS, Job

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
HEAD = "| for | package | version | what works | hint |\n| --- | --- | --- | --- | --- |\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)*")


def cells(job: Job) -> tuple[str, str, str, str]:
    """What the page says of a job, but for the version."""
    return job.kind, job.library, job.works, job.hint


def row(job: Job) -> str:
    """The row of a job, with the version that is installed."""
    kind, library, works, hint = cells(job)
    return f"| {kind} | {library} | {job.version} | {works} | {hint} |\n"


def documented() -> dict[str, list[str]]:
    """The cells of each row of the page, by package."""
    (table,) = TABLE.findall(PAGE.read_text())
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {line[1]: line for line in rows}


def main() -> None:
    """Write the table."""
    table = HEAD + "".join(row(job) for job in sorted(JOBS, key=lambda job: (job.kind, job.library.lower())))
    PAGE.write_text(TABLE.sub(lambda _: table, PAGE.read_text()))


if __name__ == "__main__":
    main()
