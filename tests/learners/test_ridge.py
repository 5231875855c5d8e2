"""Kernel machines of random Fourier features: closed forms, shared frequencies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_info, threadpool_limits

from rffboost_ext import RFFIRLS, Cosines, Decay, RFFBoostRegressor, RFFRidge
from rffboost_ext.utils.parallel import SINGLE_BLAS

X = np.random.default_rng(0).uniform(-2.0, 2.0, (150, 3))
SMOOTH = np.sin(2.0 * X[:, 0]) * X[:, 1]
PLAIN = {"early_stopping": False, "random_state": 0}
# One kernel and one penalty, and frequencies as they are drawn.
FIXED = {"gamma": (0.6, 0.6), "l2": (0.05, 0.05), "compare_scales": False, "n_directions": 1}


@pytest.mark.filterwarnings("ignore:.*sample_weight")
@pytest.mark.parametrize(("unit", "least", "most"), [(1e-300, 0.0, 0.01), (1e39, 0.9, 1.0), (1e200, 0.9, 1.0)])
def test_equal_weights_may_have_any_size(unit, least, most) -> None:
    """Penalised are sums over the rows: beside tiny weights nothing is learned."""
    model = RFFBoostRegressor(learner="rff_ridge", learning_rate=0.5, n_estimators=20, **PLAIN)
    assert least <= round(model.fit(X, SMOOTH, sample_weight=np.full(len(X), unit)).score(X, SMOOTH), 9) <= most


@pytest.mark.parametrize("largest", [1e6, 1e12, 1e30])
def test_weights_may_be_far_apart(largest) -> None:
    weight = np.where(np.arange(len(X)) % 2, largest, 1.0 / largest)
    model = RFFBoostRegressor(learner="rff_ridge", learning_rate=0.5, n_estimators=20, **PLAIN)
    assert model.fit(X, SMOOTH, sample_weight=weight).score(X[1::2], SMOOTH[1::2]) > 0.9


def test_many_features_are_the_kernel_machine() -> None:
    """One full step from the mean is kernel ridge regression, with weights too."""
    y, weight = np.exp(2.0 * X[:, 0]), np.random.default_rng(6).uniform(0.5, 2.0, len(X))
    Z = np.random.default_rng(1).uniform(-2.0, 2.0, (150, 3))
    learner = RFFRidge(n_components=20_000, **FIXED)
    params = {"n_estimators": 1, "learning_rate": 1.0, "standardize": False, "precision": "float64", **PLAIN}
    params["extrapolation"] = "continue"
    model = RFFBoostRegressor(learner=learner, **params).fit(X, y, sample_weight=weight)
    mean = np.average(y, weights=weight)
    exact = KernelRidge(alpha=0.05, kernel=lambda one, other: 1.0 + np.exp(-0.2 * np.square(one - other).sum()))
    expected = exact.fit(X, y - mean, sample_weight=weight).predict(Z) + mean
    assert np.abs(model.predict(Z) - expected).max() < 0.01 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("learner", "n_outputs", "standardize"),
    [(RFFRidge(), 1, True), (RFFRidge(n_components=8), 2, False), (RFFIRLS(), 1, False), (RFFIRLS(), 2, True)],
    ids=str,
)
def test_rounds_share_their_frequencies(learner, n_outputs, standardize) -> None:
    y = np.column_stack([SMOOTH, 1_000.0 * X[:, 2]])[:, :n_outputs]
    params = {"n_estimators": 12, "standardize": standardize, "learning_rate": Decay(0.5, 0.9)} | PLAIN
    model = RFFBoostRegressor(learner=learner, **params).fit(X, y[:, 0] if n_outputs == 1 else y)
    assert len({id(term.omega) for term in model.ensemble_.terms}) == 1
    (block,) = model.ensemble_.compact().terms
    assert isinstance(block, Cosines)
    # One of them is the intercept.
    assert len(block.omega) == 1 + n_outputs * learner.n_components
    assert model.ensemble_.outputs(X).shape == (len(X), len(block.omega))
    raw = model.ensemble_.baseline + model.ensemble_.outputs(X) @ block.weight
    size = np.abs(raw).max()
    for scores in (model.ensemble_.raw(X), list(model.ensemble_.staged(X))[-1]):
        np.testing.assert_allclose(scores, raw, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("name", ["flags", "amounts"])
def test_rows_that_hardly_differ_are_fitted_in_double_precision(name) -> None:
    rng = np.random.default_rng(0)
    data = {"flags": 1.0 * (rng.random((1200, 5)) < 0.003), "amounts": rng.pareto(0.5, (1200, 1))}[name]
    y = np.log1p(data.sum(axis=1)) + (rng.random(1200) < 0.3)
    model = RFFBoostRegressor(learner="rff_ridge", n_estimators=8, n_folds=1, random_state=0)
    single, double = (
        model.set_params(precision=kind).fit(data, y).predict(data) for kind in ("float32", "float64")
    )
    # The features themselves are rounded to single precision, and folds may end a round apart.
    assert np.mean(np.square(single - double)) < 0.01 * np.var(y)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_constants_are_joined_whatever_they_weigh(weight) -> None:
    joined = Cosines(np.zeros((5, 3)), np.arange(5.0), np.full((5, 2), weight)).merged()
    assert joined.omega.shape == (1, 3)
    np.testing.assert_allclose(joined(X), weight * np.cos(np.arange(5.0)).sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("in_thread", [False, True])
def test_the_last_thread_gives_blas_its_threads_back(in_thread) -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def within() -> list[set[int]]:
        with SINGLE_BLAS:
            with SINGLE_BLAS:
                inner = threads()
            return [inner, threads()]

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        before = threads()
        assert (pool.submit(within).result() if in_thread else within()) == [{1}, {1}]
        assert threads() == before
