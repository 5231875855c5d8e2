"""What a fit refuses of a loss: work in place, and answers that are no numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import RFFBoostRegressor, boost
from rffboost_ext.losses import FunctionLink, SquaredError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = X[:, 0] + 5.0
PLAIN = {"learner": "tree", "n_estimators": 2, "random_state": 0}


class Sorting(SquaredError):
    """A loss whose baseline is a median that is found in place."""

    def baseline(self, y, weight):
        y.sort(axis=0)
        return y[len(y) // 2]


class Centring(SquaredError):
    """A loss that removes the mean of few targets while it looks at them."""

    def check_target(self, y):
        if len(y) < 40:
            y -= y.mean()


def with_link(link):
    """The squared error with another link."""
    return type("Linked", (SquaredError,), {"link": FunctionLink(link)})()


@pytest.mark.parametrize("early_stopping", [True, False])
def test_a_baseline_that_sorts_targets_is_named(early_stopping):
    y = Y.copy()
    with pytest.raises(ValueError, match=r"loss Sorting\(.*\): baseline must not change y"):
        RFFBoostRegressor(Sorting(), early_stopping=early_stopping, **PLAIN).fit(X, y)
    np.testing.assert_array_equal(y, Y)


def test_the_loop_names_it_too():
    with pytest.raises(ValueError, match=r"loss Sorting\(.*\): baseline must not change y"):
        boost(X, Y[:, None].copy(), loss=Sorting(), learner="tree", n_estimators=2)


def test_targets_to_evaluate_on_are_watched():
    model = RFFBoostRegressor(Centring(), early_stopping=False, **PLAIN).fit(X, Y)
    with pytest.raises(ValueError, match=r"eval_set 'validation_0': .* check_target must not change y"):
        model.fit(X, Y, eval_set=[(X[:20], Y[:20])])


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
def test_responses_are_numbers_and_may_be_infinite_far_out():
    with pytest.raises(ValueError, match=r"loss Linked\(.*\): link.inverse must be a number at the baseline"):
        RFFBoostRegressor(with_link(lambda raw: np.log(raw - 1e3)), **PLAIN).fit(X, Y)
    model = RFFBoostRegressor(with_link(lambda raw: np.exp(1e4 + raw)), **PLAIN).fit(X, Y)
    assert np.isposinf(model.predict(X)).all()
