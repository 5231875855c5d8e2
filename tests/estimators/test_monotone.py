"""Predictions keep monotone constraints by name of the column, whatever a fit trains."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import (
    RFFBoostClassifier,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    SymmetricTree,
    Tree,
    boost,
    load_model,
)
from rffboost_ext.recipes import MemberRule, Recipe

RNG = np.random.default_rng(0)
N = 240
X = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
# It falls with "a" here and there.
Y = 2.0 * np.sin(3.0 * X["a"]) + X["a"] + np.cos(2.0 * X["b"]) + 0.2 * RNG.normal(size=N)
RISING, BRIEF = {"a": 1}, {"random_state": 0, "quality": "fast"}
OWN = Recipe([MemberRule("trees", SymmetricTree(monotone_constraints=RISING))])
MODELS = {
    "default": (RFFBoostRegressor(monotone_constraints=RISING, random_state=0), Y),
    "by position": (RFFBoostRegressor(monotone_constraints=[1, 0, 0], **BRIEF), Y),
    "no early stopping": (
        RFFBoostRegressor(monotone_constraints=RISING, early_stopping=False, n_estimators=9, random_state=0),
        Y,
    ),
    "of the learner": (RFFBoostRegressor(learner=Tree(monotone_constraints=RISING), n_estimators=9), Y),
    "own recipe": (RFFBoostRegressor(quality=OWN, random_state=0), Y),
    "classes": (RFFBoostClassifier(monotone_constraints=RISING, **BRIEF), Y > 0.3),
    "risk": (RFFBoostSurvival("aft_normal", monotone_constraints=RISING, **BRIEF), np.exp(-Y)),
    "ranking": (
        RFFBoostRanker(monotone_constraints=RISING, random_state=0, n_estimators=20),
        (Y > 0.0).astype(int),
    ),
}


def steps_along(model, column):
    """The changes of predictions of some rows along a grid of a column."""
    rows = X.iloc[np.repeat(np.arange(30), 40)].assign(**{column: np.tile(np.linspace(-2.5, 2.5, 40), 30)})
    found = model.predict_proba(rows)[:, 1] if hasattr(model, "predict_proba") else model.predict(rows)
    return np.diff(found.reshape(30, 40), axis=1)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_rise(name, tmp_path):
    model, y = MODELS[name]
    model.fit(X, y, **({"qid": np.arange(N) // 20} if name == "ranking" else {}))
    assert steps_along(model, "a").min() >= 0.0
    assert steps_along(model, "a").max() > 0.0
    if name == "default":
        assert model.recipe_.names == ["trees"]
        assert steps_along(model.refresh(X, y), "a").min() >= 0.0
        model.save_model(tmp_path / "model")
        np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))


BAD = {
    "must name columns of X, got 'aa'. Did you mean 'a'": {"monotone_constraints": {"aa": 1}},
    "need trees, such as 'symmetric_tree' or 'tree', got RFFNewton": {"learner": "rff_newton"},
    "those of the estimator or of the learner": {"learner": Tree(monotone_constraints=[1, 0, 0])},
    "-1, 0 and 1": {"monotone_constraints": {"a": 2}},
    "need a member of trees": {"quality": Recipe([MemberRule("cosines", "rff_newton")])},
}


@pytest.mark.parametrize("message", BAD)
def test_what_cannot_be_kept_is_named(message):
    with pytest.raises(ValueError, match=message):
        RFFBoostRegressor(**({"monotone_constraints": RISING} | BAD[message])).fit(X, Y)


def test_names_need_a_table_and_an_estimator():
    with pytest.raises(ValueError, match="X has no names"):
        RFFBoostRegressor(monotone_constraints=RISING).fit(X.to_numpy(), Y)
    with pytest.raises(ValueError, match="by name need an estimator"):
        boost(X.to_numpy(), Y.to_numpy()[:, None], loss="squared_error", learner=Tree(monotone_constraints=RISING))
