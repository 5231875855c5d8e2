"""Laws of learners and of the parts that they are made of, over the registries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone

from rffboost_ext import LEARNERS, RFF1, RFFK, Learner, Optimizer, RFFBoostRegressor, Round, SymmetricTree, Tree
from rffboost_ext.learners import FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS, FitCriterion, Spectrum

from ..cases import LEARNER_CASES, LOSS_CASES, OF_THE_PAPERS, make_round, pairs
from ..own_parts import Linear

matches = pytest.mark.parametrize("fit_criterion", FIT_CRITERIA.names())
# A fit criterion sees a loss through the derivatives of a round only.
loss_cases = pytest.mark.parametrize("loss", OF_THE_PAPERS, ids=str)


class Probe(Optimizer):
    """Minimises nothing: shows the function to `look` while it is valid, and returns the start."""

    def __init__(self, look=None):
        self.look = look

    def minimise(self, fun, x0):
        if self.look is not None:
            self.look(fun, np.array(x0))
        return np.array(x0)


@pairs
def test_output_on_the_training_rows_is_the_terms(loss, learner):
    round = make_round(loss)
    term, seen = round.evaluated(learner.make().fit(round))
    anew = round.design.restore(term).materialized()(round.design.original)
    assert seen.shape == anew.shape == round.raw.shape
    assert np.ptp(seen) > 0.0
    np.testing.assert_allclose(seen, anew, rtol=0, atol=1e-6 if learner.name == "tree" else 1e-12)


@loss_cases
@matches
def test_slope_of_a_match_is_its_derivative(loss, fit_criterion):
    round, made = make_round(loss), FIT_CRITERIA.create(fit_criterion)
    output = np.random.default_rng(0).uniform(-1.0, 1.0, (3, len(round.y)))
    slope = made(round, output)[1]
    numeric = (made(round, output + 1e-5)[0] - made(round, output - 1e-5)[0]) / 2e-5
    assert slope.shape == output.shape
    np.testing.assert_allclose(slope, numeric, rtol=1e-6, atol=1e-7)


SEARCHES = [RFF1(l2=0.3), RFFK(n_components=5)]
searches = pytest.mark.parametrize("learner", SEARCHES, ids=["frequency", "landmark"])


def searched(learner, fit_criterion, round, look):
    """Let `look` see what the learner minimises over its frequency or landmark."""
    seen = []

    def note(fun, x0):
        seen.append(look(fun, x0))

    clone(learner).set_params(fit_criterion=fit_criterion, optimizer=Probe(note)).fit(round)
    return seen[0]


def around(x0, seed=1):
    return x0 + np.vstack([np.zeros_like(x0), np.random.default_rng(seed).standard_normal((3, len(x0)))])


@loss_cases
@matches
@searches
def test_gradient_of_the_objective(loss, fit_criterion, learner):
    def check(fun, x0):
        for x in around(x0):
            value, gradient = fun(x)
            numeric = approx_fprime(x, lambda x: fun(x)[0], 1e-7)
            np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5 * max(1.0, abs(value)))

    searched(learner, fit_criterion, make_round(loss), check)


@loss_cases
@matches
def test_objectives_are_those_of_the_papers(loss, fit_criterion):
    round, made = make_round(loss), FIT_CRITERIA.create(fit_criterion)
    X, omega = round.design.X, np.random.default_rng(4).standard_normal((5, 3))

    class Fixed(Spectrum):
        def sample(self, round, size, gamma):
            return omega[:size]

    def values(fun, x0):
        return [fun(x)[0] for x in around(x0)]

    of_landmark = searched(RFFK(5, spectrum=Fixed()), fit_criterion, round, values)
    for value, landmark in zip(of_landmark, around(np.zeros(3)), strict=True):
        assert value == pytest.approx(
            np.average(made(round, np.cos((landmark - X) @ omega.T).mean(axis=1))[0], weights=round.weight)
        )
    learner = RFF1(l2=0.3, spectrum=Fixed())
    of_frequency = searched(learner, fit_criterion, round, values)
    phase = clone(learner).set_params(fit_criterion=fit_criterion, optimizer=Probe()).fit(round)[0].phase[0]
    for value, w in zip(of_frequency, around(omega[0]), strict=True):
        expected = np.average(made(round, np.cos(X @ w - phase))[0], weights=round.weight) + 0.3 * w @ w
        assert value == pytest.approx(expected)


@matches
def test_phase_is_a_minimum_to_a_hundredth_of_a_turn(fit_criterion):
    round, made = make_round(LOSS_CASES[0]), FIT_CRITERIA.create(fit_criterion)
    term, _ = RFF1(learn_frequency=False, fit_criterion=fit_criterion).fit(round)
    z, found = round.design.X @ term.omega[0], float(term.phase[0])
    near = found + np.linspace(-0.3, 0.3, 601)
    value = [round.mean(made(round, np.cos(z - phase))[0]) for phase in near]
    assert abs(found) <= np.pi
    assert abs(near[np.argmin(value)] - found) <= 0.01 * 2.0 * np.pi


class Plain(FitCriterion):
    """A built-in match as a user would have written it: nothing but its formula."""

    def __init__(self, name: str = "linear"):
        self.name = name

    def __call__(self, round, output):
        return FIT_CRITERIA.create(self.name)(round, output)


@loss_cases
@matches
@searches
def test_a_users_match_is_minimised_like_a_built_in_one(loss, fit_criterion, learner):
    def look(fun, x0):
        return [np.concatenate([x, np.atleast_1d(fun(x)[0]), fun(x)[1]]) for x in around(x0)]

    built_in, plain = (
        searched(learner, m, make_round(loss, n=100), look) for m in (fit_criterion, Plain(fit_criterion))
    )
    np.testing.assert_allclose(built_in, plain, rtol=1e-9, atol=1e-11)


def place(round: Round, seed: int) -> np.ndarray:
    moved = make_round(LOSS_CASES[0], weight=round.weight)
    moved.rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    omega = np.ones((1, moved.design.n_features))
    return PLACEMENTS.create("random").place(moved, omega, None, Probe())


def test_random_landmarks_are_training_rows_drawn_by_weight():
    weight = np.where(np.arange(60) < 30, 1.0, 3.0)
    round = make_round(LOSS_CASES[0], weight=weight)
    is_row = np.array([(place(round, seed) == round.design.X).all(axis=1) for seed in range(800)])
    assert is_row.any(axis=1).all()
    rows = is_row.argmax(axis=1)
    heavy = np.mean(rows >= 30)
    assert heavy == pytest.approx(0.75, abs=4.0 * np.sqrt(0.75 * 0.25 / 800))
    assert len(set(rows)) > 50


def test_learned_landmark_is_better_than_the_origin():
    round, fit_criterion = make_round(LOSS_CASES[0]), FIT_CRITERIA.create("exponential")

    def value(optimizer):
        learner = RFFK(n_components=5, weighting="uniform", optimizer=optimizer)
        round.rng.bit_generator.state = np.random.default_rng(0).bit_generator.state
        return round.mean(fit_criterion(round, learner.fit(round)[1][:, 0])[0])

    assert value("lbfgs") < value(Probe()) - 1e-3


@pytest.mark.parametrize("weighting", WEIGHTINGS.names())
def test_weightings_are_distributions(weighting):
    made = WEIGHTINGS.create(weighting)
    for risk in (np.array([0.2, 0.5, 0.1]), np.array([1e3, 0.0, 1e200]), np.ones(4)):
        q = made.weigh(risk, 2.0, 100.0)
        assert q.min() >= 0.0
        assert q.sum() == pytest.approx(1.0, abs=1e-15)
        assert (np.diff(q[np.argsort(risk)]) <= 0.0).all(), "a lower risk has at least the weight of a higher one"


@pytest.mark.parametrize("beta", [0.0, 2.0])
@pytest.mark.parametrize(("weighting", "factor"), [("posterior", np.sqrt(50.0)), ("gibbs", 1.0)])
def test_weightings_are_exponential_in_the_risk(weighting, factor, beta):
    q = WEIGHTINGS.create(weighting).weigh(np.array([0.3, 0.5]), beta, 50.0)
    assert np.log(q[0] / q[1]) == pytest.approx(0.2 * beta * factor, rel=1e-12)


def test_gaussian_spectrum_is_that_of_the_rbf_kernel():
    # Bochner: the mean of cos(omega . delta) is exp(-gamma |delta|^2).
    omega = SPECTRA.create("gaussian").sample(make_round(LOSS_CASES[0], d=2), 200_000, 0.7)
    delta = np.array([0.6, -0.8])
    assert np.cos(omega @ delta).mean() == pytest.approx(np.exp(-0.7), abs=0.008)


@pytest.mark.parametrize("learner", LEARNER_CASES, ids=str)
def test_specs_are_parameters_only(learner):
    made = learner.make()
    assert set(vars(made)) == set(made.get_params(deep=False))
    made.fit(make_round(LOSS_CASES[0]))
    assert set(vars(made)) == set(made.get_params(deep=False))


@pytest.mark.parametrize("base", [Tree, SymmetricTree])
def test_subclasses_may_have_fewer_parameters(base):
    class Small(base):
        def __init__(self, max_depth=2):
            super().__init__(max_depth=max_depth, reg_lambda=2.0)

    X = np.random.default_rng(0).standard_normal((60, 2))
    small, plain = (
        RFFBoostRegressor(learner=learner, n_estimators=4, early_stopping=False).fit(X, X[:, 0]).predict(X)
        for learner in (Small(), base(2, reg_lambda=2.0))
    )
    np.testing.assert_array_equal(small, plain)


TARGET_ROWS = np.random.default_rng(0).standard_normal((120, 3))
TARGET = np.sin(2.0 * TARGET_ROWS[:, 0]) + TARGET_ROWS[:, 1]


@pytest.mark.parametrize("learner", LEARNERS.names())
def test_the_unit_of_the_target_does_not_matter(learner):
    # Powers of two, so that no rounding differs, which searches would multiply.
    params = {"precision": "float64", "n_estimators": 20, "early_stopping": False, "random_state": 0}
    one, *others = (
        RFFBoostRegressor(learner=learner, **params).fit(TARGET_ROWS, unit * TARGET).predict(TARGET_ROWS) / unit
        for unit in (1.0, 2.0**-100, 2.0**100)
    )
    for other in others:
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-4)
    assert np.corrcoef(one, TARGET)[0, 1] > 0.8


@pytest.mark.filterwarnings("ignore:.*sample_weight")
@pytest.mark.parametrize("unit", [2.0**-166, 2.0**130])
def test_one_cosine_does_not_depend_on_the_unit_of_the_weights(unit):
    one, other = (
        RFFBoostRegressor(learner="rff_1", n_estimators=10, random_state=0)
        .fit(TARGET_ROWS, TARGET, sample_weight=np.full(120, weight))
        .predict(TARGET_ROWS)
        for weight in (1.0, unit)
    )
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-3)


OTHER_KINDS = {
    "list": np.ndarray.tolist,
    "text": lambda values: values.astype(str),
    "object": lambda values: values.astype(object),
    "number": lambda values: 1.0,
}


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_outputs_of_another_kind_are_named(kind):
    class Odd(Linear):
        def __call__(self, X):
            return OTHER_KINDS[kind](super().__call__(X))

    class Learns(Learner):
        def fit(self, round):
            return Odd(np.ones((round.design.n_features, 1)))

    params = {"n_estimators": 2, "standardize": False, "extrapolation": "continue"}
    with pytest.raises(ValueError, match=r"its term yields must (be an array|hold real numbers), got"):
        RFFBoostRegressor(learner=Learns(), **params).fit(TARGET_ROWS, TARGET)
