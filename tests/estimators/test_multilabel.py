"""Targets of zeros and ones in several columns: which labels a row has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import register_skl2onnx
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.losses import LogLoss, MultilabelLogLoss
from rffboost_ext.testing import check_loss

X, Y = make_multilabel_classification(240, n_features=6, n_classes=3, random_state=0)
X = X.astype(float)
L = Y.shape[1]


@pytest.fixture(scope="module")
def model():
    return RFFBoostClassifier(learner="tree", n_estimators=30, early_stopping=False, random_state=0).fit(X, Y)


def test_the_loss_keeps_the_laws():
    check_loss(MultilabelLogLoss(), Y)


def test_the_loss_is_that_of_each_label():
    raw = np.random.default_rng(0).normal(size=Y.shape)
    loss, y = MultilabelLogLoss(), Y.astype(float)
    each = [LogLoss().value(y[:, [k]], raw[:, [k]]) for k in range(L)]
    np.testing.assert_allclose(loss.value(y, raw), np.sum(each, axis=0), rtol=1e-12)
    p = loss.link.inverse(raw)
    wanted = sum(log_loss(Y[:, k], p[:, k]) for k in range(L))
    assert loss.value(y, raw).mean() == pytest.approx(wanted)


def test_shapes_are_those_of_sklearn(model):
    p = model.predict_proba(X)
    assert p.shape == model.predict(X).shape == model.decision_function(X).shape == Y.shape
    np.testing.assert_array_equal(model.predict(X), (p > 0.5).astype(int))
    np.testing.assert_array_equal(model.classes_, np.arange(L))
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X)) > 0.6
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))


def test_labels_in_any_container_are_the_same(model):
    for given in (pd.DataFrame(Y, columns=list("abc")), Y.tolist(), Y.astype(bool), Y.astype(float)):
        again = clone(model).fit(X, given)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_metrics(model):
    watched = clone(model).set_params(eval_metric=["accuracy", "roc_auc"], early_stopping=True)
    watched.fit(X[:160], Y[:160], eval_set=[(X[160:], Y[160:])])
    curves = watched.evals_result_["validation_0"]
    assert curves["accuracy"][-1] == pytest.approx(watched.score(X[160:], Y[160:]))


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({}, 2 * Y, "zeros and ones"),
        ({}, Y.astype(str), "zeros and ones"),
        ({"class_weight": "balanced"}, Y, "class_weight must be None"),
        ({"loss": "exponential"}, Y, "y must have one column for loss Exponential"),
        ({"loss": "squared_error"}, Y, "y must have one column for loss LabelRegression"),
        ({"learner": "rff_1"}, Y, "learner RFF1.* the loss has 3 outputs"),
    ],
)
def test_what_is_refused(params, y, message):
    with pytest.raises(ValueError, match=message):
        RFFBoostClassifier(**params).fit(X, y)


def test_other_numbers_of_labels_are_refused(model):
    with pytest.raises(ValueError, match="column for each of 3 labels"):
        clone(model).fit(X, Y, eval_set=[(X, Y[:, :2])])
    with pytest.raises(ValueError, match="must have the classes of the previous fit"):
        clone(model).set_params(warm_start=True).fit(X, Y).fit(X, Y[:, :2])


def test_labels_in_graphs_of_pipelines(model):
    runtime = pytest.importorskip("onnxruntime")
    register_skl2onnx()
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, Y)
    graph = skl2onnx.to_onnx(pipeline, X, options={"zipmap": False}, target_opset=18)
    labels, p = runtime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
    np.testing.assert_array_equal(labels, pipeline.predict(X))
    np.testing.assert_allclose(p, pipeline.predict_proba(X), atol=1e-5)
