"""Every job gives the right result, and the page about them names the versions."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from .jobs import JOBS
from .table import cells, documented

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def installed_version(one):
    try:
        return one.version
    except PackageNotFoundError:
        return pytest.skip(f"{one.library} is not installed")


@pytest.mark.slow
@pytest.mark.parametrize("one", JOBS, ids=lambda one: one.library)
def test_job(one, tmp_path):
    installed_version(one)
    one.check(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("one", JOBS, ids=lambda one: one.library)
def test_page_names_the_version_that_is_tested(one):
    advice = "run the jobs, then python -m tests.clients.table"
    assert documented()[one.library][2] == installed_version(one), advice


def test_page_lists_every_job():
    found = {(kind, library, works, hint) for kind, library, _, works, hint in documented().values()}
    assert found == {cells(one) for one in JOBS}


def test_extra_installs_what_the_jobs_need():
    extras = PROJECT["optional-dependencies"]
    names = ("test", "shap", "peers", "onnx", "dask", "clients")
    wanted = [*PROJECT["dependencies"], *(each for name in names for each in extras[name])]
    found = {re.split(r"[<>=\[ ]", each)[0].lower() for each in wanted}
    assert {one.library.lower() for one in JOBS} <= found
