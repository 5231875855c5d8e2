"""Losses whose link depends on the targets of the training, bound to boosters of both hosts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import softmax

from rffboost_ext import Loss
from rffboost_ext.losses import AffineLink, IdentityLink

from .interop_cases import CLASSES, SIGNAL, X, hosts
from .target_cases import PriorSoftmax


class Centred(Loss):
    """The squared error of scores that are relative to the mean of the training rows."""

    def __init__(self, mean=None):
        self.mean = mean

    @property
    def link(self):
        return AffineLink(IdentityLink(), self.mean, 1.0)

    def prepared(self, y, weight, n_classes=None):
        return self if self.mean is not None else Centred(float(np.average(y[:, 0], weights=weight)))

    def value(self, y, raw):
        return 0.5 * (raw + self.mean - y)[:, 0] ** 2

    def derivatives(self, y, raw):
        return raw + self.mean - y, np.ones_like(raw)

    def baseline(self, y, weight):
        return np.average(y - self.mean, axis=0, weights=weight)


A, B = slice(0, 300), slice(300, None)
SHARES = np.bincount(CLASSES[A]) / 300
CASES = {
    "classes": (PriorSoftmax(), CLASSES, lambda raw: softmax(raw + np.log(SHARES), axis=1)),
    "regression": (Centred(), SIGNAL, lambda raw: raw + SIGNAL[A].astype(np.float32).mean()),
}


@hosts
@pytest.mark.parametrize("name", CASES)
def test_bind_and_metric_use_the_loss_of_the_training(host, name):
    loss, y, inverse = CASES[name]
    matrix, held = host.matrix(X[A], y[A]), host.matrix(X[B], y[B])
    objective, n_scores = host.ours.objective(loss), 3 if name == "classes" else 1
    params, start = host.ours.intercept(loss, matrix), {}
    if host.name == "lightgbm":
        params, start, held.reference = {"num_class": n_scores}, {"baseline": params}, matrix
    booster, curves = host.train(matrix, objective, 8, objective.metric, [held], **params)
    wanted = inverse(host.ours.to_ensemble(booster).raw(X))
    for given in (objective, pickle.loads(pickle.dumps(objective)), objective.loss_):
        model = host.ours.bind(booster, given, **start)
        found = model.predict_proba(X) if name == "classes" else model.predict(X)[:, None]
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    errors = -np.log(wanted[np.arange(400), CLASSES]) if name == "classes" else (wanted[:, 0] - y) ** 2 / 2.0
    assert curves[1][-1] == pytest.approx(errors[B].mean(), rel=1e-4)
    for given in (loss, host.ours.objective(loss)):
        with pytest.raises(ValueError, match=r"link of loss .* depends on the targets"):
            host.ours.bind(booster, given, **start)
