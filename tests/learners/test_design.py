"""What learners see of the features, and what they may keep there."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rffboost_ext import Cosines, Design, Learner, boost
from rffboost_ext.rows.feature_expansion import column_ranges, mean_and_scale
from rffboost_ext.terms import FeatureMap

X = np.random.default_rng(0).normal(3.0, 2.0, (60, 2))
Y = np.sin(X[:, :1])


@pytest.mark.parametrize("n", [1_000, 4_000_000])
def test_a_column_of_two_large_numbers_is_not_constant(n) -> None:
    """Their means are exact to a few roundings, however many rows there are."""
    column = 1.7e9 + (np.arange(n) % 2.0)[:, None]
    mean, scale = mean_and_scale(column, np.ones(n), np.inf)
    np.testing.assert_allclose([mean[0] - 1.7e9, scale[0]], 0.5, rtol=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [1, 1023, 1025, 5000])
def test_moments_are_those_of_numpy(n, order) -> None:
    rng = np.random.default_rng(n)
    rows, weight = np.asarray(rng.normal(3.0, 2.0, (n, 3)), order=order), rng.uniform(0.1, 4.0, n)
    mean, scale = mean_and_scale(rows, weight)
    expected = np.average(rows, axis=0, weights=weight)
    np.testing.assert_allclose(mean, expected, rtol=1e-13)
    spread = np.sqrt(np.average(np.square(rows - expected), axis=0, weights=weight))
    np.testing.assert_allclose(scale, np.where(n > 1, spread, 1.0), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 1023, 1024, 1025, 3000])
def test_ranges_are_those_of_all_rows(n) -> None:
    rng = np.random.default_rng(n)
    for place in (0, n // 2, min(n - 1, 1023), n - 1):
        rows = rng.normal(size=(n, 2))
        rows[place] = [9.0, -9.0]
        low, high = column_ranges(rows)
        np.testing.assert_array_equal(low, rows.min(axis=0))
        np.testing.assert_array_equal(high, rows.max(axis=0))


def test_a_design_is_pickled_without_what_was_made_of_it() -> None:
    design = Design(X, FeatureMap(center=X.mean(axis=0), scale=X.std(axis=0)))
    before = len(pickle.dumps(design))
    assert design.X.shape == X.shape
    assert design.tiles.blocks.size >= X.size
    assert len(pickle.dumps(design)) == before


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"precision": "float16"}, ValueError, "Design: precision must be"),
        ({"n_jobs": -1}, ValueError, "Design: n_jobs must be"),
        ({"n_jobs": 1.5}, TypeError, "Design: n_jobs must be"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(given, error, words) -> None:
    with pytest.raises(error, match=words):
        Design(X, **given)


class Keeper(Learner):
    """Keeps an object of its own, under a plain name, and returns several cosines."""

    step = "unit"

    def fit(self, round):
        kept = round.design.cache("frequencies", lambda: ["mine"])
        assert kept == ["mine"]
        return Cosines(np.ones((2, 2)), np.zeros(2), np.full((2, 1), 0.1))


def test_what_a_learner_keeps_has_no_name_of_ours() -> None:
    assert len(boost(X, Y, loss="squared_error", learner=Keeper(), n_estimators=3)) == 3


@pytest.mark.parametrize(
    ("name", "given", "error"),
    [
        ("design", X.astype(complex), TypeError),
        ("design", X.astype(object), TypeError),
        ("design", np.full_like(X, np.nan), ValueError),
        ("design", X[:0], ValueError),
        ("y", Y.astype(str), TypeError),
        ("y", np.full_like(Y, np.inf), ValueError),
        ("weight", np.full(60, "a"), TypeError),
    ],
    ids=str,
)
def test_data_of_the_loop_are_named(name, given, error) -> None:
    data = {"design": X, "y": Y} | {name: given}
    with pytest.raises(error, match=f"{name} must|at least one row"):
        boost(**data, loss="squared_error", learner="rff_1")


def test_classes_of_the_loop_have_a_row_each() -> None:
    with pytest.raises(ValueError, match=r"class indices .* got no row of class 1"):
        boost(X, 2.0 * (Y > 0.0), loss="log_loss", learner="rff_1")


@pytest.mark.parametrize("kind", ["bool", "int8", "uint8", "float16", "longdouble", ">f8", ">i4"])
@pytest.mark.parametrize("learner", ["mixture", "rff_1"])
@pytest.mark.slow
def test_the_loop_takes_every_type_of_real_numbers(kind, learner) -> None:
    numbers = np.random.default_rng(0).random((60, 2)) < 0.5
    parts = {"loss": "log_loss", "learner": learner, "n_estimators": 4, "random_state": 0}
    given, wanted = (boost(data, data[:, :1], **parts) for data in (numbers.astype(kind), numbers.astype(float)))
    np.testing.assert_array_equal(given.raw(numbers), wanted.raw(numbers))


def test_targets_of_the_loop_are_in_double_precision() -> None:
    target = np.exp(Y).astype(np.float32)
    parts = {"loss": "poisson", "learner": "rff_1", "n_estimators": 4, "random_state": 0}
    given, wanted = (boost(X, y, **parts) for y in (target, target.astype(float)))
    np.testing.assert_array_equal(given.raw(X), wanted.raw(X))
