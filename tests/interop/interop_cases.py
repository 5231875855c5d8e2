"""What the tests of the plugin share: data, and a loss of several outputs as a user would write one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from scipy.special import log_softmax, softmax
from scipy.stats import norm
from sklearn.metrics import brier_score_loss, log_loss, mean_absolute_error

from rffboost_ext import LOSSES, Link, Loss
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import FunctionLink

from ..cases import LOSS_NAMED

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 4))
SIGNAL = X[:, 0] + np.sin(2.0 * X[:, 1])
BINARY = (SIGNAL + 0.5 * RNG.standard_normal(400) > 0.7).astype(int)
WEIGHT = RNG.uniform(0.5, 2.0, 400)
PARAMS = {"max_depth": 3, "nthread": 1, "eta": 0.3}


class Halved(Loss):
    """The softmax loss of K classes by half the scores, one output each."""

    link = FunctionLink(lambda raw: softmax(0.5 * raw, axis=1))
    task = "classification"

    def n_scores(self, y, n_classes=None):
        return int(y.max()) + 1 if n_classes is None else n_classes

    def value(self, y, raw):
        return -log_softmax(0.5 * raw, axis=1)[np.arange(len(y)), y[:, 0].astype(int)]

    def derivatives(self, y, raw):
        p = self.link.inverse(raw)
        return 0.5 * (p - (y == np.arange(raw.shape[1]))), 0.5 * p * (1.0 - p)

    def baseline(self, y, weight):
        return 2.0 * np.log(np.bincount(y[:, 0].astype(int), weights=weight) / weight.sum())


@dataclass(frozen=True)
class ProbitLink(Link):
    """The normal quantile of the probability of the second class, times a scale."""

    scale: float = 1.0

    def inverse(self, raw):
        return norm.cdf(raw / self.scale * [-1.0, 1.0])


class Probit(Loss):
    """``-log Phi((2 y - 1) raw / scale)``: no multiple of its scores is a log-odds."""

    task = "classification"

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    @property
    def link(self):
        return ProbitLink(self.scale)

    def value(self, y, raw):
        return -norm.logcdf((2.0 * y - 1.0) * raw / self.scale)[:, 0]

    def derivatives(self, y, raw):
        sign, z = 2.0 * y - 1.0, raw / self.scale
        ratio = np.exp(norm.logpdf(z) - norm.logcdf(sign * z))
        return -sign * ratio / self.scale, ratio * (ratio + sign * z) / self.scale**2

    def baseline(self, y, weight):
        return self.scale * norm.ppf(np.average(y, axis=0, weights=weight))


CLASSES = np.digitize(SIGNAL, [-0.5, 1.5])


POSITIVE = np.abs(SIGNAL) + 100.0
TWO = np.column_stack([SIGNAL + 100.0, -SIGNAL])


@dataclass(frozen=True)
class Case:
    """A loss, and labels that it can use."""

    name: str
    loss: Loss
    y: Any

    def __str__(self):
        return self.name

    @property
    def is_classification(self):
        return self.loss.task == "classification"

    def targets(self, rows=slice(None)):
        """Labels as the loss wants them, (n, C)."""
        return self.y[rows].reshape(len(self.y[rows]), -1).astype(float)

    def fitted(self, weight=None, rows=slice(None)):
        """The loss as a fit minimises it, and its baseline."""
        y = self.targets(rows)
        weight = np.ones(len(y)) if weight is None else weight[rows]
        loss = self.loss.prepared(y, weight)
        return loss, loss.baseline(y, weight)

    @property
    def n_outputs(self):
        return len(self.fitted()[1])

    @property
    def many(self):
        """What a host's own parameters must say of several classes."""
        return {"num_class": self.n_outputs} if self.is_classification and self.n_outputs > 1 else {}


CASES = [
    *(
        Case(name, loss, BINARY if loss.task == "classification" else POSITIVE)
        for name, loss in ((name, LOSSES.create(name)) for name in LOSSES.names() if name in LOSS_NAMED)
    ),
    Case("log_loss of 3 classes", LOSSES.create("log_loss"), CLASSES),
    Case("a user's loss of 3 classes", Halved(), CLASSES),
]
cases = pytest.mark.parametrize("case", CASES, ids=str)
# LightGBM has one target.
cases_of_xgboost = pytest.mark.parametrize(
    "case", [*CASES, Case("squared_error of 2 targets", LOSSES.create("squared_error"), TWO)], ids=str
)


def scored(y, predictions, sample_weight=None):
    """A metric of the user's, which has no meaning but for means, or probabilities as hosts show them."""
    if not np.isin(y, [0, 1, 2]).all():
        return mean_absolute_error(y, predictions, sample_weight=sample_weight)
    metric = log_loss if predictions.ndim > 1 else brier_score_loss
    return metric(y, predictions, sample_weight=sample_weight)


def response(model, X):
    """The probabilities of all classes, or means, (n, K)."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X).reshape(len(X), -1)


def shown(model, X):
    """What hosts show to metrics: means, (n, K) probabilities, or those of the second of two classes."""
    if not hasattr(model, "predict_proba"):
        return model.predict(X)
    found = model.predict_proba(X)
    return found[:, 1] if found.shape[1] == 2 else found


def mean_value(loss, y, raw, weight=None):
    """The weighted mean of a loss, by its definition."""
    y = np.asarray(y, float).reshape(len(raw), -1)
    return np.average(loss.value(y, raw), weights=weight)


@dataclass(frozen=True)
class HostCase:
    """A host: its package, our module for it, and how its estimators and its loop are called."""

    name: str
    own: Any
    ours: Any
    prefix: str
    params: dict[str, Any]
    native: dict[str, Any]
    score: str
    continued: str

    def __str__(self):
        return self.name

    def estimator(self, loss="squared_error", **params):
        """Our estimator for the task of a loss."""
        loss = LOSSES.create(loss) if isinstance(loss, str) and loss in LOSSES.names() else loss
        kind = "Classifier" if getattr(loss, "task", None) == "classification" else "Regressor"
        return getattr(self.ours, self.prefix + kind)(loss=loss, **self.params | params)

    def classifier(self, **params):
        return getattr(self.ours, f"{self.prefix}Classifier")(**self.params | params)

    def theirs(self, kind, **params):
        """The host's own estimator."""
        return getattr(self.own, self.prefix + kind)(**self.params | params)

    def scores(self, model, rows):
        """Raw scores, (n, C)."""
        return np.asarray(model.predict(rows, **{self.score: True}), dtype=float).reshape(np.shape(rows)[0], -1)

    def watch(self, rows, y, weight=None):
        """Arguments of ``fit`` for an evaluation set."""
        silent = {"verbose": False} if self.name == "xgboost" else {}
        name = "sample_weight_eval_set" if self.name == "xgboost" else "eval_sample_weight"
        return {"eval_set": [(rows, y)], **silent} | ({} if weight is None else {name: [weight]})

    def curve(self, model):
        """The curves of the first evaluation set by metric."""
        curves = model.evals_result() if self.name == "xgboost" else model.evals_result_
        return next(iter(curves.values()))

    def matrix(self, rows, y=None, weight=None):
        if self.name == "xgboost":
            return self.own.DMatrix(rows, y, weight=weight)
        return self.own.Dataset(rows, y, weight=weight, free_raw_data=False)

    def train(self, matrix, by, rounds, metric=None, watched=(), **params):
        """A training by an objective: the booster, and the curves of its matrix and of others."""
        seen, every = {}, [matrix, *watched]
        names = [f"set{number}" for number in range(len(every))]
        if self.name == "xgboost":
            parts = {"obj": by, "custom_metric": metric}
            shown = {"evals": [*zip(every, names, strict=True)], "evals_result": seen, "verbose_eval": False}
            booster = self.own.train(self.native | params, matrix, rounds, **parts, **shown)
        else:
            params = self.native | params | {"objective": by}
            shown = {"valid_sets": every, "valid_names": names, "callbacks": [self.own.record_evaluation(seen)]}
            booster = self.own.train(params, matrix, rounds, feval=metric, **shown)
        return booster, [next(iter(curve.values())) for curve in seen.values()]

    def bound(self, matrix, loss, rounds, weight=None, **params):
        """A training from the baseline as an estimator, and its curve."""
        start = self.ours.intercept(loss, matrix)
        own = start if isinstance(start, dict) else {"num_class": len(start)}
        objective = self.ours.objective(loss)
        booster, (curve,) = self.train(matrix, objective, rounds, objective.metric, **own | params)
        return self.ours.bind(booster, objective, **{} if isinstance(start, dict) else {"baseline": start}), curve


XGBOOST = HostCase(
    "xgboost",
    xgboost,
    rxgb,
    "XGB",
    {"max_depth": 3, "n_jobs": 1, "n_estimators": 8},
    PARAMS | {"disable_default_eval_metric": True},
    "output_margin",
    "xgb_model",
)
LIGHTGBM = HostCase(
    "lightgbm",
    lightgbm,
    rlgb,
    "LGBM",
    {"num_leaves": 7, "n_jobs": 1, "n_estimators": 8, "verbose": -1},
    {"num_leaves": 7, "verbose": -1, "num_threads": 1, "metric": "None"},
    "raw_score",
    "init_model",
)
HOSTS = [XGBOOST, LIGHTGBM]
hosts = pytest.mark.parametrize("host", HOSTS, ids=str)
