"""The feature maps against independent oracles: naive sums, scikit-learn's kernels, SciPy's solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.gaussian_process.kernels import Matern as MaternKernel
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from benchmarks.papers import baselines
from benchmarks.papers.baselines import (
    ChiSquare,
    GreedyKernel,
    MappedSVM,
    Matern,
    PBLandmarks,
    RandomFourier,
    RBFLandmarks,
    greedy_kernel,
    second_order_loss,
)

RNG = np.random.default_rng(0)
X, Y = load_iris(return_X_y=True)
Z = StandardScaler().fit_transform(X)
BINARY = (Y == 1).astype(int)
S = 2.0 * BINARY[:, None] - 1.0


def cauchy_kernel(A: np.ndarray, gamma: float) -> np.ndarray:
    return np.prod(1.0 / (1.0 + gamma * np.square(A[:, None] - A)), axis=2)


KERNELS = {
    "gaussian": lambda A, g: rbf_kernel(A, gamma=g),
    "laplace": lambda A, g: laplacian_kernel(A, gamma=g),
    "cauchy": cauchy_kernel,
    "matern": lambda A, g: MaternKernel(1.0 / np.sqrt(2.0 * g), nu=1.5)(A),
    Matern(0.5): lambda A, g: MaternKernel(1.0 / np.sqrt(2.0 * g), nu=0.5)(A),
}


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_error_of_random_features_falls_as_one_over_the_root_of_their_number(kernel):
    gamma, sizes = 0.3, (64, 256, 1024)
    exact = KERNELS[kernel](Z[::3], gamma)

    def error(size: int, seed: int) -> float:
        features = RandomFourier(size, gamma, kernel, random_state=seed).fit(X).transform(X)[::3]
        return float(np.mean(np.square(features @ features.T - exact)))

    errors = [np.sqrt(np.mean([error(size, seed) for seed in range(12)])) for size in sizes]
    np.testing.assert_allclose(np.array(errors) * np.sqrt(sizes), np.mean(errors * np.sqrt(sizes)), rtol=0.2)
    assert errors[0] < 1.0 / np.sqrt(sizes[0])


def naive_similarities(model: PBLandmarks, labels: np.ndarray, own: bool) -> np.ndarray:
    """The map as equations 11 and 12 say it, one landmark and one row at a time."""
    columns = []
    landmarks = StandardScaler().fit(X).transform(model.landmarks_)
    for landmark, label, term in zip(landmarks, model.landmark_classes_, model.ensemble_.terms, strict=True):
        cosines = np.cos((Z - landmark) @ (term.omega * X.std(axis=0)).T)
        sign = np.where(labels == label, 1.0, -1.0)
        aligned = (sign @ cosines - own) / (len(Z) - own)
        columns.append(cosines @ softmax(-model.beta * np.sqrt(len(Z)) * 0.5 * (1.0 - aligned)))
    return np.column_stack(columns)


@pytest.mark.parametrize("labels", [BINARY, Y], ids=["two classes", "three classes"])
@pytest.mark.parametrize("selection", ["random", "replacement", "centroids"])
@pytest.mark.parametrize("beta", [0.0, 0.5, 3.0])
def test_similarities_are_those_of_the_paper(labels, selection, beta):
    model = PBLandmarks(7, 5, 0.4, beta, selection, random_state=3).fit(X, labels)
    expected = naive_similarities(model, labels, own=selection != "centroids")
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-9)


def test_prior_of_many_frequencies_is_the_kernel():
    """With beta = 0 a similarity is a Monte Carlo estimate of the kernel."""
    shared = {"n_landmarks": 9, "gamma": 0.2, "random_state": 1}
    learned = PBLandmarks(n_components=20_000, beta=0.0, **shared).fit(X, Y)
    exact = rbf_kernel(Z, StandardScaler().fit(X).transform(learned.landmarks_), gamma=0.2)
    np.testing.assert_allclose(learned.transform(X), exact, atol=0.04)


def test_kernel_values_to_landmarks():
    model = RBFLandmarks(0.1, 0.3, random_state=0).fit(X, Y)
    scaler = StandardScaler().fit(X)
    expected = rbf_kernel(Z, scaler.transform(model.landmarks_), gamma=0.3)
    np.testing.assert_allclose(model.transform(X), expected)
    assert model.landmarks_.shape == (15, 4)


SOLVERS = {
    "liblinear": LinearSVC(random_state=0),
    "liblinear_dual": LinearSVC(dual=True, random_state=0),
    "libsvm": SVC(kernel="linear", max_iter=10_000, random_state=0),
}


@pytest.mark.parametrize("svm", SOLVERS)
def test_the_linear_svm_is_the_one_that_is_named(svm):
    model = MappedSVM(RBFLandmarks(8, gamma=0.2, random_state=0), C=10.0, svm=svm, random_state=0).fit(X, BINARY)
    plain = clone(SOLVERS[svm]).set_params(C=10.0).fit(model.mapping_.transform(X), BINARY)
    np.testing.assert_array_equal(model.svm_.coef_, plain.coef_)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(model.mapping_.transform(X)))


def test_landmarks_are_rows_equally_many_of_each_class():
    model = RBFLandmarks(11, random_state=0).fit(X, Y)
    assert sorted(np.bincount(model.landmark_classes_)) == [3, 4, 4]
    assert len(np.unique(model.landmarks_, axis=0)) <= 11
    for landmark, label in zip(model.landmarks_, model.landmark_classes_, strict=True):
        assert np.isclose(X[label == Y], landmark).all(axis=1).any()


def test_what_a_small_class_lacks_goes_to_the_others():
    rare = np.where(np.arange(150) < 3, 1, 0)
    model = RBFLandmarks(10, random_state=0).fit(X, rare)
    assert np.bincount(model.landmark_classes_).tolist() == [7, 3]


def test_centroids_are_those_of_their_class():
    from sklearn.cluster import KMeans

    model = RBFLandmarks(6, selection="centroids", random_state=0).fit(X, Y)
    landmarks = StandardScaler().fit(X).transform(model.landmarks_)
    for label in range(3):
        rows, centroids = Z[label == Y], landmarks[model.landmark_classes_ == label]
        nearest = np.square(rows[:, None] - centroids).sum(axis=2)
        for place, centroid in enumerate(centroids):
            np.testing.assert_allclose(rows[nearest.argmin(axis=1) == place].mean(axis=0), centroid, atol=1e-9)
        best = KMeans(2, n_init=20, random_state=0).fit(rows).inertia_
        assert nearest.min(axis=1).sum() < 1.3 * best


@pytest.mark.parametrize("codes", [BINARY, Y], ids=["two classes", "three classes"])
def test_second_order_loss_is_the_sum_over_all_pairs(codes, monkeypatch):
    monkeypatch.setattr(greedy_kernel, "ELEMENTS", 200)  # several blocks of rows
    omega = RNG.standard_normal((9, 4))
    n = len(Z)
    naive = np.zeros(9)
    for i in range(n):
        for k in range(n):
            if i != k:
                sign = 1.0 if codes[i] == codes[k] else -1.0
                naive += 0.5 * (1.0 - sign * np.cos(omega @ (Z[i] - Z[k])))
    np.testing.assert_allclose(second_order_loss(Z, codes, omega), naive / (n * (n - 1)), atol=1e-12)


def test_posterior_over_frequencies_is_the_softmax():
    model = GreedyKernel(20, 400, beta=3.0, random_state=0).fit(X, BINARY)
    np.testing.assert_allclose(model.probabilities_, softmax(-3.0 * np.sqrt(150) * model.losses_))


def test_a_new_beta_needs_no_new_pass(monkeypatch):
    model = GreedyKernel(20, 400, random_state=0).fit(X, BINARY)
    anew = clone(model).set_params(beta=5.0, n_components=30).fit(X, BINARY)
    before = model.transform(X)
    monkeypatch.setattr(greedy_kernel, "second_order_loss", None)
    monkeypatch.setattr(GreedyKernel, "_frequencies", None)
    reweighted = model.reweighted(beta=5.0, n_components=30)
    np.testing.assert_array_equal(reweighted.transform(X), anew.transform(X))
    np.testing.assert_array_equal(model.transform(X), before)
    with pytest.raises(ValueError, match="beta"):
        model.reweighted(beta=-1.0)


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 0.05, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_okrff_solves_its_problem(rho, seed):
    """Against SLSQP, and by the conditions of Karush, Kuhn and Tucker."""
    N = 12
    risk = np.random.default_rng(seed).uniform(0.2, 0.6, N)
    q = ChiSquare().weigh(risk, rho, 100)
    assert (q >= 0.0).all()
    assert q.sum() == pytest.approx(1.0)
    ball = {"type": "ineq", "fun": lambda p: rho - np.square(p - 1.0 / N).sum()}
    whole = {"type": "eq", "fun": lambda p: p.sum() - 1.0}
    options = {"maxiter": 500, "ftol": 1e-13}
    start = np.full(N, 1.0 / N) + np.sqrt(rho / N) * 1e-3 * np.cos(np.arange(N))
    peer = minimize(
        lambda p: risk @ p,
        start,
        jac=lambda p: risk,
        bounds=[(0, 1)] * N,
        constraints=[ball, whole],
        options=options,
    )
    assert risk @ q <= risk @ peer.x + 1e-6
    distance = np.square(q - 1.0 / N).sum()
    assert distance <= rho * (1 + 1e-9)
    if distance < rho * (1 - 1e-6):
        assert q[risk.argmin()] == pytest.approx(1.0)  # the ball does not bind
        return
    # Stationarity: risk + multiplier (q - 1/N) is constant where q > 0 and not below it elsewhere.
    inside = q > 1e-12
    design = np.column_stack([q[inside] - 1.0 / N, -np.ones(inside.sum())])
    multiplier, level = np.linalg.lstsq(design, -risk[inside], rcond=None)[0]
    assert multiplier > 0.0
    np.testing.assert_allclose(risk[inside] + multiplier * (q[inside] - 1.0 / N), level, atol=1e-8)
    assert (risk[~inside] - multiplier / N >= level - 1e-8).all()


def test_okrff_at_its_ends():
    risk = np.array([0.5, 0.2, 0.4, 0.2])
    np.testing.assert_allclose(ChiSquare().weigh(risk, 0.0, 10), 0.25)
    np.testing.assert_allclose(ChiSquare().weigh(risk, 1.0, 10), [0.0, 0.5, 0.0, 0.5])
    np.testing.assert_allclose(ChiSquare().weigh(np.full(4, 0.3), 0.5, 10), 0.25)
    losses = [ChiSquare().weigh(risk, rho, 10) @ risk for rho in np.linspace(0.0, 0.3, 20)]
    assert (np.diff(losses) <= 1e-12).all()


def test_both_kernel_learners_align_better_than_the_prior():
    shared = {"n_candidates": 2000, "random_state": 0}
    for fitted in (
        GreedyKernel(50, beta=1.0, **shared).fit(X, BINARY),
        GreedyKernel(50, beta=0.01, weighting=ChiSquare(), **shared).fit(X, BINARY),
    ):
        assert fitted.probabilities_ @ fitted.losses_ < fitted.losses_.mean() - 0.01
        kernel = fitted.transform(X) @ fitted.transform(X).T
        prior = RandomFourier(50, random_state=0).fit_transform(X)
        assert np.mean(kernel * (S @ S.T)) > np.mean((prior @ prior.T) * (S @ S.T))


CLASSIFIERS = {
    "rff_svm": baselines.rff_svm(50, random_state=0),
    "rbf_landmarks_svm": baselines.rbf_landmarks_svm(30, random_state=0),
    "pbrff": baselines.pbrff(30, random_state=0),
    "greedy_pbrff": baselines.greedy_pbrff(50, n_candidates=500, random_state=0),
    "okrff": baselines.okrff(50, n_candidates=500, random_state=0),
    "gfc": baselines.gfc(10, random_state=0),
    "bmkr": baselines.bmkr(3, 0.1),
    "mkboost": baselines.mkboost(3, 0.1, random_state=0),
    "gbrff_random": baselines.gbrff_random(50, random_state=0),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_method_learns_what_a_line_cannot(name):
    """The middle one of the three species, on every other row."""
    from sklearn.linear_model import LogisticRegression

    line = LogisticRegression().fit(Z[::2], BINARY[::2]).score(Z[1::2], BINARY[1::2])
    names = np.array(["other", "versicolor"])[BINARY]
    model = clone(CLASSIFIERS[name]).fit(X[::2], names[::2])
    assert model.score(X[1::2], names[1::2]) > max(0.85, line)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_same_seed_same_bits(name):
    first, second = (clone(CLASSIFIERS[name]).fit(X, BINARY).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("method", [GreedyKernel, PBLandmarks])
@pytest.mark.filterwarnings("error")
def test_a_beta_whose_exponents_would_overflow_is_named(method):
    assert np.isfinite(method(beta=1e300, random_state=0).fit(X, BINARY).transform(X)).all()
    with pytest.raises(ValueError, match=f"{method.__name__}: beta must be .*got 1e\\+308"):
        method(beta=1e308).fit(X, BINARY)


def test_similarities_do_not_depend_on_where_the_origin_is():
    far = RBFLandmarks(8, standardize=True, random_state=0).fit(X + 1e7, Y).transform(X + 1e7)
    near = RBFLandmarks(8, standardize=True, random_state=0).fit(X, Y).transform(X)
    np.testing.assert_allclose(far, near, atol=1e-6)
