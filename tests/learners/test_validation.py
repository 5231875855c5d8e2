"""What parts and ensembles promise one another is checked where it can be broken, and named when it is."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pytest

from rffboost_ext import (
    LEARNERS,
    LOSSES,
    RFF1,
    Cosines,
    Learner,
    Loss,
    RFFBoostClassifier,
    RFFBoostRegressor,
    Scales,
    Term,
    Trees,
    boost,
)
from rffboost_ext.losses import FunctionLink, IdentityLink, LogLoss, SquaredError
from rffboost_ext.losses.links import binary_probabilities

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
TARGET = np.sin(2.0 * X[:, 0]) + X[:, 1]


@pytest.mark.parametrize("wrong", [X[:, :1], np.hstack([X, X]), X[0], X[None]], ids=lambda X: str(X.shape))
@pytest.mark.parametrize("learner", ["rff_1", "tree"])
@pytest.mark.parametrize("method", ["raw", "outputs", "staged"])
def test_ensembles_look_at_the_shape_of_the_features(wrong, learner, method):
    ensemble = RFFBoostClassifier(learner=learner, n_estimators=3, random_state=0).fit(X, Y).ensemble_
    if learner == "tree" and wrong.shape == (80, 6):
        pytest.skip("trees do not know how many features there were beyond those that they split on")
    with pytest.raises(ValueError, match="X must have"):
        list(getattr(ensemble, method)(wrong))


def test_ensembles_take_lists_and_integers():
    ensemble = RFFBoostClassifier(n_estimators=3, random_state=0).fit(X, Y).ensemble_
    np.testing.assert_array_equal(ensemble.raw([[1, 2, 3]]), ensemble.raw(np.array([[1.0, 2.0, 3.0]])))


@dataclass(frozen=True)
class Constant(Term):
    value: np.ndarray

    def __call__(self, X):
        return np.broadcast_to(self.value, (len(X), len(self.value)))

    def scaled(self, factor):
        return Constant(factor * self.value)

    @classmethod
    def stack(cls, terms):
        return cls(sum(term.value for term in terms))


class Returns(Learner):
    def __init__(self, result=None):
        self.result = result

    def fit(self, round):
        return self.result


class Writes(Learner):
    """Works in place in one of the arrays that it is given."""

    def __init__(self, name="weight"):
        self.name = name

    def fit(self, round):
        attrgetter(self.name)(round)[:3] = 0.5
        return Constant(np.zeros(1))


def stump(child: int = 2, feature: int = 0, threshold: float = 0.0) -> Trees:
    """A tree of one split."""
    ids = {"left": [1, -1, -1], "right": [child, -1, -1], "feature": [feature, 0, 0]}
    nodes = {name: np.array(values, dtype=np.int32) for name, values in ids.items()}
    value = np.array([[0.0], [1.0], [2.0]])
    thresholds, missing = np.array([threshold, 0.0, 0.0]), np.zeros(3, dtype=bool)
    return Trees(np.array([0]), **nodes, threshold=thresholds, missing_left=missing, value=value)


def waves(*shapes) -> Cosines:
    """Cosines with arrays of these shapes."""
    return Cosines(*(np.ones(shape) for shape in shapes))


def sorted_middle(y):
    """The median, by sorting in place."""
    y.sort(axis=0)
    return y[len(y) // 2]


LOSSES_IN_FITS = {
    r"gradient must have shape .* got .*\(80,\)": {"derivatives": lambda self, y, raw: (y[:, 0], y[:, 0])},
    "gradient must have shape .* a list": {"derivatives": lambda self, y, raw: (y.tolist(), y)},
    "hessian must be finite": {"derivatives": lambda self, y, raw: (y, np.nan * y)},
    "hessian must be positive": {"derivatives": lambda self, y, raw: (y - 0.5, -1.0 - y)},
    "hessian must be positive, got 0": {"derivatives": lambda self, y, raw: (y - 0.5, 0.0 * y)},
    "derivatives must not change y": {"derivatives": lambda self, y, raw: (np.subtract(raw, y, out=y), y)},
    "baseline must be .* got 0.0": {"baseline": lambda self, y, weight: 0.0},
    r"baseline must be .*, got .*nan": {"baseline": lambda self, y, weight: np.array([np.nan])},
    r"baseline must be .*, got \[0.0\]": {"baseline": lambda self, y, weight: [0.0]},
    "baseline must not change y": {"baseline": lambda self, y, weight: sorted_middle(y)},
    r"value must have shape \(80,\), got \(80, 1\)": {"value": lambda self, y, raw: y},
    "value must be a number, got nan for 80 of 80": {"value": lambda self, y, raw: np.nan * y[:, 0]},
    "value must hold real numbers, got <U": {"value": lambda self, y, raw: y[:, 0].astype(str)},
    "value must not change raw": {"value": lambda self, y, raw: np.exp(raw, out=raw)[:, 0]},
    "link.inverse must have shape .*a column for each class": {"link": FunctionLink(lambda raw: raw)},
    "link.inverse must have shape": {"link": FunctionLink(lambda raw: None)},
    "link.inverse must be a number, got nan for 80 of 160": {
        "link": FunctionLink(lambda raw: np.hstack([raw, np.nan * raw]))
    },
    "check_target must not change y": {"check_target": lambda self, y: np.negative(y, out=y)},
    "prepared must not change weight": {
        "prepared": lambda self, y, weight, n_classes=None: np.add(weight, 1.0, out=weight)
    },
    "prepared must return a Loss": {"prepared": lambda self, y, weight, n_classes=None: None},
    "scales.unit must be a number > 0 or a sequence of positive numbers, got 0": {"scales": Scales(0.0)},
}
LEARNERS_IN_FITS = {
    r"phase must have shape \(2,\)": Returns(waves((2, 3), 1, (2, 1))),
    r"omega must have shape \(any, 3\)": Returns(waves((2, 4), 2, (2, 1))),
    r"weight must have shape \(2, 1\)": Returns(waves((2, 3), 2, (2, 2))),
    "node ids of children are out of range: 9": Returns(stump(child=9)),
    "must have one parent, got several for node 1": Returns(stump(child=1)),
    "feature ids are out of range: 3": Returns(stump(feature=3)),
    "thresholds must be numbers, got nan": Returns(stump(threshold=np.nan)),
    "fit must return a Term or .*, got None of type NoneType$": Returns(),
    r"fit must return a Term or .*, got an array of .* shape \(80, 1\)$": Returns(np.zeros((80, 1))),
    r"fit must return a Term or .*, got \[0.5, .{,30}\.\.\.\] of type list$": Returns([0.5] * 80),
    "its term must yield shape": Returns(Constant(np.zeros(2))),
} | {
    rf"fit must not change (round\.)?{name}": Writes(name)
    for name in ("y", "raw", "gradient", "hessian", "weight", "design.X", "design.original")
}


@pytest.mark.parametrize("message", [*LOSSES_IN_FITS, *LEARNERS_IN_FITS])
def test_broken_parts_are_named(message):
    loss = type("Broken", (LogLoss,), LOSSES_IN_FITS.get(message, {}))()
    with pytest.raises((ValueError, TypeError), match=message):
        RFFBoostClassifier(loss, LEARNERS_IN_FITS.get(message, "tree"), n_estimators=2).fit(X, Y)


def test_a_baseline_is_for_all_targets():
    loss = type("Broken", (SquaredError,), {"baseline": lambda self, y, weight: np.zeros(3)})()
    for learner in ("tree", "mixture"):
        with pytest.raises(ValueError, match="baseline must have an entry for each of 1 scores"):
            RFFBoostRegressor(loss, learner, n_estimators=2).fit(X, Y)


GOOD = {"design": X, "y": Y[:, None].astype(float)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"y": 2.0 * GOOD["y"]}, "class indices 0 .. 2, each of them, got no row of class 1"),
        ({"design": np.full((80, 3), np.nan)}, "design must be finite"),
        ({"y": np.full((80, 1), np.inf)}, "y must be finite"),
        ({"design": np.empty((0, 3)), "y": np.empty((0, 1))}, "at least one row"),
    ],
    ids=["classes", "design", "y", "rows"],
)
def test_the_loop_looks_at_its_data(wrong, message):
    with pytest.raises(ValueError, match=message):
        boost(**(GOOD | wrong), loss="log_loss", learner="rff_1", n_estimators=2)


@pytest.mark.parametrize("loss", ["exponential", "log_loss"])
def test_small_probabilities_of_either_class_keep_their_digits(loss):
    raw = np.array([[-30.0], [30.0]])
    p = LOSSES.create(loss).link.inverse(raw)
    np.testing.assert_allclose(p[0, 1], p[1, 0], rtol=1e-15)
    assert p.min() > 0.0
    np.testing.assert_allclose(binary_probabilities(raw).sum(axis=1), 1.0, rtol=1e-15)


def test_extreme_features_and_weights_are_named():
    with pytest.raises(ValueError, match="X: column 0 is too large"):
        RFFBoostClassifier().fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="sample_weight must have a finite sum"):
        RFFBoostClassifier().fit(X, Y, sample_weight=np.full(80, 1e308))


def test_line_search_on_a_loss_with_jumps():
    class Absolute(Loss):
        link = IdentityLink()
        exact_hessian = False

        def value(self, y, raw):
            return np.abs(raw - y)[:, 0]

        def derivatives(self, y, raw):
            return np.sign(raw - y), np.ones_like(raw)

        def baseline(self, y, weight):
            return np.array([np.median(y)])

    y = np.where(np.arange(80) % 3 == 0, TARGET, 0.0)
    given = {"n_estimators": 100, "learning_rate": 1.0, "random_state": 0}
    model = RFFBoostRegressor(Absolute(), "rff_1", **given).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert np.abs(model.predict(X) - y).mean() <= np.abs(y).mean()


def test_names_resolve_at_any_depth():
    model = RFFBoostClassifier(learner="rff_1").set_params(learner__optimizer__max_iter=20)
    assert model.get_params()["learner__optimizer__max_iter"] == 20
    model = RFFBoostClassifier().set_params(learner__cosines__optimizer="lbfgs")
    assert model.set_params(learner__cosines__optimizer__max_iter=3).learner.cosines.optimizer.max_iter == 3


def test_registries_refuse_what_would_be_silent():
    with pytest.raises(TypeError, match="has its own"):
        LEARNERS.create(RFF1(), gamma=2.0)
    with pytest.raises(TypeError, match="register requires a name"):
        LEARNERS.register(RFF1)
    with pytest.raises(ValueError, match="'auto' is reserved"):
        LEARNERS.register("auto")
