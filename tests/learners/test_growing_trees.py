"""Trees of XGBoost while they grow: how they are evaluated, read out and told apart."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import Learner, RFFBoostClassifier, Tree, boost
from rffboost_ext.learners.trees import xgboost_c_api as native
from rffboost_ext.terms.batch_evaluation import outputs_of_each

from ..cases import LOSS_CASES, make_data


def test_reading_trees_out_while_they_grow():
    X, y = make_data(LOSS_CASES[0], n=200)
    read = []

    def look(progress):
        if progress.round.index % 4 == 1:
            read.append(progress.term.materialized())

    fitted = boost(X, y[:, None].astype(float), loss="log_loss", learner=Tree(3), n_estimators=9, callbacks=[look])
    for early, late in zip(read, fitted.terms[1::4], strict=True):
        np.testing.assert_array_equal(early(X), late(X))


class Alternating(Learner):
    """Trees of two kinds, each of which grows in a booster of its own."""

    multi_output = True

    def fit(self, round):
        return Tree(3, colsample_bytree=(0.5, 1.0)[round.rng.integers(2)]).fit(round)


@pytest.mark.parametrize("learner", [Tree(3), Alternating()], ids=repr)
@pytest.mark.parametrize("targets", [1, 3])
def test_growing_trees_have_the_outputs_of_the_fitted_ones(targets, learner):
    rng = np.random.default_rng(2)
    X, early, terms = rng.normal(size=(150, 4)), [], []
    y = np.sin(X[:, [0]] + 0.5 * np.arange(targets))

    def look(progress):
        terms.append(progress.term)
        if len(terms) == 3:
            early.append(outputs_of_each(terms, X))
            terms.clear()

    fit = {"loss": "squared_error", "learner": learner, "random_state": 0, "n_estimators": 36}
    fitted = boost(X, y, callbacks=[look], **fit)
    np.testing.assert_array_equal(np.concatenate(early), [term(X) for term in fitted.terms])


def test_trees_that_differ_in_a_long_constraint_have_boosters_of_their_own():
    X = np.random.default_rng(0).standard_normal((60, 1_200))
    y = X[:, [600]] + 0.1 * X[:, [0]]
    signs = np.zeros(1_200, dtype=int)
    against = signs.copy()
    against[600] = -1

    class Turns(Learner):
        """First a tree that may rise with a feature, then one that may not."""

        step = "unit"

        def fit(self, round):
            return Tree(2, monotone_constraints=signs if round.index == 0 else against).fit(round)

    terms = boost(X, y, loss="squared_error", learner=Turns(), n_estimators=2).terms
    assert [600 in term.feature for term in terms] == [True, False]


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize("targets", [1, 3])
def test_calls_of_the_library_are_those_of_its_package(targets, layout):
    rng = np.random.default_rng(4)
    X, several = rng.normal(size=(80, 4)), {"num_class": targets, "objective": "multi:softprob"}
    params = {"base_score": 0.0, "colsample_bytree": 0.5, "seed_per_iteration": True}
    ours, theirs = (xgb.DMatrix(X) for _ in range(2))
    one, other = (xgb.Booster(params | (several if targets > 1 else {}), [X]) for X in (ours, theirs))
    found, wanted = [], []
    for iteration in range(6):
        gradient, hessian = (layout(rng.uniform(0.1, 1.0, (80, targets))) for _ in range(2))
        weight = rng.permutation(np.array([1e6, 1e6, 1e-6, 1e-6], dtype=np.float32))
        native.set_column_weights(ours, weight)
        theirs.set_info(feature_weights=weight)
        native.train_iteration(one, ours, iteration, gradient, hessian)
        other.boost(theirs, iteration, grad=gradient, hess=hessian)
        found.append(native.training_scores(one, ours, (80, targets)))
        wanted.append(other.predict(theirs, output_margin=True).reshape(80, targets))
    # Of each round, though the library has one place for all.
    np.testing.assert_array_equal(found, wanted)
    assert len(np.unique(found, axis=0)) == 6


def test_what_the_library_cannot_do_is_left_to_the_package(monkeypatch):
    X, y = make_data(LOSS_CASES[0], n=200)
    model = RFFBoostClassifier(
        learner=Tree(3, colsample_bytree=0.5), n_estimators=9, early_stopping=False, random_state=0
    )
    wanted = model.fit(X, y).decision_function(X)
    monkeypatch.setattr(native, "c_function", lambda name: lambda *given: -1)
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), wanted)


@pytest.mark.parametrize(
    "call",
    [
        lambda booster, X: native.training_scores(booster, X, (5, 1)),
        lambda booster, X: native.train_iteration(booster, X, 0, np.ones((5, 1)), np.ones((5, 1))),
        lambda booster, X: native.set_column_weights(X, np.full(2, -1.0, dtype=np.float32)),
    ],
)
def test_what_xgboost_refuses_it_names_itself(call):
    matrix = xgb.DMatrix(np.ones((5, 2)))
    with pytest.raises(xgb.core.XGBoostError, match="Check failed"):
        call(xgb.Booster({}, []), matrix)
