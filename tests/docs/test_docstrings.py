"""The examples in docstrings run, and everything public is described."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import onnx_export
import rffboost_ext
from rffboost_ext import LEARNERS, LOSSES, STEPS, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.boosting.fit_plan import BEYOND
from rffboost_ext.boosting.validation_split import FEW, MAX_HELD_OUT, MIN_HELD_OUT
from rffboost_ext.estimators.defaults import HASTE, MIDDLING, NO_REFIT, SETTLED, SHARE_OF_ROUNDS

PACKAGES = rffboost_ext, onnx_export
MODULES = [
    name
    for package in PACKAGES
    for _, name, _ in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not name.endswith("__main__")
]
PUBLIC = [getattr(package, name) for package in PACKAGES for name in package.__all__]
CALLABLE = [thing for thing in PUBLIC if callable(thing) and hasattr(thing, "__name__")]


@pytest.mark.parametrize("name", ["rffboost_ext", "onnx_export", *MODULES])
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
    # Its own words, not those of a base class.
    assert vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__


@pytest.mark.parametrize("table", [LOSSES, LEARNERS, STEPS], ids=lambda table: table.kind)
def test_every_hyperparameter_is_described(table):
    for name in table.names():
        cls = table.get(name)
        for parameter in inspect.signature(cls).parameters:
            entry = rf"^(\w+, )*{parameter}(, \w+)* : "
            assert re.search(entry, inspect.getdoc(cls), re.MULTILINE), f"{cls.__name__}: {parameter}"


STATED = [
    f"up to {BEYOND} times the rounds that are best",
    f"{({0.1: 'a tenth'}).get(SHARE_OF_ROUNDS)} of the rounds up to the best one",
    f"is below {SETTLED[0]:.0%} of its initial value".replace("%", " %"),
    f"as many rounds reduce it by less than {SETTLED[1]:.0%} of that value".replace("%", " %"),
    f"wait for {HASTE.rounds} rounds at most",
    f"it is at least {HASTE.tol:.0e}".replace("e-03", "e-3"),
    f"there are fewer than {NO_REFIT:,} rows",
    f"below {MIDDLING:,} rows, with an",
    f"With up to {FEW:,} rows",
    f"at least {MIN_HELD_OUT} (half of fewer than {2 * MIN_HELD_OUT})",
    f"Of more than {MAX_HELD_OUT:,} about as many",
]


@pytest.mark.parametrize("words", STATED)
@pytest.mark.parametrize("estimator", [RFFBoostClassifier, RFFBoostRegressor])
def test_numbers_of_the_policy_are_those_that_are_documented(estimator, words):
    assert words in " ".join(estimator.__doc__.split())
