"""Log transforms: their formula, and which skewed features are transformed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import skew
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from rffboost_ext import (
    LOSSES,
    Cosines,
    Ensemble,
    Learner,
    Mixture,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFNewton,
    Trees,
)
from rffboost_ext.inspection.shapley import shapley_values
from rffboost_ext.rows.dataset import Dataset
from rffboost_ext.rows.log_transform import (
    GAMMAS,
    PENALTIES,
    candidate_log_scales,
    choose_log_transform,
    loo_error,
    regression_target,
)
from rffboost_ext.terms import ClipAndLog
from rffboost_ext.utils.kernel_ridge import local_search

from ..cases import LOSS_CASES
from ..own_parts import Linear
from ..terms.test_terms import TRANSFORMED, cosines
from .log_transform_cases import PLAIN, N, extents_of, is_transformed, skewed_data


@pytest.fixture(scope="module")
def skewed():
    return skewed_data()


def transformed_by_hand(x, low, high, log_scale):
    x = min(max(x, low), high)
    if log_scale == 0.0:
        return x
    end = low if log_scale > 0.0 else high
    return end + log_scale * np.log(1.0 + (x - end) / log_scale)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_a_log_transform_is_a_logarithm_from_one_end_on(precision):
    X = 2.0 * np.random.default_rng(0).standard_normal((40, 4)).astype(precision)
    expected = [
        [
            transformed_by_hand(*one)
            for one in zip(row, TRANSFORMED.low, TRANSFORMED.high, TRANSFORMED.log_scale, strict=True)
        ]
        for row in X
    ]
    assert TRANSFORMED(X).dtype == np.float64
    assert replace(TRANSFORMED, log_scale=None)(X).dtype == precision
    np.testing.assert_allclose(TRANSFORMED(X), expected, rtol=1e-14, atol=1e-14)
    X[0] = np.nan
    assert np.isnan(TRANSFORMED(X)[0]).all()


def test_units_and_origins_of_features_do_not_matter():
    X = np.random.default_rng(2).uniform(-1.5, 2.5, (60, 4))
    shift, scale = np.array([3.0, -1.0, 1e3, 0.0]), np.array([0.1, 5.0, 2.0, 1e3])
    moved = TRANSFORMED.translate(shift, scale)
    np.testing.assert_allclose(moved(scale * X + shift), scale * TRANSFORMED(X) + shift, rtol=1e-12)


def test_rounded_ends_do_not_lead_beyond_the_logarithm():
    clipping = ClipAndLog(np.array([1e8 + 0.3]), np.array([1e8 + 9.0]), np.array([0.1]))
    assert np.isfinite(clipping(np.array([[1e8], [2e8]], dtype=np.float32))).all()


def test_ranges_with_log_transforms_are_not_combined():
    with pytest.raises(ValueError, match="ranges with a log transform cannot be combined"):
        TRANSFORMED.after(replace(TRANSFORMED, log_scale=None))


@pytest.mark.parametrize("outputs", [1, 2])
def test_transformed_cosines_are_those_of_transformed_features(outputs):
    rng = np.random.default_rng(3)
    term = cosines(rng, outputs, centered=True)
    held, X = replace(term, clipping=TRANSFORMED), rng.uniform(-1.5, 2.5, (300, 4))
    np.testing.assert_allclose(held(X), term(TRANSFORMED(X)), atol=1e-12)
    np.testing.assert_allclose(held(X.astype(np.float32)), held(X), atol=1e-4)
    np.testing.assert_allclose(held.features(X), term.features(TRANSFORMED(X)), atol=1e-12)
    inner = rng.uniform([-0.9, -0.4, -5.0, 0.1], [0.9, 1.9, 0.4, 0.1], (20, 4))
    step = 1e-6 * np.eye(4)[:3]
    numeric = np.stack([(held(inner + e) - held(inner - e)) / 2e-6 for e in step], axis=2)
    np.testing.assert_allclose(held.gradient(inner)[:, :, :3], numeric, atol=1e-5)
    np.testing.assert_allclose(
        shapley_values(alone(held), X[:3], X[3:9]),
        shapley_values(alone(term), TRANSFORMED(X[:3]), TRANSFORMED(X[3:9])),
        atol=1e-12,
    )
    center, scale = rng.standard_normal(4), rng.uniform(0.5, 2.0, 4)
    np.testing.assert_allclose(held.standardized(center, scale)(X), held((X - center) / scale), atol=1e-12)


def alone(term):
    """An ensemble of one term."""
    return Ensemble(np.zeros(term.weight.shape[1]), (term,), np.ones((1, 2)))


def numbers(seed=4):
    Z = np.random.default_rng(seed).standard_normal((500, 6))
    even, two, one = Z[:, 2], Z[:, 3] > 1.5, np.ones(500)
    X = np.column_stack([np.exp(Z[:, 0]), -np.exp(2.0 * Z[:, 1]), even, two, one, Z[:, 5] ** 2])
    return X, ClipAndLog(X.min(axis=0), X.max(axis=0))


def test_log_transforms_reduce_skewness():
    X, clipping = numbers()
    mild, log_scale = candidate_log_scales(X, np.ones(500), clipping, ((1.0,), (0.3, 0.1)))
    (at_once,) = candidate_log_scales(X, np.ones(500), clipping, ((1.0, 0.3, 0.1),))
    np.testing.assert_array_equal(log_scale, at_once)
    assert (np.abs(mild) >= np.abs(log_scale)).all()
    skewed, transformed = [0, 1, 5], replace(clipping, log_scale=log_scale)(X)
    assert log_scale[0] > 0.0 > log_scale[1]
    assert (np.abs(skew(transformed[:, skewed])) < 0.6 * np.abs(skew(X[:, skewed]))).all()
    # Even, of two values, and constant.
    np.testing.assert_array_equal(log_scale[2:5], 0.0)


def test_log_transforms_follow_units_mirrors_and_weights():
    X, clipping = numbers()
    strengths = ((1.0, 0.3, 0.1),)
    (log_scale,) = candidate_log_scales(X, np.ones(500), clipping, strengths)
    factor = np.array([-2.0, 0.5, 3.0, 1.0, 1.0, -1e3])
    ends = np.sort([factor * clipping.low, factor * clipping.high], axis=0)
    np.testing.assert_allclose(
        candidate_log_scales(factor * X, np.ones(500), ClipAndLog(*ends), strengths), [factor * log_scale]
    )
    twice = np.arange(500) % 3
    np.testing.assert_allclose(
        candidate_log_scales(X, twice.astype(float), clipping, strengths),
        candidate_log_scales(np.repeat(X, twice, axis=0), np.ones(twice.sum()), clipping, strengths),
    )


def test_kernels_are_compared_by_refits_without_each_row(skewed):
    X, y = (part[:40] for part in skewed)
    rows, clipping = (
        Dataset(X, y[:, None], np.ones(40)),
        ClipAndLog(X.min(axis=0), X.max(axis=0), np.array([1.0, -2.0, 0.0])),
    )
    target = regression_target(rows, np.arange(40), LOSSES.create("squared_error"))
    np.testing.assert_allclose(target[:, 0], (y - y.mean()) / np.abs(y - y.mean()).max())
    Z = StandardScaler().fit_transform(clipping(X))
    squares = np.square(Z[:, None] - Z).mean(axis=2)
    errors = []
    for gamma in GAMMAS:
        kernel = 1.0 + np.exp(-gamma * squares)
        for l2 in PENALTIES:
            left = 0.0
            for i in range(40):
                others = np.arange(40) != i
                alpha = np.linalg.solve(kernel[np.ix_(others, others)] + l2 * np.eye(39), target[others])
                left += float((target[i, 0] - kernel[i, others] @ alpha[:, 0]) ** 2)
            errors.append(left)
    table = np.reshape(errors, (len(GAMMAS), len(PENALTIES)))
    for start in np.ndindex(table.shape):
        error, place = loo_error(rows, target, clipping, None, start)
        assert error == pytest.approx(table[place], rel=1e-6)
        assert place == local_search(lambda *place: table[place], table.shape, start)[1]
    assert loo_error(rows, target, clipping, None)[0] == pytest.approx(table.min(), rel=1e-6)


@pytest.mark.parametrize("task", ["regression", "two classes", "three classes"])
def test_features_are_transformed_if_the_error_falls(task, skewed):
    X, y = skewed
    if task == "regression":
        model: Any = RFFBoostRegressor(**PLAIN)
    else:
        model, y = RFFBoostClassifier(**PLAIN), np.digitize(y, [0.0] if task == "two classes" else [-0.7, 0.7])
    (clipping,) = extents_of(model.fit(X, y))
    assert clipping.log_scale is not None
    assert clipping.log_scale[0] > 0.0 > clipping.log_scale[1]
    assert clipping.log_scale[2] == 0.0


def test_features_are_not_transformed_if_the_error_rises():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.exponential(size=N), rng.standard_normal(N)])
    assert skew(X[:, 0]) > 1.0
    assert not is_transformed(RFFBoostRegressor(**PLAIN).fit(X, np.sin(3.0 * X[:, 0])))


@pytest.mark.parametrize("learner", ["rff_newton", "rff_ridge", "rff_irls"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_fit_is_that_of_features_that_are_transformed_by_hand(learner, precision, skewed):
    X, y = skewed
    model = RFFBoostRegressor(**PLAIN | {"learner": learner, "precision": precision}).fit(X, y)
    (clipping,) = extents_of(model)
    by_hand = clone(model).set_params(standardize=True).fit(clipping(X), y)
    assert not is_transformed(by_hand)
    Z = 2.0 * np.random.default_rng(6).standard_normal((50, 3)) + X[:50]
    np.testing.assert_allclose(model.predict(Z), by_hand.predict(clipping(Z)), rtol=1e-6, atol=1e-8)


def test_trees_see_the_features_as_they_are():
    x = np.exp(np.random.default_rng(8).standard_normal((N, 1)))
    y, params = np.sin(2.0 * np.log(x[:, 0])), PLAIN | {"learner": Mixture(trees="tree"), "n_estimators": 40}
    model = RFFBoostRegressor(**params).fit(x, y)
    (clipping,) = extents_of(model)
    grown = [term for term in model.ensemble_.terms if isinstance(term, Trees)]
    assert max(term.threshold[term.left >= 0].max() for term in grown) > clipping(x).max()


class Own(Learner):
    """A learner without log transforms."""

    def fit(self, round):
        omega = round.rng.standard_normal((1, round.design.n_features))
        return Cosines(omega, np.zeros(1), np.full((1, 1), 0.1))


@pytest.mark.parametrize(
    "params",
    [
        {"standardize": True},
        {"standardize": False},
        {"extrapolation": "continue"},
        {"learner": "rff_1"},
        {"learner": Own()},
        {"learner": Mixture(cosines="rff_1")},
        {"learner": Mixture(trees=Own())},
        {"learner": "tree"},
    ],
    ids=str,
)
def test_log_transforms_are_optional(params, skewed):
    model = RFFBoostRegressor(**PLAIN | params).fit(*skewed)
    assert all(clipping is None or clipping.log_scale is None for clipping in ranges_or_none(model))


class OfLines(RFFNewton):
    """A learner that inherits what its base promises of its terms, and does not keep it."""

    def fit(self, round):
        return Linear(np.full((round.design.n_features, 1), 0.1))


def test_terms_without_log_transforms_are_refused(skewed):
    with pytest.raises(TypeError, match=r"a Linear does not support .* the policy of its learner"):
        RFFBoostRegressor(**PLAIN | {"learner": OfLines()}).fit(*skewed)
    RFFBoostRegressor(**PLAIN | {"learner": OfLines(), "standardize": True}).fit(*skewed)


def ranges_or_none(model):
    return [term.clipping for term in model.ensemble_.terms if isinstance(term, Cosines)]


@pytest.mark.parametrize("case", LOSS_CASES, ids=lambda case: case.name)
def test_every_loss_supports_log_transforms(case):
    rng = np.random.default_rng(7)
    X = np.exp(rng.standard_normal((120, 3)))
    y = case.targets(rng, 120)
    weight = np.ones(120)
    loss = case.make().prepared(np.asarray(y, dtype=float).reshape(120, -1), weight)
    rows = Dataset(X, np.asarray(y, dtype=float).reshape(120, -1), weight)
    clipping = ClipAndLog(X.min(axis=0), X.max(axis=0))
    result = choose_log_transform(clipping, rows, loss, None, 0)
    assert result is clipping or np.isfinite(result.log_scale).all()


def test_what_cannot_be_told_is_left_alone(skewed):
    X, y = skewed
    clipping, loss = ClipAndLog(X.min(axis=0), X.max(axis=0)), LOSSES.create("squared_error")
    for rows in (Dataset(X, np.ones((N, 1)), np.ones(N)), Dataset(X[:10], y[:10, None], np.ones(10))):
        assert choose_log_transform(clipping, rows, loss, None, 0) is clipping


def test_rows_of_weight_2_are_two_rows(skewed):
    X, y = (part[:80] for part in skewed)
    weight = 1.0 + np.arange(80) % 2
    once = RFFBoostRegressor(**PLAIN).fit(X, y, sample_weight=weight)
    twice = RFFBoostRegressor(**PLAIN).fit(*(np.repeat(part, weight.astype(int), axis=0) for part in (X, y)))
    np.testing.assert_allclose(once.predict(X), twice.predict(X), rtol=1e-6)
    assert is_transformed(once)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_in_single_precision_are_transformed_as_the_same_numbers_in_double(offset):
    rng = np.random.default_rng(5)
    X = (offset + np.exp(2.0 * rng.standard_normal((N, 3)))).astype(np.float32)
    y = np.log(X[:, 0].astype(float) - offset + 0.1)
    model = RFFBoostRegressor(**PLAIN).fit(X, y)
    assert is_transformed(model)
    wide = X.astype(np.float64)
    values = model.shap_values(X[:20], X)
    np.testing.assert_allclose(values, model.shap_values(wide[:20], wide), atol=1e-5 * np.ptp(y))
    np.testing.assert_allclose(values.sum(axis=1), model.predict(X[:20]) - model.predict(X).mean(), atol=1e-4)
    np.testing.assert_allclose(model.gradient(X[:20]), model.gradient(wide[:20]), rtol=1e-4, atol=1e-4)
