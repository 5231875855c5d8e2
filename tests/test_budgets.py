"""Each folder of the packages has a budget of lines, and keeps it."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUDGETS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["rffboost"]["budgets"]
FOLDERS = {path.name: path for path in [*(ROOT / "rffboost_ext").iterdir(), ROOT / "onnx_export"] if path.is_dir()}


def test_all_folders_have_a_budget() -> None:
    assert FOLDERS.keys() - {"__pycache__"} == BUDGETS.keys()


@pytest.mark.parametrize("name", BUDGETS)
def test_a_folder_keeps_its_budget(name: str) -> None:
    lines = sum(len(path.read_text().splitlines()) for path in FOLDERS[name].rglob("*.py"))
    assert lines <= BUDGETS[name], f"{name} has {lines} lines"
