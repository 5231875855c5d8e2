"""Categories of symmetric trees: which sets of levels they split, and levels that have no effect."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import Mixture, RFFBoostRegressor, SymmetricTree
from rffboost_ext.learners.trees.symmetric.categories import LevelOrders, ManyLevels
from rffboost_ext.utils.parallel import MIN_ROWS_PER_THREAD

from ..cases import LOSS_NAMED, make_round
from .test_symmetric_trees import ONE_ROUND, trees_of


def table(n_levels: int, n: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """A category, whose levels have an effect of their own, and a number."""
    rng = np.random.default_rng(n_levels)
    level = rng.integers(0, n_levels, n)
    effect = rng.standard_normal(n_levels)
    frame = pd.DataFrame({"c": pd.Categorical([f"v{k}" for k in level]), "x": rng.standard_normal(n)})
    return frame, effect[level] + 0.1 * frame.x + 0.05 * rng.standard_normal(n)


@pytest.mark.parametrize(
    ("n_levels", "params"),
    [(3, {}), (30, {}), *((n, {"leaf": "constant", "max_samples": 200}) for n in (3, 30))],
    ids=str,
)
def test_categories_are_learned(n_levels, params):
    frame, y = table(n_levels)
    learner = SymmetricTree(**params)
    model = RFFBoostRegressor(learner=learner, n_estimators=60, early_stopping=False, random_state=0)
    assert model.fit(frame, y).score(frame, y) > 0.9
    # Unknown and missing categories go one way.
    other = frame.assign(c=["unknown"] * len(frame))
    gap = frame.assign(c=pd.Categorical([None] * len(frame), frame.c.cat.categories))
    with pytest.warns(UserWarning, match="unknown"):
        np.testing.assert_array_equal(model.predict(other), model.predict(gap))


def test_a_set_of_levels_is_the_best_of_all_subsets():
    rng = np.random.default_rng(0)
    levels = np.tile(np.arange(7), 20)
    frame, y = (
        pd.DataFrame({"c": pd.Categorical(levels)}),
        rng.standard_normal(7)[levels] + rng.standard_normal(140),
    )
    learner = SymmetricTree(max_depth=1, leaf="constant", reg_lambda=0.0, ordered=False)
    residual = y - RFFBoostRegressor(learner=learner, **ONE_ROUND).fit(frame, y).predict(frame)
    rights = [np.isin(levels, np.flatnonzero(bits)) for bits in product([False, True], repeat=7)]
    errors = [sum(part.var() * len(part) for part in (y[r], y[~r]) if len(part)) for r in rights]
    assert np.square(residual).sum() == pytest.approx(min(errors))


@pytest.mark.parametrize("ordered", [True, False])
def test_unknown_levels_are_predicted_as_an_average_level(ordered):
    frame, y = table(40)
    learner = SymmetricTree(leaf="constant", ordered=ordered)
    model = RFFBoostRegressor(learner=learner, n_estimators=100, early_stopping=False, random_state=0).fit(
        frame, y
    )
    unknown = model.predict(frame.assign(c=pd.Categorical([None] * len(frame), frame.c.cat.categories)))
    assert abs(unknown - y.mean()).max() < 0.5 * y.std()


@pytest.mark.parametrize("mixed", [False, True])
def test_the_names_of_levels_do_not_matter(mixed):
    trees = SymmetricTree(leaf="constant", ordered=False)
    learner = Mixture(cosines=trees, trees=trees) if mixed else trees
    rng, names = np.random.default_rng(0), np.array([f"v{k:03}" for k in range(300)])
    level = np.concatenate([np.arange(300), rng.integers(0, 300, 500)])
    y = rng.standard_normal(300)[level] + rng.standard_normal(800)
    first, second = (
        RFFBoostRegressor(learner=learner, n_estimators=20, early_stopping=False, random_state=0)
        .fit(frame, y)
        .predict(frame)
        for frame in (pd.DataFrame({"c": pd.Categorical(n[level])}) for n in (names, rng.permutation(names)))
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss of 3 classes"])
def test_levels_are_ordered_by_the_rows_that_are_left_out(loss):
    # Two threads share so many rows.
    n = MIN_ROWS_PER_THREAD
    made = make_round(LOSS_NAMED[loss], n=n)
    made.design.n_jobs = 2
    weight = made.weight * (np.arange(n) % 3 > 0)
    # Some levels have no row; the second category has more levels than codes, the third missing values.
    n_levels, rng = (9, 700, 12), np.random.default_rng(0)
    levels = [rng.integers(low, size - 2, n) for low, size in zip((0, 0, -1), n_levels, strict=True)]
    own = zip((0, 3, 4), levels, n_levels, strict=True)
    columns = {j: ManyLevels(level.astype(np.int32), size) for j, level, size in own}
    codes = np.full((5, n), 77, dtype=np.uint8)
    LevelOrders(columns, codes).reorder(made, weight, 10.0)

    direction = np.random.default_rng(1).standard_normal(made.gradient.shape[1])
    gradient, hessian = weight * (made.balanced_gradient @ direction), weight * made.hessian.mean(axis=1)
    smoothing = 10.0 * np.average(made.hessian.mean(axis=1), weights=made.weight)
    for (row, column), level in zip(columns.items(), levels, strict=True):
        is_known = level >= 0
        sums = [np.bincount(level[is_known], part[is_known], column.n_levels) for part in (gradient, hessian)]
        mean = gradient.sum() / hessian.sum()
        quotient = (sums[0] + smoothing * mean) / (sums[1] + smoothing)
        places = column.code_of_level.astype(int)
        assert (np.diff(places[np.argsort(quotient, kind="stable")]) >= 0).all()
        assert len(np.unique(places)) == column.n_codes - 1 == min(column.n_levels, 255)
        assert places[quotient < mean - 1e-9].max() <= column.code_of_unknown
        assert column.code_of_unknown <= places[quotient > mean + 1e-9].min()
        np.testing.assert_array_equal(codes[row], np.where(is_known, places[level], 0))
    assert (codes[[1, 2]] == 77).all()


def learned_by_heart(learner: SymmetricTree, weight: float = 1.0, copies: int = 1, **params: Any) -> float:
    """How much lower the score is with the levels of other rows, where levels have no effect."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"c": pd.Categorical(rng.integers(0, 700, 1_500).astype(str)), "x": rng.random(1_500)})
    y = frame.x + rng.standard_normal(1_500)
    model = RFFBoostRegressor(learner=learner, n_estimators=50, random_state=0, **params)
    shuffled = frame.assign(c=frame.c.sample(frac=1.0, random_state=0).to_numpy())
    model.fit(pd.concat([frame] * copies), np.tile(y, copies), sample_weight=np.full(copies * len(y), weight))
    return model.score(frame, y) - model.score(shuffled, y)


@pytest.mark.parametrize(("weight", "copies"), [(1.0, 1), (1_000.0, 1), (1.0, 2)])
def test_levels_without_an_effect_are_not_learned_by_heart(weight, copies):
    learner = SymmetricTree(leaf="constant", reg_lambda=weight, min_child_weight=weight)
    assert learned_by_heart(learner, weight, copies, early_stopping=False) < 0.2


@pytest.mark.parametrize("ordered", [True, False])
def test_a_refit_keeps_the_splits_if_all_rows_order_the_levels(ordered):
    frame, y = table(40)
    learner = SymmetricTree(leaf="constant", ordered=ordered)
    short, refitted = (
        trees_of(RFFBoostRegressor(learner=learner, n_folds=1, refit=refit, random_state=0).fit(frame, y))
        for refit in (False, True)
    )
    same = short.n_trees == refitted.n_trees and bool((short.feature == refitted.feature).all())
    assert same != ordered
