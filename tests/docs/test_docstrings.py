"""The examples in docstrings run, and everything public is described."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest
from numpydoc.validate import validate

import benchmarks.papers
import onnx_export
import rffboost_ext
from rffboost_ext import LEARNERS, LOSSES, STEPS

PACKAGES = rffboost_ext, onnx_export
MODULES = [
    name
    for package in (*PACKAGES, benchmarks.papers)
    for _, name, _ in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not name.endswith("__main__")
]
PUBLIC = [getattr(package, name) for package in (*PACKAGES, rffboost_ext.learners) for name in package.__all__]
CALLABLE = [member for member in PUBLIC if callable(member) and hasattr(member, "__name__")]


@pytest.mark.parametrize("name", ["rffboost_ext", "onnx_export", *MODULES])
def test_docstring_examples(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.parametrize("table", [LOSSES, LEARNERS, STEPS], ids=lambda table: table.kind)
def test_every_hyperparameter_is_described(table):
    for name in table.names():
        cls = table.get(name)
        for parameter in inspect.signature(cls).parameters:
            entry = rf"^(\w+, )*{parameter}(, \w+)* : "
            assert re.search(entry, inspect.getdoc(cls), re.MULTILINE), f"{cls.__name__}: {parameter}"


FAULTS = {"GL06", "GL07", "GL08", "GL09", "PR01", "PR02", "PR10", "YD01"}
"""Unknown, misplaced or missing sections, and parameters that are missing, unknown or misspelt."""


@pytest.mark.parametrize("member", CALLABLE, ids=lambda member: member.__name__)
def test_numpydoc_finds_no_fault(member):
    # In its own words, not those of a base class.
    assert vars(member).get("__doc__") if isinstance(member, type) else member.__doc__
    codes = {code for code, _ in validate(f"{member.__module__}.{member.__qualname__}")["errors"]}
    # A dataclass may list its fields as attributes.
    listed = "\nAttributes\n---" in inspect.getdoc(member)
    assert codes & (FAULTS - {"PR01"} if listed else FAULTS) == set()
