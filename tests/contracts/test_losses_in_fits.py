"""What a fit refuses of a user's loss: results that depend on other rows, work in place, and no numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import Loss, RFFBoostRegressor, Scales, boost
from rffboost_ext.losses import FunctionLink, IdentityLink, SquaredError

N = 1_500
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N)
FEW = Y[:80] + 5.0
COST = np.where(Y > 1.0, 9.0, 1.0)
PLAIN = {"learner": "tree", "n_estimators": 2, "random_state": 0}
ADVICE = "further columns of y"


class Costly(Loss):
    """Half the squared error times a cost of each row, which a function of the number of rows returns."""

    link = IdentityLink()

    def __init__(self, cost=None, of="all"):
        self.cost = cost
        self.of = of

    def factor(self, method, y):
        return self.cost(len(y)) if self.of in ("all", method) else np.ones(len(y))

    def value(self, y, raw):
        return 0.5 * self.factor("value", y) * (raw[:, 0] - y[:, 0]) ** 2

    def derivatives(self, y, raw):
        factor = np.reshape(self.factor("derivatives", y), (-1, 1))
        return factor * (raw - y), factor * np.ones_like(raw)

    def baseline(self, y, weight):
        return np.array([np.average(y[:, 0], weights=weight)])


HELD = {
    "all": lambda n: COST,
    "as many": lambda n: COST[:n],
    "nested": lambda n, held=({"cost": [COST]},): held[0]["cost"][0],
    "series": lambda n: pd.Series(COST, index=np.arange(N)[::-1]).to_numpy(),
    "equal": lambda n: np.ones(N),
}


@pytest.mark.parametrize("of", ["all", "value", "derivatives"])
@pytest.mark.parametrize("held", HELD)
def test_arrays_by_position_are_refused(held, of):
    loss = Costly(HELD[held], of)
    with pytest.raises(ValueError, match=rf"loss Costly\(.*{ADVICE}"):
        RFFBoostRegressor(loss, early_stopping=False, **PLAIN).fit(X, Y)
    with pytest.raises(ValueError, match=ADVICE):
        boost(X[:300], Y[:300, None], loss=loss, learner="tree", n_estimators=1)


def test_they_are_refused_of_few_rows_and_of_metrics():
    with pytest.raises(ValueError, match=ADVICE):
        RFFBoostRegressor(Costly(HELD["all"]), **PLAIN).fit(X, Y, sample_weight=COST - 1.0)
    other = RFFBoostRegressor(eval_metric=Costly(lambda n: COST[:300]), **PLAIN)
    with pytest.raises(ValueError, match=f"eval_metric: loss Costly.*{ADVICE}"):
        other.fit(X[:300], Y[:300], eval_set=(X[300:400], Y[300:400]))
    RFFBoostRegressor(Costly(np.ones), **PLAIN).fit(X, Y, sample_weight=COST - 1.0)


def loss_with(base, **attributes):
    """An instance of a class with other attributes."""
    return type("Own", (base,), attributes)()


REFUSED = {
    "link.inverse must be an array, got a list": {"link": FunctionLink(lambda raw: raw.tolist())},
    "link must be a Link": {"link": None},
    "missing 1 required positional argument: 'weight'": {"derivatives": lambda self, y, raw, weight: None},
    "n_scores must return an integer >= 1, got 2.0": {"n_scores": lambda self, y, n_classes=None: 2.0},
}


@pytest.mark.parametrize("message", REFUSED)
def test_other_breaches_of_the_contract_are_named(message):
    loss = loss_with(SquaredError, **REFUSED[message])
    with pytest.raises((ValueError, TypeError), match=f"Own.*{re.escape(message)}"):
        RFFBoostRegressor(loss, early_stopping=False, **PLAIN).fit(X[:100], Y[:100])


class Weighted(SquaredError):
    """The squared error with a table of weights, which is not used."""

    def __init__(self, table=None):
        super().__init__()
        self.table = table


@pytest.mark.parametrize("size", [12, 2_000])
def test_models_of_other_tables_are_told_apart(size):
    from rffboost_ext import average

    tables = np.zeros((2, size))
    tables[1, size // 2] = 1e-12
    model, other = (RFFBoostRegressor(Weighted(table), warm_start=True, **PLAIN).fit(X, Y) for table in tables)
    with pytest.raises(ValueError, match="losses of models must agree"):
        average([model, other])
    with pytest.raises(ValueError, match="loss must be that of the previous fit"):
        model.set_params(loss=Weighted(tables[1])).fit(X, Y)
    model.set_params(loss=Weighted(tables[0].copy())).fit(X, Y)
    assert len(repr(model.loss)) < 200


class Small(Costly):
    """The loss times a small number."""

    def __init__(self, unit=1.0):
        super().__init__(lambda n: np.full(n, 1e-6))
        self.unit = unit

    @property
    def scales(self):
        return Scales(self.unit)


def test_a_loss_whose_penalties_would_leave_nothing_is_named():
    with pytest.warns(UserWarning, match=r"loss Small\(\): hessians are at most 1e-06.* = Scales\(unit=1e\+06\)"):
        RFFBoostRegressor(Small(), early_stopping=False, **PLAIN).fit(X, Y)
    losses = Small(1e6), Costly(np.ones)
    scaled, plain = (RFFBoostRegressor(loss, early_stopping=False, **PLAIN).fit(X, Y) for loss in losses)
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X), rtol=1e-6)


class Centring(SquaredError):
    """A loss that removes the mean of few targets while it looks at them."""

    def check_target(self, y):
        if len(y) < 40:
            y -= y.mean()


def with_link(link):
    """The squared error with another link."""
    return type("Linked", (SquaredError,), {"link": FunctionLink(link)})()


def test_targets_to_evaluate_on_are_watched():
    model = RFFBoostRegressor(Centring(), early_stopping=False, **PLAIN).fit(X[:80], FEW)
    with pytest.raises(ValueError, match=r"eval_set 'validation_0': .* check_target must not change y"):
        model.fit(X, Y, eval_set=[(X[:20], FEW[:20])])


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
def test_responses_are_numbers_and_may_be_infinite_far_out():
    with pytest.raises(ValueError, match=r"loss Linked\(.*\): link.inverse must be a number, got nan"):
        RFFBoostRegressor(with_link(lambda raw: np.log(raw - 1e3)), **PLAIN).fit(X[:80], FEW)
    model = RFFBoostRegressor(with_link(lambda raw: np.exp(1e4 + raw)), **PLAIN).fit(X[:80], FEW)
    assert np.isposinf(model.predict(X[:80])).all()
