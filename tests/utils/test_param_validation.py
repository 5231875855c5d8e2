"""Checks of parameters: what each allows, and that every part and estimator applies its own."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone

from rffboost_ext import (
    DISTRIBUTIONS,
    LEARNERS,
    LOSSES,
    OPTIMIZERS,
    STEPS,
    ConformalRegressor,
    Decay,
    RFFBoostClassifier,
    RFFBoostRegressor,
    Shrunk,
    TimeBudget,
    Tree,
    load_model,
)
from rffboost_ext.boosting.callbacks import CALLBACKS
from rffboost_ext.boosting.steps import RATE
from rffboost_ext.learners import FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS
from rffboost_ext.utils.param_validation import (
    BOOL,
    FRACTION,
    NON_NEGATIVE,
    OPTIONAL,
    POSITIVE_FRACTION,
    POSITIVE_SEQUENCE,
    SEED,
    THREADS,
    Instance,
    Integer,
    OneOf,
    Range,
    Real,
    require,
    told,
)

NAMES = OneOf(("auto", "fast"))
GENERATOR = np.random.RandomState(0)
# What is allowed, what is not (a ValueError), and what is of a wrong type (a TypeError).
CASES = [
    (Integer(1), [1, np.int64(7)], [0, -3], [2.5, True, "1", None]),
    (Integer(1, 5) | OPTIONAL, [5, None], [6], [2.0]),
    (Real(0.0), [1e-9, 3, np.float32(2.0)], [0.0, -1, np.nan, np.inf], ["0.1", True, None]),
    (NON_NEGATIVE, [0, 0.5], [-1e-3, np.inf], [[1.0]]),
    (FRACTION, [0, 1.0], [1.5, -0.1], ["all"]),
    (POSITIVE_FRACTION, [1.0], [0.0, 1.1], [None]),
    (Real(0.0, 1.0, closed="neither"), [0.5], [0.0, 1.0, np.nan], ["0.5", None]),
    (Range(), [(0.1, 2), [3.0, 3.0]], [(2.0, 1.0), (0.0, 1.0)], [(1.0,), 1.0, ("a", 1.0)]),
    (POSITIVE_SEQUENCE, [[1.0, 2], np.ones(2), ()], [[1.0, 0.0]], ["12", 3.0, [1.0, "2"]]),
    (BOOL, [True, np.bool_(False)], [], [1, 0.0, "yes", None]),
    (NAMES, ["auto", np.str_("fast")], ["best"], [1, None, np.ones(2)]),
    (BOOL | OneOf(("auto",)), [True, "auto"], ["yes"], [1, None]),
    (Instance(Tree), [Tree()], [], [Tree, "tree"]),
    (SEED, [0, GENERATOR, None], [-1, 2**32], ["one", 1.5]),
    (THREADS, [1, -1, None], [0, -2000], [1.5]),
    (RATE, [0.1, Decay()], [0.0, -1], [Decay, None]),
    (CALLBACKS, [[len], ()], [], [3, [3], [TimeBudget]]),
]


@pytest.mark.parametrize(("check", "allowed", "refused", "odd"), CASES, ids=[str(case[0]) for case in CASES])
def test_each_check(check, allowed, refused, odd):
    for value in allowed:
        require("Part", "name", value, check)
    for kind, values in ((ValueError, refused), (TypeError, odd)):
        for value in values:
            with pytest.raises(
                kind, match=f"^Part: name must be {re.escape(str(check))}, got {re.escape(repr(value))}"
            ):
                require("Part", "name", value, check)


TABLES = [LOSSES, LEARNERS, STEPS, FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS, OPTIMIZERS, DISTRIBUTIONS]
PARTS = [table.create(name) for table in TABLES for name in table.names()] + [Decay(), Shrunk("newton", 0.1)]
ESTIMATORS = [RFFBoostClassifier(), RFFBoostRegressor(), ConformalRegressor()]
X = np.random.default_rng(0).standard_normal((30, 3))


def checked(owners):
    """Each parameter of some objects that has a check."""
    by_type = {type(owner).__name__: owner for owner in owners}.values()
    pairs = [
        (owner, name) for owner in by_type for name in owner.constraints if name in owner.get_params(deep=False)
    ]
    return pytest.mark.parametrize(("owner", "name"), pairs, ids=[f"{type(a).__name__}-{b}" for a, b in pairs])


def refusal(owner, name):
    """The beginning of the message for a value that nothing allows."""
    return re.escape(f"{type(owner).__name__}: {name} must be {owner.constraints[name]}, got <object")


@checked(PARTS)
def test_parts_apply_their_checks(owner, name):
    with pytest.raises(TypeError, match=refusal(owner, name)):
        clone(owner).set_params(**{name: object()}).validate()


@checked(ESTIMATORS)
def test_estimators_apply_their_checks_before_any_work(owner, name):
    model = clone(owner).set_params(**{name: object()})
    with pytest.raises(TypeError, match=refusal(owner, name)):
        model.fit(None, None)


# Values just beyond the limits of parts, one of each kind of limit.
BEYOND = [
    ("rff_k", "n_components", 0),
    ("rff_k", "gamma", 0.0),
    ("rff_k", "beta", -1.0),
    ("rff_1", "l2", -1.0),
    ("rff_1", "gamma", "auto"),
    ("rff_1", "start_rows", 0),
    ("rff_newton", "earned", 1.5),
    ("rff_newton", "gamma", (2.0, 1.0)),
    ("rff_newton", "relative_rate", 0.0),
    ("rff_ridge", "per_degree", 0.0),
    ("rff_irls", "l2", (0.0, 1.0)),
    ("tree", "max_depth", -1),
    ("tree", "max_bin", 1),
    ("tree", "subsample", 1.5),
    ("quantile", "quantile", 1),
    ("quantile", "unit", -1.0),
    ("huber", "delta", "auto"),
    ("tweedie", "power", 2.0),
    ("lbfgs", "max_iter", 0),
    ("line_search", "tol", 0.0),
]


@pytest.mark.parametrize(("part", "name", "value"), BEYOND)
def test_limits(part, name, value):
    (table,) = (one for one in TABLES if part in one.names())
    with pytest.raises(ValueError, match=re.escape(f"{name} must be ")) as raised:
        table.create(part, **{name: value})
    assert f", got {value!r}" in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("validation_fraction", 1.0),
        ("n_iter_no_change", 0),
        ("tol", -1e-3),
        ("n_folds", 0),
        ("verbose", -1),
        ("class_weight", "even"),
        ("class_weight", {0: 0.0}),
        ("class_weight", {0: "a"}),
    ],
)
def test_limits_of_estimators(name, value):
    with pytest.raises(ValueError, match=re.escape(f"RFFBoostClassifier: {name} must be ")):
        RFFBoostClassifier(**{name: value}).fit(X, X[:, 0] > 0.0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64("nan"), "nan"),
        ([np.float64(-1.5), np.int64(2), np.str_("a")], "[-1.5, 2, 'a']"),
        (object(), "<object>"),
        (np.random.default_rng(0), "Generator(PCG64)"),
    ],
)
def test_messages_have_neither_numpy_scalars_nor_places_in_memory(value, text):
    assert told(value) == text
    with pytest.raises((TypeError, ValueError)) as raised:
        RFFBoostRegressor(n_estimators=value).fit([[0.0], [1.0]], [0.0, 1.0])
    assert f"got {text}" in str(raised.value)


def test_hints_for_what_is_no_table(tmp_path):
    for source, hint in ((str(tmp_path / "train.csv"), "sources.csv"), (tmp_path, "sources.csv")):
        with pytest.raises(TypeError, match=hint):
            RFFBoostRegressor().fit(source, [0.0, 1.0])
    (tmp_path / "m.onnx").write_bytes(b"\x08\x0e\x12\x01x:\x03\x12")
    with pytest.raises(ValueError, match=r"ONNX file: onnx_export.OnnxPredictor"):
        load_model(tmp_path / "m.onnx")


def test_a_warm_start_that_adds_nothing_warns():
    model = RFFBoostRegressor(learner="tree", n_estimators=2, warm_start=True)
    model.fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.warns(UserWarning, match="adds none"):
        model.fit([[0.0], [1.0]], [0.0, 1.0])
