"""Losses whose scores are not one for each column of their target, or are relative to it, as users write them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_softmax, softmax

from rffboost_ext import Link, Loss
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


@dataclass(frozen=True)
class PriorLink(Link):
    """Softmax of scores plus logs of class shares."""

    log_prior: tuple

    def inverse(self, raw):
        return softmax(raw + np.array(self.log_prior), axis=1)


class PriorSoftmax(Loss):
    """Softmax of scores relative to the class shares of the training rows (Menon et al., 2021)."""

    task = "classification"

    def __init__(self, log_prior=None):
        self.log_prior = log_prior

    @property
    def link(self):
        return PriorLink(self.log_prior)

    def n_scores(self, y, n_classes=None):
        return n_classes or max(2, int(y[:, 0].max()) + 1)

    def prepared(self, y, weight, n_classes=None):
        if self.log_prior is not None:
            return self
        counts = np.bincount(y[:, 0].astype(int), weights=weight, minlength=self.n_scores(y, n_classes)) + 1e-9
        return PriorSoftmax(tuple(np.log(counts / counts.sum()).tolist()))

    def value(self, y, raw):
        return -log_softmax(raw + np.array(self.log_prior), axis=1)[np.arange(len(y)), y[:, 0].astype(int)]

    def derivatives(self, y, raw):
        p = self.link.inverse(raw)
        return p - np.eye(p.shape[1])[y[:, 0].astype(int)], p * (1.0 - p)

    def baseline(self, y, weight):
        return np.zeros(len(self.log_prior))


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
