"""The models of a fit are independent of each other: they may be trained anywhere, and in any order."""

from contextlib import contextmanager

import cloudpickle
import numpy as np
import pytest
from sklearn.datasets import make_classification

from rffboost_ext import RFFBoostClassifier
from rffboost_ext.recipes import Facts, choose_recipe
from rffboost_ext.utils.parallel import START_CALLS

X, Y = make_classification(150, 4, n_informative=3, n_redundant=0, random_state=0)


@contextmanager
def started_by(start):
    """A context in which fits start their calls so."""
    token = START_CALLS.set(start)
    try:
        yield
    finally:
        START_CALLS.reset(token)


def elsewhere_from_the_last(function, several):
    """All calls at once, the last one first, of a copy of the function for each."""
    several = list(several)
    results = {args: cloudpickle.loads(cloudpickle.dumps(function))(*args) for args in reversed(several)}
    return [lambda args=args: results[args] for args in several]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"learner": "symmetric_tree", "refit": True},
        {"n_estimators": 100, "quality": choose_recipe(Facts(6_000, 4, n_classes=2))},
    ],
    ids=["a stack of folds", "a replay", "cosines that trail"],
)
def test_the_models_of_a_fit_do_not_depend_on_where_and_in_which_order_they_are_trained(params):
    model = RFFBoostClassifier(**{"random_state": 0, "n_estimators": 20} | params)
    here = model.fit(X, Y).predict_proba(X)
    curves = model.validation_curves_
    with started_by(elsewhere_from_the_last):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), here)
    assert [len(row) for row in model.validation_curves_] == [len(row) for row in curves]


def test_an_interrupt_keeps_the_models_that_are_done():
    def interrupted(function, several):
        def interrupt():
            raise KeyboardInterrupt

        first, *others = several
        return [lambda: function(*first), *(interrupt for _ in others)]

    model = RFFBoostClassifier(learner="rff_newton", n_folds=3, n_estimators=20, random_state=0)
    with started_by(interrupted), pytest.raises(KeyboardInterrupt, match="rounds that were done"):
        model.fit(X, Y)
    assert 0 < model.n_estimators_ <= 20


def test_callbacks_are_called_in_this_process():
    def elsewhere(function, several):
        raise AssertionError("callbacks would not return")

    seen = []
    model = RFFBoostClassifier(learner="rff_newton", n_estimators=5, callbacks=[seen.append], random_state=0)
    with started_by(elsewhere):
        model.fit(X, Y)
    assert len(seen) == 5 * model.n_folds_
