"""Missing values where fit had none: treated as by peers, alike in Python, files and graphs."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import cross_val_score

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import (
    ConformalRegressor,
    Cosines,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    load_model,
)

from ..cases import above_median

RNG = np.random.default_rng(2)
X = RNG.standard_normal((160, 3)) + np.array([0.0, 300.0, -5.0])
SIGNAL = np.sin(2.0 * X[:, 0]) + (X[:, 1] - 300.0) + 0.3 * X[:, 2]
LABELS = above_median(SIGNAL)
WEIGHT = RNG.uniform(0.5, 2.0, len(X))
ROWS = np.where(RNG.random((60, 3)) < 0.4, np.nan, X[:60])
BRIEF = {"n_estimators": 8, "early_stopping": False, "random_state": 0}
LEARNERS = ["auto", "tree", "rff_newton"]


@pytest.fixture(scope="module", params=LEARNERS)
def model(request):
    """A regressor that is fitted to complete rows."""
    params = {"random_state": 0} if request.param == "auto" else BRIEF
    return RFFBoostRegressor(learner=request.param, **params).fit(X, SIGNAL, sample_weight=WEIGHT)


def test_cosines_impute_the_weighted_mean(model):
    filled = np.where(np.isnan(ROWS), np.average(X, axis=0, weights=WEIGHT), ROWS)
    for term in model.ensemble_.compact().terms:
        if isinstance(term, Cosines):
            np.testing.assert_allclose(term(ROWS), term(filled), rtol=0, atol=1e-12)
            np.testing.assert_allclose(term.features(ROWS), term.features(filled), rtol=0, atol=1e-9)


@pytest.mark.parametrize("depth", [2, 6])
def test_trees_send_them_where_xgboost_does(depth):
    ours = RFFBoostRegressor(learner="tree", n_estimators=20, early_stopping=False, random_state=0)
    ours.set_params(learner__max_depth=depth).fit(X, SIGNAL)
    params = {"max_depth": depth, "eta": 0.1, "base_score": SIGNAL.mean(), "nthread": 1, "tree_method": "hist"}
    theirs = xgboost.train(params, xgboost.DMatrix(X, SIGNAL), 20).predict(xgboost.DMatrix(ROWS))
    np.testing.assert_allclose(ours.predict(ROWS), theirs, rtol=0, atol=1e-5)


def test_stages_files_and_copies(model, tmp_path):
    expected = model.predict(ROWS)
    assert np.isfinite(expected).all()
    *_, last = model.staged_predict(ROWS)
    np.testing.assert_allclose(last, expected, rtol=0, atol=1e-9)
    model.save_model(tmp_path / "model")
    for other in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(ROWS), expected)
    np.testing.assert_allclose(model.predict(ROWS.astype(np.float32)), expected, rtol=0, atol=1e-3)
    # A row is predicted alone as among others.
    np.testing.assert_allclose([model.predict(row[None])[0] for row in ROWS[:5]], expected[:5], rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "mixed"])
def test_graphs(model, dtype):
    file = to_onnx(model, dtype=dtype)
    for runtime in ("onnxruntime", "reference"):
        verify_onnx(model, file, ROWS, runtime=runtime, raise_on_mismatch=True)
    tol = 1e-9 if dtype == "float64" else 1e-3
    np.testing.assert_allclose(OnnxPredictor(file).predict(ROWS), model.predict(ROWS), rtol=0, atol=tol)


@pytest.mark.parametrize("extrapolation", ["constant", "continue"])
@pytest.mark.parametrize("opset", [9, 21])
def test_graphs_of_each_opset(extrapolation, opset):
    model = RFFBoostClassifier(learner="mixture", extrapolation=extrapolation, **BRIEF).fit(X, LABELS)
    for dtype in ("float32", "float64"):
        verify_onnx(model, to_onnx(model, dtype=dtype, opset=opset), ROWS, raise_on_mismatch=True)


def test_one_rare_gap_in_a_cross_validation():
    rows = X.astype(np.float32)
    rows[17, 1] = np.nan
    model = RFFBoostRegressor(n_estimators=8, n_folds=2, random_state=0)
    assert np.isfinite(cross_val_score(model, rows, SIGNAL, cv=4)).all()
    table = pd.DataFrame(X, columns=list("abc")).assign(kind=pd.Categorical(np.where(X[:, 0] > 0.0, "a", "b")))
    table.loc[9, "kind"] = np.nan
    scores = cross_val_score(RFFBoostClassifier(**BRIEF), table, LABELS, cv=4, scoring="neg_log_loss")
    assert np.isfinite(scores).all()


WRAPPED = {
    "quantiles": RFFBoostQuantileRegressor((0.2, 0.8), **BRIEF),
    "conformal": ConformalRegressor(RFFBoostRegressor(**BRIEF), alpha=0.2, random_state=0),
    "bagging": BaggingRegressor(RFFBoostRegressor(**BRIEF), 2, random_state=0),
}


@pytest.mark.parametrize("estimator", WRAPPED.values(), ids=WRAPPED)
def test_estimators_of_estimators(estimator):
    assert np.isfinite(estimator.fit(X, SIGNAL).predict(ROWS)).all()


@pytest.mark.parametrize("learner", ["mixture", "tree"])
def test_further_fits(learner):
    params = BRIEF | {"learner": learner}
    model = RFFBoostRegressor(**params, warm_start=True).fit(X, SIGNAL)
    further = RFFBoostRegressor(**params).fit(ROWS, SIGNAL[:60], init_model=model)
    assert np.isfinite(model.set_params(n_estimators=12).fit(ROWS, SIGNAL[:60]).predict(ROWS)).all()
    assert np.isfinite(further.predict(ROWS)).all()


def test_graphs_for_complete_models_grow_by_two_nodes():
    strict, model = (RFFBoostRegressor(missing=how, **BRIEF).fit(X, SIGNAL) for how in ("error", "auto"))
    files = [to_onnx(one) for one in (strict, model)]
    operators = [[node.op_type for node in file.graph.node] for file in files]
    assert sorted(operators[1]) == sorted([*operators[0], "IsNaN", "Where"])
    with pytest.raises(ValueError, match="NaN in column 0"):
        OnnxPredictor(files[0]).predict(np.full((1, 3), np.nan))
