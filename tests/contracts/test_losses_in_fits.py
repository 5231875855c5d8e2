"""What a fit refuses of a user's loss: results that depend on other rows, work in place, and no numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from rffboost_ext import Loss, RFFBoostClassifier, RFFBoostRegressor, Scales, boost
from rffboost_ext.interop.xgboost import XGBClassifier, XGBRegressor
from rffboost_ext.losses import (
    BinaryLogitLink,
    FunctionLink,
    IdentityLink,
    LabelRegression,
    LogLink,
    LogLoss,
    Poisson,
    SquaredError,
)
from rffboost_ext.testing import check_loss

from ..cases import LOSS_CASES, counts

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


class SignedLogit(Loss):
    """The logistic loss of labels -1 and +1."""

    task, link, rows = "classification", BinaryLogitLink(), "independent"

    def value(self, y, raw):
        return np.logaddexp(0.0, -y * raw)[:, 0]

    def derivatives(self, y, raw):
        p = expit(y * raw)
        return -y * (1.0 - p), p * (1.0 - p)

    def baseline(self, y, weight):
        return np.zeros(1)


def derived(base, **methods):
    """A user's loss that derives from one of this package."""
    return type("Own", (base,), methods)()


def kept_on_self(self, y, weight, n_classes=None):
    self.scale_ = y.std()
    return self


WRONG = {
    "gradient must be the derivative of value": derived(
        SquaredError, derivatives=lambda self, y, raw: (y - raw, np.ones_like(raw))
    ),
    "if all rows are there twice": derived(
        SquaredError,
        rows="set",
        value=lambda self, y, raw: 0.5 * np.square(raw - y)[:, 0] / len(y),
        derivatives=lambda self, y, raw: ((raw - y) / len(y), np.full_like(raw, 1.0 / len(y))),
    ),
    "prepared must not change the loss, whose scale_": derived(SquaredError, prepared=kept_on_self),
    "y holds class indices 0 and 1": SignedLogit(),
}
WARNED = {
    "all gradients are 0 at the baseline": derived(
        SquaredError,
        link=IdentityLink(names=("place",)),
        value=lambda self, y, raw: 0.25 * (raw**2 * (raw**2 - 2.0))[:, 0],
        derivatives=lambda self, y, raw: (raw**3 - raw, 3.0 * raw**2 + 1.0),
        baseline=lambda self, y, weight: np.zeros(1),
    ),
    "link must be that of the loss: a constant target": derived(Poisson, link=IdentityLink()),
    "predicted as": derived(SquaredError, link=LogLink()),
}
hosts = pytest.mark.parametrize("host", [False, True], ids=["loop", "xgboost"])


def fit_to(loss, host):
    """A fit in our loop, or in the loop of XGBoost."""
    y = (Y[:80] > 0.0).astype(int) if loss.task == "classification" else FEW
    kind = (XGBClassifier if host else RFFBoostClassifier) if loss.task == "classification" else None
    kind = kind or (XGBRegressor if host else RFFBoostRegressor)
    model = kind(loss=loss, n_estimators=2, n_jobs=1) if host else kind(loss, **PLAIN)
    return model.fit(X[:80], y)


@hosts
@pytest.mark.parametrize("fault", WRONG)
def test_wrong_losses_are_refused(fault, host):
    with pytest.raises(ValueError, match=fault):
        fit_to(WRONG[fault], host)


@hosts
@pytest.mark.parametrize("fault", WARNED)
def test_losses_that_learn_nothing_are_told(fault, host):
    with pytest.warns(UserWarning, match=fault):
        fit_to(WARNED[fault], host)


class Linex(Loss):
    """The certainty equivalent of Zellner's loss, whose steps are small beside targets far from 0."""

    link, rows, translation_invariant = IdentityLink(), "independent", True

    def value(self, y, raw):
        return (np.expm1(y - raw) - (y - raw))[:, 0]

    def derivatives(self, y, raw):
        return -np.expm1(y - raw), np.exp(y - raw)

    def baseline(self, y, weight):
        return y.max() + np.log([weight @ np.exp(y[:, 0] - y.max()) / weight.sum()])


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_right_losses_raise_no_alarm(case):
    made, y = case.make(), case.targets(RNG, 60)
    if type(made) in (LogLoss, LabelRegression):
        pytest.skip("replaced, or with another loss in it")
    own = type("Own", (type(made),), {})(**made.get_params())
    boost(X[:60], y, loss=own, learner="tree", n_estimators=2)
    if made.translation_invariant:
        margin = RNG.standard_normal((60, own.n_scores(y, None)))
        model = RFFBoostRegressor(own, **PLAIN).fit(X[:60], np.squeeze(y), base_margin=margin)
        np.testing.assert_array_equal(
            model.predict(X[:60], margin),
            RFFBoostRegressor(made, **PLAIN)
            .fit(X[:60], np.squeeze(y), base_margin=margin)
            .predict(X[:60], margin),
        )
    for scale in (1e-6, 1.0, 1e6) if made.task == "regression" and case.targets is not counts else ():
        boost(X[:60], scale * y, loss=own, learner="tree", n_estimators=2)


def test_losses_that_are_not_invariant_are_refused_with_an_offset():
    own = derived(Poisson, translation_invariant=True)
    with pytest.raises(ValueError, match="value must be translation_invariant"):
        RFFBoostRegressor(own, **PLAIN).fit(X[:80], FEW, base_margin=0.1 * Y[:80])


@pytest.mark.parametrize("shift", [0.0, 1e4, 1e6])
def test_targets_far_from_0_raise_no_alarm(shift):
    check_loss(Linex(), 0.5 * FEW + shift)
    RFFBoostRegressor(Linex(), **PLAIN).fit(X[:80], 0.5 * FEW + shift)
