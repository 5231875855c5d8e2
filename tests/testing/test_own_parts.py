"""The package's own losses, learners and terms by the functions that users check theirs with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rffboost_ext import LOSSES, Learner, Term
from rffboost_ext.losses import SquaredError
from rffboost_ext.testing import check_learner, check_loss, check_term

from ..cases import DISTRIBUTION_CASES, LOSS_CASES, OWN_COLUMNS, PAIRS, over_pairs
from ..own_parts import CostLogit
from ..terms.test_terms import TERMS, D


@pytest.mark.parametrize("case", [*LOSS_CASES, *OWN_COLUMNS, *DISTRIBUTION_CASES], ids=str)
def test_losses(case):
    check_loss(case.make(), case.targets(np.random.default_rng(3), 60))


@over_pairs([pair for pair in PAIRS if pair[0].name in ("exponential", "squared_error")])
def test_learners(loss, learner):
    check_learner(learner.make(), loss.make())


@pytest.mark.parametrize("make", TERMS.values(), ids=TERMS)
def test_terms(make):
    rng = np.random.default_rng(0)
    check_term(make(rng), 2.0 * rng.standard_normal((50, D)), make(rng), make(rng))


class WholeNumbers(SquaredError):
    """The squared error, whose hessian is an array of whole numbers that cannot be written."""

    def derivatives(self, y, raw):
        return raw - y, np.broadcast_to(1, raw.shape)


def test_unusual_losses():
    check_loss("absolute_error", np.random.default_rng(232).standard_normal(500))  # a kink within a difference
    rng = np.random.default_rng(0)
    check_loss(CostLogit(), np.column_stack([rng.integers(0, 2, 60), rng.uniform(1.0, 9.0, 60)]))
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
