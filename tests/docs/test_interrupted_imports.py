"""Ctrl-C while a command imports what it needs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# An interrupt at the import of a module; the commands themselves come from the metadata of the package.
HOOK = """
import runpy, signal, sys
from importlib import import_module

class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
"""
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
MODULE, FUNCTION = SCRIPTS["rffboost"].split(":")
COMMANDS = {
    "rffboost": f"sys.exit(import_module({MODULE!r}).{FUNCTION}())",
    "onnx_export": "runpy.run_module('onnx_export', run_name='__main__', alter_sys=True)",
}


@pytest.mark.parametrize("name", ["numpy", "sklearn", "typer"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_during_imports_is_one_line(command, name):
    line = [sys.executable, "-c", HOOK + COMMANDS[command], name]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (130, f"{command}: error: interrupted\n")
