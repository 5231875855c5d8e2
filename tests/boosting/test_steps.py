"""Steps against brute force."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from rffboost_ext import RFF1, STEPS, RFFBoostClassifier, RFFBoostRegressor, Shrunk, Step, Tree, boost
from rffboost_ext.boosting.loop import default_step

from ..cases import LOSS_CASES, is_smooth, make_round

loss_cases = pytest.mark.parametrize("case", LOSS_CASES, ids=str)
CASES = {case.name: case for case in LOSS_CASES}


def outputs(round, seed=3):
    return np.random.default_rng(seed).uniform(-0.9, 0.9, round.raw.shape)


def brute_force(fun):
    return minimize_scalar(fun, bracket=(-0.5, 0.5), tol=1e-12)


@loss_cases
@pytest.mark.parametrize("seed", range(3))
def test_line_search_minimises_the_loss(case, seed):
    round = make_round(case, seed)
    output = outputs(round, seed)

    def total(length):
        return round.weight @ round.loss.value(round.y, round.raw + length * output)

    keep, length = STEPS.create("line_search").move(round, output)
    best = brute_force(total)
    assert keep == 1.0
    # A sum of kinks is searched for its lowest kink by both, to no better than their tolerance.
    kinks = not is_smooth(round.loss)
    assert kinks or length == pytest.approx(best.x, abs=1e-6)
    assert total(length) <= best.fun * (1.0 + (1e-7 if kinks else 1e-13))


@loss_cases
@pytest.mark.parametrize("seed", range(3))
def test_newton_minimises_the_second_order_expansion(case, seed):
    round = make_round(case, seed)
    output = outputs(round, seed)

    def expansion(length):
        moved, unit = length * output, np.asarray(round.loss.scales.unit)
        return round.weight @ ((round.gradient * moved + 0.5 * round.hessian * moved**2) / unit).sum(axis=1)

    keep, length = STEPS.create("newton").move(round, output)
    assert keep == 1.0
    assert length == pytest.approx(brute_force(expansion).x, abs=1e-6)


def test_a_fit_leaves_no_trace_in_a_step():
    step = Shrunk(Shrunk(STEPS.create("newton"), 0.5), 0.1)
    before = joblib.hash(step)
    # As after a round that has failed.
    assert step.shrinkage(3) == pytest.approx(0.05)
    assert joblib.hash(step) == before


@pytest.mark.parametrize("seed", range(3))
def test_confidence_rated_minimises_its_bound_on_the_loss(seed):
    round = make_round(CASES["exponential"], seed)
    h, y = outputs(round, seed)[:, 0], 2.0 * round.y[:, 0] - 1.0
    w = round.weight * np.exp(-y * round.raw[:, 0])

    def bound(length):
        return w @ (0.5 * (1.0 + y * h) * np.exp(-length) + 0.5 * (1.0 - y * h) * np.exp(length))

    _, length = STEPS.create("confidence_rated").move(round, h[:, None])
    assert length == pytest.approx(brute_force(bound).x, abs=1e-6)
    loss = round.weight @ round.loss.value(round.y, round.raw + length * h[:, None])
    assert loss <= bound(length) <= round.weight @ round.loss.value(round.y, round.raw)


def test_confidence_rated_is_the_line_search_for_votes():
    round = make_round(CASES["exponential"])
    votes = np.sign(outputs(round))
    closed, searched = (STEPS.create(name).move(round, votes)[1] for name in ("confidence_rated", "line_search"))
    assert closed == pytest.approx(searched, rel=1e-7)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_perfect_outputs_move_far_but_finitely(sign):
    round = make_round(CASES["exponential"])
    perfect = sign * (2.0 * round.y - 1.0)
    for name in ("confidence_rated", "line_search"):
        _, length = STEPS.create(name).move(round, perfect)
        assert np.isfinite(length)
        assert sign * length > 5.0


@loss_cases
@pytest.mark.parametrize("name", STEPS.names())
def test_an_output_of_zero_gives_a_finite_move(case, name):
    round = make_round(case)
    keep, length = STEPS.create(name).move(round, np.zeros_like(round.raw))
    assert np.isfinite([keep, length]).all()


def test_constant_steps():
    round = make_round(CASES["log_loss"])
    assert STEPS.create("unit").move(round, outputs(round)) == (1.0, 1.0)
    assert STEPS.create("zero").move(round, outputs(round)) == (1.0, 0.0)


@loss_cases
def test_shrunk_shortens_the_length_only(case):
    round = make_round(case)
    step = STEPS.create("newton")
    keep, length = Shrunk(step, 0.25).move(round, outputs(round))
    assert (keep, length) == (1.0, 0.25 * step.move(round, outputs(round))[1])
    assert (step.shrinkage(0), Shrunk(step, 0.25).shrinkage(0)) == (1.0, 0.25)
    assert Shrunk(Shrunk(step, 0.25), lambda index: 1.0 / (1.0 + index)).shrinkage(3) == 0.25 / 4.0
    assert Shrunk(STEPS.create("confidence_rated"), 0.5).needs == STEPS.create("confidence_rated").needs


@pytest.mark.parametrize("fold", [1, 3])
@pytest.mark.parametrize("learner", ["tree", "rff_newton"])
def test_a_rate_that_remembers_is_asked_once_a_round(learner, fold):
    asked, taken = [], []

    def falling(index):
        asked.append(index)
        return 0.9 ** len(asked)

    X = np.random.default_rng(0).standard_normal((60, 2))
    params = {"n_estimators": 7, "learning_rate": falling, "random_state": 0, "quality": "fast"}
    model = RFFBoostRegressor(learner=learner, early_stopping=fold > 1, n_folds=fold, **params)
    model.set_params(callbacks=[lambda made: taken.append((made.round.index, made.round.shrinkage, made.length))])
    model.fit(X, X[:, 0])
    # Both learners take steps of length 1 but for the rate.
    assert taken == [(index, 0.9 ** (t + 1), 0.9 ** (t + 1)) for t, index in enumerate(asked)]


@pytest.mark.parametrize(
    ("loss", "learner", "expected"),
    [
        ("exponential", RFF1(), "confidence_rated"),
        ("log_loss", RFF1(), "newton"),
        ("squared_error", RFF1(), "newton"),
        ("exponential", Tree(), "unit"),
    ],
)
def test_natural_step(loss, learner, expected):
    assert STEPS.name_of(default_step(CASES[loss].make(), learner)) == expected


def test_natural_step_of_a_bounded_hessian_is_the_line_search():
    class Bounded(type(CASES["log_loss"].make())):
        exact_hessian = False

    assert STEPS.name_of(default_step(Bounded(), RFF1())) == "line_search"


@pytest.mark.parametrize(("loss", "unit"), [("absolute_error", 1e-60), ("huber", 1e-16), ("huber", 1e8)])
def test_a_line_search_goes_as_far_as_the_targets_do(loss, unit):
    X = np.random.default_rng(0).uniform(-3.0, 3.0, (200, 2))
    y = unit * np.sin(X[:, 0])
    model = RFFBoostRegressor(loss, "rff_1", n_estimators=20, learning_rate=0.3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize(("loss", "learner"), [("log_loss", "rff_1"), ("exponential", "mixture")])
def test_a_line_search_ends_on_separable_data(loss, learner):
    X = np.arange(-10.0, 11.0)[:, None]
    params = {"step": "line_search", "early_stopping": False, "n_estimators": 20, "random_state": 0}
    model = RFFBoostClassifier(loss, learner, **params).fit(X, X[:, 0] > 0.0)
    assert model.score(X, X[:, 0] > 0.0) == 1.0
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("learner", ["rff_newton", "mixture"])
def test_scores_that_are_far_out_leave_nothing_to_learn(learner):
    X = np.random.default_rng(0).standard_normal((60, 2))
    params = {"early_stopping": False, "n_estimators": 5, "random_state": 0}
    first = RFFBoostClassifier(learner=learner, **params).fit(X, X[:, 0] > 0.0)
    far = RFFBoostClassifier(learner=learner, **params).fit(X, X[:, 0] > 0.0, init_model=1e4 * first.ensemble_)
    np.testing.assert_allclose(far.ensemble_.raw(X), 1e4 * first.ensemble_.raw(X), rtol=1e-3, atol=1.0)


class Odd(Step):
    """A step that returns what it is told to."""

    def __init__(self, found=None):
        self.found = found

    def move(self, round, output):
        return self.found


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(
    ("found", "error"),
    [
        (None, TypeError),
        (1.0, TypeError),
        ((1.0, "much"), TypeError),
        ((1.0, np.ones(3)), TypeError),
        ((1.0, 2.0, 3.0), TypeError),
        ((1.0, np.nan), ValueError),
        ((np.inf, 1.0), ValueError),
    ],
)
def test_what_a_step_returns_is_checked(found, error, rounds):
    X = np.arange(20.0)[:, None]
    given = {"learner": "rff_1", "n_estimators": rounds, "early_stopping": False}
    with pytest.raises(error, match=r"step Odd\(.*\): move must return"):
        RFFBoostRegressor(step=Odd(found), **given).fit(X, X[:, 0])
    with pytest.raises(error, match=r"step Odd\(.*\): move must return"):
        boost(X, X, loss="squared_error", learner="rff_1", step=Odd(found), n_estimators=rounds)
