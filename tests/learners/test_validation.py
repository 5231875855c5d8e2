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
    RFFBoostClassifier,
    RFFBoostRegressor,
    Scales,
    Term,
    Trees,
)
from rffboost_ext.losses import FunctionLink, LogLoss, SquaredError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("wrong", [X[:, :1], np.hstack([X, X]), X[0], X[None]], ids=lambda X: str(X.shape))
@pytest.mark.parametrize("learner", ["rff_1", "tree"])
def test_ensembles_look_at_the_shape_of_the_features(wrong, learner):
    ensemble = RFFBoostClassifier(learner=learner, n_estimators=3, random_state=0).fit(X, Y).ensemble_
    if learner == "tree" and wrong.shape == (80, 6):
        pytest.skip("trees know of the features that they split on")
    for method in (ensemble.raw, ensemble.outputs, ensemble.staged, *[ensemble.gradient] * (learner != "tree")):
        with pytest.raises(ValueError, match="X must have"):
            list(method(wrong))


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


LOSSES_IN_FITS = {
    "gradient must be an array, got a list": {"derivatives": lambda self, y, raw: (y.tolist(), y)},
    "hessian must be finite": {"derivatives": lambda self, y, raw: (y, np.nan * y)},
    "hessian must be positive, got 0": {"derivatives": lambda self, y, raw: (y - 0.5, 0.0 * y)},
    "derivatives must not change y": {"derivatives": lambda self, y, raw: (np.subtract(raw, y, out=y), y)},
    "baseline must be .* got 0.0": {"baseline": lambda self, y, weight: 0.0},
    r"baseline must be .*, got .*nan": {"baseline": lambda self, y, weight: np.array([np.nan])},
    r"baseline must be .*, got \[0.0\]": {"baseline": lambda self, y, weight: [0.0]},
    "value must be a number, got nan for 80 of 80": {"value": lambda self, y, raw: np.nan * y[:, 0]},
    "value must hold real numbers, got <U": {"value": lambda self, y, raw: y[:, 0].astype(str)},
    "value must not change raw": {"value": lambda self, y, raw: np.exp(raw, out=raw)[:, 0]},
    "link.inverse must have shape": {"link": FunctionLink(lambda raw: None)},
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
    "must have one parent": Returns(stump(child=1)),
    "feature ids are out of range: 3": Returns(stump(feature=3)),
    "thresholds must be numbers, got nan": Returns(stump(threshold=np.nan)),
    "fit must return a Term or .*, got None of type NoneType$": Returns(),
    r"fit must return a Term or .*, got an array of .* shape \(80, 1\)$": Returns(np.zeros((80, 1))),
    r"fit must return a Term or .*, got \[0.5, .{,30}\.\.\.\] of type list$": Returns([0.5] * 80),
    "its term yields must have shape": Returns(Constant(np.zeros(2))),
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


@pytest.mark.parametrize("loss", ["exponential", "log_loss"])
def test_small_probabilities_of_either_class_keep_their_digits(loss):
    raw = np.array([[-30.0], [30.0]])
    p = LOSSES.create(loss).link.inverse(raw)
    np.testing.assert_allclose(p[0, 1], p[1, 0], rtol=1e-15)
    assert p.min() > 0.0
    np.testing.assert_allclose(LogLoss().link.inverse(raw).sum(axis=1), 1.0, rtol=1e-15)


def test_extreme_features_and_weights_are_named():
    with pytest.raises(ValueError, match="X: column 0 is too large"):
        RFFBoostClassifier().fit(X * 1e200, Y)
    with pytest.raises(ValueError, match="sample_weight must have a finite sum"):
        RFFBoostClassifier().fit(X, Y, sample_weight=np.full(80, 1e308))


def test_registries_refuse_what_would_be_silent():
    with pytest.raises(TypeError, match="has its own"):
        LEARNERS.create(RFF1(), gamma=2.0)
    with pytest.raises(ValueError, match="'auto' is reserved"):
        LEARNERS.register("auto")
