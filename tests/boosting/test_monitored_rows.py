"""Early stopping does not believe rows of the training set that a user lists in an eval_set."""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRanker, RFFBoostRegressor, RFFBoostSurvival

RNG = np.random.default_rng(3)
X = RNG.standard_normal((260, 4))
Y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(260) > 0.0).astype(int)
TRAIN, VALID = (X[:200], Y[:200]), (X[200:], Y[200:])
ONLY_TRAINING_ROWS = {
    "the set": [TRAIN],
    "a table": [(pd.DataFrame(X[:200]), pd.Series(Y[:200]))],
    "a part": [(X[50:120], Y[50:120])],
    "weighted": [(*TRAIN, RNG.random(200))],
    "others of weight 0": [(X, Y, np.arange(260) < 200)],
    "with a few others": [(X[:205], Y[:205])],
    "two": {"all": TRAIN, "a part": (X[:50], Y[:50])},
}


def fitted(eval_set, make=RFFBoostClassifier, y=Y, **params):
    model = make(**{"n_estimators": 15, "random_state": 0} | params)
    return model.fit(X[:200], y[:200], eval_set=eval_set)


@cache
def without_a_set(learner):
    return fitted(None, learner=learner).predict_proba(X)


# What is monitored does not depend on the learner, but a stack monitors each of its models.
@pytest.mark.parametrize(
    ("name", "learner"),
    [*((name, "mixture") for name in ONLY_TRAINING_ROWS), ("the set", "auto")],
)
def test_training_rows_alone_are_not_monitored(name, learner) -> None:
    eval_set = ONLY_TRAINING_ROWS[name]
    with pytest.warns(UserWarning, match=r"^RFFBoostClassifier: eval_set '.*' has rows of the training set"):
        watched = fitted(eval_set, learner=learner)
    np.testing.assert_array_equal(watched.predict_proba(X), without_a_set(learner))
    assert len(watched.evals_result_) == len(eval_set)


@pytest.mark.parametrize("make", [RFFBoostRegressor, RFFBoostClassifier])
def test_the_last_set_of_other_rows_is_monitored(make) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".* at the limit of 15 rounds")
        wanted = fitted([TRAIN, VALID], make)
    for sets in ([VALID, TRAIN], [VALID, TRAIN, (X[:90], Y[:90])]):
        with pytest.warns(UserWarning, match="'validation_1' has rows of the training set.* does not monitor it"):
            found = fitted(sets, make)
        np.testing.assert_array_equal(found.ensemble_.raw(X), wanted.ensemble_.raw(X))


def test_only_other_rows_of_a_set_are_monitored() -> None:
    text = re.escape("new rows: early stopping monitors the 60 others of its 260 rows")
    with pytest.warns(UserWarning, match=text):
        found = fitted([(X, Y)])
    wanted = fitted([VALID])
    np.testing.assert_array_equal(found.validation_scores_, wanted.validation_scores_)
    # What is listed is evaluated.
    curves = [model.evals_result_["validation_0"]["log_loss"] for model in (found, fitted([TRAIN, VALID]))]
    losses = [model.evals_result_["validation_0"]["log_loss"] for model in (wanted,)]
    np.testing.assert_allclose(curves[0], (200 * np.array(curves[1]) + 60 * np.array(losses[0])) / 260)


def test_several_targets() -> None:
    y = np.c_[X[:, 0], X[:, 1] ** 2]
    with pytest.warns(UserWarning, match="rows of the training set"):
        watched = fitted([(X[:200], y[:200])], RFFBoostRegressor, y, learner="tree")
    assert not hasattr(watched, "validation_scores_")


@pytest.mark.parametrize(
    "params", [{"early_stopping": False}, {"early_stopping": False, "learner": "tree"}], ids=str
)
def test_a_set_that_is_only_watched_may_be_the_training_set(params) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(fitted([TRAIN], **params).evals_result_["validation_0"]["log_loss"]) == 15


def test_rows_of_weight_zero_in_a_set_may_hold_anything() -> None:
    weight = np.ones(60)
    weight[:2] = 0.0
    odd, labels = X[200:].copy(), Y[200:].astype(object)
    odd[0], labels[1] = np.nan, 7
    rest = fitted([(X[202:], Y[202:])])
    for features, y in ((odd, labels), (pd.DataFrame(odd), pd.Series(labels)), (odd.tolist(), labels.tolist())):
        found = fitted([(features, y, weight)])
        np.testing.assert_array_equal(found.validation_scores_, rest.validation_scores_)
        assert found.evals_result_ == rest.evals_result_


def times(event):
    """Survival times of all rows; those of the set are censored unless `event`."""
    y = np.zeros(260, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = np.exp(X[:, 0]) * RNG.exponential(size=260), np.arange(260) < (260 if event else 200)
    return y


RELEVANCE, COUNTS = np.digitize(X[:, 0], [0.0, 1.0]), np.where(np.arange(260) < 200, Y, 0)
WITHOUT_BEST_SCORES = {
    "one class": (RFFBoostClassifier, {}, COUNTS),
    "no counts": (RFFBoostRegressor, {"loss": "poisson"}, COUNTS),
    "censored": (RFFBoostSurvival, {}, times(False)),
    "censored, by accelerated failure times": (RFFBoostSurvival, {"loss": "aft_normal"}, times(False)),
    "single documents": (RFFBoostRanker, {}, RELEVANCE),
    "single documents by a metric": (RFFBoostRanker, {"eval_metric": "ndcg"}, RELEVANCE),
}


@pytest.mark.parametrize("name", WITHOUT_BEST_SCORES)
def test_sets_without_best_scores_are_not_monitored(name) -> None:
    make, params, y = WITHOUT_BEST_SCORES[name]
    given, held = {}, {}
    if make is RFFBoostRanker:
        given, held = {"qid": np.arange(200) // 10}, {"eval_qid": [np.arange(60)]}
    model = make(n_estimators=15, learner="mixture", random_state=0, **params)
    expected = model.fit(X[:200], y[:200], **given).ensemble_.raw(X)
    with pytest.warns(UserWarning, match=r"eval_set 'validation_0' has no best scores by .* does not monitor it"):
        model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], **given, **held)
    np.testing.assert_array_equal(model.ensemble_.raw(X), expected)
    assert len(model.evals_result_) == 1


@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson"])
@pytest.mark.parametrize("size", [1, 60])
def test_equal_targets_have_best_scores(loss, size) -> None:
    held = X[200 : 200 + size], np.full(size, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".* at the limit of 15 rounds")
        model = fitted([held], RFFBoostRegressor, np.exp(X[:, 0]), loss=loss, learner="mixture")
    assert len(model.validation_scores_) > 1
