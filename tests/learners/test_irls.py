"""Kernel machines by reweighted least squares: closed forms, leaving rows out, when the default trains them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from rffboost_ext import RFFIRLS, RFFBoostClassifier, RFFBoostRegressor, RFFRidge
from rffboost_ext.learners.kernel_machines.irls import MIN_RELATIVE_CURVATURE, CurvatureBounds, RegularizationPath
from rffboost_ext.learners.subsampling import sample_by_gradient
from rffboost_ext.utils.kernel_ridge import ridge_loo_error, squared_distances

from ..cases import LOSS_CASES, LOSS_NAMED, make_round

PLAIN = {"early_stopping": False, "random_state": 0}


def products(n: int, flip: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Which of two products is larger, as in the data set balance-scale, with a share of the classes flipped."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 5.0, (n, 4))
    return X, (X[:, 0] * X[:, 1] > X[:, 2] * X[:, 3]) ^ (rng.random(n) < flip)


def curvatures(learner, round) -> tuple[np.ndarray, np.ndarray]:
    """Curvatures of rows in the expansion that a learner minimises, (n, C), and their means, (C,)."""
    if isinstance(learner, RFFIRLS):
        bounds = CurvatureBounds.from_round(round)
        return bounds.bounded(round.gradient, round.hessian), bounds.mean
    weighted = round.weight[:, None] * np.square(round.gradient)
    mean = (weighted * round.hessian).sum(axis=0) / weighted.sum(axis=0)
    return np.broadcast_to(mean, round.raw.shape), mean


@pytest.mark.parametrize(
    ("n_components", "first", "later", "max_samples"), [(6, 0, 0, 5_000), (100, 0, 3, 60), (6, 8, 10, 5_000)]
)
@pytest.mark.parametrize("kind", [RFFRidge, RFFIRLS])
@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_a_round_minimises_the_penalised_expansion(case, kind, n_components, first, later, max_samples) -> None:
    """With fewer features than rows and with more, on all rows of positive weight and on a sample of them.

    Penalties of reweighted least squares fall from the round on that has chosen the kernel.
    """
    round = make_round(case, n=120, d=4)
    round = replace(round, weight=np.where(np.arange(120) % 2, round.weight, 0.0))
    penalties = (0.01, 0.4) if kind is RFFIRLS else (0.4, 0.4)
    learner = kind(n_components, gamma=(0.7, 0.7), l2=penalties, max_samples=max_samples)
    learner.fit(replace(round, index=first))
    sample, used = sample_by_gradient(replace(round, rng=np.random.default_rng(5)), max_samples)
    term, output = learner.fit(replace(round, index=later, rng=np.random.default_rng(5)))
    curvature, means = curvatures(learner, round)
    z, omega = round.design.X, term.omega[1:][:n_components]
    features = np.hstack([np.ones((120, 1)), np.cos(z @ omega.T), np.sin(z @ omega.T)])
    # The intercept is penalised like the cosine of a kernel of one.
    norms = np.concatenate([[1.0], np.full(2 * n_components, float(n_components))])
    size = 0.4 * 0.5 ** (later - first) if kind is RFFIRLS else 0.4
    for c, mean in enumerate(means):
        system = features[used].T @ (features[used] * (sample.weight * curvature[:, c])[used, None])
        pull = features[used].T @ (sample.weight * round.gradient[:, c])[used]
        exact = -features @ np.linalg.solve(system + np.diag(norms * mean * size), pull)
        np.testing.assert_allclose(output[:, c], exact, rtol=0, atol=2e-4 * max(1.0, np.abs(exact).max()))
    np.testing.assert_allclose(term(z), output, rtol=0, atol=1e-6 * np.abs(output).max())


@pytest.mark.parametrize("kind", [RFFRidge, RFFIRLS])
def test_systems_are_those_of_the_weights_of_the_round(kind) -> None:
    """A mixture gives each round a sample of its own; only the last system is kept."""
    round, learner = make_round(LOSS_CASES[0], n=60), kind(n_components=8)
    learner.fit(round)
    other = replace(round, weight=np.where(np.arange(60) < 30, round.weight, 0.0))
    found = [learner.fit(one)[0].weight for one in (round, other, round)]
    np.testing.assert_array_equal(found[0], found[2])
    assert np.abs(found[0] - found[1]).max() > 1e-3 * np.abs(found[0]).max()
    kept = [view for key, view in round.design._cache.items() if isinstance(key, tuple) and key[-1] == "system"]
    assert [len(systems) for systems in kept] == [1]


@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_rows_have_curvatures_and_no_step_is_far(case) -> None:
    round = make_round(case, n=200, spread=30.0)
    curvature = CurvatureBounds.from_round(make_round(case, n=200, spread=0.1))
    h = curvature.bounded(round.gradient, round.hessian)
    assert (h >= MIN_RELATIVE_CURVATURE * curvature.mean).all()
    assert (h >= round.hessian).all()
    assert (np.abs(round.gradient) <= curvature.max_step * h * (1.0 + 1e-12)).all()
    assert np.isinf(curvature.max_step).all() == ("squared_error" in case.name)


def test_units_of_outputs_without_a_gradient_are_positive() -> None:
    round = make_round(LOSS_NAMED["squared_error of 2 targets"])
    round.gradient[:, 1] = 0.0
    curvature = CurvatureBounds.from_round(round)
    assert (curvature.mean > 0.0).all()
    assert (curvature.max_step > 0.0).all()


def logistic(
    Z: np.ndarray, y: np.ndarray, weight: np.ndarray, penalties: list[float]
) -> tuple[np.ndarray, RegularizationPath]:
    """A kernel, and the path of kernel logistic regression on it."""
    sign = 2.0 * y[:, None] - 1.0

    def derivatives(scores):
        p = expit(scores)
        return p - y[:, None], p * (1.0 - p)

    def value(scores):
        return float(np.average(np.logaddexp(0.0, -sign * scores)[:, 0], weights=weight))

    curvature = CurvatureBounds(np.ones(1), np.full(1, 10.0))
    return 1.0 + np.exp(-squared_distances(Z)), RegularizationPath(
        derivatives, value, weight, curvature, np.array(penalties)
    )


def test_rounds_of_one_penalty_are_kernel_logistic_regression() -> None:
    rng = np.random.default_rng(1)
    Z, weight = rng.normal(size=(50, 2)), rng.uniform(0.5, 2.0, 50)
    y = (Z[:, 0] * Z[:, 1] + 0.5 * rng.normal(size=50) > 0.0).astype(float)
    kernel, path = logistic(Z, y, weight, [])
    scores = np.zeros((50, 1))
    for _ in range(20):
        scores, left = path._step(kernel, scores, 0.3)
    root = np.linalg.cholesky(kernel + 1e-10 * np.eye(50))
    exact = LogisticRegression(C=1.0 / 0.3, fit_intercept=False, tol=1e-10, max_iter=10_000)
    np.testing.assert_allclose(scores[:, 0], root @ exact.fit(root, y, weight).coef_[0], rtol=0, atol=1e-4)
    refits = []
    for i in range(50):
        rest = np.arange(50) != i
        refits.append(root[i] @ exact.fit(root[rest], y[rest], weight[rest]).coef_[0])
    # Leaving a row out of the last least squares alone is not quite leaving it out.
    assert np.abs(left[:, 0] - refits).max() < 0.1 * np.ptp(refits)
    assert np.corrcoef(left[:, 0], refits)[0, 1] > 0.995


def test_left_out_rows_of_least_squares_are_exact() -> None:
    rng = np.random.default_rng(2)
    Z, y, weight = rng.normal(size=(30, 2)), rng.normal(size=(30, 1)), rng.uniform(0.5, 2.0, 30)
    kernel = 1.0 + np.exp(-squared_distances(Z))
    path = RegularizationPath(
        lambda scores: (scores - y, np.ones_like(y)),
        lambda scores: float(weight @ np.square(scores - y).sum(axis=1)),
        weight,
        CurvatureBounds(np.ones(1), np.full(1, np.inf)),
        np.array([3.0, 1.0, 0.3, 0.1]),
    )
    errors = {l2: ridge_loo_error(kernel, y, weight, l2) for l2 in path.penalties}
    error, l2 = path.best_penalty(kernel)
    assert l2 == min(errors, key=errors.__getitem__)
    assert error == pytest.approx(errors[l2])


def test_the_second_rise_ends_the_path() -> None:
    rng = np.random.default_rng(3)
    Z, y = rng.normal(size=(40, 2)), rng.integers(2, size=40).astype(float)
    kernel, path = logistic(Z, y, np.ones(40), [1.0, 1e-2, 1e-4, 1e-6, 1e-8])
    seen = []
    watched = replace(path, value=lambda scores: seen.append(path.value(scores)) or seen[-1])
    assert watched.best_penalty(kernel)[1] == 1.0
    assert len(seen) == 3


@pytest.mark.parametrize(("frequency", "gamma"), [(0.5, 0.03), (20.0, 3.0)])
def test_the_kernel_that_suits_is_found(frequency, gamma) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (400, 1))
    y = rng.random(400) < expit(4.0 * np.sin(frequency * X[:, 0]))
    model = RFFBoostClassifier(learner=RFFIRLS(), n_estimators=1, **PLAIN).fit(X, y)
    spread = np.square(model.ensemble_.terms[0].omega[1:] * X.std(axis=0)).mean()
    assert spread == pytest.approx(2.0 * gamma, rel=0.2)


@pytest.mark.parametrize(("flip", "expected"), [(0.0, True), (0.2, False)])
def test_the_default_trains_them_where_classes_can_be_told_apart(flip, expected) -> None:
    X, y = products(700, flip)
    model = RFFBoostClassifier(random_state=0).fit(X[:400], y[:400])
    assert any(isinstance(learner, RFFIRLS) for learner in model.learners_) == expected
    if expected:
        assert model.score(X[400:], y[400:]) > 0.97
        regressor = RFFBoostRegressor(random_state=0).fit(X[:400], 1.0 * y[:400])
        assert not any(isinstance(learner, RFFIRLS) for learner in regressor.learners_)
