"""Sample weights count rows: weight 2 is the row twice, weight 0 its absence, over all losses and learners."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rffboost_ext import Design, RFFBoostClassifier, RFFBoostRegressor, boost
from rffboost_ext.rows.dataset import Dataset, merge_duplicates
from rffboost_ext.terms import FeatureMap
from rffboost_ext.utils.sparse import row_hashes

from ..cases import as_targets, make_data, make_estimator, pairs

COUNTS = np.array([2, 1, 1, 0, 3, 1] * 10)


def rounds(loss):
    """As many as leave rounding errors small: of a line search an error of 1e-8 enters the next round."""
    return 5 if loss.make().exact_hessian and loss.n_outputs == 1 else 1


def scores(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pairs
def test_integer_weights_repeat_rows(loss, learner):
    X, y = make_data(loss)
    model, rows = make_estimator(loss, learner), np.repeat(np.arange(len(y)), COUNTS)
    weighted = scores(model.fit(X, y, sample_weight=COUNTS), X)
    np.testing.assert_array_equal(weighted, scores(model.fit(X[rows], y[rows]), X))
    assert np.abs(weighted - scores(model.fit(X, y), X)).max() > 1e-3


@pairs
def test_integer_weights_repeat_rows_in_the_loop(loss, learner):
    # The estimators merge equal rows; here nothing does, so the learners themselves must count by weight.
    if learner.of_rows:
        pytest.skip("draws rows, of which there are other numbers here")
    X, y = make_data(loss)
    y, kept = as_targets(y), COUNTS > 0
    moment = {"feature_map": FeatureMap(center=np.ones(3), scale=np.full(3, 2.0)), "precision": "float64"}
    options = {"loss": loss.make(), "learner": learner.make(), "n_estimators": rounds(loss), "random_state": 0}
    weighted = boost(Design(X[kept], **moment), y[kept], weight=COUNTS[kept].astype(float), **options)
    repeated = boost(Design(np.repeat(X, COUNTS, axis=0), **moment), np.repeat(y, COUNTS, axis=0), **options)
    # Sums over other numbers of rows are rounded in another way, and rounds amplify that.
    np.testing.assert_allclose(weighted.raw(X), repeated.raw(X), rtol=0, atol=10.0 * learner.tol)


@pairs
def test_order_of_rows_does_not_matter(loss, learner):
    if learner.of_rows:
        pytest.skip("draws rows by their place")
    X, y = make_data(loss)
    order = np.random.default_rng(5).permutation(len(y))
    sorted_, shuffled = (
        make_estimator(loss, learner, n_estimators=rounds(loss), precision="float64").fit(X[o], y[o])
        for o in (np.arange(len(y)), order)
    )
    np.testing.assert_allclose(scores(sorted_, X), scores(shuffled, X), rtol=0, atol=learner.tol)


def test_weights_that_make_penalties_overwhelming_are_named():
    X = np.random.default_rng(0).standard_normal((50, 2))
    model = RFFBoostRegressor(learner="tree", n_estimators=2)
    with pytest.warns(UserWarning, match=r"sample_weight: 50 rows have a total weight of 1; .* mean of 1"):
        model.fit(X, X[:, 0], sample_weight=np.full(50, 1.0 / 50.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, X[:, 0], sample_weight=np.random.default_rng(1).random(50))


def test_distinct_rows_are_left_alone():
    X, y, weight = np.arange(6.0).reshape(3, 2), np.zeros((3, 1)), np.full(3, 2.0)
    equal = np.zeros((3, 2))
    for rows in (Dataset(X, y, weight), Dataset(equal, y, weight, offset=np.arange(3.0)[:, None])):
        assert merge_duplicates(rows) is rows


def test_equal_rows_are_merged():
    X, y = np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0], [0.0, 1.0]]), np.array([[1.0], [1.0], [1.0], [0.0]])
    rows = merge_duplicates(Dataset(X, y, np.array([1.0, 2.0, 3.0, 4.0])))
    merged = {(*row, *target, w) for row, target, w in zip(rows.X, rows.y, rows.weight, strict=True)}
    assert merged == {(0.0, 1.0, 1.0, 4.0), (2.0, 3.0, 1.0, 2.0), (0.0, 1.0, 0.0, 4.0)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fingerprints_tell_small_integers_apart(dtype):
    rows = np.random.default_rng(0).integers(0, 4, (20_000, 9))
    distinct = len(np.unique(rows, axis=0))
    assert len(np.unique(row_hashes(rows.astype(dtype)))) == distinct


@pytest.mark.parametrize("tiny", [5e-324, 1e-310])
def test_weights_that_lose_their_precision_are_refused(tiny):
    with pytest.raises(ValueError, match="sample_weight must be 0 or at least"):
        RFFBoostRegressor(n_estimators=2).fit(np.eye(4), np.arange(4.0), sample_weight=np.full(4, tiny))


@pytest.mark.parametrize(
    ("factor", "fault"), [(5e-324, "be 0 or"), (1e-310, "be 0 or"), (1e308, "have a finite sum")]
)
def test_class_weights_keep_the_precision_of_the_weights(factor, fault):
    model = RFFBoostClassifier(class_weight={0: 1.0, 1: factor})
    with pytest.raises(ValueError, match=f"RFFBoostClassifier: sample_weight times class_weight must {fault}"):
        model.fit(np.eye(6), np.arange(6) % 2)
