"""Ctrl-C while a command imports what it needs."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# An interrupt at the import of a module.
HOOK = """
import runpy, signal, sys

class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
"""
COMMANDS = {
    "rffboost": "from rffboost_ext.cli import main; sys.exit(main())",
    "onnx_export": "runpy.run_module('onnx_export', run_name='__main__', alter_sys=True)",
}


def interrupted(command, name):
    line = [sys.executable, "-c", HOOK + COMMANDS[command], name]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("command", "name"), [("rffboost", "typer"), ("onnx_export", "numpy"), ("onnx_export", "typer")]
)
def test_an_interrupt_during_imports_is_one_line(command, name):
    assert interrupted(command, name) == (130, f"{command}: error: interrupted\n")


def test_an_interrupt_while_the_package_is_imported_ends_by_its_signal():
    # For a shell, that is exit status 130.
    assert interrupted("rffboost", "numpy")[0] == -signal.SIGINT
