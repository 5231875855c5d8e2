"""Two small losses of coupled rows, which record the rows and weights that they are called with."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rffboost_ext import CoupledLoss, Loss
from rffboost_ext.losses import IdentityLink

Array = np.ndarray


class RecordingLoss(Loss):
    """A loss whose `calls` hold targets (m, 3) and weights (m,); the second column of targets is an id."""

    exact_hessian = False
    link = IdentityLink()
    calls: ClassVar[list[tuple[Array, Array]]] = []

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        return 1

    def record(self, y: Array, weight: Array) -> None:
        self.calls.append((y.copy(), weight.copy()))

    def baseline(self, y: Array, weight: Array) -> Array:
        self.record(y, weight)
        return np.zeros(1)


class PairwiseLogistic(RecordingLoss, CoupledLoss):
    """``w_i log(1 + exp(s_j - s_i))`` of the pairs of a query, i more relevant; y: relevance, id, query."""

    rows = "groups"
    calls: ClassVar[list[tuple[Array, Array]]] = []

    def pairs(self, y: Array, weight: Array) -> Array:
        self.record(y, weight)
        relevance, _, query = y.T
        return (query[:, None] == query) * (relevance[:, None] > relevance) * weight[:, None]

    def value(self, y: Array, raw: Array, weight: Array) -> Array:
        loss = self.pairs(y, weight) * np.logaddexp(0.0, raw[:, 0] - raw)
        return loss.sum(axis=1) / weight

    def derivatives(self, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:
        pairs, p = self.pairs(y, weight), 1.0 / (1.0 + np.exp(raw - raw[:, 0]))
        gradient, hessian = pairs * p, pairs * p * (1.0 - p)
        total = hessian.sum(axis=0) + hessian.sum(axis=1)
        return (
            ((gradient.sum(axis=0) - gradient.sum(axis=1)) / weight)[:, None],
            np.maximum(total / weight, 1e-6)[:, None],
        )


class Breslow(RecordingLoss, CoupledLoss):
    """The negative log partial likelihood with Breslow's method for ties; y: event, id, time."""

    rows = "all"
    calls: ClassVar[list[tuple[Array, Array]]] = []

    def at_risk(self, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:
        """The hazard of row j at the time of row i, (n, n), and the total at that time, (n,)."""
        self.record(y, weight)
        hazard = (y[:, 2] >= y[:, 2:]) * (weight * np.exp(raw[:, 0]))
        return hazard, hazard.sum(axis=1)

    def value(self, y: Array, raw: Array, weight: Array) -> Array:
        return y[:, 0] * (np.log(self.at_risk(y, raw, weight)[1]) - raw[:, 0])

    def derivatives(self, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:
        hazard, total = self.at_risk(y, raw, weight)
        share = hazard / total[:, None]
        events = weight * y[:, 0]
        return (events @ share / weight - y[:, 0])[:, None], np.maximum(events @ share / weight, 1e-6)[:, None]


class Centred(RecordingLoss):
    """Half the square of the residual less the mean residual of the set; y: target, id, 0."""

    exact_hessian = True
    calls: ClassVar[list[tuple[Array, Array]]] = []

    def residual(self, y: Array, raw: Array) -> Array:
        self.record(y, np.ones(len(y)))
        residual = raw[:, 0] - y[:, 0]
        return residual - residual.mean()

    def value(self, y: Array, raw: Array) -> Array:
        return 0.5 * self.residual(y, raw) ** 2

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return self.residual(y, raw)[:, None], np.ones((len(y), 1))


COUPLED = [PairwiseLogistic, Breslow]
N = 120


def coupled_rows(kind: type[RecordingLoss], n: int = N) -> tuple[Array, Array, Array]:
    """Features (n, 3), targets (n, 3) and weights (n,), which are constant in each of n / 10 groups.

    Calls of the loss with other rows are forgotten.
    """
    kind.calls.clear()
    rng = np.random.default_rng(0)
    X, query = rng.normal(size=(n, 3)), rng.permutation(n) % (n // 10)
    signal = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=n)
    X[:, 2] = np.exp(2.0 * signal + X[:, 2])
    if kind is Centred:
        columns, weight = [signal, np.arange(n), np.zeros(n)], rng.uniform(1.0, 3.0, n)
    elif kind is Breslow:
        columns, weight = [rng.random(n) < 0.7, np.arange(n), np.exp(-signal).round(1)], rng.uniform(1.0, 3.0, n)
    else:
        columns, weight = [np.digitize(signal, [0, 1]), np.arange(n), query], 1.0 + query % 3
    return X, np.column_stack(columns).astype(float), weight


def require_single_rows(kind: type[RecordingLoss]) -> list[frozenset[int]]:
    """The sets of rows of all calls so far, which are forgotten, after asserting that each has a row once."""
    calls = [target[:, 1].astype(int).tolist() for target, _ in kind.calls]
    kind.calls.clear()
    assert calls
    # A check calls it with all rows twice.
    assert all(len(ids) in (len(set(ids)), 2 * len(set(ids))) for ids in calls)
    return [frozenset(ids) for ids in calls]


def require_whole_groups(kind: type[RecordingLoss], y: Array, weight: Array) -> list[frozenset[int]]:
    """The same, after asserting that calls have whole groups with one factor on their weights.

    Weights of a set of rows that are all coupled are what they are.
    """
    size = np.bincount(y[:, 2].astype(int))
    for target, given in kind.calls:
        ids = target[:, 1].astype(int)
        factor = given / weight[ids]
        if kind.rows == "all":
            np.testing.assert_allclose(factor, 1.0)
        else:
            query = target[:, 2].astype(int)
            assert set(np.bincount(query, minlength=len(size)) / size) <= {0.0, 1.0}
            np.testing.assert_allclose(factor, np.bincount(query, factor)[query] / size[query])
    return require_single_rows(kind)
