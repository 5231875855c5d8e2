"""The API pages list every public name, with an example for what users call."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import getdoc, getmembers, isabstract, isclass, isfunction
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.rst"))
MODULES = [
    "onnx_export",
    "rffboost_ext",
    "rffboost_ext.dask",
    "rffboost_ext.displays",
    "rffboost_ext.exporting",
    "rffboost_ext.experiments.compare",
    "rffboost_ext.interop.lightgbm",
    "rffboost_ext.interop.xgboost",
    "rffboost_ext.learners",
    "rffboost_ext.losses",
    "rffboost_ext.metrics",
    "rffboost_ext.presets",
    "rffboost_ext.recipes",
    "rffboost_ext.sources",
    "rffboost_ext.terms",
]

# What fits pass to parts, what functions return or raise, and protocols.
WITHOUT_EXAMPLE = {
    *("Design", "Observations", "Round"),
    *("ConversionError", "Description", "MismatchError", "ModelDescription", "Report", "Tables"),
    *("Condition", "Part"),
}


def names_on(pages):
    """The objects that pages list, by identity: some have a name in several modules."""
    text = "\n".join(page.read_text() for page in pages)
    _, *sections = re.split(r"^\.\. currentmodule:: ", text, flags=re.MULTILINE)
    members = {}
    for module, *lines in (section.splitlines() for section in sections):
        for name in re.findall(r"^   (\w+)$", "\n".join(lines), re.MULTILINE):
            member = getattr(import_module(module), name)
            members[id(member)] = member
    return members


@pytest.fixture(scope="module")
def listed():
    return names_on(PAGES)


def test_what_users_call_has_an_example():
    """The page for exporters is left out, and experiments have one example for all."""
    members = names_on(page for page in PAGES if page.stem != "exporting").values()
    called = [member for member in members if (isclass(member) or isfunction(member)) and not isabstract(member)]
    bare = {
        member.__name__
        for member in called
        if ">>>" not in getdoc(member) and ".experiments" not in member.__module__
    }
    assert bare == WITHOUT_EXAMPLE


def public_names(module):
    if hasattr(module, "__all__"):
        return set(module.__all__) - {"__version__", "presets"}
    return {name for name, _ in getmembers(module, isfunction) if not name.startswith("_")}


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_listed(name, listed):
    module = import_module(name)
    assert {public for public in public_names(module) if id(getattr(module, public)) not in listed} == set()
