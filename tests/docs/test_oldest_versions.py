"""The oldest versions that the project declares pass its tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_oldest_versions_pass(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [entry for part in project["optional-dependencies"].values() for entry in part]
    oldest = [entry.replace(">=", "==") for entry in (*project["dependencies"], *extras) if ">=" in entry]
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *oldest], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", ROOT], check=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-5000:]
