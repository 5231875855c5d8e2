"""Landmarks that keep apart: the penalty by its formula, what it does to a search, and that it lasts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import pdist

from rffboost_ext import RFFK, Optimizer, RFFBoostClassifier, load_model, save_model
from rffboost_ext.learners import PLACEMENTS, Apart, Placement
from rffboost_ext.learners.fourier.apart import crowding

from ..cases import LOSS_CASES, make_data, make_round

BINARY = LOSS_CASES[0]
POINTS = np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.5]])


class Noted(Placement):
    """A placement and the landmarks that it has found."""

    def __init__(self, placement, found):
        self.placement = placement
        self.found = found

    def place(self, *args):
        self.found.append(PLACEMENTS.make(self.placement).place(*args))
        return self.found[-1]


def landmarks_of(placement, rounds: int = 12, **params) -> np.ndarray:
    found: list[np.ndarray] = []
    X, y = make_data(BINARY)
    learner = RFFK(6, placement=Noted(placement, found))
    RFFBoostClassifier("exponential", learner, n_estimators=rounds, random_state=0, **params).fit(X, y)
    return np.array(found)


def test_placements_that_differ_keep_their_own_landmarks():
    round, placements = make_round(BINARY), [Apart(strength=0.1), Apart(strength=0.2)]
    for placement in (*placements, placements[1]):
        RFFK(6, placement=placement).fit(round)
    kept = [round.design.learner_state((Apart, repr(placement), "landmarks"), list) for placement in placements]
    assert [len(landmarks) for landmarks in kept] == [1, 2]


def test_penalty_is_its_formula():
    x, penalty = np.array([0.4, -0.3]), crowding(list(POINTS), 0.7, 1.3)
    expected = 0.7 * np.mean([np.exp(-1.3 * np.sum((x - point) ** 2)) for point in POINTS])
    value, gradient = penalty(x)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradient, approx_fprime(x, lambda x: penalty(x)[0], 1e-7), rtol=1e-5)
    assert crowding([x, x], 0.7, 1.3)(x)[0] == pytest.approx(0.7)
    assert penalty(x + 100.0)[0] == 0.0


class Look(Optimizer):
    """Stays at the start, and says what is minimised at some points."""

    def __init__(self, points, seen):
        self.points = points
        self.seen = seen

    def minimise(self, fun, x0, bounds=None):
        self.seen.append([np.append(*fun(x)) for x in self.points])
        return x0


def test_search_gets_the_penalty_of_earlier_rounds():
    """The second search differs from the first by the penalty of the first landmark, which is the origin."""
    seen: list[np.ndarray] = []
    learner = RFFK(5, placement=Apart(strength=0.3, gamma=0.8), optimizer=Look(np.eye(3), seen))
    round = make_round(BINARY)
    for _ in range(2):
        learner.fit(replace(round, rng=np.random.default_rng(4)))
    value, gradient = zip(*map(crowding([np.zeros(3)], 0.3, 0.8), np.eye(3)), strict=True)
    np.testing.assert_allclose(np.subtract(seen[1], seen[0]), np.column_stack([value, gradient]), atol=1e-12)


@pytest.mark.parametrize("placement", ["random", "learned"])
def test_without_strength_it_is_the_placement_itself(placement):
    np.testing.assert_array_equal(landmarks_of(Apart(placement, strength=0.0)), landmarks_of(placement))


def test_what_does_not_search_is_left_alone():
    np.testing.assert_array_equal(landmarks_of(Apart("random", strength=5.0)), landmarks_of("random"))


def test_landmarks_are_further_apart_with_more_strength():
    nearness = [np.exp(-(pdist(landmarks_of(Apart(strength=s), 30)) ** 2) / 3.0).mean() for s in (0.0, 0.1, 1.0)]
    assert nearness[0] > nearness[1] > nearness[2]


def test_a_warm_start_remembers_the_landmarks():
    X, y = make_data(BINARY)
    model = partial(RFFBoostClassifier, "exponential", RFFK(6, placement="apart"), random_state=0)
    whole = model(n_estimators=8).fit(X, y)
    parts = model(n_estimators=4, warm_start=True).fit(X, y).set_params(n_estimators=8).fit(X, y)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-6)
    forgetful = model(n_estimators=8).set_params(learner__placement="learned").fit(X, y)
    assert np.abs(forgetful.decision_function(X) - whole.decision_function(X)).max() > 1e-3


def test_a_stored_model_remembers_the_landmarks(tmp_path):
    X, y = make_data(BINARY)
    learner = RFFK(6, placement=Apart(strength=0.5))
    model = RFFBoostClassifier("exponential", learner, n_estimators=4, random_state=0, warm_start=True).fit(X, y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    scores = [m.set_params(n_estimators=8).fit(X, y).decision_function(X) for m in (model, again)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"strength": -1.0}, "strength"),
        ({"gamma": "scal"}, "gamma"),
        ({"placement": "lerned"}, "unknown placement 'lerned'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y = make_data(BINARY)
    with pytest.raises((ValueError, TypeError), match=message):
        RFFBoostClassifier("exponential", RFFK(placement=Apart(**params)), n_estimators=1).fit(X, y)


def test_its_strength_can_be_searched():
    learner = RFFK(placement="apart").set_params(placement__strength=2.0)
    assert isinstance(learner.placement, Apart)
    assert learner.get_params()["placement__strength"] == 2.0
