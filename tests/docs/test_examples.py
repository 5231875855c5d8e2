"""Every example runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from .scripts import run_script

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path, tmp_path):
    # Output files, if any, land in a folder of their own.
    assert run_script(path.read_text(), tmp_path).strip(), "an example shows something"


def test_examples_are_numbered_and_short():
    assert len(EXAMPLES) >= 2
    for number, path in enumerate(EXAMPLES, start=1):
        assert path.name.startswith(f"{number:02}_")
        assert path.read_text().startswith('"""'), "an example begins by saying what it shows"
        assert len(path.read_text().splitlines()) <= 100
