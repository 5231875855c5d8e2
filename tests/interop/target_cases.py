"""Losses whose scores are not one for each column of their target, as users would write them."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from rffboost_ext import Loss
from rffboost_ext.losses import FunctionLink, IdentityLink, LogLink, ParameterLink

from ..cases import DISTRIBUTION_CASES, LOSS_NAMED, OWN_COLUMNS, LossCase, ternary


class CumulativeLogit(Loss):
    """One score of ordered classes."""

    task, exact_hessian, cuts = "classification", False, np.array([-1.0, 1.0])

    def n_scores(self, y, n_classes=None):
        return 1

    link = FunctionLink(lambda raw: np.diff(expit(CumulativeLogit.cuts - raw), axis=1, prepend=0.0, append=1.0))

    def odds(self, y, raw):
        bounds, k = np.array([-40.0, *self.cuts, 40.0]), y[:, 0].astype(int)
        return expit(bounds[k + 1][:, None] - raw), expit(bounds[k][:, None] - raw)

    def value(self, y, raw):
        above, below = self.odds(y, raw)
        return -np.log(np.maximum(above - below, 1e-12))[:, 0]

    def derivatives(self, y, raw):
        above, below = self.odds(y, raw)
        return 1.0 - above - below, above * (1.0 - above) + below * (1.0 - below)

    def baseline(self, y, weight):
        return np.zeros(1)


class WeightedSquare(Loss):
    """The squared error times a cost of each row, the second column of y."""

    link = IdentityLink()

    def n_scores(self, y, n_classes=None):
        return 1

    def value(self, y, raw):
        return 0.5 * y[:, 1] * (raw[:, 0] - y[:, 0]) ** 2

    def derivatives(self, y, raw):
        return y[:, 1:] * (raw - y[:, :1]), y[:, 1:].copy()

    def baseline(self, y, weight):
        return np.array([np.average(y[:, 0], weights=weight * y[:, 1])])


class Gaussian(Loss):
    """Mean and log of the standard deviation as two scores of one target."""

    link = ParameterLink.of_scores(mean=IdentityLink(), std=LogLink())
    exact_hessian = False

    def n_scores(self, y, n_classes=None):
        return 2

    def value(self, y, raw):
        return raw[:, 1] + 0.5 * np.square((y[:, 0] - raw[:, 0]) * np.exp(-raw[:, 1]))

    def derivatives(self, y, raw):
        scale = np.exp(-raw[:, 1])
        z = (y[:, 0] - raw[:, 0]) * scale
        return np.column_stack([-z * scale, 1.0 - z**2]), np.column_stack([scale**2, np.full(len(raw), 2.0)])

    def baseline(self, y, weight):
        mean = np.average(y[:, 0], weights=weight)
        return np.array([mean, 0.5 * np.log(np.average(np.square(y[:, 0] - mean), weights=weight))])


TARGET_CASES = [
    *OWN_COLUMNS,
    *DISTRIBUTION_CASES,
    LOSS_NAMED["squared_error of 2 targets"],
    LossCase("one score of three classes", CumulativeLogit, ternary),
    LossCase(
        "a column of costs",
        WeightedSquare,
        lambda rng, n: np.column_stack([rng.normal(size=n), rng.exponential(size=n)]),
    ),
]
