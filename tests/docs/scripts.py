"""Scripts in processes of their own, which are forked from one that has imported `warm_up`."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from pathlib import Path
from types import ModuleType

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.docs.warm_up"])


def run_script(code: str, folder: Path) -> str:
    """What a script prints that is run in a folder; an error of the script is an AssertionError."""
    streams = folder.with_name(f"{folder.name}.out"), folder.with_name(f"{folder.name}.err")
    process = PROCESSES.Process(target=run, args=(code, folder, *streams))
    process.start()
    process.join()
    printed, errors = (path.read_text() for path in streams)
    assert process.exitcode == 0, errors
    return printed


def run(code: str, folder: Path, *streams: Path) -> None:
    """Run the script in this process, as ``python -W error::RuntimeWarning`` does, and draw without a screen."""
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_CREAT | os.O_WRONLY), number)
    os.chdir(folder)
    os.environ["MPLBACKEND"] = "Agg"
    warnings.simplefilter("error", RuntimeWarning)
    sys.argv = [""]
    sys.modules["__main__"] = main = ModuleType("__main__")
    exec(compile(code, "script.py", "exec"), main.__dict__)
