"""A user's own classes in model files: by the same doors as the built-in ones, or named before any writing."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LEARNERS, RFFBoostRegressor, load_model, storable
from rffboost_ext.persistence.values import STORAGE_RULES
from rffboost_ext.terms import FeatureMap

from ..own_parts import LeastSquares, Linear
from .model_file_cases import FEW, X, again, assert_same, packed_and_back


@pytest.fixture
def doors():
    """What is entered in a test goes with it."""
    kinds, learners = dict(STORAGE_RULES), dict(LEARNERS._table)
    yield
    STORAGE_RULES.clear()
    STORAGE_RULES.update(kinds)
    LEARNERS._table.clear()
    LEARNERS._table.update(learners)


def linear_model() -> RFFBoostRegressor:
    return RFFBoostRegressor(learner=LeastSquares(), **FEW).fit(X, X[:, 0])


def test_what_has_no_name_is_named_before_anything_is_written(doors, tmp_path):
    path, model = tmp_path / "model", linear_model()
    with pytest.raises(TypeError, match=r"RFFBoostRegressor.*learner.*LeastSquares.*register the part"):
        model.save_model(path)
    LEARNERS.register("least_squares")(LeastSquares)
    with pytest.raises(TypeError, match=r"terms\[0\].*Linear, which cannot be stored.*storable"):
        model.save_model(path)
    assert list(tmp_path.iterdir()) == []


def test_a_users_own_classes_are_stored_through_the_same_doors(doors, tmp_path):
    model = linear_model()
    LEARNERS.register("least_squares")(LeastSquares)
    storable("tests.Linear")(Linear)
    loaded = again(model, tmp_path)
    assert isinstance(loaded.learner, LeastSquares)
    assert_same(model, loaded, X)


def test_a_user_says_how_a_class_is_stored(doors):
    class Counter:
        def __init__(self):
            self.counts = {"a": 1}

    def build(state):
        made = Counter()
        made.counts = state["counts"]
        return made

    with pytest.raises(TypeError, match="state and build must be given"):
        storable("tests.Counter")(Counter)
    storable("tests.Counter", vars, build)(Counter)
    counter = Counter()
    counter.counts["b"] = 2
    assert packed_and_back(counter).counts == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match=r"'tests.Counter' belongs to .*Counter"):
        storable("tests.Counter")(Linear)


def test_what_is_not_registered_where_a_file_is_loaded(doors, tmp_path):
    LEARNERS.register("least_squares")(LeastSquares)
    storable("tests.Linear")(Linear)
    linear_model().save_model(tmp_path / "model")
    del LEARNERS._table["least_squares"]
    with pytest.raises(ValueError, match=r"model' holds the unknown class 'learner:least_squares'"):
        load_model(tmp_path / "model")
    LEARNERS.register("least_squares")(LeastSquares)
    del STORAGE_RULES["tests.Linear"]
    with pytest.raises(ValueError, match=r"unknown class 'tests.Linear': import .* such as tests,"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("name", [3, "loss:mine"])
def test_names_that_cannot_be(name):
    with pytest.raises(TypeError, match="name must be a string without a colon"):
        storable(name)


def test_standardized_terms_come_back(doors):
    storable("tests.Linear")(Linear)
    term = FeatureMap(center=np.arange(3.0), scale=np.ones(3)).around(Linear(np.ones((3, 1))))
    np.testing.assert_array_equal(packed_and_back(term)(X), term(X))
