"""The command ``rffboost warmup``."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from .progress import bars


def warmup_command(
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes.", show_default="all cores")] = None,
) -> None:
    """Compile all kernels in parallel processes, so that no fit waits for the compiler."""
    from ..kernels.compile_cache import find_writable_folder
    from ..kernels.warmup import compile_all
    from ..utils.parallel import count_threads

    start = time.perf_counter()
    with bars() as display:
        task = display.add_task("compiling")
        number = compile_all(
            count_threads(jobs), lambda done, total: display.update(task, completed=done, total=total)
        )
    typer.echo(
        f"{number} kernels are ready after {time.perf_counter() - start:.0f} s, in {find_writable_folder()}"
    )
