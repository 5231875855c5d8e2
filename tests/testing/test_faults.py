"""A part that breaks a law is told apart from those that keep it, by a message that names the law."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import expit

from rffboost_ext import Cosines, Learner, Term, boost
from rffboost_ext.losses import FunctionLink, Gamma, Huber, IdentityLink, LogLoss, SquaredError
from rffboost_ext.testing import check_learner, check_loss

from ..coupled_losses import COUPLED, PairwiseLogistic, coupled_rows

RNG = np.random.default_rng(0)
REAL, CLASSES = RNG.standard_normal(60), RNG.integers(0, 2, 60)
X = RNG.standard_normal((20, 2))


def broken(base, **methods):
    """An instance of a class derived from `base`, with other methods or attributes."""
    return type("Broken", (base,), methods)()


def squared(name):
    """A method of the squared error."""
    return getattr(SquaredError, name)


def first_spread(self, y, raw):
    """The loss in units of the spread of the first targets, which are kept."""
    self.spread_ = getattr(self, "spread_", None) or y.std()
    return squared("value")(self, y, raw)


def counted(self, y, raw):
    """The derivatives, with their number of rows in a dictionary."""
    self.seen["rows"] = len(y)
    return squared("derivatives")(self, y, raw)


HELD = RNG.standard_normal((60, 1))
LOSSES = {
    "gradient must be the derivative": broken(
        SquaredError, derivatives=lambda self, y, raw: (1.01 * (raw - y), np.ones_like(raw))
    ),
    "hessian must be the derivative": broken(
        SquaredError, derivatives=lambda self, y, raw: (raw - y, np.full_like(raw, 1.1))
    ),
    "hessian must be positive": broken(
        SquaredError, exact_hessian=False, derivatives=lambda self, y, raw: (raw - y, -np.ones_like(raw))
    ),
    "hessian must bound the second derivative": broken(
        SquaredError, exact_hessian=False, derivatives=lambda self, y, raw: (raw - y, np.full_like(raw, 0.2))
    ),
    "value must keep nothing on self, which other fits share, got spread_": broken(
        SquaredError, value=first_spread
    ),
    "derivatives must keep nothing on self, which other fits share, got seen": broken(
        SquaredError,
        __init__=lambda self: vars(self).update(output_weights=None, seen={}),
        derivatives=counted,
    ),
    "positive must be True if, and only if": broken(SquaredError, positive=True),
    "got False and a refusal": broken(Gamma, positive=False),
    "got False and a refusal, or losses that are no numbers": broken(
        Gamma,
        positive=False,
        check_target=lambda self, y: None,
        value=lambda self, y, raw: Gamma.value(self, y, raw) + 0.0 * np.log(y)[:, 0],
    ),
    "the response less the target, as canonical says": broken(Huber, canonical=True),
    "predictions must not rise with score 0": broken(SquaredError, monotone=(-1,)),
    "monotone must be None or -1, 0 or 1 for each of 1 scores": broken(SquaredError, monotone=(1, 1)),
    "predictions must not change with score 0": broken(Gamma, monotone=(0,)),
    "prediction of a row must be the same wherever": broken(
        SquaredError, prediction=lambda self, found: found[::-1]
    ),
    "as bounded_ratio says": broken(SquaredError, bounded_ratio=True),
    "gradient must be of type float64": broken(
        SquaredError, derivatives=lambda self, y, raw: ((raw - y).astype(np.float32), np.ones_like(raw))
    ),
    "derivatives must return two arrays": broken(SquaredError, derivatives=lambda self, y, raw: raw - y),
    "gradient must hold real numbers, got object": broken(
        SquaredError, derivatives=lambda self, y, raw: ((raw - y).astype(object), np.ones_like(raw))
    ),
    "in a second call": broken(
        SquaredError, value=lambda self, y, raw: squared("value")(self, y, raw) + RNG.standard_normal(len(y))
    ),
    "if all rows are there twice": broken(
        SquaredError,
        rows="set",
        value=lambda self, y, raw: squared("value")(self, y, raw) / len(y),
        derivatives=lambda self, y, raw: ((raw - y) / len(y), np.full_like(raw, 1.0 / len(y))),
    ),
    "rows must be 'set' or 'independent'": broken(SquaredError, rows="independant"),
    "check_target must not change y": broken(SquaredError, check_target=lambda self, y: y.sort(axis=0)),
    "get_params must not fail": broken(SquaredError, __init__=lambda self, power=2.0: None),
    "gradient must have shape": broken(
        SquaredError, derivatives=lambda self, y, raw: ((raw - y)[:, 0], np.ones(len(y)))
    ),
    "value must have shape": broken(SquaredError, value=lambda self, y, raw: 0.5 * (raw - y) ** 2),
    "gradient must be a new array": broken(
        SquaredError,
        value=lambda self, y, raw: 0.5 * raw[:, 0] ** 2,
        derivatives=lambda self, y, raw: (raw, np.ones_like(raw)),
    ),
    "baseline must not change y": broken(SquaredError, baseline=lambda self, y, weight: (y.sort(0), y[30])[1]),
    "wherever it stands": broken(
        SquaredError,
        value=lambda self, y, raw: (0.5 * (raw - y) ** 2 + HELD)[:, 0],
    ),
    "without the other rows": broken(
        SquaredError,
        value=lambda self, y, raw: squared("value")(self, y, raw) + y.mean(),
    ),
    "baseline must minimise": broken(
        SquaredError, baseline=lambda self, y, weight: weight @ y / weight.sum() + 0.1
    ),
    "that of the row twice": broken(SquaredError, baseline=lambda self, y, weight: np.array([np.average(y)])),
    "link.inverse of a row must be the same": broken(
        SquaredError, link=FunctionLink(lambda raw: raw - raw.mean())
    ),
    "as n_scores says": broken(SquaredError, n_scores=lambda self, y, n_classes=None: 2),
    "link.names must be None or have a name": broken(SquaredError, link=IdentityLink(names=("loc", "scale"))),
    "must be translation_invariant": broken(
        SquaredError,
        value=lambda self, y, raw: 0.5 * ((raw - y) * y)[:, 0] * (raw - y)[:, 0] * y[:, 0],
        derivatives=lambda self, y, raw: (y**2 * (raw - y), y**2 * np.ones_like(raw)),
        baseline=lambda self, y, weight: (weight @ y**3) / (weight @ y**2),
    ),
    "prepared of a prepared loss": broken(
        Huber,
        prepared=lambda self, y, weight, n_classes=None: type(self)(
            1.0 if isinstance(self.delta, str) else 2.0 * self.delta
        ),
    ),
}
CLASSIFICATION = {
    "a probability of 1/2 at a score of 0": lambda raw: np.hstack([expit(-raw - 0.1), expit(raw + 0.1)]),
    "and more above, where it is predicted": lambda raw: np.hstack([expit(raw), expit(-raw)]),
    "probabilities between 0 and 1": lambda raw: np.hstack([0.5 - raw, 0.5 + raw]),
    "must sum to 1": lambda raw: np.full((len(raw), 2), 0.4),
}


@pytest.mark.parametrize("law", LOSSES)
def test_losses(law):
    with pytest.raises(AssertionError, match=re.escape(law)):
        check_loss(LOSSES[law], REAL if not isinstance(LOSSES[law], Gamma) else np.exp(REAL))


IN_A_FIT = [
    "hessian must be positive",
    "derivatives must return two arrays",
    "gradient must hold real numbers, got object",
    "rows must be 'set' or 'independent'",
    "check_target must not change y",
    "gradient must have shape",
    "value must have shape",
    "baseline must not change y",
    "wherever it stands",
    "without the other rows",
    "link.inverse of a row must be the same",
    "as n_scores says",
    "link.names must be None or have a name",
]
"""The laws that a fit relies on, too."""


@pytest.mark.parametrize("law", IN_A_FIT)
def test_fits_name_the_same_laws(law):
    with pytest.raises(ValueError, match=re.escape(law)):
        boost(REAL[:, None], REAL[:, None].copy(), loss=LOSSES[law], learner="tree", n_estimators=1)


@pytest.mark.parametrize("law", CLASSIFICATION)
def test_probabilities(law):
    with pytest.raises(AssertionError, match=law):
        check_loss(broken(LogLoss, canonical=False, link=FunctionLink(CLASSIFICATION[law])), CLASSES)


@pytest.mark.parametrize("kind", COUPLED)
def test_weights_of_coupled_rows(kind):
    """Derivatives of the weighted total that are not divided by the weight of the row."""

    def derivatives(self, y, raw, weight):
        gradient, hessian = kind.derivatives(self, y, raw, weight)
        return gradient * weight[:, None], hessian

    with pytest.raises(AssertionError, match="divided by the weight of the row"):
        check_loss(broken(kind, derivatives=derivatives), coupled_rows(kind, 60)[1])


def test_groups_are_kept_apart():
    def value(self, y, raw, weight):
        return PairwiseLogistic.value(self, y * [1.0, 1.0, 0.0], raw, weight)

    with pytest.raises(AssertionError, match=r"without the other groups|must be the derivative"):
        check_loss(broken(PairwiseLogistic, value=value), coupled_rows(PairwiseLogistic, 60)[1])


class OneCosine(Learner):
    """The better sign of a random cosine."""

    def fit(self, round):
        term = Cosines(self.frequency(round), np.zeros(1), np.ones((1, 1)))
        return term.scaled(float(np.sign(round.inner(round.residual, term(round.design.X)))))

    def frequency(self, round):
        return round.rng.standard_normal((1, round.design.X.shape[1]))


def centre(self, round):
    """A fit that changes the round."""
    round.residual[:] = 0.0
    round.gradient[:] -= round.gradient.mean()
    return OneCosine.fit(self, round)


def kept_frequency(self, round):
    """The frequency of the first fit, also in later ones."""
    self.kept_ = getattr(self, "kept_", None) or OneCosine.frequency(self, round).tolist()
    return np.array(self.kept_)


@dataclass(frozen=True)
class Steps(Term):
    """The sum of functions of one column each that are constant on both sides of a threshold."""

    column: np.ndarray
    threshold: np.ndarray
    sides: np.ndarray

    def __call__(self, X):
        side = (X[:, self.column] >= self.threshold).astype(int)
        return self.sides[np.arange(len(self.column)), side].sum(axis=1)

    def scaled(self, factor):
        return replace(self, sides=factor * self.sides)

    @classmethod
    def stack(cls, terms):
        return cls(*(np.concatenate([getattr(term, name) for term in terms]) for name in vars(terms[0])))


class OneSplit(Learner):
    """A split at 0 of the column whose means on both sides differ most."""

    step = "unit"

    def fit(self, round):
        return max((self.split(round, j, 0.0) for j in range(3)), key=lambda term: np.ptp(term.sides))

    def split(self, round, j, threshold):
        right = round.design.X[:, j] >= threshold
        means = [
            (side * round.weight) @ round.residual / ((side * round.weight) @ round.hessian + 1.0)
            for side in (~right, right)
        ]
        return Steps(np.array([j]), np.array([threshold]), np.stack(means)[None])

    def refit(self, term, round):
        return self.split(round, term.column[0], term.threshold[0])


def split_at_first_median(self, round):
    """A split of the first column at its median in the first fit."""
    self.threshold_ = getattr(self, "threshold_", None) or float(np.median(round.design.X[:, 0]))
    return self.split(round, 0, self.threshold_)


LEARNERS = {
    "random numbers are round.rng's": broken(
        OneCosine,
        frequency=lambda self, round: np.random.standard_normal((1, 3)),  # noqa: NPY002 - the fault
    ),
    "must not change round.gradient": broken(OneCosine, fit=centre),
    "rows whose weight is 0": broken(
        OneCosine, fit=lambda self, round: OneCosine.fit(self, replace(round, weight=np.ones_like(round.weight)))
    ),
    "must keep nothing on self": broken(OneCosine, frequency=kept_frequency),
    "functions of design.X": broken(
        OneCosine, frequency=lambda self, round: OneCosine.frequency(self, round) / round.design.original.std()
    ),
    "not on y - raw": broken(
        OneCosine, fit=lambda self, round: OneCosine.fit(self, replace(round, gradient=round.raw - round.y))
    ),
    "must not fail, got ZeroDivisionError": broken(OneCosine, fit=lambda self, round: 1 / 0),
    "must return a Term": broken(OneCosine, fit=lambda self, round: np.ones(3)),
    "within [-1, 1]": broken(
        OneCosine, bounded=True, fit=lambda self, round: OneCosine.fit(self, round).scaled(1.5)
    ),
    "must lower the loss": broken(
        OneCosine, fit=lambda self, round: Cosines(np.zeros((1, 3)), np.zeros(1), np.zeros((1, 1)))
    ),
    "must lower the loss as before": broken(
        OneCosine, refits=True, refit=lambda self, term, round: replace(term, omega=0.0 * term.omega)
    ),
    "and lower their loss, got the same term": broken(OneCosine, refit=lambda self, term, round: term),
    "refit must keep the structure of the term": broken(
        OneCosine, refit=lambda self, term, round: self.fit(round)
    ),
    "keep the structure of the term": broken(OneSplit, refit=lambda self, term, round: self.fit(round)),
    "in 'prepared' of a loss": broken(OneSplit, fit=split_at_first_median),
    "weight must have shape (1, 1), got (1, 2)": broken(
        OneCosine, fit=lambda self, round: Cosines(self.frequency(round), np.zeros(1), np.ones((1, 2)))
    ),
}


@pytest.mark.parametrize("law", LEARNERS)
def test_learners(law):
    with pytest.raises(AssertionError, match=re.escape(law)):
        check_learner(LEARNERS[law])


def test_valid_parts_pass():
    check_learner(OneCosine())
    check_learner(OneSplit())
    check_loss(broken(SquaredError, link=FunctionLink(lambda raw: IdentityLink().inverse(raw))), REAL)


@pytest.mark.parametrize(("learner", "loss"), [("tree", "cox"), ("tree", "beta"), ("rff_1", "normal")])
def test_losses_that_a_learner_is_not_checked_with(learner, loss):
    with pytest.raises(ValueError, match=r"loss must take one column .* and go with the learner"):
        check_learner(learner, loss)
