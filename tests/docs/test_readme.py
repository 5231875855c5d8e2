"""The README's code runs as it stands, and its commands are those that CI runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from benchmarks.accuracy_data import FURTHER, SOURCES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_python_blocks_run(tmp_path):
    # In a process of its own: the README registers a learner.
    command = [sys.executable, "-c", "\n".join(blocks("python"))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model.onnx").exists()
    assert min(float(line) for line in done.stdout.splitlines()[:2]) > 0.93


def test_commands_are_those_of_ci():
    script = (ROOT / ".ci" / "run").read_text()
    install, test = blocks("bash")[1].strip().split(" && ")
    assert install.replace("pip install -e", "pip install --quiet --editable") in script
    assert script.strip().splitlines()[-1] == test


def test_every_benchmark_and_each_of_its_files_of_data_is_listed():
    text = (ROOT / "benchmarks" / "README.md").read_text()
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py") if "def main(" in path.read_text()}
    assert set(re.findall(r"^\| `(\w+\.py)", text, re.MULTILINE)) == scripts
    stems = {source.stem for source in SOURCES.values() if source.missing(None)}
    # Those of R packages are in the script that writes them.
    assert stems - set(FURTHER) <= set(re.findall(r"`(\w+)`", text))
    assert "`Rscript benchmarks/further.R FOLDER`" in text


def test_files_that_the_readme_names_exist():
    for name in re.findall(r"`((?:examples|benchmarks)/[\w./]+)`", README):
        assert (ROOT / name).exists(), name
