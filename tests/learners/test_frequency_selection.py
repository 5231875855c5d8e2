"""Which frequencies of a kernel are kept: closed forms of its kernel machine, and what they are good for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge

from rffboost_ext import RFFIRLS, RFFBoostRegressor, RFFRidge
from rffboost_ext.learners.kernel_machines.frequency_selection import (
    MIN_FREQUENCIES,
    equalise_lengths,
    select_frequencies,
    squared_amplitudes,
)
from rffboost_ext.learners.kernel_machines.kernel_selection import KernelSelection
from rffboost_ext.utils.kernel_ridge import KernelRidgeFit, SelectedKernel, fit_kernel_ridge, gaussian_kernel

from ..cases import LOSS_CASES, make_round

KERNEL = SelectedKernel(0.0, 0.8, 0.1, 0)
PLAIN = {"early_stopping": False, "random_state": 0}


def machine(n: int = 40, n_outputs: int = 1, l2: float = 0.1):
    """Rows, and a kernel machine of theirs with all that it is made of."""
    rng = np.random.default_rng(0)
    X, target, weight = rng.normal(size=(n, 3)), rng.normal(size=(n, n_outputs)), rng.uniform(0.5, 2.0, n)
    kernel = gaussian_kernel(cdist(X, X, "sqeuclidean") / 3, 0.8)
    solved = fit_kernel_ridge(kernel, target, weight, l2)
    assert solved is not None
    return X, kernel, target, weight, solved


def search_of() -> KernelSelection:
    """What a round says about kernels; its generator is always at the same place."""
    round = replace(make_round(LOSS_CASES[0], n=80, d=3), rng=np.random.default_rng(0))
    return KernelSelection.from_round(round, round.residual, 80, compare_scales=False)


@pytest.mark.parametrize("l2", [1e-3, 10.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_machine_is_kernel_ridge_regression(n_outputs, l2) -> None:
    _, kernel, target, weight, solved = machine(n_outputs=n_outputs, l2=l2)
    model = KernelRidge(alpha=l2, kernel="precomputed").fit(kernel, target, sample_weight=weight)
    np.testing.assert_allclose(solved.dual, model.dual_coef_, rtol=1e-8, atol=1e-10)
    hat = kernel @ np.linalg.inv(kernel + np.diag(l2 / weight))
    assert solved.degrees_of_freedom == pytest.approx(np.trace(hat), rel=1e-8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_amplitudes_are_those_of_the_fourier_transform(n_outputs, dtype) -> None:
    X, _, _, _, solved = machine(n_outputs=n_outputs)
    omega = 2.0 * np.random.default_rng(1).normal(size=(37, 3))
    waves = np.exp(1j * X @ omega.T)
    expected = np.square(np.abs(solved.dual.T @ waves)).sum(axis=0) / np.square(solved.dual).max()
    found = squared_amplitudes(solved.dual, np.ascontiguousarray(X.T, dtype=dtype), omega)
    tolerance = 1e-11 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * expected.max())


def test_directions_of_one_frequency_have_its_length() -> None:
    draws = np.random.default_rng(0).normal(size=(6, 4, 3))
    draws[2, 1] = 0.0
    found = equalise_lengths(draws)
    np.testing.assert_array_equal(found[:, 0], draws[:, 0])
    lengths = np.linalg.norm(draws, axis=2)
    expected = np.where(lengths > 0.0, lengths[:, :1], 0.0)
    np.testing.assert_allclose(np.linalg.norm(found, axis=2), expected)
    np.testing.assert_allclose(found * lengths[:, :, None], draws * lengths[:, :1, None])


def test_a_large_penalty_asks_for_few_frequencies() -> None:
    def kept(n_components: int, l2: float, per_degree: float | None = 8.0) -> int:
        search = search_of()
        return len(select_frequencies(search, replace(KERNEL, l2=l2), n_components, 1, per_degree)[0])

    found = [kept(500, l2) for l2 in (1e-4, 0.1, 3.0, 1e6)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1] == MIN_FREQUENCIES
    assert kept(500, 1e6, None) == 500
    assert kept(5, 1e-4) == 5


def test_what_is_drawn_is_the_kernel() -> None:
    many, _ = select_frequencies(search_of(), KERNEL, 20_000, 1, None)
    np.testing.assert_allclose(np.cov(many.T), 2.0 * 0.8 / 3 * np.eye(3), atol=0.03)


def test_the_best_of_several_directions_is_kept() -> None:
    search = search_of()
    x, solved = search.round.design.X[search.scored].T, machine_of(search)
    kept, _ = select_frequencies(search, KERNEL, 15, 4, None)
    drawn = equalise_lengths(search_of().round.rng.standard_normal((15, 4, 3)))
    drawn *= np.sqrt(2.0 * 0.8 / 3)
    for one, several in zip(kept, drawn, strict=True):
        np.testing.assert_allclose(one, several[squared_amplitudes(solved.dual, x, several).argmax()])


def machine_of(search: KernelSelection) -> KernelRidgeFit:
    """The kernel machine of what a search compares kernels on."""
    X, weight = search.round.design.X[search.scored], search.round.weight[search.scored]
    kernel = gaussian_kernel(cdist(X, X, "sqeuclidean") / 3, KERNEL.gamma)
    solved = fit_kernel_ridge(kernel, search.target[search.scored], weight, KERNEL.l2)
    assert solved is not None
    return solved


def test_without_a_target_the_first_is_kept() -> None:
    search = search_of()
    still = replace(search, target=np.zeros_like(search.target))
    drawn = search_of().round.rng.standard_normal((15, 4, 3))[:, 0]
    found, _ = select_frequencies(still, KERNEL, 15, 4, None)
    np.testing.assert_allclose(found, np.sqrt(2.0 * 0.8 / 3) * drawn)


def test_lengths_are_those_of_the_kernel() -> None:
    """Whatever is chosen: a smooth function does not make frequencies short, nor a rough one long."""
    chosen, _ = select_frequencies(search_of(), KERNEL, 4_000, 8, None)
    assert np.square(chosen).mean() == pytest.approx(2.0 * 0.8 / 3, rel=0.05)


@pytest.mark.parametrize("learner", [RFFRidge, RFFIRLS])
def test_what_the_target_asks_for_is_kept(learner) -> None:
    """Of a wave in one direction of ten: fewer frequencies are as good where they are chosen."""
    rng = np.random.default_rng(0)
    X, direction = rng.normal(size=(1_200, 10)), np.full(10, 10**-0.5)
    y = np.sin(1.2 * X @ direction)
    errors, along = [], []
    for n_directions in (1, 16):
        part = learner(40, gamma=(1.0, 1.0), l2=(0.1, 0.1), compare_scales=False, n_directions=n_directions)
        model = RFFBoostRegressor(learner=part, learning_rate=1.0, n_estimators=1, **PLAIN).fit(X[:600], y[:600])
        errors.append(np.square(model.predict(X[600:]) - y[600:]).mean())
        omega = model.ensemble_.terms[0].omega
        along.append(np.abs(omega @ direction).mean() / np.linalg.norm(omega, axis=1).mean())
    assert errors[1] < 0.5 * errors[0]
    assert along[1] > 2.0 * along[0]
