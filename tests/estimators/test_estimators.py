"""The estimators as a scikit-learn user meets them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from rffboost_ext import (
    RFF1,
    RFFK,
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostRegressor,
    presets,
)

from ..cases import LOSS_CASES, each_learner, make_data, make_estimator

PRESETS = ["gbrff", "gbrff05", "gbrff1", "gbrff15", "gbrff2"]
BINARY, REAL = LOSS_CASES[0], next(case for case in LOSS_CASES if case.make().task == "regression")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_pass_parameters_on(name):
    clf = getattr(presets, name)(7, gamma=0.3, random_state=5, learning_rate=0.2, verbose=1)
    assert (clf.n_estimators, clf.learner.gamma, clf.random_state) == (7, 0.3, 5)
    assert (clf.learning_rate, clf.verbose) == (0.2, 1)


def test_callbacks_see_every_round_and_stop():
    X, y = make_data(BINARY)
    seen = []

    def stop_at_four(progress):
        seen.append((progress.round.index, progress.train_loss()))
        return len(seen) == 4

    params = {"n_estimators": 50, "callbacks": [stop_at_four], "random_state": 0}
    model = RFFBoostClassifier("exponential", "rff_1", **params).fit(X, y)
    assert [index for index, _ in seen] == [0, 1, 2, 3]
    assert model.n_estimators_ == 4
    losses = [loss for _, loss in seen]
    assert losses == sorted(losses, reverse=True)
    expected = model.loss_.value(y[:, None], model.ensemble_.raw(X)).mean()
    assert losses[-1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [-1, 1], [3, 7], [False, True], [1.0, 2.0], np.array(["b", "a"], dtype=object)],
    ids=str,
)
def test_class_labels_come_back(labels):
    X, y = make_data(BINARY, n=100)
    names = np.asarray(labels)[y]
    clf = RFFBoostClassifier("exponential", "tree", n_estimators=20, random_state=0).fit(X, names)
    np.testing.assert_array_equal(clf.classes_, np.unique(names))
    assert clf.predict(X).dtype == clf.classes_.dtype
    assert clf.score(X, names) > 0.8
    second = clf.predict(X) == clf.classes_[1]
    np.testing.assert_array_equal(second, clf.predict_proba(X)[:, 1] > 0.5)
    np.testing.assert_array_equal(second, clf.decision_function(X) > 0.0)


def test_grid_search_over_nested_parameters():
    X, y = make_data(BINARY, n=120)
    grid = {"learner__gamma": [1e-3, 0.3], "learning_rate": [0.5, 1.0]}
    search = GridSearchCV(presets.gbrff1(10, random_state=0), grid, cv=2, error_score="raise").fit(X, y)
    assert set(search.best_params_) == set(grid)
    assert len(set(np.round(search.cv_results_["mean_test_score"], 6))) > 1
    assert search.best_estimator_.learner.gamma == search.best_params_["learner__gamma"]
    assert search.estimator.learner.gamma == "scale", "the search leaves the estimator as it was"


def test_outputs_are_of_each_cosine():
    X, y = make_data(BINARY)
    model = RFFBoostClassifier(learner=RFFK(4), n_estimators=3, random_state=0).fit(X, y)
    features = model.ensemble_.outputs(model.encoder_.transform(X))
    assert features.shape == (len(X), 12)
    assert np.abs(features).max() <= 1.0


@each_learner
def test_units_of_features_do_not_matter(loss, learner):
    # Features are standardised; trees split at the same rows in any unit.
    X, y = make_data(loss)
    here = make_estimator(loss, learner).fit(X, y).predict(X)
    scaled = X * [1e3, 2.0, 1e-3] + [1e4, 0.0, 1.0]
    there = make_estimator(loss, learner).fit(scaled, y).predict(scaled)
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"learner__subsample": 0.5}, ("learner__subsample", 0.5)),
        ({"learner": "rff_1", "learner__gamma": 0.5}, ("learner__gamma", 0.5)),
        ({"learner": "rff_k", "learner__n_components": 3}, ("learner__n_components", 3)),
        ({"step": "line_search", "step__tol": 1e-3}, ("step__tol", 1e-3)),
    ],
)
def test_nested_parameters_of_a_part_given_by_name(params, expected):
    model = RFFBoostClassifier().set_params(**params)
    assert model.get_params()[expected[0]] == expected[1]


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (RFFBoostClassifier(), "step__tol", "'auto'"),
        (RFFBoostClassifier(eval_metric="roc_auc"), "eval_metric__k", "'roc_auc'"),
        (RFFBoostClassifier(), "callbacks__verbose", "None"),
        (RFFBoostClassifier(learner=RFF1()), "learner__gamma__scale", "'scale'"),
        (RFFBoostRegressor(learner=RFF1), "learner__gamma", "<class"),
        (ConformalRegressor(), "estimator__learner", "None"),
        (ConformalRegressor(RFFBoostRegressor()), "estimator__callbacks__verbose", "None"),
        (RFFBoostDistribution(distribution=None), "distribution__unit", "None"),
    ],
)
def test_nested_parameters_need_an_instance_to_set_them_on(model, name, value):
    *_, role, parameter = name.split("__")
    with pytest.raises(
        ValueError, match=f"{role} must be an instance with parameters to set {role}__{parameter}, got {value}"
    ):
        model.set_params(**{name: 1})
