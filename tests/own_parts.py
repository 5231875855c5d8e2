"""Parts that a user writes: a term, a learner that fits it, and two losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from rffboost_ext import Learner, Loss, Term
from rffboost_ext.losses import BinaryLogitLink
from rffboost_ext.losses.wrapper import LossWrapper

Array = np.ndarray


@dataclass(frozen=True)
class Linear(Term):
    """A linear function, ``x -> x . slope``."""

    slope: Array

    def __call__(self, X):
        return X @ self.slope

    def scaled(self, factor):
        return replace(self, slope=factor * self.slope)

    @classmethod
    def stack(cls, terms: Sequence[Linear]):
        return cls(sum(term.slope for term in terms))


class LeastSquares(Learner):
    """Fits one to the residuals."""

    def __init__(self, ridge: float = 1.0):
        self.ridge = ridge

    def fit(self, round):
        X, w = round.design.X, round.weight[:, None]
        return Linear(np.linalg.solve(X.T @ (w * X) + self.ridge * np.eye(X.shape[1]), X.T @ (w * round.residual)))


class CostLogit(Loss):
    """The log loss of two classes times a cost, the second column of y."""

    task, link = "classification", BinaryLogitLink()

    def n_scores(self, y, n_classes=None):
        return 1

    def value(self, y, raw):
        return y[:, 1] * (np.logaddexp(0.0, raw) - y[:, :1] * raw)[:, 0]

    def derivatives(self, y, raw):
        p = expit(raw)
        return y[:, 1:] * (p - y[:, :1]), y[:, 1:] * p * (1.0 - p)

    def baseline(self, y, weight):
        p = np.average(y[:, 0], weights=weight * y[:, 1])
        return np.array([np.log(p / (1.0 - p))])


class FromZero(LossWrapper):
    """Another loss, from raw scores of 0 instead of the best constant."""

    def baseline(self, y, weight):
        return np.zeros_like(self.loss.baseline(y, weight))
