"""The choice of a kernel: width, penalty, and what features are multiplied by."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge

from rffboost_ext import Design, Mixture, RFFBoostRegressor, RFFRidge
from rffboost_ext.learners.kernel_machines.kernel_selection import SCALES
from rffboost_ext.terms import FeatureMap
from rffboost_ext.utils.kernel_ridge import best_ridge, local_search, ridge_loo_error, squared_distances

from ..cases import LOSS_CASES, make_round

X = np.random.default_rng(0).uniform(-2.0, 2.0, (150, 3))
SMOOTH = np.sin(2.0 * X[:, 0]) * X[:, 1]
PLAIN = {"early_stopping": False, "random_state": 0}


@pytest.mark.parametrize(("n", "n_outputs"), [(2, 1), (3, 1), (4, 3), (5, 1), (8, 1), (30, 1), (30, 3), (31, 1)])
def test_the_error_of_left_out_rows_is_that_of_refits(n, n_outputs) -> None:
    rng = np.random.default_rng(3)
    Z, target, weight = rng.normal(size=(n, 2)), rng.normal(size=(n, n_outputs)), rng.uniform(0.5, 2.0, n)
    kernel, errors = np.exp(-0.7 * squared_distances(Z)), []
    np.testing.assert_allclose(kernel, np.exp(-0.35 * cdist(Z, Z, "sqeuclidean")), rtol=1e-12)
    for i in range(n):
        rest = np.arange(n) != i
        model = KernelRidge(alpha=0.2, kernel="precomputed")
        model.fit(kernel[np.ix_(rest, rest)], target[rest], sample_weight=weight[rest])
        errors.append(weight[i] * np.square(model.predict(kernel[[i]][:, rest]) - target[i]).sum())
    assert ridge_loo_error(kernel, target, weight, 0.2) == pytest.approx(sum(errors), rel=1e-9)


def test_a_singular_system_has_an_infinite_error() -> None:
    assert ridge_loo_error(-np.eye(3), np.ones((3, 1)), np.ones(3), 0.5) == np.inf


def test_the_least_error_of_all_that_is_compared_is_found() -> None:
    """Here there is no second minimum, at which the search would not arrive."""
    rng, counted = np.random.default_rng(7), [np.ones(3), np.array([1.7, 0.3, 0.1])]
    Z, weight = rng.normal(size=(50, 3)), rng.uniform(0.5, 2.0, 50)
    target = np.sin(Z[:, :1]) + rng.normal(size=(50, 2))
    gammas, penalties = np.geomspace(0.1, 2, 3), np.geomspace(0.01, 10, 4)
    errors = {}
    for i, unit in enumerate(counted):
        for gamma, l2 in product(gammas, penalties):
            kernel = 1.0 + np.exp(-gamma * cdist(unit * Z, unit * Z, "sqeuclidean") / 3)
            errors[i, gamma, l2] = ridge_loo_error(kernel, target, weight, l2)
    found = best_ridge([unit * Z for unit in counted], target, weight, gammas, penalties)
    index, gamma, l2 = min(errors, key=errors.__getitem__)
    assert (found.scale, found.gamma, found.l2) == (index, gamma, l2)
    assert found.error == pytest.approx(errors[index, gamma, l2])


@pytest.mark.parametrize("seed", range(20))
def test_walks_end_where_nothing_beside_is_less(seed) -> None:
    rng = np.random.default_rng(seed)
    bowl = np.add.outer(*(np.square(np.arange(4) - rng.uniform(0.0, 3.0)) for _ in "ab"))
    rough = rng.random((4, 5))
    for start in np.ndindex(4, 4):
        assert local_search(lambda *place: bowl[place], bowl.shape, start)[1] == divmod(int(bowl.argmin()), 4)
        cost, (i, j) = local_search(lambda *place: rough[place], rough.shape, start)
        assert cost == rough[i, j] <= rough[start]
        assert (rough[max(i - 1, 0) : i + 2, j] >= cost).all()
        assert (rough[i, max(j - 1, 0) : j + 2] >= cost).all()


def test_a_walk_may_have_nowhere_to_go() -> None:
    assert local_search(lambda row, column: 2.0, (1, 1), (0, 0)) == (2.0, (0, 0))


def spreads_that_tell(factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Two features that matter, and forty whose spread is `factor` times as large."""
    Z = np.random.default_rng(8).normal(size=(450, 42))
    return Z * np.where(np.arange(42) < 2, 1.0, factor), np.sin(2.0 * Z[:, 0]) + Z[:, 1]


def test_units_that_features_share_are_seen() -> None:
    Z, y = spreads_that_tell(0.05)
    scores = []
    for compared in (True, False):
        learner = RFFRidge(compare_scales=compared)
        model = RFFBoostRegressor(learner=learner, learning_rate=1.0, n_estimators=3, **PLAIN)
        scores.append(model.fit(Z[:300], y[:300]).score(Z[300:], y[300:]))
    assert scores[0] > 0.9
    assert scores[1] < 0.7


@pytest.mark.parametrize(("factor", "unit"), [(20.0, None), (1e150, None), (0.05, 1024.0)])
def test_units_that_mislead_are_not(factor, unit) -> None:
    """Features that matter are of other spreads than those that do not, or all are in another unit."""
    Z, y = spreads_that_tell(factor)
    other = Z / Z.std(axis=0) if unit is None else unit * Z
    one, two = (
        RFFBoostRegressor(learner="rff_ridge", n_estimators=3, **PLAIN).fit(rows, y).predict(rows)
        for rows in (Z, other)
    )
    np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("scale", [None, np.full(2, np.inf), np.array([np.inf, 3.0])])
@pytest.mark.parametrize("way", SCALES)
def test_scales_have_a_mean_square_of_one(way, scale) -> None:
    """Of constant features too, which are divided by infinity, and of a target that nothing tells."""
    round = replace(
        make_round(LOSS_CASES[0], n=20, d=2),
        design=Design(np.ones((20, 2)), FeatureMap(center=np.zeros(2), scale=scale)),
    )
    for target, n_rows in product((round.residual, np.zeros((20, 1))), (20, 1, 0)):
        assert np.square(way(round, target, np.arange(n_rows))).mean() == pytest.approx(1.0)


def test_scales_are_learned_from_so_many_rows_as_a_round_is_fitted_to(monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(
        "rffboost_ext.learners.kernel_machines.kernel_selection.SCALES",
        [lambda round, target, rows: seen.append(rows) or np.ones(3)],
    )
    round = make_round(LOSS_CASES[0], n=2_000)
    round.weight[::2] = 0.0
    RFFRidge(n_components=2, max_samples=400).fit(round)
    learned, used = seen
    assert 300 < len(used) < 500
    assert (used % 2 == 1).all()
    assert np.isin(learned, used).all()
    assert len(learned) == pytest.approx(0.75 * len(used), rel=0.2)


def test_features_by_which_trees_gain_are_seen() -> None:
    """Friedman's first function, with 95 features that do not matter."""
    Z, y = make_friedman1(600, 100, random_state=0)
    given = {"learning_rate": 1.0, "n_estimators": 3} | PLAIN
    ours, even = (
        RFFBoostRegressor(learner=RFFRidge(1_000, compare_scales=compared), **given).fit(Z[:400], y[:400])
        for compared in (True, False)
    )
    assert even.score(Z[400:], y[400:]) < 0.75
    assert ours.score(Z[400:], y[400:]) > 0.85


def test_without_a_target_the_smoothest_kernel_is_kept() -> None:
    round = replace(make_round(LOSS_CASES[0], n=80), gradient=np.zeros((80, 1)))
    learner = RFFRidge(gamma=(0.1, 10.0), l2=(1e-3, 1e1), n_components=2_000)
    omega, _, l2 = learner._select_kernel(round)
    assert l2 == pytest.approx(10.0)
    assert np.square(omega).mean() == pytest.approx(2.0 * 0.1 / omega.shape[1], rel=0.1)


def test_learners_of_one_fit_have_kernels_of_their_own() -> None:
    learner = Mixture(RFFRidge(gamma=(0.01, 0.01)), RFFRidge(gamma=(5.0, 5.0)))
    fitted = RFFBoostRegressor(learner=learner, n_estimators=2, **PLAIN).fit(X, SMOOTH).ensemble_
    spread = [np.square(term.omega).sum() for term in fitted.terms]
    assert spread[1] / spread[0] == pytest.approx(500.0, rel=0.25)
