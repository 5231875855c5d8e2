"""Our losses in XGBoost's own loop: the same model as in ours."""

import numpy as np
import pytest
import xgboost as xgb
from sklearn.datasets import make_classification

from rffboost_ext import LOSSES, RFFBoostClassifier, Tree
from rffboost_ext.experiments.compare import SYSTEMS
from rffboost_ext.experiments.compare.xgboost_systems import XGBoostLoop
from rffboost_ext.interop.xgboost import objective

from ..cases import LOSS_NAMED

X, Y = make_classification(600, 8, n_informative=4, flip_y=0.2, random_state=0)


def test_tree_and_xgboost_have_the_same_margins():
    build = {"rounds": 20, "learning_rate": 0.3, "seed": 1, "threads": 1}
    ours, theirs = (SYSTEMS[name].build(**build).fit(X, Y) for name in ("tree", "xgboost"))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4, rtol=0)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("loss", ["exponential", "log_loss"])
def test_loops_agree_for_any_loss_and_depth(loss):
    ours = RFFBoostClassifier(loss, Tree(max_depth=3), n_estimators=20, learning_rate=0.2).fit(X, Y)
    theirs = XGBoostLoop(loss, 20, 0.2, max_depth=3).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4, rtol=0)


def sample(loss, n_classes, n=60):
    """A matrix with labels that `loss` can use, and margins of as many columns as it has outputs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = rng.integers(0, n_classes, n) if loss.task == "classification" else rng.gamma(2.0, size=n)
    prepared = loss.prepared(y[:, None].astype(float), np.ones(n))
    n_outputs = len(prepared.baseline(y[:, None].astype(float), np.ones(n)))
    return X, y, rng.normal(size=(n, n_outputs)).astype(np.float32)


@pytest.mark.parametrize("name", sorted(LOSS_NAMED.keys() & set(LOSSES.names())))
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_is_the_weighted_derivative_of_the_loss(name, weighted):
    loss = LOSSES.create(name)
    X, y, margin = sample(loss, 3 if name == "log_loss" else 2)
    weight = np.linspace(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    matrix = xgb.DMatrix(X, y, weight=weight if weighted else None)
    margin = margin[:, 0] if margin.shape[1] == 1 else margin
    gradient, hessian = objective(name)(margin, matrix)
    assert gradient.shape == hessian.shape == margin.shape
    raw, target = margin.astype(float).reshape(len(y), -1), matrix.get_label().astype(float)[:, None]
    loss = loss.prepared(target, weight.astype(np.float32).astype(float))
    expected = [loss.scales.unit * values for values in loss.derivatives(target, raw)]
    np.testing.assert_allclose(gradient.reshape(raw.shape), expected[0] * weight[:, None], rtol=1e-6)
    positive = np.maximum(expected[1], 1e-16) * weight[:, None]
    np.testing.assert_allclose(hessian.reshape(raw.shape), positive, rtol=1e-6)
    assert (hessian > 0).all()
