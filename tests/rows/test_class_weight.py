"""Class weights are factors on sample weights: the same fit to the bit as with these."""

from __future__ import annotations

from collections import Counter, defaultdict
from types import MappingProxyType

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.class_weight import compute_sample_weight

from rffboost_ext import RFFBoostClassifier, Tree, load_model

from ..cases import PAIRS, make_data, make_estimator, over_pairs

CLASSIFIED = [(loss, learner) for loss, learner in PAIRS if loss.make().task == "classification"]
pairs = over_pairs(CLASSIFIED)


def uneven(n=300):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] + 0.8 * rng.standard_normal(n) > 1.3).astype(int)


@pairs
def test_they_are_sample_weights(loss, learner):
    X, y = make_data(loss)
    class_weight = {0: 0.3, 1: 2.5} if learner.name == "tree" else "balanced"
    model = make_estimator(loss, learner, n_estimators=3)
    own = clone(model).set_params(class_weight=class_weight).fit(X, y)
    other = model.fit(X, y, sample_weight=compute_sample_weight(class_weight, y))
    np.testing.assert_allclose(own.decision_function(X), other.decision_function(X), atol=1e-6)


def test_they_are_multiplied_with_sample_weights():
    X, y = uneven()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    params = {"learner": "rff_newton", "n_estimators": 10, "random_state": 0, "early_stopping": True, "n_folds": 2}
    one = RFFBoostClassifier(class_weight={1: 3.0}, **params).fit(X, y, sample_weight=weight)
    two = RFFBoostClassifier(**params).fit(X, y, sample_weight=weight * np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_balanced_classes_have_equal_weight_whatever_rows_weigh():
    X, y = uneven()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    params = {"learner": Tree(), "class_weight": "balanced", "n_estimators": 5}
    weighted = RFFBoostClassifier(**params).fit(X, y, sample_weight=weight)
    repeated = RFFBoostClassifier(**params).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
    assert weighted.ensemble_.baseline == pytest.approx(0.0, abs=1e-12)


def test_held_out_rows_are_weighted_too():
    X, y = uneven()
    model = RFFBoostClassifier(learner="rff_newton", class_weight={"yes": 4.0}, n_estimators=5, random_state=0)
    labels = np.array(["no", "yes"])[y]
    model.fit(X + 0.1, labels, eval_set=[(X, labels)])
    loss = -np.log(model.predict_proba(X)[np.arange(len(y)), y])
    monitored = model.evals_result_["validation_0"]["log_loss"][model.n_estimators_ - 1]
    assert monitored == pytest.approx(np.average(loss, weights=np.where(y == 1, 4.0, 1.0)))


def test_unknown_classes_are_named():
    with pytest.raises(ValueError, match=r"class_weight must be .*, got 7 and nothing for 1"):
        RFFBoostClassifier(class_weight={0: 1.0, 7: 1.0}).fit(*uneven())


def test_a_part_of_the_data_may_lack_a_class():
    X, y = load_iris(return_X_y=True)
    booster = RFFBoostClassifier(learner="tree", n_estimators=3, class_weight={0: 1.0, 1: 2.0, 2: 3.0})
    scores = cross_val_score(booster, X, y, cv=KFold(3), error_score="raise")
    assert len(scores) == 3
    whole = booster.fit(X[y < 2], y[y < 2]).predict_proba(X)
    booster.set_params(class_weight={0: 1.0, 1: 2.0})
    np.testing.assert_array_equal(booster.fit(X[y < 2], y[y < 2]).predict_proba(X), whole)


@pytest.mark.parametrize(
    "class_weight", [Counter({0: 1, 1: 4}), defaultdict(float, {1: 4.0}), MappingProxyType({1: 4.0})], ids=repr
)
def test_every_mapping_is_kept_in_files(class_weight, tmp_path):
    X, y = uneven()
    model = RFFBoostClassifier(learner="tree", n_estimators=5, random_state=0, class_weight=class_weight).fit(X, y)
    model.save_model(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.class_weight == dict(class_weight)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(clone(again).fit(X, y).predict_proba(X), model.predict_proba(X))
