"""The examples in docstrings run, and everything public is described."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import rffboost_ext
from rffboost_ext import LEARNERS, LOSSES, STEPS

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(rffboost_ext.__path__, "rffboost_ext.")
    if not name.endswith("__main__")
]
PUBLIC = [getattr(rffboost_ext, name) for name in rffboost_ext.__all__]
CALLABLE = [thing for thing in PUBLIC if callable(thing) and hasattr(thing, "__name__")]


@pytest.mark.parametrize("name", ["rffboost_ext", *MODULES])
def test_docstring_examples(name):
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_some_docstrings_hold_examples():
    finder = doctest.DocTestFinder()
    found = [test for thing in CALLABLE for test in finder.find(thing, thing.__name__) if test.examples]
    assert len(found) >= 4


@pytest.mark.parametrize("thing", CALLABLE, ids=lambda thing: thing.__name__)
def test_public_things_are_described(thing):
    assert inspect.getdoc(thing)


@pytest.mark.parametrize("table", [LOSSES, LEARNERS, STEPS], ids=lambda table: table.kind)
def test_every_hyperparameter_is_described(table):
    for name in table.names():
        cls = table.get(name)
        for parameter in inspect.signature(cls).parameters:
            assert parameter in inspect.getdoc(cls), f"{cls.__name__} does not describe {parameter}"
