"""Categorical columns in fits: one-hot for cosines, unknown categories as gaps, and whatever else takes them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, Tree, average, load_model
from rffboost_ext.rows.category_encoding import category_lists
from rffboost_ext.rows.feature_expansion import INDICATOR_SCALE, MAX_ONE_HOT, one_hot
from rffboost_ext.terms import Mapped

from ..cases import each_learner, make_estimator
from ..oracles.shapley import by_definition
from ..tables import TABLE, Y, by_hand, classifier, make_table, of_cosines, of_each_kind, scores


@each_learner
def test_every_learner_takes_categories(loss, learner, tmp_path):
    table, y = make_table(loss)
    model = make_estimator(loss, learner).fit(table, y)
    new = make_table(loss, seed=1, n=40)[0]
    expected = scores(model, new)
    assert np.isfinite(expected).all()
    assert np.ptp(expected) > 0
    np.testing.assert_array_equal(scores(clone(model).fit(table, y), new), expected)
    model.save_model(tmp_path / "model")
    np.testing.assert_array_equal(scores(load_model(tmp_path / "model"), new), expected)
    np.testing.assert_array_equal(scores(pickle.loads(pickle.dumps(model)), new), expected)
    np.testing.assert_allclose(list(model._staged_raw(new, None))[-1], expected, rtol=0, atol=1e-6)


@of_cosines
def test_cosines_see_categories_one_hot(loss, learner):
    # The same fit on columns that are made by hand, not standardised, so that all numbers are the same to the bit.
    table, y = make_table(loss)
    model = make_estimator(loss, learner, standardize=False).fit(table, y)
    hand = by_hand(table)
    hand[hand[:, 1] == 1.0, 0] = model.encoder_.expansion.means[0]
    np.testing.assert_allclose(model.encoder_.expansion.means, np.nanmean(table["number"]), rtol=1e-12)
    plain = make_estimator(loss, learner, standardize=False).fit(hand, y)
    np.testing.assert_allclose(scores(model, table), scores(plain, hand), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("standardize", [True, False])
def test_numbers_are_standardised_and_one_hot_columns_are_centred(standardize):
    matrices = []
    model = classifier("rff_1", standardize=standardize, callbacks=[lambda p: matrices.append(p.round.design.X)])
    model.fit(TABLE, Y)
    hand = by_hand(TABLE)
    scale = np.r_[hand[:, 0].std(), INDICATOR_SCALE, np.ones(hand.shape[1] - 2)]
    expected = (hand - hand.mean(axis=0)) / scale if standardize else hand
    # Equal rows are merged into one of their joint weight.
    distinct, expected = (np.unique(rows.round(9), axis=0) for rows in (matrices[0], expected))
    np.testing.assert_allclose(distinct, expected, atol=1e-8)


@of_each_kind
def test_an_unknown_category_is_a_gap(loss, learner):
    table, y = make_table(loss)
    model = make_estimator(loss, learner).fit(table, y)
    unknown, gap = (table.assign(text=pd.Series([value] * len(table), dtype=object)) for value in ("new", None))
    np.testing.assert_array_equal(scores(model, unknown), scores(model, gap))
    # So it is where training had no gap: no error, and cosines see the mean of the one-hot columns.
    model = make_estimator(loss, learner, missing="error").fit(table, y)
    unseen = table.assign(whole=99)
    assert np.isfinite(scores(model, unseen)).all()
    with pytest.raises(ValueError, match="NaN in column 'whole'"):
        model.predict(table.assign(whole=None))
    ready = make_estimator(loss, learner).fit(table, y)
    np.testing.assert_array_equal(scores(ready, table.assign(whole=None)), scores(ready, unseen))


def test_an_unknown_category_without_gaps_in_training_is_the_mean():
    codes = np.array([0.0, 1.0, 1.0, 2.0])
    table = one_hot(codes, np.array([1.0, 2.0, 1.0, 4.0]), missing=False)
    np.testing.assert_allclose(table, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 8, 3 / 8, 4 / 8]])
    np.testing.assert_allclose(one_hot(codes % 2, np.ones(4), missing=False), [[0], [1], [0.5]])
    np.testing.assert_allclose(one_hot(np.array([0.0, np.nan]), np.ones(2), missing=True), [[1, 0], [0, 1]])
    np.testing.assert_allclose(one_hot(np.full(2, np.nan), np.ones(2), missing=True), [[1]])


@of_each_kind
def test_a_category_of_rows_of_weight_zero_is_unknown(loss, learner):
    table, y = make_table(loss)
    weight = np.where(table["text"].isin(["a", "f"]) | (table["whole"] == 25), 0.0, 1.0)
    kept = weight > 0.0
    everything = make_estimator(loss, learner).fit(table, y, sample_weight=weight)
    rest = make_estimator(loss, learner).fit(table[kept], y[kept])
    assert (
        category_lists(everything.encoder_.categories)
        == category_lists(rest.encoder_.categories)
        == [list("bcde"), None, [5, 15]]
    )
    np.testing.assert_array_equal(scores(everything, table), scores(rest, table))


@pytest.mark.parametrize("learner", ["tree", "rff_newton"])
def test_a_column_whose_categories_all_have_weight_zero_is_one_of_gaps(learner):
    text = np.array(["a", "b", None] * 20, dtype=object)
    table, y = pd.DataFrame({"text": pd.Categorical(text), "x": np.arange(60.0)}), np.arange(60.0)
    weight, kept = (text == None) * 1.0, text == None  # noqa: E711 - of each element
    params = {"learner": learner, "n_estimators": 3, "early_stopping": False, "random_state": 0}
    everything = RFFBoostRegressor(**params).fit(table, y, sample_weight=weight)
    rest = RFFBoostRegressor(**params).fit(table[kept], y[kept])
    np.testing.assert_array_equal(everything.predict(table), rest.predict(table))


def test_rare_categories_of_many_share_a_column():
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.repeat(np.arange(60), 20), np.arange(60, 200)]).astype(float)
    table = one_hot(rng.permutation(codes), np.ones(len(codes)), missing=False)
    assert table.shape == (201, MAX_ONE_HOT)
    assert (table[:200].sum(axis=1) == 1.0).all()
    assert len(np.unique(table[:60], axis=0)) == 60
    # A row of weight 20 is as good as 20 rows.
    weighted = one_hot(np.arange(200.0), np.repeat([20.0, 1.0], [60, 140]), missing=False)
    np.testing.assert_allclose(weighted, table)
    frame = pd.DataFrame({"many": pd.Categorical(codes.astype(int).astype(str))})
    y = (codes < 30).astype(int)
    for learner in ("rff_newton", "tree"):
        model = classifier(learner, n_estimators=100, learning_rate=1.0).fit(frame, y)
        assert model.score(frame, y) > 0.9


@of_each_kind
def test_a_warm_start_goes_on(loss, learner):
    table, y = make_table(loss)
    whole = make_estimator(loss, learner, n_estimators=6).fit(table, y)
    parts = make_estimator(loss, learner, n_estimators=3, warm_start=True).fit(table, y)
    parts.set_params(n_estimators=6).fit(table, y)
    tol = max(1e-9, learner.drift)
    np.testing.assert_allclose(scores(parts, table), scores(whole, table), rtol=tol, atol=tol)
    # Other rows, with a category that the first fit has not seen.
    parts.set_params(n_estimators=7).fit(table.assign(whole=99), y)
    assert np.isfinite(scores(parts, table)).all()


def test_init_models_must_have_the_same_categories():
    first = classifier().fit(TABLE, Y)
    model = classifier().fit(TABLE, Y, init_model=first)
    assert len(model.ensemble_) == 12
    other = classifier().fit(TABLE.assign(whole=TABLE["whole"].cat.rename_categories({5: 6})), Y)
    with pytest.raises(ValueError, match="init_model must have the categories of X"):
        classifier().fit(TABLE, Y, init_model=other)
    rare = TABLE["whole"] == TABLE["whole"].iloc[0]
    fewer = TABLE[~rare | TABLE["whole"].isna()]
    assert fewer["whole"].nunique() < TABLE["whole"].nunique()
    few = classifier().fit(fewer, Y[fewer.index])
    with pytest.raises(ValueError, match=r"init_model must have the categories of X: in column \d it lacks \["):
        classifier().fit(TABLE, Y, init_model=few)
    numbers = np.nan_to_num(by_hand(TABLE)[:, :3])
    booster = xgboost.XGBClassifier(n_estimators=2).fit(numbers, Y)
    with pytest.raises(ValueError, match="init_model must have the categories of X"):
        classifier().fit(TABLE, Y, init_model=booster)
    assert len(classifier().fit(TABLE, Y, init_model=first.ensemble_).ensemble_) == 12
    assert average([first, other]).encoder_.categories.includes(other.encoder_.categories)
    assert average([first, model]).predict(TABLE).shape == Y.shape


@pytest.mark.parametrize(
    "make", [classifier, lambda: xgboost.XGBClassifier(n_estimators=3, enable_categorical=True)]
)
def test_init_models_may_know_more_categories(make):
    table = pd.DataFrame({"size": np.linspace(-1, 1, 60), "kind": pd.Categorical(["rare", *"xyz" * 19, "x", "y"])})
    y = (np.arange(60) % 3 == 1).astype(int)
    # A part of a table keeps the categories of the whole in its type.
    part = table.iloc[1:]
    first = make().fit(part if make is not classifier else table, y[1:] if make is not classifier else y)
    model = classifier().fit(part, y[1:], init_model=first)
    assert model.encoder_.categories.categories[1].tolist() == ["rare", "x", "y", "z"]
    before = model.ensemble_.truncated(len(model.ensemble_) - 6).raw(model.encoder_.transform(table))[:, 0]
    if make is classifier:
        np.testing.assert_allclose(before, first.decision_function(table), rtol=1e-6, atol=1e-9)
    else:
        np.testing.assert_allclose(before[1:], first.predict(part, output_margin=True), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("learner", ["auto", "rff_newton"])
def test_folds_share_one_block_of_cosines(learner):
    model = RFFBoostClassifier(learner=learner, n_estimators=15, random_state=0).fit(TABLE, Y, eval_set=None)
    assert sum(isinstance(term, Mapped) for term in model.ensemble_.compact().terms) == 1
    assert cross_val_score(classifier(learner), TABLE, Y, cv=3).mean() > 0.6
    assert len(model.fit(TABLE, Y, eval_set=[(TABLE, Y)]).validation_scores_) > 1


@pytest.mark.parametrize("learner", ["tree", "mixture"])
def test_explanations(learner):
    model = classifier(learner).fit(TABLE, Y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    rows, others = TABLE[:6], TABLE[6:20]
    values = model.shap_values(rows, others)
    expected = by_definition(model.ensemble_.raw, *map(model.encoder_.transform, (rows, others)))
    np.testing.assert_allclose(values, expected[:, 0], atol=1e-9)
    slopes = model.gradient(rows)
    assert (slopes[:, [0, 2]] == 0.0).all()
    assert np.isfinite(slopes).all()


def test_tags():
    tags = RFFBoostClassifier().__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.categorical


def test_constraints_are_of_the_columns_of_the_table():
    model = classifier(Tree(monotone_constraints=[0, 1, 0]), n_estimators=20).fit(TABLE, Y)
    grid = pd.concat([TABLE[:1]] * 30).assign(number=np.linspace(-5.0, 5.0, 30))
    assert (np.diff(model.decision_function(grid)) >= -1e-7).all()
    with pytest.raises(ValueError, match="each of the 3 features"):
        classifier(Tree(monotone_constraints=[0, 1])).fit(TABLE, Y)
