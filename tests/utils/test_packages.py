"""What is said of optional packages that are missing."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from rffboost_ext.utils.packages import EXTRAS, require_packages

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("package", EXTRAS)
def test_a_missing_package_and_the_extra_that_has_it_are_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"this needs {package}: pip install {package} ") as caught:
        require_packages("this", "sys", package)
    (extra,) = re.findall(r"\(extra '(.*)'\)", str(caught.value))
    assert package in [re.split(r"[\[>=]", entry)[0] for entry in PROJECT["optional-dependencies"][extra]]


def test_several_packages_are_one_line(monkeypatch):
    for package in ("typer", "rich", "pyarrow", "absent"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as caught:
        require_packages("this", "typer", "rich", "pyarrow", "absent")
    assert str(caught.value).endswith("pip install typer rich pyarrow absent (extra 'cli' and extra 'files')")
