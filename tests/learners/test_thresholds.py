"""Thresholds of trees: off the values of data, which stay where they are sent, also after rounding."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, SymmetricTree, Trees
from rffboost_ext.learners.trees.single_precision import MAX_RELATIVE_SHIFT, lower_thresholds, lowered_values
from rffboost_ext.learners.trees.xgboost_model import parse_model, read_rounds

numbers = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@settings(deadline=None, max_examples=60)
@given(
    X=arrays(np.float32, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=numbers),
    seed=st.integers(0, 99),
)
def test_a_threshold_moves_by_its_slack_or_half_the_gap(X, seed):
    rng = np.random.default_rng(seed)
    chosen = [np.unique(rng.choice(values, rng.integers(6))) for values in X.T]
    threshold, column = np.concatenate(chosen), np.repeat(np.arange(X.shape[1]), [len(some) for some in chosen])
    # Columns of gaps leave their thresholds.
    X = np.where(rng.random(X.shape[1]) < 0.1, np.float32(np.nan), X)
    moved = lowered_values(threshold, column, rng.permutation(np.vstack([X, np.full_like(X[:1], np.nan)])))
    for old, new, values in zip(threshold, moved, X.T[column], strict=True):
        smaller = np.sort(values[values < old])
        assert new <= old
        assert (smaller < new).all()
        assert len(smaller) or new == old
        if len(smaller):
            room = min(MAX_RELATIVE_SHIFT * np.abs(values).max(), (float(old) - float(smaller[-1])) / 2.0)
            assert float(old) - float(new) == pytest.approx(
                room, abs=2.0 * float(np.spacing(max(abs(old), abs(new))))
            )


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("outputs", [1, 3])
def test_every_row_stays_and_so_does_one_that_is_a_rounding_off(outputs, missing):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)).astype(np.float32)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    X[:, 4] = rng.integers(0, 3, len(X))
    y = rng.integers(0, outputs, len(X)) if outputs > 1 else rng.standard_normal(len(X))
    many = {"objective": "multi:softprob", "num_class": outputs} if outputs > 1 else {}
    booster = xgb.train({"max_depth": 5, "nthread": 1} | many, xgb.DMatrix(X, y), num_boost_round=7)
    before = Trees.stack(read_rounds(parse_model(booster)))
    after = lower_thresholds(before, X)
    assert (after.threshold < before.threshold).any()
    np.testing.assert_array_equal(after(X), before(X))
    whole = X.copy()
    whole[:, :4] = np.round(X[:, :4])
    again = lower_thresholds(before, whole)
    off = np.nextafter(whole, -np.inf, dtype=np.float32)
    np.testing.assert_array_equal(again(off), again(whole))


@settings(deadline=None)
@given(start=numbers, count=st.integers(2, 40), split=st.integers(1, 39))
def test_neighbouring_numbers_stay_apart(start, count, split):
    column = np.full(count, start, dtype=np.float32)
    for k in range(1, count):
        column[k] = np.nextafter(column[k - 1], np.float32(np.inf), dtype=np.float32)
    at = min(split, count - 1)
    (moved,) = lowered_values(column[at : at + 1], np.zeros(1, dtype=np.int64), column[:, None])
    assert (column < moved).sum() == at


def test_columns_are_apart_where_thresholds_are_equal():
    X = np.array([[0.0, 1.0 - 2.0**-20], [1.0, 1.0], [2.0, 2.0]], dtype=np.float32)
    nodes = {name: np.array(ids, dtype=np.int32) for name, ids in (("left", [1, -1, -1]), ("right", [2, -1, -1]))}
    nodes |= {"threshold": np.array([1.0, 0.0, 0.0], dtype=np.float32), "missing_left": np.zeros(3, dtype=bool)}
    nodes |= {"value": np.zeros((3, 1)), "roots": np.zeros(1, dtype=np.int64)}
    each = [Trees(feature=np.full(3, feature, dtype=np.int32), **nodes) for feature in (0, 1)]
    together = lower_thresholds(Trees.stack(each), X).threshold[[0, 3]]
    alone = [lower_thresholds(one, X).threshold[0] for one in each]
    np.testing.assert_array_equal(together, alone)
    assert alone[0] < alone[1] < 1.0


SCALED = ColumnTransformer([("scaled", StandardScaler(), [0, 1, 2])], remainder="passthrough")


@pytest.mark.parametrize(
    ("step", "whole", "learner"),
    [(PCA(4), True, "mixture"), (PCA(4), False, "tree"), (SCALED, True, "tree"), (SCALED, False, "mixture")],
    ids=str,
)
def test_a_graph_that_computes_features_anew_agrees_on_training_rows(step, whole, learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    X = np.round(3.0 * X) if whole else X
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    final = RFFBoostClassifier(learner=learner, n_estimators=10, early_stopping=False, random_state=0)
    model = make_pipeline(step, final).fit(X, y)
    graph = to_onnx(model, X)
    assert verify_onnx(model, graph, X).passed
    # The graph computes the features of the last step itself, up to rounding.
    np.testing.assert_allclose(OnnxPredictor(graph).predict_proba(X), model.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_symmetric_trees_send_the_middle_of_two_values_the_same_way_after_rounding(leaf):
    rng = np.random.default_rng(0)
    rows, new = 0.02 * rng.integers(0, 99, (300, 2)), np.arange(200)[:, None] / [100.0, 100.0]
    y = np.sin(9.0 * rows[:, 0]) + rows[:, 1]
    params = {"n_estimators": 40, "early_stopping": False, "random_state": 0}
    model = RFFBoostRegressor(learner=SymmetricTree(leaf=leaf), **params).fit(rows, y)
    np.testing.assert_allclose(model.predict(new.astype(np.float32)), model.predict(new), atol=1e-4)
    assert verify_onnx(model, to_onnx(model), new).passed
