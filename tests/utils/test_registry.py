"""Registries: names for parts, open to everyone, and no name is needed for a part to work."""

from __future__ import annotations

import importlib.metadata
import re
import types

import numpy as np
import pytest
from sklearn.base import clone

from rffboost_ext import (
    DISTRIBUTIONS,
    LEARNERS,
    LOSSES,
    OPTIMIZERS,
    RFF1,
    STEPS,
    Loss,
    Registry,
    RFFBoostRegressor,
    Step,
)
from rffboost_ext.learners import FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS
from rffboost_ext.losses import Exponential, IdentityLink, LogLoss

from ..cases import DISTRIBUTION_CASES, LEARNER_CASES, LOSS_CASES, OWN_COLUMNS
from ..own_parts import LeastSquares

TABLES = [LOSSES, LEARNERS, STEPS, FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS, OPTIMIZERS, DISTRIBUTIONS]
tables = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.kind)


class Cauchy(Loss):
    """A user's own loss, never registered: ``log(1 + (raw - y)^2) / 2`` with a bound as its hessian."""

    link = IdentityLink()
    exact_hessian = False

    def value(self, y, raw):
        return 0.5 * np.log1p(np.square(raw - y))[:, 0]

    def derivatives(self, y, raw):
        error = raw - y
        weight = 1.0 / (1.0 + np.square(error))
        return weight * error, weight

    def baseline(self, y, weight):
        return np.median(y, axis=0)


def test_every_loss_and_learner_is_tested():
    cases = {case.name: case for case in [*LOSS_CASES, *OWN_COLUMNS, *DISTRIBUTION_CASES]}
    assert cases.keys() >= set(LOSSES.names())
    assert {case.name for case in LEARNER_CASES} >= set(LEARNERS.names())
    for name in LOSSES.names():
        assert LOSSES.name_of(cases[name].make()) == name


@tables
def test_every_name_makes_a_part(table):
    assert table.names() == sorted(table.names())
    assert repr(table).endswith(f"{', '.join(table.names())}>")
    for name in table.names():
        part = table.create(name)
        assert isinstance(part, table.base)
        assert table.name_of(part) == name
        assert table.create(part) is part
        assert type(part).__doc__.strip(), "every part says what it is"


def test_create_passes_parameters():
    assert LEARNERS.create("rff_k", n_components=3).n_components == 3
    with pytest.raises(TypeError, match="gama"):
        LEARNERS.create("rff_1", gama=3)


@tables
def test_unknown_names_list_the_close_ones_and_all(table):
    name = table.names()[0]
    with pytest.raises(ValueError, match=f"unknown {table.kind}") as error:
        table.create(name + "x")
    assert f"Did you mean {name!r}" in str(error.value)
    assert all(name in str(error.value) for name in table.names())
    with pytest.raises(ValueError, match=f"unknown {table.kind} 'zzzzzz'\\. Registered") as error:
        table.create("zzzzzz")


def test_a_class_is_not_an_instance():
    with pytest.raises(TypeError, match=re.escape("pass an instance, Exponential()")):
        LOSSES.create(Exponential)
    with pytest.raises(TypeError, match="got None of type NoneType"):
        LOSSES.create(None)


@pytest.fixture
def table():
    """A table of losses apart from the real one."""
    made = Registry("loss", Loss)
    made.register("log_loss")(LogLoss)
    return made


def test_a_name_is_never_overwritten(table):
    with pytest.raises(ValueError, match=r"'log_loss' is taken by rffboost_ext\.losses\.\w+\.LogLoss"):
        table.register("log_loss")(Exponential)
    assert isinstance(table.create("log_loss"), LogLoss)


def test_the_same_class_may_come_again(table):
    # A notebook cell that is run twice, or a module that is reloaded.
    again = type("LogLoss", (LogLoss,), {"__module__": LogLoss.__module__, "__qualname__": LogLoss.__qualname__})
    assert table.register("log_loss")(again) is again
    assert table.get("log_loss") is again


@pytest.mark.parametrize("name", ["", " ", "my part", " mine", "mine\n", "a\tb", "a,b", "a:b", "\u00a0", "a\x00b"])
def test_names_that_nobody_could_give_are_refused(table, name):
    before = table.names()
    with pytest.raises(ValueError, match=re.escape(f"the {table.kind} name must be non-empty printable")) as told:
        table.register(name)
    assert f"got {name!r}" in str(told.value)
    assert table.names() == before


@pytest.mark.parametrize("name", [None, 3, b"mine", ("mine",), LogLoss])
def test_names_are_text(table, name):
    with pytest.raises(TypeError, match="register requires a name"):
        table.register(name)


@pytest.mark.parametrize("name", ["mine", "my-loss", "pkg.loss", "l1+l2", "verlust_größe", "2"])
def test_any_other_name_is_allowed(table, name):
    table.register(name)(Cauchy)
    assert isinstance(table.create(name), Cauchy)


@pytest.mark.parametrize("cls", [LogLoss(), Step, lambda: None, "LogLoss"])
def test_only_classes_of_the_kind_are_registered(table, cls):
    with pytest.raises(TypeError, match="'mine' must be a subclass of Loss"):
        table.register("mine")(cls)


@pytest.fixture
def plugin(monkeypatch):
    """Another package that offers a loss through an entry point."""
    asked = []

    def entry_points(group):
        asked.append(group)
        return [types.SimpleNamespace(name="cauchy", load=lambda: Cauchy)] if group == "rffboost_ext.loss" else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    return asked


def test_entry_points_offer_parts(table, plugin):
    assert isinstance(table.create("log_loss"), LogLoss)
    assert plugin == [], "not searched for a name that is known"
    assert isinstance(table.create("cauchy"), Cauchy)
    assert table.names() == ["cauchy", "log_loss"]
    assert plugin == ["rffboost_ext.loss"], "searched once"


def test_entry_points_are_named_among_the_choices(table, plugin):
    with pytest.raises(ValueError, match="Did you mean 'cauchy'"):
        table.create("cauchi")


def test_unregistered_instances_work():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(200)
    y[:10] += 100.0
    model = RFFBoostRegressor(Cauchy(), LeastSquares(), n_estimators=30, learning_rate=0.5).fit(X, y)
    assert np.median(np.abs(model.predict(X) - y)) < 0.5
    assert model.set_params(learner=LeastSquares(), learner__ridge=7.0).learner.ridge == 7.0


def test_a_broken_package_does_not_hide_the_others(table, monkeypatch):
    def broken():
        raise ImportError("no module named xyz")

    offered = [
        types.SimpleNamespace(name="broken", value="xyz:Loss", load=broken),
        types.SimpleNamespace(name="cauchy", value="abc:Cauchy", load=lambda: Cauchy),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: offered)
    with pytest.warns(RuntimeWarning, match=r"loss 'broken', provided by .* as xyz:Loss, .*no module named xyz"):
        assert table.names() == ["cauchy", "log_loss"]
    assert isinstance(table.create("cauchy"), Cauchy)


PARTS = [table.create(name) for table in TABLES for name in table.names()]
ROLES = [(part, role) for part in PARTS for role in part.roles]


@pytest.mark.parametrize(("part", "role"), ROLES, ids=str)
def test_what_may_be_automatic_is_so_by_default(part, role):
    default = part.get_params(deep=False)[role]
    part = clone(part).set_params(**{role: "auto"})
    if default == "auto":
        part.validate()
    else:
        with pytest.raises(ValueError, match=r"unknown .* 'auto'\. Registered: "):
            part.validate()


def test_a_part_with_fewer_parameters_may_keep_automatic_ones():
    class Own(RFF1):
        def __init__(self, l2=0.1):
            super().__init__(l2=l2)
            self.fit_criterion = "auto"

    X = np.random.default_rng(0).standard_normal((30, 2))
    assert RFFBoostRegressor(learner=Own(), n_estimators=2).fit(X, X[:, 0]).n_estimators_ <= 2
