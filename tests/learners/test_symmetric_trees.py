"""Symmetric trees: their splits and leaves beside plain NumPy, categories, constraints and several outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import gettempdir
from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from rffboost_ext import Design, RFFBoostClassifier, RFFBoostRegressor, Round, SymmetricTree, SymmetricTrees
from rffboost_ext.learners.trees.symmetric import binned_features, search
from rffboost_ext.learners.trees.symmetric.leaves import isotonic
from rffboost_ext.losses import SquaredError
from rffboost_ext.terms.batch_evaluation import outputs_of_each

RNG = np.random.default_rng(0)
N = 400
X = RNG.standard_normal((N, 4)).round(1)
X[RNG.random((N, 4)) < 0.1] = np.nan
Y = np.where(np.isnan(X[:, 0]), 2.0, np.sin(X[:, 0])) + np.nan_to_num(X[:, 1]) + 0.1 * RNG.standard_normal(N)
ONE_ROUND = {"n_estimators": 1, "learning_rate": 1.0, "early_stopping": False, "random_state": 0}


def trees_of(model: Any) -> SymmetricTrees:
    """All trees of a fitted model as one term."""
    (term,) = model.ensemble_.compact().terms
    assert isinstance(term, SymmetricTrees)
    return term


def candidates(rows: np.ndarray) -> Iterator[np.ndarray]:
    """The rows that go right, for every split of one feature with any direction of missing values."""
    for x in rows.T:
        values = np.unique(x[~np.isnan(x)])
        for threshold in [-np.inf, *(values[1:] + values[:-1]) / 2]:
            for missing_right in (False, True):
                yield np.where(np.isnan(x), missing_right, x >= threshold)


def gain(right: np.ndarray, leaf: np.ndarray, residual: np.ndarray, penalty: float) -> float:
    """The gain of one split of all leaves, by its definition, for the squared error."""

    def score(rows: np.ndarray) -> float:
        return residual[rows].sum() ** 2 / (rows.sum() + penalty)

    leaves = [leaf == k for k in np.unique(leaf)]
    parts = [(rows & right, rows & ~right, rows) for rows in leaves]
    return sum(score(a) + score(b) - score(c) for a, b, c in parts if a.any() and b.any())


@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_each_level_has_the_split_of_largest_gain(penalty):
    rows, y = X[:100], Y[:100]
    learner = SymmetricTree(max_depth=3, leaf="constant", reg_lambda=penalty)
    model = RFFBoostRegressor(learner=learner, **ONE_ROUND).fit(rows, y)
    tree, residual = trees_of(model), y - y.mean()
    leaf = np.zeros(len(y), dtype=int)
    for level in range(3):
        x = rows[:, tree.feature[0, level]]
        chosen = np.where(np.isnan(x), tree.missing_right[0, level], x >= tree.threshold[0, level])
        best = max(gain(right, leaf, residual, penalty) for right in candidates(rows))
        assert gain(chosen, leaf, residual, penalty) == pytest.approx(best, rel=1e-9)
        leaf |= chosen.astype(int) << level
    found = np.array([residual[leaf == k].sum() / ((leaf == k).sum() + penalty) for k in leaf])
    np.testing.assert_allclose(model.predict(rows) - y.mean(), found, atol=1e-9)


def test_gradients_count_where_the_hessian_is_zero():
    rows = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (10, 1))
    far, sign = np.arange(40) < 20, 2.0 * rows - 1.0
    gradient, hessian = np.where(far, 5.0 * sign[:, 1], 0.1 * sign[:, 0]), 1.0 * ~far
    state = Design(rows), SquaredError(), gradient[:, None], np.zeros((40, 1)), gradient[:, None], hessian[:, None]
    tree, _ = SymmetricTree(1, "constant").fit(Round(*state, np.ones(40), 0, np.random.default_rng(0)))
    assert tree.feature[0, 0] == 1


def test_linear_leaves_solve_the_ridge_regression():
    rows = np.nan_to_num(X)
    learner = SymmetricTree(max_depth=1, leaf="linear", reg_lambda=0.5, linear_lambda=2.0)
    model = RFFBoostRegressor(learner=learner, **ONE_ROUND).fit(rows, Y)
    tree, x = trees_of(model), rows[:, trees_of(model).feature[0, 0]]
    z = x.clip(*np.quantile(x, [0.005, 0.995], method="inverted_cdf"))
    z = (z - z.mean()) / z.std()
    expected = np.empty(N)
    for side in (x < tree.threshold[0, 0], x >= tree.threshold[0, 0]):
        A = np.column_stack([z[side], np.ones(side.sum())])
        coefficients = np.linalg.solve(A.T @ A + np.diag([2.0, 0.5]), A.T @ (Y - Y.mean())[side])
        expected[side] = A @ coefficients
    np.testing.assert_allclose(model.predict(rows) - Y.mean(), expected, atol=1e-9)
    assert np.ptp(z) < np.ptp(x / x.std())
    far = np.full((1, 4), 1e6)
    np.testing.assert_allclose(model.predict(far), model.predict(rows.max(axis=0, keepdims=True)), atol=1e-9)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_neither_threads_nor_the_order_of_rows_matter(leaf):
    learner, wide = SymmetricTree(leaf=leaf), np.hstack([X, -X, X**2])
    one, two = (
        RFFBoostRegressor(learner=learner, n_estimators=20, n_folds=2, n_jobs=n).fit(wide, Y) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.predict(wide), two.predict(wide))
    if leaf == "constant":
        order = RNG.permutation(N)
        model = RFFBoostRegressor(learner=learner, n_estimators=20, early_stopping=False)
        forth, back = model.fit(X, Y).predict(X), model.fit(X[order], Y[order]).predict(X)
        np.testing.assert_allclose(forth, back, rtol=0, atol=1e-12)


@pytest.mark.parametrize("depth", [1, 4])
def test_they_are_binary_trees(depth):
    model = RFFBoostRegressor(learner=SymmetricTree(depth, "constant"), n_estimators=10, early_stopping=False)
    term = trees_of(model.fit(X, Y))
    np.testing.assert_array_equal(term.as_trees()(X), term(X))
    np.testing.assert_array_equal(term.deepened(depth + 2)(X), term(X))
    parts = [term.trees(slice(k, k + 1)) for k in range(term.n_trees)]
    np.testing.assert_array_equal(sum(outputs_of_each(parts, X)), term(X))


@pytest.mark.parametrize("signs", [(1, 0, 0, 0), (-1, 1, 0, 0), np.array([1, 1, -1, 1])])
def test_constraints_hold(signs):
    rows = np.nan_to_num(X)
    learner = SymmetricTree(monotone_constraints=signs)
    model = RFFBoostRegressor(learner=learner, n_estimators=30, early_stopping=False).fit(rows, Y)
    grid = np.linspace(-4.0, 4.0, 60)
    for column, sign in enumerate(signs):
        moved = np.repeat(rows[:30, None], len(grid), axis=1)
        moved[:, :, column] = grid
        change = np.diff(model.predict(moved.reshape(-1, 4)).reshape(30, -1), axis=1)
        assert (sign * change >= -1e-12).all()
    assert model.score(rows, Y) > 0.3 or signs[1] < 0


def test_chains_of_leaves_have_the_nearest_ascending_values():
    value, weight = RNG.standard_normal((6, 5, 3)).round(1), RNG.random((6, 5, 3)) ** 4 + 1e-9
    nearest = isotonic(value, weight)
    for chain, output in np.ndindex(6, 3):
        parts = value[chain, :, output], weight[chain, :, output]
        expected = isotonic_regression(parts[0], weights=parts[1]).x
        np.testing.assert_allclose(nearest[chain, :, output], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"monotone_constraints": (1, 0)}, "monotone_constraints must have one entry for each of the 4 features"),
        ({"monotone_constraints": (1, 0, 0, 0), "leaf": "linear"}, "leaf must be 'auto' or 'constant'"),
    ],
)
def test_wrong_parameters_are_named(params, words):
    with pytest.raises(ValueError, match=words):
        RFFBoostRegressor(learner=SymmetricTree(**params), **ONE_ROUND).fit(X, Y)


def test_many_outputs_share_the_splits_of_one_tree():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((900, 3))
    classes = np.digitize(rows[:, 0] + 0.1 * rng.standard_normal(900), np.linspace(-1.5, 1.5, 11))
    model = RFFBoostClassifier(learner="symmetric_tree", n_estimators=60, early_stopping=False, random_state=0)
    tree = trees_of(model.fit(rows, classes))
    assert tree.value.shape == (60, 64, 12)
    assert model.score(rows, classes) > 0.8


@pytest.mark.parametrize("params", [{"colsample_bylevel": 0.5}, {"subsample": 0.5}])
def test_random_numbers_are_of_the_seed(params):
    learner = SymmetricTree(leaf="constant", **params)
    fits = [
        RFFBoostRegressor(learner=learner, n_estimators=5, early_stopping=False, random_state=seed)
        .fit(X, Y)
        .predict(X)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert np.abs(fits[0] - fits[2]).max() > 1e-3


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_without_penalties_the_unit_of_weights_does_not_matter(leaf):
    learner = SymmetricTree(leaf=leaf, reg_lambda=0.0, linear_lambda=1e-12, min_child_weight=0.0)
    model = RFFBoostRegressor(learner=learner, n_estimators=20, early_stopping=False, learning_rate=0.2)
    # A leaf of few rows is constant: their number is that of the weights.
    few = {"constant": [1.0, 2.0**200, 1e300], "linear": [2.0**40, 1e100, 1e300]}[leaf]
    first, *others = (model.fit(X, Y, sample_weight=np.full(N, weight)).predict(X) for weight in few)
    assert 1.0 - np.square(Y - first).mean() / Y.var() > 0.9
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_a_refit_keeps_the_splits_and_fits_leaves_to_all_rows(leaf):
    learner = SymmetricTree(max_depth=2, leaf=leaf)
    short, refitted = (
        RFFBoostRegressor(learner=learner, n_estimators=60, n_folds=1, refit=refit, random_state=0).fit(X, Y)
        for refit in (False, True)
    )
    trees, again = trees_of(short), trees_of(refitted)
    for name in ("feature", "threshold", "missing_right"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trees, name))
    leaves, residual = again.leaves(X)[:, 0], Y - Y.mean()
    if leaf == "constant":
        sums, counts = (np.bincount(leaves, part, 4) for part in (residual, np.ones(N)))
        np.testing.assert_allclose(again.value[0, :, 0], 0.1 * sums / (counts + learner.reg_lambda))
    assert not np.allclose(again.value, trees.value)


def test_leaves_are_linear_unless_outputs_are_monotone():
    def fitted(**params: Any) -> np.ndarray:
        return RFFBoostRegressor(learner=SymmetricTree(**params), **ONE_ROUND).fit(X, Y).predict(X)

    signs = {"monotone_constraints": (1, 0, 0, 0)}
    np.testing.assert_array_equal(fitted(), fitted(leaf="linear"))
    np.testing.assert_array_equal(fitted(**signs), fitted(leaf="constant", **signs))
    assert not np.array_equal(fitted(), fitted(leaf="constant"))


def test_neighbouring_numbers_are_separated():
    start = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, start), (start, np.nextafter(start, 2.0)), (0.0, 5e-324)):
        rows, y = np.repeat([low, high], 20)[:, None], np.repeat([0.0, 1.0], 20)
        assert RFFBoostRegressor(learner=SymmetricTree(), **ONE_ROUND).fit(rows, y).score(rows, y) > 0.99


def sampled(leaf: str, n_jobs: int = 1, **params: Any) -> tuple[RFFBoostRegressor, np.ndarray]:
    """A fit whose splits are searched on about 100 of the rows, and the scores that its loop carries along."""
    raw: list[np.ndarray] = []
    learner = SymmetricTree(4, leaf, max_samples=100, **params)
    model = RFFBoostRegressor(
        learner=learner, n_jobs=n_jobs, callbacks=[lambda progress: raw.append(progress.raw)]
    )
    return model.set_params(**ONE_ROUND | {"n_estimators": 20}).fit(np.hstack([X, -X]), Y), raw[-1]


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_splits_on_samples_do_not_depend_on_threads_and_scores_are_carried_along(leaf):
    (model, raw), (other, _) = sampled(leaf), sampled(leaf, n_jobs=2)
    rows = np.hstack([X, -X])
    np.testing.assert_array_equal(model.predict(rows), other.predict(rows))
    np.testing.assert_allclose(model.ensemble_.raw(rows), raw, atol=1e-9)
    assert model.score(rows, Y) > 0.8


def test_leaves_are_fitted_to_all_rows_if_splits_are_searched_on_a_sample():
    every = RFFBoostRegressor(learner=SymmetricTree(3, "constant", max_samples=N), **ONE_ROUND).fit(X, Y)
    model = RFFBoostRegressor(learner=SymmetricTree(3, "constant", max_samples=60), **ONE_ROUND).fit(X, Y)
    tree, residual = trees_of(model), Y - Y.mean()
    assert (tree.threshold != trees_of(every).threshold).any()
    leaf = tree.leaves(X)[:, 0]
    expected = [residual[leaf == k].sum() / ((leaf == k).sum() + 1.0) for k in leaf]
    np.testing.assert_allclose(tree.value[0, leaf, 0], expected, atol=1e-9)


def test_bins_on_disk_give_the_same_trees(monkeypatch):
    kept = sampled("constant")[1]
    monkeypatch.setattr(binned_features, "MOST_CODES", 0)
    assert isinstance(binned_features.code_array((2, 3)), np.memmap)
    np.testing.assert_array_equal(sampled("constant")[1], kept)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system cannot reserve space")
def test_a_full_disk_is_an_error_that_names_the_folder_and_the_bytes(monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(binned_features, "MOST_CODES", 0)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=rf"{gettempdir()} must have 6,000 bytes.*No space.*TMPDIR"):
        binned_features.code_array((2, 3000))


def test_memory_of_histograms_is_bounded(monkeypatch):
    learner = SymmetricTree(leaf="constant")
    kept = RFFBoostRegressor(learner=learner, **ONE_ROUND).fit(X, Y).predict(X)
    monkeypatch.setattr(search, "MOST_SUMS", 0)
    np.testing.assert_array_equal(RFFBoostRegressor(learner=learner, **ONE_ROUND).fit(X, Y).predict(X), kept)
