"""Calls in processes end at once, and without tracebacks, when a user presses Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

WORKERS = """
import time
from functools import partial
from rffboost_ext.utils.parallel import run_in_processes
print("ready", flush=True)
try:
    list(run_in_processes([partial(time.sleep, 9.0)] * 2, 2))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Ctrl-C reaches a group of processes")
def test_workers_that_start_are_interrupted_without_tracebacks():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # Under nohup a child would inherit that Ctrl-C is ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([sys.executable, "-c", WORKERS], start_new_session=True, **pipes)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.6)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
