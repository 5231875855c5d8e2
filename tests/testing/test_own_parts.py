"""The package's own losses, learners and terms by the functions that users check theirs with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rffboost_ext import LOSSES, CoupledLoss, Learner, Term
from rffboost_ext.losses import IdentityLink, LogLoss, SquaredError
from rffboost_ext.testing import check_learner, check_loss, check_term

from ..cases import DISTRIBUTION_CASES, LOSS_CASES, OWN_COLUMNS, PAIR_NAMES, PAIRS
from ..terms.test_terms import TERMS, D


@pytest.mark.parametrize("case", [*LOSS_CASES, *OWN_COLUMNS, *DISTRIBUTION_CASES], ids=str)
def test_losses(case):
    check_loss(case.make(), case.targets(np.random.default_rng(3), 60))


@pytest.mark.parametrize(("loss", "learner"), PAIRS, ids=PAIR_NAMES)
def test_learners(loss, learner):
    check_learner(learner.make(), loss.make())


@pytest.mark.parametrize("make", TERMS.values(), ids=TERMS)
def test_terms(make):
    rng = np.random.default_rng(0)
    check_term(make(rng), 2.0 * rng.standard_normal((50, D)), make(rng), make(rng))


class Breslow(CoupledLoss):
    """Cox's partial likelihood of y = (event, time), with Breslow's ties, row by row of a matrix of risk sets."""

    link = IdentityLink()
    rows = "all"
    exact_hessian = False

    def n_scores(self, y, n_classes=None):
        return 1

    def sums(self, y, raw, weight):
        """Whether row j is at risk at the time of row i, the share that it has, and the sum, (n, n) and (n,)."""
        at_risk = y[:, 1] >= y[:, [1]]
        risk = weight * np.exp(raw[:, 0]) * at_risk
        return risk / risk.sum(axis=1, keepdims=True), risk.sum(axis=1)

    def value(self, y, raw, weight):
        return y[:, 0] * (np.log(self.sums(y, raw, weight)[1]) - raw[:, 0])

    def derivatives(self, y, raw, weight):
        share, _ = self.sums(y, raw, weight)
        events = weight * y[:, 0]
        gradient = events @ share - events
        return (gradient / weight)[:, None], (events @ (share * (1.0 - share)) / weight)[:, None] + 1e-9

    def baseline(self, y, weight):
        return np.zeros(1)


class PairwiseLogistic(CoupledLoss):
    """The logistic loss of pairs of one query, y = (relevance, query)."""

    link = IdentityLink()
    rows = "groups"
    exact_hessian = False

    def n_scores(self, y, n_classes=None):
        return 1

    def pairs(self, y, raw):
        """Differences of scores, and whether the first is to be above the second, (n, n)."""
        better = (y[:, [1]] == y[:, 1]) & (y[:, [0]] > y[:, 0])
        return raw[:, [0]] - raw[:, 0], better

    def value(self, y, raw, weight):
        difference, better = self.pairs(y, raw)
        return (np.logaddexp(0.0, -difference) * better).sum(axis=1)

    def derivatives(self, y, raw, weight):
        difference, better = self.pairs(y, raw)
        p = better / (1.0 + np.exp(difference))
        curvature = p * (1.0 - p) * better
        hessian = curvature.sum(axis=0) + curvature.sum(axis=1)
        return (p.sum(axis=0) - p.sum(axis=1))[:, None], hessian[:, None] + 1e-9

    def baseline(self, y, weight):
        return np.zeros(1)


def coupled_targets(kind, n=40):
    """Targets of a coupled loss: events and times with ties, or relevance and queries."""
    rng = np.random.default_rng(0)
    if kind is Breslow:
        return np.column_stack([rng.uniform(size=n) < 0.7, np.ceil(8.0 * rng.uniform(size=n))]).astype(float)
    return np.column_stack([rng.integers(0, 4, n), np.arange(n) // 8]).astype(float)


@pytest.mark.parametrize("kind", [Breslow, PairwiseLogistic])
def test_losses_of_coupled_rows(kind):
    check_loss(kind(), coupled_targets(kind))


class Costs(LogLoss):
    """The log loss of y = (class, cost)."""

    def n_scores(self, y, n_classes=None):
        return 1

    def prepared(self, y, weight, n_classes=None):
        return self

    def value(self, y, raw):
        return y[:, 1] * super().value(y[:, :1], raw)

    def derivatives(self, y, raw):
        return tuple(y[:, 1:] * values for values in super().derivatives(y[:, :1], raw))

    def baseline(self, y, weight):
        return super().baseline(y[:, :1], weight * y[:, 1])


class WholeNumbers(SquaredError):
    """The squared error, whose hessian is an array of whole numbers that cannot be written."""

    def derivatives(self, y, raw):
        return raw - y, np.broadcast_to(1, raw.shape)


def test_unusual_losses():
    check_loss("absolute_error", np.random.default_rng(232).standard_normal(500))  # a kink within a difference
    rng = np.random.default_rng(0)
    check_loss(Costs(), np.column_stack([rng.integers(0, 2, 60), rng.uniform(1.0, 9.0, 60)]))
    check_loss(WholeNumbers(), np.arange(60))


@dataclass(frozen=True)
class Estimators(Term):
    """A sum of regressors of scikit-learn, which refuse X without rows, in single precision."""

    models: tuple
    factors: tuple

    def __call__(self, X):
        X = X.astype(np.float32)
        return sum(f * model.predict(X)[:, None] for f, model in zip(self.factors, self.models, strict=True))

    def scaled(self, factor):
        return replace(self, factors=tuple(factor * f for f in self.factors))

    @classmethod
    def stack(cls, terms):
        return cls(sum((t.models for t in terms), ()), sum((t.factors for t in terms), ()))


class Estimator(Learner):
    """A regressor of scikit-learn in single precision."""

    def fit(self, round):
        found = Ridge().fit(round.design.X.astype(np.float32), round.residual[:, 0], sample_weight=round.weight)
        found.coef_, found.intercept_ = found.coef_.astype(np.float32), np.float32(found.intercept_)
        return Estimators((found,), (1.0,))


def test_learners_and_terms_of_scikit_learn_in_single_precision():
    check_learner(Estimator())


def test_targets_of_many_classes():
    y = np.random.default_rng(0).integers(0, 3, 60)
    check_loss("log_loss", y, n_classes=5)
    assert "log_loss" in LOSSES.names()
