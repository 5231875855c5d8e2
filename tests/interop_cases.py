"""What the tests of the plugin share: data, and a loss of several outputs as a user would write one."""

from __future__ import annotations

import numpy as np

from rffboost_ext import Loss

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 4))
SIGNAL = X[:, 0] + np.sin(2.0 * X[:, 1])
BINARY = (SIGNAL + 0.5 * RNG.standard_normal(400) > 0.7).astype(int)
WEIGHT = RNG.uniform(0.5, 2.0, 400)
PARAMS = {"max_depth": 3, "nthread": 1, "eta": 0.3}


class Multinomial(Loss):
    """The softmax loss of K classes, one output each."""

    task = "classification"
    multiclass = True

    def value(self, y, raw):
        return np.log(np.exp(raw).sum(axis=1)) - raw[np.arange(len(y)), y[:, 0].astype(int)]

    def derivatives(self, y, raw):
        p = self.inverse_link(raw)
        return p - (y == np.arange(raw.shape[1])), 2.0 * p * (1.0 - p)

    def baseline(self, y, weight):
        return np.log(np.bincount(y[:, 0].astype(int), weights=weight) / weight.sum())

    def inverse_link(self, raw):
        powers = np.exp(raw - raw.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


CLASSES = np.digitize(SIGNAL, [-0.5, 1.5])


def target(loss):
    """Labels that `loss` can use."""
    if loss.task == "regression":
        return np.abs(SIGNAL) + 100.0
    return CLASSES if loss.multiclass else BINARY


def mean_value(loss, y, raw, weight=None):
    """The weighted mean of a loss, by its definition."""
    return np.average(loss.value(np.asarray(y, float)[:, None], raw), weights=weight)
