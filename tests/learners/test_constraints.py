"""Constraints of trees hold in whatever they are part of, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Mixture, RFFBoostRegressor, Tree, boost

CONSTRAINED = {"monotone_constraints": (1, 0)}, {"interaction_constraints": [[0], [1]]}


@pytest.mark.parametrize("params", CONSTRAINED, ids=str)
def test_constraints_that_cosines_would_break_are_refused(params):
    X, y, seen = np.random.default_rng(0).standard_normal((200, 2)), np.arange(200.0), []
    (name,) = params
    made = [
        RFFBoostRegressor(learner=Mixture(trees=Tree(**params))),
        RFFBoostRegressor(learner=Mixture(Tree(**params), "tree")),
        RFFBoostRegressor().set_params(**{f"learner__trees__{name}": params[name]}),
    ]
    for model in made:
        with pytest.raises(ValueError, match=f"Mixture: {name} of .* learner='tree' without quality='high'"):
            model.set_params(callbacks=[seen.append]).fit(X, y)
    stacked = RFFBoostRegressor(learner=Tree(**params), quality="high", callbacks=[seen.append])
    with pytest.raises(ValueError, match=f"quality must be 'auto' or 'fast' where learner has {name}, got 'high'"):
        stacked.fit(X, y)
    assert not seen


@pytest.mark.parametrize("more", [{}, {"early_stopping": False, "quality": "high"}], ids=str)
def test_what_is_fitted_with_monotone_constraints_rises(more):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (300, 2))
    y = np.sin(4.0 * X[:, 0]) + X[:, 0] + X[:, 1] ** 2
    grid = np.column_stack([np.linspace(-2.0, 2.0, 200), np.zeros(200)])
    for learner in (Tree(3, **CONSTRAINED[0]), Mixture(Tree(2, **CONSTRAINED[0]), Tree(3, **CONSTRAINED[0]))):
        params = {"n_estimators": 30, "n_folds": 2, "random_state": 0} | more
        model = RFFBoostRegressor(learner=learner, **params).fit(X, y)
        assert np.diff(model.predict(grid)).min() >= 0.0


@pytest.mark.parametrize("unit", [2.0**-8, 1.0, 2.0**24])
def test_leaves_are_limited_in_the_unit_of_the_target(unit):
    X = np.random.default_rng(0).standard_normal((200, 3))
    learner = Tree(2, max_delta_step=0.25 * unit)
    term = boost(X, unit * X[:, :1], loss="squared_error", learner=learner, n_estimators=1).terms[0]
    assert np.abs(term(X)).max() == pytest.approx(0.25 * unit, rel=1e-5)
