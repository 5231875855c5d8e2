"""Losses of classes with columns of their own: labels first, then numbers such as costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from onnx_export import OnnxPredictor, to_onnx
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.losses import MultinomialLogitLink

from ..own_parts import CostLogit
from .interop_cases import BINARY, CLASSES, X, hosts

COST = np.random.default_rng(0).uniform(0.5, 2.0, len(X))


class CostSoftmax(CostLogit):
    """The same for any number of classes."""

    link = MultinomialLogitLink()

    def n_scores(self, y, n_classes=None):
        return int(y[:, 0].max()) + 1 if n_classes is None else n_classes

    def value(self, y, raw):
        return -y[:, 1] * np.log(softmax(raw, axis=1)[np.arange(len(y)), y[:, 0].astype(int)])

    def derivatives(self, y, raw):
        p = softmax(raw, axis=1)
        return y[:, 1:] * (p - np.eye(raw.shape[1])[y[:, 0].astype(int)]), y[:, 1:] * 2.0 * p * (1.0 - p)

    def baseline(self, y, weight):
        return np.log(np.bincount(y[:, 0].astype(int), weight * y[:, 1]) / (weight * y[:, 1]).sum())


# The bins of other methods of XGBoost are quantiles of weighted rows.
PARAMS = {"xgboost": {"tree_method": "exact"}, "lightgbm": {}}


@hosts
def test_costs_are_weights_in_the_hosts(host):
    params = PARAMS[host.name]
    y = np.column_stack([BINARY, COST])
    wanted = host.theirs("Classifier", **params).fit(X, BINARY, sample_weight=COST).predict_proba(X)
    model = host.classifier(loss=CostLogit(), **params).fit(X, y, eval_set=[(X[:50], y[:50])])
    np.testing.assert_allclose(model.predict_proba(X), wanted, atol=1e-5)
    assert model.score(X, y) == model.score(X, BINARY) == np.mean(wanted.argmax(axis=1) == BINARY)
    found = OnnxPredictor(to_onnx(model)).predict_proba(X)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    several = host.classifier(loss=CostSoftmax(), **params).fit(X, np.column_stack([CLASSES, COST]))
    assert several.classes_.tolist() == [0, 1, 2]
    assert several.predict_proba(X).shape == (len(X), 3)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, y[:, ::-1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("loss", "codes"), [(CostLogit(), BINARY), (CostSoftmax(), CLASSES)], ids=["two", "three"]
)
def test_labels_with_costs_of_a_table(loss, codes):
    labels = np.array(["no", "perhaps", "yes"])[codes]
    y = pd.DataFrame({"label": labels, "cost": COST})
    model = RFFBoostClassifier(loss, learner="tree", n_estimators=10, early_stopping=False, random_state=0)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])])
    assert model.classes_.tolist() == sorted(set(labels))
    assert model.score(X, y) == model.score(X, labels) > 0.8
    curve = next(iter(next(iter(model.evals_result_.values())).values()))
    encoded = np.column_stack([codes, COST])[300:]
    assert min(curve) == pytest.approx(loss.value(encoded, model.raw_scores(X[300:])).mean())
