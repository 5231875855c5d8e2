"""Categories of more levels than trees of XGBoost tell apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostRegressor, Tree
from rffboost_ext.learners.trees import merged_levels
from rffboost_ext.terms import Trees

MOST = 5


@pytest.fixture
def table(monkeypatch):
    """A table with a category of 40 levels, of which few are frequent, one of 3 levels, gaps, and a target."""
    monkeypatch.setattr(merged_levels, "MOST_LEVELS", MOST)
    rng = np.random.default_rng(0)
    code = np.minimum(rng.geometric(0.15, 600) - 1, 39)
    few, x = rng.integers(3, size=600), rng.normal(size=600)
    y = rng.normal(size=40)[code] + (few == 1) + x
    levels = [f"level {k:02}" for k in rng.permutation(40)]
    wide = pd.Categorical.from_codes(np.where(rng.random(600) < 0.1, -1, code), levels)
    return pd.DataFrame({"wide": wide, "few": pd.Categorical(few), "x": x}), y


def test_rare_levels_are_one_level_and_frequent_ones_are_told_apart(table):
    X, y = table
    params = {"n_estimators": 20, "early_stopping": False, "random_state": 0}
    model = RFFBoostRegressor(learner=Tree(3), **params).fit(X, y)
    found = pd.Series(model.predict(X.assign(few=pd.Categorical([0] * len(X), range(3)), x=0.0)))
    frequent = X["wide"].value_counts().index[:MOST].tolist()
    is_frequent = X["wide"].isin(frequent)
    assert found[X["wide"].notna() & ~is_frequent].nunique() == 1
    assert found[is_frequent].nunique() > 2
    # As if the rare levels had been merged in the table.
    merged = X.assign(wide=X["wide"].cat.add_categories(["rare"]))
    merged.loc[X["wide"].notna() & ~X["wide"].isin(frequent), "wide"] = "rare"
    merged["wide"] = merged["wide"].cat.remove_unused_categories()
    other = RFFBoostRegressor(learner=Tree(3), **params).fit(merged, y)
    np.testing.assert_allclose(model.predict(X), other.predict(merged), atol=1e-5)


def test_trees_of_merged_levels_are_those_of_the_levels(table):
    X, _ = table
    codes = merged_levels.merged_codes(
        np.column_stack([X["wide"].cat.codes.replace(-1, np.nan), X["few"].cat.codes]), np.ones(600), {0: 40, 1: 3}
    )
    assert list(codes) == [0]
    rng, leaf = np.random.default_rng(1), [-1, -1]
    members = np.packbits(rng.random((2, MOST + 1)) < 0.5, axis=1, bitorder="little")
    trees = Trees(
        np.array([0, 3]),
        np.array([1, *leaf, 4, *leaf], dtype=np.int32),
        np.array([2, *leaf, 5, *leaf], dtype=np.int32),
        np.array([0, 0, 0, 1, 0, 0], dtype=np.int32),
        np.zeros(6),
        np.zeros(6, dtype=bool),
        np.array([[0.0], [1.0], [2.0], [0.0], [10.0], [20.0]]),
        np.array([0, *leaf, 1, *leaf], dtype=np.int32),
        members,
    )
    raw = np.column_stack([np.append(np.arange(40), np.nan), np.arange(41) % 3])
    np.testing.assert_array_equal(
        merged_levels.separate_levels(trees, codes)(raw), trees(merged_levels.merge_levels(raw, codes))
    )
