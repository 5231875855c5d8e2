"""Greedy features and kernel boosting against independent oracles: least squares, plain SVRs, AdaBoost."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.papers import baselines
from benchmarks.papers.baselines import (
    BestSVC,
    BestSVR,
    FromZero,
    GreedyConstruction,
    Kernel,
    KernelSum,
    RidgePair,
    RidgeStep,
    Votes,
    kernel_boosting,
)
from rffboost_ext import Design, Round
from rffboost_ext.losses import Exponential, SquaredError

RNG = np.random.default_rng(0)
X, Y = load_iris(return_X_y=True)
Z = StandardScaler().fit_transform(X)
BINARY = (Y == 1).astype(int)
S = 2.0 * BINARY[:, None] - 1.0


def make_round(raw: np.ndarray | None = None, loss=None, y=S, index: int = 0) -> Round:
    """A round on the standardised data."""
    loss, raw = loss or SquaredError(), np.zeros_like(y) if raw is None else raw
    return Round(
        Design(Z), loss, y, raw, *loss.derivatives(y, raw), np.ones(len(y)), index, np.random.default_rng(1)
    )


def test_ridge_pair_has_the_gradient_of_its_profiled_objective():
    round, learner = make_round(RNG.standard_normal(S.shape)), RidgePair(1e-2)
    omega = RNG.standard_normal(4)
    value, gradient, a = learner.objective(round, omega)
    np.testing.assert_allclose(gradient, approx_fprime(omega, lambda w: learner.objective(round, w)[0]), atol=1e-6)
    # The coefficients minimise the ridge, here by least squares on rows that stand for the penalty.
    z = Z @ omega
    F = np.column_stack([round.raw[:, 0], np.cos(z), np.sin(z)])
    rows, targets = np.vstack([F, np.sqrt(1.5) * np.eye(3)]), np.append(S[:, 0], np.zeros(3))
    np.testing.assert_allclose(a, np.linalg.lstsq(rows, targets, rcond=None)[0], atol=1e-6)
    assert value == pytest.approx(np.mean((S[:, 0] - F @ a) ** 2) + 1e-2 * a @ a)


def test_ridge_step_keeps_what_the_pair_was_fitted_with():
    round, learner = make_round(0.3 + RNG.standard_normal(S.shape)), RidgePair(1e-2)
    term = learner.fit(round)
    keep, length = RidgeStep(1e-2).move(round, term(Z))
    _, _, a = learner.objective(round, term.omega[0])
    assert (keep, length) == (pytest.approx(a[0]), 1.0)


def test_greedy_construction_lowers_its_objective_in_every_round():
    model = GreedyConstruction(12, l2=1e-3, random_state=0).fit(X, BINARY)
    raws = list(model.ensemble_.staged(X))
    np.testing.assert_allclose(raws[0], S.mean())
    learner, reached = RidgePair(1e-3), []
    for raw, after, term in zip(raws, raws[1:], model.ensemble_.terms, strict=False):
        round = make_round(raw)
        omega = term.omega[0] * X.std(axis=0)
        value = learner.objective(round, omega)[0]
        kept = np.mean(S * raw) / (np.mean(raw * raw) + 1e-3)
        assert value <= np.mean(np.square(S - kept * raw)) + 1e-3 * kept**2 + 1e-9  # no worse than no pair at all
        assert value <= np.mean(np.square(S - raw)) + 1e-3 + 1e-9  # nor than the score as it was
        assert np.mean(np.square(S - after)) <= value + 1e-9
        reached.append(value)
    assert reached[-1] < 0.6 * reached[0]
    assert model.transform(X).shape == (150, 24)


KERNEL_SET = (Kernel("rbf", gamma=0.2), Kernel("rbf", gamma=2.0), Kernel("linear"), Kernel("poly", 1.0, 2, 1.0))


@pytest.mark.parametrize("rows", [0, 150])
@pytest.mark.parametrize("kernel", KERNEL_SET, ids=lambda k: f"{k.kernel}-{k.gamma}")
def test_kernel_sum_is_what_the_machine_predicts(kernel, rows, monkeypatch):
    monkeypatch.setattr(kernel_boosting, "GRAM_ROWS", rows)  # with and without matrices of all pairs
    targets = np.sin(Z[:, 0]) + Z[:, 1]
    params = {"gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
    machine = SVR(kernel=kernel.kernel, C=0.01, **params)
    ((term, output),) = BestSVR(0.01, [kernel]).candidates(make_round(y=targets[:, None]))
    np.testing.assert_allclose(output, term(Z), atol=1e-9)
    np.testing.assert_allclose(term(Z)[:, 0], machine.fit(Z, targets).predict(Z), atol=1e-9)


def test_terms_obey_their_laws():
    first, second = (
        KernelSum(KERNEL_SET[0], Z[a:b], RNG.standard_normal(b - a), 0.3) for a, b in ((0, 9), (5, 12))
    )
    empty = KernelSum(KERNEL_SET[0], Z[:0], np.zeros(0), 1.5)
    for terms in ((first, second), (first, empty), (Votes((first,), np.ones(1)), Votes((second,), np.ones(1)))):
        total = sum(term(Z) for term in terms)
        np.testing.assert_allclose(type(terms[0]).stack(terms)(Z), total, atol=1e-12)
        np.testing.assert_allclose(terms[0].scaled(-2.0)(Z), -2.0 * terms[0](Z))
        assert total.shape == (150, 1)
    assert len(KernelSum.stack([first, second]).points) == len(np.unique(Z[:12], axis=0))
    assert first.family != KernelSum(KERNEL_SET[1], Z, Z[:, 0], 0.0).family


def test_bmkr_takes_the_best_kernel_for_the_residual_of_each_round():
    model = baselines.bmkr(4, C=0.5, learning_rate=0.5).set_params(learner__kernels=KERNEL_SET).fit(X, BINARY)
    residual = S[:, 0].copy()
    for term, raw in zip(model.ensemble_.terms, list(model.ensemble_.staged(X))[1:], strict=True):
        outputs = {}
        for kernel in KERNEL_SET:
            params = {"gamma": kernel.gamma, "degree": kernel.degree, "coef0": kernel.coef0}
            machine = SVR(kernel=kernel.kernel, C=0.5, **params).fit(Z, residual)
            outputs[kernel] = machine.predict(Z)
        best = min(outputs, key=lambda k: np.square(residual - outputs[k]).sum())
        assert term.innermost.kernel == best
        residual -= 0.5 * outputs[best]
        np.testing.assert_allclose(S[:, 0] - raw[:, 0], residual, atol=5e-3)  # the solver's tolerance is 1e-3
        residual = S[:, 0] - raw[:, 0]


def test_mkboost_of_one_kernel_is_adaboost():
    """scikit-learn's AdaBoost, whose weights sum to 1 where ours sum to n, and whose lengths are twice ours."""
    from sklearn.ensemble import AdaBoostClassifier

    rows = np.unique(np.column_stack([Z, BINARY]), axis=0)
    A, a = rows[:, :4], rows[:, 4].astype(int)
    kernel = Kernel("linear")
    ours = baselines.mkboost(5, C=0.1, subsample=None, standardize=False).set_params(learner__kernels=[kernel])
    peer = AdaBoostClassifier(SVC(kernel="linear", C=0.1 * len(a)), n_estimators=5).fit(A, a)
    ours.fit(A, a)
    lengths = 0.5 * peer.estimator_weights_
    np.testing.assert_allclose(ours.ensemble_.moves[: len(lengths), 1], lengths, rtol=1e-6)
    assert len(set(lengths)) > 2
    np.testing.assert_array_equal(ours.predict(A), peer.predict(A))


def test_mkboost_reweights_rows():
    model = baselines.mkboost(6, C=0.3, random_state=0).set_params(learner__kernels=KERNEL_SET).fit(X, BINARY)
    weight = np.full(150, 1.0 / 150)
    assert model.ensemble_.baseline[0] == 0.0
    for term, (_, length) in zip(model.ensemble_.terms, model.ensemble_.moves, strict=True):
        h = term(X)
        assert set(np.unique(h)) <= {-1.0, 1.0}
        error = weight[(h != S)[:, 0]].sum()
        assert length == pytest.approx(0.5 * np.log((1.0 - error) / error))
        weight *= np.exp(-length * (S * h)[:, 0])
        weight /= weight.sum()
        assert weight[(h != S)[:, 0]].sum() == pytest.approx(0.5)


def test_mkboost_picks_the_least_weighted_error():
    loss = FromZero(Exponential())
    round = make_round(0.5 * RNG.standard_normal(S.shape), loss, BINARY[:, None].astype(float))
    learner = BestSVC(0.05, KERNEL_SET, subsample=None)
    weight = np.exp(-S * round.raw)[:, 0]
    errors = [weight[(term(Z) != S)[:, 0]].sum() for term, _ in learner.candidates(round)]
    stump, _ = learner.fit(round)
    assert weight[(stump(Z) != S)[:, 0]].sum() == pytest.approx(min(errors))
    assert min(errors) < max(errors)


def test_a_draw_of_mkboost_holds_both_classes():
    y = np.zeros((150, 1))
    y[7] = 1.0
    round = make_round(loss=FromZero(Exponential()), y=y)
    ((term, _),) = BestSVC(1e3, [Kernel("rbf", gamma=10.0)], subsample=0.05).candidates(round)
    assert term(Z[7:8])[0, 0] == 1.0


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_mkboost_ends_at_any_learning_rate(rate):
    model = baselines.mkboost(5, C=100.0, subsample=None, learning_rate=rate).fit(X, (Y == 0).astype(int))
    assert model.n_estimators_ == 1


def test_callbacks_of_mkboost_come_on_top():
    rounds = []
    model = baselines.mkboost(9, C=100.0, subsample=None, callbacks=[lambda progress: rounds.append(progress)])
    assert model.fit(X, (Y == 0).astype(int)).n_estimators_ == len(rounds) == 1
