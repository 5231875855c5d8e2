"""What the hosts' estimators call our losses where they show them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

from rffboost_ext import LOSSES
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, CLASSES, Halved, Probit, X, hosts

RNG = np.random.default_rng(0)


@hosts
def test_a_metric_alone_measures_all_matrices_alike(host):
    y = RNG.standard_normal(400)
    first, other = host.matrix(X, y), host.matrix(X, 5.0 * y)
    metric, scores = host.ours.objective("huber").metric, np.zeros(400)
    loss = LOSSES.create("huber").prepared(y[:, None], np.ones(400))
    for matrix, target in ((first, y), (other, 5.0 * y)):
        expected = loss.value(target[:, None], scores[:, None]).mean()
        assert metric(scores, matrix)[1] == pytest.approx(expected, rel=1e-5)


LINKED = {"probit": (Probit(), BINARY), "halved": (Halved(), CLASSES)}


def watched(loss, y, metric):
    """A fit in XGBoost, and what it shows of its own metrics."""
    model = rxgb.XGBClassifier(loss=loss, n_estimators=5, max_depth=3, n_jobs=1, eval_metric=metric)
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    return model, model.evals_result()["validation_0"]


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("metric", ["logloss", ["auc", "error@0.3"], ("mlogloss",), "merror"], ids=str)
def test_metrics_that_would_read_scores_by_another_link_are_refused(name, metric):
    loss, y = LINKED[name]
    with pytest.raises(ValueError, match=f"eval_metric must be unset.* a function.*{type(loss).__name__}") as told:
        watched(loss, y, metric)
    assert f"got {metric!r}" in str(told.value)
    assert ("one of ['auc', 'aucpr']" in str(told.value)) == (name == "probit")


MEAN = np.abs(X[:, 0])


@pytest.mark.parametrize(
    ("model", "y", "far"),
    [
        (rxgb.XGBRegressor(loss="gamma", n_estimators=2, eval_metric="rmse"), MEAN, {"y": 1e-60 * MEAN}),
        (
            rxgb.XGBClassifier(n_estimators=2, eval_metric="logloss"),
            BINARY,
            {"y": BINARY, "sample_weight": np.where(BINARY, 1e-9, 1.0)},
        ),
    ],
)
def test_metrics_that_a_far_start_leaves_unread_are_refused(model, y, far):
    with pytest.raises(ValueError, match="eval_metric must be unset, a function, or one of"):
        model.fit(X, **far)
    model.fit(X, y)


def test_metrics_of_order_are_right_with_any_link_that_increases():
    model, seen = watched(Probit(), BINARY, ["auc", "aucpr"])
    p = model.predict_proba(X)[:, 1]
    assert seen["auc"][-1] == pytest.approx(roc_auc_score(BINARY, p), abs=1e-6)
    # XGBoost interpolates the curve.
    assert seen["aucpr"][-1] == pytest.approx(average_precision_score(BINARY, p), abs=1e-2)
    with pytest.raises(ValueError, match="must be unset or a function"):
        watched(*LINKED["halved"], "auc")


def test_metrics_of_order_are_refused_in_lightgbm_where_the_link_does_not_increase():
    for name, (loss, y) in LINKED.items():
        model = rlgb.LGBMClassifier(loss=loss, n_estimators=3, n_jobs=1, verbose=-1)
        watch = {"eval_set": [(X[::2], y[::2])], "eval_metric": "auc"}
        if name == "probit":
            model.fit(X, y, **watch)
            wanted = roc_auc_score(y[::2], model.predict_proba(X[::2])[:, 1])
            assert model.evals_result_["valid_0"]["auc"][-1] == pytest.approx(wanted, abs=1e-9)
            continue
        with pytest.raises(ValueError, match=r"eval_metric must be unset or a function.* got 'auc'"):
            model.fit(X, y, **watch)


@pytest.mark.parametrize("name", LINKED)
def test_functions_see_the_probabilities_of_any_link(name):
    def shown(y, p):
        return log_loss(y, p)

    model, seen = watched(*LINKED[name], shown)
    assert seen["shown"][-1] == pytest.approx(log_loss(LINKED[name][1], model.predict_proba(X)), rel=1e-5)
