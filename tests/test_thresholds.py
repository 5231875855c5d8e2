"""Thresholds of trees: off the values of the training data, which stay where XGBoost has sent them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, Trees
from rffboost_ext.interop.xgboost_json import parsed, read_rounds
from rffboost_ext.learners.thresholds import MOST_ROWS, SLACK, lowered, moved_down

from .test_trees import random_model

numbers = st.floats(-1e6, 1e6, width=32, allow_subnormal=False)


@given(values=arrays(np.float32, st.integers(1, 30), elements=numbers), seed=st.integers(0, 99))
def test_a_threshold_moves_by_its_slack_or_half_the_gap(values, seed):
    values = np.sort(values)
    threshold = np.random.default_rng(seed).choice(values, 5)
    moved = moved_down(threshold, np.append(values, np.float32(np.nan)))
    for old, new in zip(threshold, moved, strict=True):
        smaller = values[values < old]
        assert new <= old
        assert (smaller < new).all()
        if len(smaller):
            room = min(SLACK * np.abs(values).max(), (float(old) - float(smaller[-1])) / 2.0)
            assert float(old) - float(new) == pytest.approx(
                room, abs=2.0 * float(np.spacing(max(abs(old), abs(new))))
            )


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("outputs", [1, 3])
def test_every_row_stays_and_so_does_one_that_is_a_rounding_off(outputs, missing):
    booster, X = random_model(0, missing, outputs)
    rounds = read_rounds(parsed(booster))
    before, after = Trees.stack(rounds), Trees.stack(lowered(rounds, X))
    assert (after.threshold < before.threshold).any()
    np.testing.assert_array_equal(after(X), before(X))
    whole = X.copy()
    whole[:, :4] = np.round(X[:, :4])
    again = Trees.stack(lowered(rounds, whole))
    off = np.nextafter(whole, -np.inf, dtype=np.float32)
    np.testing.assert_array_equal(again(off), again(whole))


def test_of_many_rows_thresholds_stay():
    booster, X = random_model(0, 0.0, 1)
    rounds = read_rounds(parsed(booster))
    assert lowered(rounds, np.resize(X, (MOST_ROWS + 1, X.shape[1]))) == rounds
    assert lowered(rounds, np.resize(X, (MOST_ROWS, X.shape[1]))) != rounds


def test_a_column_of_gaps_leaves_thresholds():
    threshold = np.ones(2, dtype=np.float32)
    assert moved_down(threshold, np.full(3, np.nan, dtype=np.float32)) is threshold


@pytest.mark.parametrize("learner", ["tree", "mixture"])
@pytest.mark.parametrize("whole", [True, False], ids=["whole numbers", "real numbers"])
@pytest.mark.parametrize(
    "step",
    [PCA(4), ColumnTransformer([("scaled", StandardScaler(), [0, 1, 2])], remainder="passthrough")],
    ids=repr,
)
def test_a_graph_that_computes_features_anew_agrees_on_training_rows(step, whole, learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    X = np.round(3.0 * X) if whole else X
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    final = RFFBoostClassifier(learner=learner, n_estimators=40, early_stopping=False, random_state=0)
    model = make_pipeline(step, final).fit(X, y)
    assert verify_onnx(model, to_onnx(model, X), X).passed
