"""Fewer cosines: what they reproduce, what they cost, and that the model stays one in every way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import (
    Cosines,
    Ensemble,
    Mixture,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFNewton,
    Trees,
    average,
    compress,
    load_model,
)
from rffboost_ext.estimators import compression
from rffboost_ext.estimators.compression import augment_rows, group_cosines, nearest_neighbours
from rffboost_ext.utils.matching_pursuit import GROUPS, RELATIVE_PENALTY, matching_pursuit

from ..cases import PAIR_NAMES, PAIRS, make_data, make_estimator

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2.0, 2.0, (150, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2
COSINES = RFFBoostRegressor(learner="rff_newton", n_estimators=150, early_stopping=False, random_state=0)
KEPT = {"tol": 0.0, "random_state": 0}


def n_frequencies(model) -> int:
    return sum(len(part) for part in group_cosines(model.ensemble_.compact().terms)[0])


def missed(small, model, rows) -> float:
    """The share of the variance of the scores that a small model misses."""
    wanted = model.ensemble_.raw(rows)
    unit = np.where(wanted.std(axis=0) > 0.0, wanted.std(axis=0), 1.0)
    return float(np.mean(np.square((small.ensemble_.raw(rows) - wanted) / unit)))


@pytest.fixture(scope="module")
def smooth():
    return clone(COSINES).fit(X, Y)


@pytest.mark.parametrize(("loss", "learner"), PAIRS, ids=PAIR_NAMES)
def test_every_loss_and_learner(loss, learner, tmp_path):
    features, target = make_data(loss)
    model = make_estimator(loss, learner, n_estimators=12).fit(features, target)
    whole = compress(model, features, n_cosines=10_000, **KEPT)
    np.testing.assert_allclose(whole.ensemble_.raw(features), model.ensemble_.raw(features), rtol=1e-9, atol=1e-9)
    small = compress(model, features, n_cosines=5, **KEPT)
    assert n_frequencies(small) <= min(5, n_frequencies(model))
    *_, last = small.ensemble_.staged(features)
    np.testing.assert_allclose(last, small.ensemble_.raw(features), atol=1e-9)
    small.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(features), small.predict(features))
    verify_onnx(small, to_onnx(small), features, raise_on_mismatch=True)


def test_more_cosines_miss_less(smooth):
    losses = [missed(compress(smooth, X, n_cosines=count, **KEPT), smooth, X) for count in (4, 16, 64, 128)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < 0.7
    assert losses[-1] < 1e-4


@pytest.mark.parametrize("tol", [0.1, 0.01, 1e-3])
def test_what_is_missed_is_within_the_tolerance(tol, smooth, monkeypatch):
    monkeypatch.setattr(compression, "N_ROWS", len(X))
    small = compress(smooth, X, tol=tol, random_state=0)
    assert n_frequencies(small) < n_frequencies(smooth)
    assert missed(small, smooth, X) <= tol


def test_what_is_missed_is_little_on_other_rows(smooth):
    rows = np.random.default_rng(1).uniform(-1.9, 1.9, (2_000, 3))
    assert missed(compress(smooth, X, random_state=0), smooth, rows) < 0.02


def test_defaults_become_small_and_stay_as_good():
    grid = np.random.default_rng(1).uniform(-2.0, 2.0, (1_000, 3))
    target = np.sin(2.0 * grid[:, 0]) + 0.5 * grid[:, 1] ** 2
    model = RFFBoostRegressor(random_state=0).fit(X, Y)
    small = compress(model, X, random_state=0)
    assert small.score(grid, target) > model.score(grid, target) - 0.005
    assert 10 * n_frequencies(small) < n_frequencies(model)
    assert 1.2 * len(to_onnx(small).SerializeToString()) < len(to_onnx(model).SerializeToString())


def test_trees_stay_as_they_are():
    params = {"n_estimators": 30, "early_stopping": False, "random_state": 0}
    model = RFFBoostRegressor(learner=Mixture(trees="tree"), **params).fit(X, Y)
    small = compress(model, X, n_cosines=3, random_state=0)
    ours, theirs = ([t for t in m.ensemble_.compact().terms if type(t) is Trees] for m in (small, model))
    np.testing.assert_array_equal(ours[0](X), theirs[0](X))
    alone = RFFBoostRegressor(learner="tree", n_estimators=5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(compress(alone, X).predict(X), alone.predict(X))


@pytest.mark.parametrize("learner", ["auto", "rff_ridge", "rff_1"])
def test_a_model_of_constant_features_has_nothing_to_compress(learner):
    model = RFFBoostRegressor(learner=learner, n_estimators=5, random_state=0).fit(np.ones((80, 2)), Y[:80])
    small = compress(model, np.ones((80, 2)))
    np.testing.assert_array_equal(small.predict(X[:, :2]), model.predict(X[:, :2]))


def test_gaps_and_categories():
    table = pd.DataFrame(X.copy(), columns=list("abc"))
    table["d"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(X)) % 3])
    table.loc[::9, "a"] = np.nan
    model = clone(COSINES).fit(table, Y + (table["d"] == "y"))
    small = compress(model, table, tol=1e-3, random_state=0)
    assert n_frequencies(small) < n_frequencies(model)
    wanted = model.predict(table)
    assert np.var(small.predict(table) - wanted) < 0.01 * np.var(wanted)
    verify_onnx(small, to_onnx(small), table, raise_on_mismatch=True)


def test_averages_of_models_of_different_ranges():
    models = [clone(COSINES).set_params(random_state=k).fit(X[k::3], Y[k::3]) for k in range(3)]
    model = average(models)
    small = compress(model, X, random_state=0)
    assert len(model.ensemble_.compact().terms) == 3
    assert len(small.ensemble_.terms) == 1
    extents = [term.clipping for one in models for term in one.ensemble_.compact().terms]
    found = small.ensemble_.terms[0].clipping
    np.testing.assert_array_equal(found.low, np.min([clipping.low for clipping in extents], axis=0))
    np.testing.assert_array_equal(found.high, np.max([clipping.high for clipping in extents], axis=0))
    assert missed(small, model, X) < 0.01


def test_targets_in_units_of_their_own_count_alike():
    target = np.column_stack([Y, 1e6 * np.cos(X[:, 2])])
    model = clone(COSINES).fit(X, target)
    small = compress(model, X, n_cosines=48, **KEPT)
    for ours, theirs in zip(small.predict(X).T, model.predict(X).T, strict=True):
        assert np.var(ours - theirs) < 0.02 * np.var(theirs)


@pytest.mark.parametrize("make", [lambda model: compress(model, X, 8), lambda model: average([model, model])])
def test_the_given_model_is_left_alone(make):
    model = clone(COSINES).set_params(learner=RFFNewton(), verbose=0).fit(X, Y)
    before, params = model.predict(X), repr(model)
    made = make(model)
    made.set_params(learner__n_candidates=3, n_estimators=5)
    assert repr(model) == params
    assert made.feature_importances_ == pytest.approx(model.feature_importances_)
    made.fit(X[:50], Y[:50])
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_seed_decides(n_jobs, smooth):
    one, other = (compress(clone(smooth).set_params(n_jobs=k).fit(X, Y), X, 9, 0.0, 0) for k in (1, n_jobs))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def ensemble_of(*columns) -> Ensemble:
    """Forty cosines, with falling weights, times a factor for each output."""
    rng = np.random.default_rng(2)
    weight = np.outer(0.9 ** np.arange(40), columns)
    term = Cosines(rng.standard_normal((40, 3)), rng.uniform(-3.0, 3.0, 40), weight)
    return Ensemble(np.zeros(len(columns)), (term,), np.ones((1, 2)))


def chosen_of(ensemble, n_cosines=12, tol=0.0) -> set[tuple[float, ...]]:
    """The frequencies that are kept."""
    (term,) = compression.compress_ensemble(ensemble, X, n_cosines, tol).terms
    return set(map(tuple, term.omega.tolist()))


@pytest.mark.parametrize("columns", [(1.0, 1.0), (1.0, 1e9, -1e-9), (1e-120,), (1.0, 0.0)])
@pytest.mark.parametrize("tol", [0.0, 0.01])
def test_outputs_count_alike_in_any_unit(columns, tol):
    assert chosen_of(ensemble_of(*columns), tol=tol) == chosen_of(ensemble_of(1.0), tol=tol)
    small = compression.compress_ensemble(ensemble_of(*columns), X, 12, tol)
    one = compression.compress_ensemble(ensemble_of(1.0), X, 12, tol)
    factor = np.array(columns)
    scaled = small.raw(X) / np.where(factor == 0.0, 1.0, factor)
    np.testing.assert_allclose(scaled, one.raw(X) * (factor != 0.0), atol=1e-9)


def test_candidates_are_the_strongest(monkeypatch):
    monkeypatch.setattr(compression, "MAX_CANDIDATES", 3)
    ensemble = ensemble_of(1.0)
    assert chosen_of(ensemble) == set(map(tuple, ensemble.terms[0].omega[:3].tolist()))


def test_sums_of_other_columns_share_the_number():
    models = []
    for seed in range(2):
        holes = X.copy()
        holes[seed::7, 0] = np.nan
        models.append(clone(COSINES).fit(holes, Y))
    model = average(models)
    assert len(group_cosines(model.ensemble_.compact().terms)[0]) == 2
    small = compress(model, holes, n_cosines=20, **KEPT)
    assert n_frequencies(small) == 20
    assert missed(small, model, holes) < 0.2


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"model": Ridge()}, TypeError, "compress: model must be a fitted estimator"),
        ({"model": RFFBoostClassifier()}, NotFittedError, "not fitted"),
        ({"n_cosines": 0}, ValueError, "compress: n_cosines must be"),
        ({"n_cosines": "many"}, TypeError, "compress: n_cosines must be"),
        ({"tol": -0.1}, ValueError, "compress: tol must be"),
        ({"random_state": "x"}, TypeError, "compress: random_state must be"),
        ({"X": X[:, :2]}, ValueError, "2 features"),
        ({"X": X[:1]}, ValueError, "compress: X must have at least 2 rows, got 1"),
        ({"X": np.full((4, 3), np.inf)}, ValueError, "infinity"),
    ],
)
def test_bad_input_is_named(change, error, text, smooth):
    with pytest.raises(error, match=text):
        compress(**({"model": smooth, "X": X} | change))


def test_rows_are_mixed_from_rows_and_their_neighbours():
    given = np.round(X, 2)
    given[::7, 1] = np.nan
    rows = augment_rows(given, np.random.RandomState(0))
    assert rows.shape == (compression.N_ROWS, 3)
    np.testing.assert_array_equal(rows[: len(given)], given)
    for made, column in zip(rows.T, given.T, strict=True):
        assert np.isin(made[~np.isnan(made)], column).all()
    assert len(np.unique(rows, axis=0)) > 3 * len(given)
    many = RANDOM.standard_normal((9_000, 2))
    drawn = augment_rows(many, np.random.RandomState(0))
    assert len(np.unique(drawn, axis=0)) == compression.N_ROWS
    assert np.isin(drawn, many).all()
    two = augment_rows(X[:2], np.random.RandomState(0))
    assert len(np.unique(two, axis=0)) == 2**3


def test_neighbours_are_the_nearest():
    scaled = X * [1.0, 100.0, 0.01]
    Z = X / X.std(axis=0)
    apart = np.linalg.norm(Z[:, None] - Z, axis=2) + np.diag(np.full(len(Z), np.inf))
    np.testing.assert_array_equal(nearest_neighbours(scaled, np.random.RandomState(0)), apart.argmin(axis=1))


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("most", [1, 5, GROUPS + 3, 60])
def test_weights_are_those_of_a_ridge_regression(n_outputs, most):
    pairs = RANDOM.standard_normal((2, 40, 200))
    pairs -= pairs.mean(axis=2)[..., None]
    target = RANDOM.standard_normal((200, n_outputs))
    target -= target.mean(axis=0)
    chosen, weight = matching_pursuit(pairs, target, most, 0.0)
    assert len(set(chosen.tolist())) == len(chosen) == min(most, 40)
    columns = pairs[:, chosen].reshape(-1, 200).T
    oracle = Ridge(alpha=RELATIVE_PENALTY * 200, fit_intercept=False).fit(columns, target)
    wanted = np.reshape(oracle.coef_, (n_outputs, 2, -1)).transpose(1, 2, 0)
    np.testing.assert_allclose(weight, wanted, atol=1e-8)


def test_the_frequencies_of_a_target_are_found():
    grid = np.linspace(0.0, 2.0 * np.pi, 256, endpoint=False)
    angles = np.arange(1, 41)[:, None] * grid
    pairs = np.stack([np.cos(angles), np.sin(angles)])
    target = (2.0 * np.cos(7 * grid) - np.sin(23 * grid) + 0.5 * np.sin(3 * grid))[:, None]
    chosen, weight = matching_pursuit(pairs, target, 40, 1e-6)
    assert set(chosen[:3].tolist()) == {6, 22, 2}
    assert len(chosen) <= 3
    chosen, weight = matching_pursuit(pairs, target, 2, 1e-6)
    assert chosen.tolist() == [6, 22]
    np.testing.assert_allclose(weight[:, :, 0], [[2.0, 0.0], [0.0, -1.0]], atol=1e-4)


def test_no_more_are_chosen_than_are_needed():
    pairs = RANDOM.standard_normal((2, GROUPS, 300))
    target = (pairs * np.linspace(0.1, 1.0, GROUPS)[:, None]).sum(axis=(0, 1))[:, None]

    def left(most):
        chosen, weight = matching_pursuit(pairs, target, most, 0.5)
        residual = target - np.einsum("kmn,kmc->nc", pairs[:, chosen], weight)
        return len(chosen), np.square(residual).sum() / len(target)

    count, reached = left(GROUPS)
    assert 2 < count < GROUPS
    assert reached <= 0.5 < left(count - 1)[1]


def test_a_target_of_zero_needs_nothing():
    chosen, weight = matching_pursuit(RANDOM.standard_normal((2, 5, 30)), np.zeros((30, 2)), 5, 0.0)
    assert len(chosen) == 0
    assert weight.shape == (2, 0, 2)
