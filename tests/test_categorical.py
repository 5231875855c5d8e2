"""Categorical columns: sets for trees as in XGBoost, one-hot for cosines; checked by name and order."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from rffboost_ext import (
    Design,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    Tree,
    Trees,
    average,
    boost,
    load_model,
    save_model,
)
from rffboost_ext.coding import coding_of, listed
from rffboost_ext.gaps import MOST_COLUMNS, OF_GAPS, one_hot
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.interop.xgboost_json import parsed, read_rounds
from rffboost_ext.terms import Expanded, Expansion
from rffboost_ext.terms.sound import check_sound

from .cases import CORNERS, LOSS_NAMED, PAIR_NAMES, PAIRS, make_estimator
from .tables import COLUMNS, by_hand, make_table
from .test_missing import brute_force, scores

pairs = pytest.mark.parametrize(("loss", "learner"), PAIRS, ids=PAIR_NAMES)
corners = pytest.mark.parametrize(("loss", "learner"), CORNERS, ids=[f"{a}-{b}" for a, b in CORNERS])
OF_COSINES = [(a, b) for a, b in PAIRS if b.name not in ("tree", "mixture")]
EXPONENTIAL = LOSS_NAMED["exponential"]
TABLE, Y = make_table(EXPONENTIAL, n=150)
BRIEF = {"n_estimators": 6, "early_stopping": False, "random_state": 0}


def classifier(learner="mixture", **params):
    """A classifier of few rounds."""
    return RFFBoostClassifier(learner=learner, **(BRIEF | params))


@pairs
def test_every_loss_and_learner_takes_categories(loss, learner, tmp_path):
    table, y = make_table(loss)
    model = make_estimator(loss, learner).fit(table, y)
    new = make_table(loss, seed=1, n=40)[0]
    found = scores(model, new)
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0
    np.testing.assert_array_equal(scores(clone(model).fit(table, y), new), found)
    model.save_model(tmp_path / "model")
    np.testing.assert_array_equal(scores(load_model(tmp_path / "model"), new), found)
    np.testing.assert_array_equal(scores(pickle.loads(pickle.dumps(model)), new), found)
    np.testing.assert_allclose(list(model._staged_raw(new))[-1], found, rtol=0, atol=1e-6)
    assert model.transform(new).shape == (40, len(model.get_feature_names_out()))


@pytest.mark.parametrize(("loss", "learner"), OF_COSINES, ids=[f"{a}-{b}" for a, b in OF_COSINES])
def test_cosines_see_categories_one_hot(loss, learner):
    # The same fit on columns that are made by hand, not standardised, so that all numbers are the same to the bit.
    table, y = make_table(loss)
    model = make_estimator(loss, learner, standardize=False).fit(table, y)
    hand = by_hand(table)
    hand[hand[:, 1] == 1.0, 0] = model._expansion.fill[0]
    np.testing.assert_allclose(model._expansion.fill, np.nanmean(table["number"]), rtol=1e-12)
    plain = make_estimator(loss, learner, standardize=False).fit(hand, y)
    np.testing.assert_allclose(scores(model, table), scores(plain, hand), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("standardize", [True, False])
def test_numbers_are_standardised_and_one_hot_columns_are_centred(standardize):
    seen = []
    model = classifier("rff_1", standardize=standardize, callbacks=[lambda p: seen.append(p.round.design.X)])
    model.fit(TABLE, Y)
    hand = by_hand(TABLE)
    scale = np.r_[hand[:, 0].std(), OF_GAPS, np.ones(hand.shape[1] - 2)]
    wanted = (hand - hand.mean(axis=0)) / scale if standardize else hand
    # Equal rows are merged into one of their joint weight.
    found, wanted = (np.unique(rows.round(9), axis=0) for rows in (seen[0], wanted))
    np.testing.assert_allclose(found, wanted, atol=1e-8)


@pytest.mark.parametrize("depth", [1, 3, 6])
@pytest.mark.parametrize("n_levels", [2, 3, 30])
def test_trees_split_categories_as_xgboost_does(depth, n_levels):
    rng = np.random.default_rng(n_levels)
    codes = rng.integers(0, n_levels, 400).astype(float)
    codes[rng.random(400) < 0.1] = np.nan
    number = rng.standard_normal(400)
    y = np.isin(codes, [1, 4, 9, 16, 25]) * 1.0 + np.where(np.isnan(codes), 2.0, number)
    table = pd.DataFrame({"code": pd.Categorical(codes), "number": number})
    learner = Tree(max_depth=depth)
    model = RFFBoostRegressor(learner=learner, n_estimators=15, random_state=0).fit(table, y)
    known = {"feature_types": ["c", "q"], "enable_categorical": True}
    _, coded = np.unique(codes[~np.isnan(codes)], return_inverse=True)
    codes[~np.isnan(codes)] = coded
    data = xgboost.QuantileDMatrix(np.column_stack([codes, number]), y, **known)
    params = {"max_depth": depth, "eta": 0.1, "base_score": float(y.mean()), "nthread": 1, "tree_method": "hist"}
    theirs = xgboost.train(params, data, 15).predict(data)
    np.testing.assert_allclose(model.predict(table), theirs, rtol=0, atol=1e-5)
    assert model.ensemble_.compact().terms[0].subset is not None


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("max_cat_to_onehot", [1, 100])
def test_stored_sets_predict_as_xgboost_does(outputs, max_cat_to_onehot):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 500), rng.standard_normal(500), rng.integers(0, 3, 500)]).astype(
        float
    )
    X[rng.random(X.shape) < 0.15] = np.nan
    signal = np.isin(X[:, 0], range(0, 40, 3)) + np.nan_to_num(X[:, 1]) * (X[:, 2] == 1)
    y = np.digitize(signal, [0.0, 0.7]) if outputs > 1 else signal
    many = {"objective": "multi:softprob", "num_class": 3} if outputs > 1 else {}
    known = {"feature_types": ["c", "q", "c"], "enable_categorical": True}
    params = {"base_score": 0.0, "max_depth": 5, "nthread": 1, "max_cat_to_onehot": max_cat_to_onehot} | many
    booster = xgboost.train(params, xgboost.DMatrix(X, y, **known), 6)
    trees = Trees.stack(read_rounds(parsed(booster)))
    odd = X.copy()
    # Codes that no row had, beyond the table and before it.
    odd[::3, 0] = rng.choice([40.0, 63.0, 64.0, 1000.0, -1.0], len(odd[::3]))
    for rows in (X, odd):
        theirs = booster.inplace_predict(rows, predict_type="margin").reshape(len(X), -1)
        np.testing.assert_allclose(trees(rows), theirs, rtol=0, atol=1e-5)
        np.testing.assert_allclose(rxgb.to_ensemble(booster).raw(rows), theirs, rtol=0, atol=1e-5)


def test_trees_with_and_without_sets_are_stacked():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 20, 300), rng.standard_normal(300)]).astype(float)
    parts = []
    for kinds in (["c", "q"], ["q", "q"], ["c", "q"]):
        data = xgboost.DMatrix(
            X, np.isin(X[:, 0], [2, 3, 17]) + X[:, 1], feature_types=kinds, enable_categorical=True
        )
        parts += read_rounds(parsed(xgboost.train({"max_depth": 3, "nthread": 1}, data, 2)))
    # A set that reaches further than those of the others.
    narrow = replace(parts[0], members=parts[0].members[:, :1])
    stacked = Trees.stack([narrow, *parts])
    np.testing.assert_allclose(stacked(X), narrow(X) + sum(part(X) for part in parts), atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(stacked))(X), stacked(X), rtol=0)
    assert Trees.stack(parts[2:4]).subset is None


@corners
def test_an_unknown_category_is_a_gap(loss, learner):
    table, y = make_table(loss)
    model = make_estimator(loss, learner).fit(table, y)
    unknown, gap = (table.assign(text=pd.Series([value] * len(table), dtype=object)) for value in ("new", None))
    np.testing.assert_array_equal(scores(model, unknown), scores(model, gap))
    # So it is where training had no gap: no error, and cosines see the mean of the one-hot columns.
    model = make_estimator(loss, learner).fit(table, y)
    unseen = table.assign(whole=99)
    assert np.isfinite(scores(model, unseen)).all()
    with pytest.raises(ValueError, match="NaN in column 'whole'"):
        model.predict(table.assign(whole=None))
    ready = make_estimator(loss, learner, missing="mean").fit(table, y)
    np.testing.assert_array_equal(scores(ready, table.assign(whole=None)), scores(ready, unseen))


def test_an_unknown_category_without_gaps_in_training_is_the_mean():
    codes = np.array([0.0, 1.0, 1.0, 2.0])
    table = one_hot(codes, np.array([1.0, 2.0, 1.0, 4.0]), gaps=False)
    np.testing.assert_allclose(table, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 8, 3 / 8, 4 / 8]])
    np.testing.assert_allclose(one_hot(codes % 2, np.ones(4), gaps=False), [[0], [1], [0.5]])
    np.testing.assert_allclose(one_hot(np.array([0.0, np.nan]), np.ones(2), gaps=True), [[1, 0], [0, 1]])
    np.testing.assert_allclose(one_hot(np.full(2, np.nan), np.ones(2), gaps=True), [[1]])


def test_rare_categories_of_many_share_a_column():
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.repeat(np.arange(60), 20), np.arange(60, 200)]).astype(float)
    table = one_hot(rng.permutation(codes), np.ones(len(codes)), gaps=False)
    assert table.shape == (201, MOST_COLUMNS)
    assert (table[:200].sum(axis=1) == 1.0).all()
    assert len(np.unique(table[:60], axis=0)) == 60
    # A row of weight 20 is as good as 20 rows.
    weighted = one_hot(np.arange(200.0), np.repeat([20.0, 1.0], [60, 140]), gaps=False)
    np.testing.assert_allclose(weighted, table)
    frame = pd.DataFrame({"many": pd.Categorical(codes.astype(int).astype(str))})
    y = (codes < 30).astype(int)
    for learner in ("rff_newton", "tree"):
        model = classifier(learner, n_estimators=100, learning_rate=1.0).fit(frame, y)
        assert model.score(frame, y) > 0.9


def frames():
    """The same data in every kind of table, and how the columns of categories are told, if not by their types."""
    values = TABLE.astype(object).to_numpy()
    texts = TABLE.astype(object)
    yield "names", texts, ["text", "whole"]
    yield "indices", TABLE, [2, 0]
    yield "mask", texts, [True, False, True]
    yield "array of objects", values, [0, 2]
    yield "list of lists", values.tolist(), [0, 2]
    yield "ordered", TABLE.astype({"whole": pd.CategoricalDtype([25, 5, 15], ordered=True)}), "from_dtype"
    yield "nullable", TABLE.astype({"number": "Float64"}), "from_dtype"


@pytest.mark.parametrize(("frame", "given"), [case[1:] for case in frames()], ids=[case[0] for case in frames()])
@pytest.mark.parametrize("learner", ["rff_1", "tree"])
def test_every_kind_of_table(frame, given, learner):
    wanted = classifier(learner).fit(TABLE, Y).decision_function(TABLE)
    found = classifier(learner, categorical_features=given).fit(frame, Y).decision_function(frame)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("learner", ["rff_1", "tree"])
def test_polars(learner):
    polars = pytest.importorskip("polars")
    text = TABLE["text"].astype(object)
    columns = {
        "text": polars.Series(
            [value if isinstance(value, str) else None for value in text], dtype=polars.Categorical
        ),
        "number": polars.Series(TABLE["number"].to_numpy(), nan_to_null=True),
        "whole": polars.Series([f"{value:02}" for value in TABLE["whole"]], dtype=polars.Enum(["05", "15", "25"])),
    }
    frame = polars.DataFrame(columns)
    wanted = classifier(learner).fit(TABLE, Y).decision_function(TABLE)
    model = classifier(learner).fit(frame, Y)
    np.testing.assert_array_equal(model.decision_function(frame), wanted)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame.select(COLUMNS[::-1]))
    with pytest.raises(ValueError, match="NaN in column 'whole'"):
        model.predict(frame.with_columns(polars.lit(None).alias("whole")))


def test_codes_in_an_array_of_floats():
    codes = np.column_stack([TABLE["whole"].astype(float), np.arange(150.0) % 7])
    model = classifier("tree", categorical_features=[0]).fit(codes, Y)
    assert listed(model._coding) == [[5.0, 15.0, 25.0], None]
    frame = pd.DataFrame(codes, columns=["a", "b"]).astype({"a": "category"})
    np.testing.assert_array_equal(
        classifier("tree").fit(frame, Y).decision_function(frame), model.decision_function(codes)
    )


@pytest.mark.parametrize("given", [None, "from_dtype", [], [False, False]])
def test_numbers_alone_have_no_coding(given):
    X = np.random.default_rng(0).standard_normal((150, 2))
    model = classifier("rff_1", categorical_features=given).fit(X, Y)
    assert model._coding is None
    np.testing.assert_array_equal(model.decision_function(X), classifier("rff_1").fit(X, Y).decision_function(X))


@pytest.mark.parametrize(
    ("params", "table", "error", "words"),
    [
        ({"categorical_features": "dtype"}, TABLE, ValueError, "categorical_features must be .*got 'dtype'"),
        ({"categorical_features": [0.5]}, TABLE, TypeError, "categorical_features must be"),
        ({"categorical_features": [[0]]}, TABLE, TypeError, "categorical_features must be"),
        ({"categorical_features": 3}, TABLE, TypeError, "categorical_features must be"),
        ({"categorical_features": [3]}, TABLE, ValueError, r"range\(0, 3\), got 3"),
        ({"categorical_features": [-1]}, TABLE, ValueError, "got -1"),
        ({"categorical_features": [True]}, TABLE, ValueError, "each of the 3 columns of X, got 1"),
        ({"categorical_features": ["size"]}, TABLE, ValueError, "got 'size'"),
        ({"categorical_features": ["size"]}, by_hand(TABLE), ValueError, "has no names"),
        (
            {"categorical_features": ["whole"]},
            TABLE.astype({"text": object}),
            ValueError,
            "column 'text' of X must",
        ),
        (
            {},
            TABLE.astype({"text": object}),
            ValueError,
            "column 'text' of X must hold numbers.*categorical_features",
        ),
        ({"categorical_features": None}, TABLE, ValueError, "column 'text' of X must hold numbers"),
        ({}, TABLE.assign(text=pd.Categorical(["a", 1] * 75)), TypeError, "column 'text'.*one kind"),
        ({"missing": "median"}, TABLE, ValueError, "missing must be 'error' or 'mean'"),
    ],
)
def test_bad_input_is_named(params, table, error, words):
    with pytest.raises(error, match=words):
        classifier("tree", **params).fit(table, Y)


def test_columns_are_checked_by_name_and_order():
    model = classifier("tree").fit(TABLE, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(TABLE[COLUMNS[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(TABLE.rename(columns={"text": "words"}))
    with pytest.raises(ValueError, match="feature"):
        model.predict(TABLE[COLUMNS[:2]])
    with pytest.raises(ValueError, match="column 'number' of X must hold numbers"):
        model.predict(TABLE.assign(number="high"))
    with pytest.raises(TypeError, match="unhashable"):
        model.predict(TABLE.assign(text=[[1]] * 150))


@corners
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
    numbers = np.nan_to_num(by_hand(TABLE)[:, :3])
    booster = xgboost.XGBClassifier(n_estimators=2).fit(numbers, Y)
    with pytest.raises(ValueError, match="init_model must have the categories of X"):
        classifier().fit(TABLE, Y, init_model=booster)
    assert len(classifier().fit(TABLE, Y, init_model=first.ensemble_).ensemble_) == 12
    with pytest.raises(ValueError, match="the categories of models must agree"):
        average([first, other])
    assert average([first, model]).predict(TABLE).shape == Y.shape


@pytest.mark.parametrize("learner", ["auto", "rff_newton"])
def test_folds_share_one_block_of_cosines(learner):
    model = RFFBoostClassifier(learner=learner, n_estimators=15, random_state=0).fit(TABLE, Y, eval_set=None)
    assert sum(isinstance(term, Expanded) for term in model.ensemble_.compact().terms) == 1
    assert cross_val_score(classifier(learner), TABLE, Y, cv=3).mean() > 0.6
    assert len(model.fit(TABLE, Y, eval_set=[(TABLE, Y)]).validation_scores_) > 1


@pytest.mark.parametrize("learner", ["rff_1", "rff_newton", "tree", "mixture"])
def test_explanations(learner):
    model = classifier(learner).fit(TABLE, Y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    rows, others = TABLE[:6], TABLE[6:20]
    values = model.shap_values(rows, others)
    np.testing.assert_allclose(values, brute_force(model, *map(model._validated, (rows, others))), atol=1e-9)
    slopes = model.gradient(rows)
    assert (slopes[:, [0, 2]] == 0.0).all()
    assert np.isfinite(slopes).all()


def test_importances_find_the_column_that_matters():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.standard_normal(300), "b": pd.Categorical(rng.choice(list("uvwxyz"), 300))})
    y = table["b"].isin(["u", "x"]).astype(int)
    for learner in ("rff_newton", "rff_1", "tree"):
        found = classifier(learner, n_estimators=20).fit(table, y).feature_importances_
        assert found[1] > 0.8


def test_quantiles():
    y = TABLE["whole"].astype(float).to_numpy() + np.nan_to_num(TABLE["number"].to_numpy())
    booster = RFFBoostRegressor(**BRIEF)
    low, high = RFFBoostQuantileRegressor((0.2, 0.8), booster).fit(TABLE, y).predict(TABLE).T
    assert (low <= high).all()


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


def test_a_users_term_sees_the_expanded_columns():
    expansion = Expansion(1, *(np.empty(0, dtype=int),) * 3, np.array([0]), (np.eye(3),))
    design = Design(np.array([[0.0], [1.0], [np.nan]]), expansion=expansion)
    fitted = boost(design, np.array([[0.0], [1.0], [2.0]]), loss="squared_error", learner="rff_1", n_estimators=40)
    np.testing.assert_allclose(fitted.raw(design.original)[:, 0], [0.0, 1.0, 2.0], atol=0.1)
    assert isinstance(fitted.terms[0], Expanded)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numbers": np.array([3])}, "numbers are out of range"),
        ({"fill": np.zeros(3)}, "fill must have shape"),
        ({"tables": ()}, "tables must be one for each"),
        ({"coded": np.array([-1, 2])}, "coded are out of range"),
        ({"n_features": 4}, "of 3 columns, got 4"),
    ],
)
def test_damaged_expansions_are_refused(change, words):
    term = classifier("rff_1").fit(TABLE, Y).ensemble_.compact().terms[0]
    check_sound(term, 3, 1)
    with pytest.raises(ValueError, match=words):
        check_sound(replace(term, expansion=replace(term.expansion, **change)), 3, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda trees: {"subset": trees.subset[:-1]}, "subset must have shape"),
        (lambda trees: {"subset": trees.subset + 10_000}, "subset are out of range"),
        (lambda trees: {"members": None}, "both subset and members"),
        (lambda trees: {"members": trees.members.ravel()}, "members must have"),
    ],
)
def test_damaged_sets_are_refused(change, words):
    trees = classifier("tree").fit(TABLE, Y).ensemble_.compact().terms[0]
    check_sound(trees, 3, 1)
    with pytest.raises(ValueError, match=words):
        check_sound(replace(trees, **change(trees)), 3, 1)


@pytest.mark.parametrize("name", ["_coding", "_expansion", "_gaps"])
def test_files_with_wrong_columns_are_refused(name, tmp_path):
    model = classifier("tree").fit(TABLE, Y)
    setattr(model, name, getattr(classifier("tree").fit(TABLE[COLUMNS[:2]], Y), name))
    save_model(model, tmp_path / "model")
    with pytest.raises(ValueError, match=f"whose {name} cannot be"):
        load_model(tmp_path / "model")


def test_files_of_models_without_columns_load():
    # As earlier versions wrote them: no trace of categories and gaps, neither in the model nor in its trees.
    X = np.random.default_rng(0).standard_normal((150, 2))
    model = classifier("tree").fit(X, Y)
    state = {name: value for name, value in vars(model).items() if name not in ("_coding", "_gaps", "_expansion")}
    for name in ("categorical_features", "missing"):
        state.pop(name)
    old = RFFBoostClassifier()
    old.__dict__.update(state)
    np.testing.assert_array_equal(old.predict(X), model.predict(X))
    trees = model.ensemble_.compact().terms[0]
    kept = {
        name: getattr(trees, name) for name in ("roots", "left", "right", "feature", "threshold", "missing_left")
    }
    np.testing.assert_array_equal(Trees(**kept, value=trees.value)(X), trees(X))


def test_codings_say_what_they_know():
    coding = coding_of("test", "from_dtype", TABLE)
    assert listed(coding) == [list("abcdef"), None, [5, 15, 25]]
    codes, gaps = coding(TABLE)
    np.testing.assert_array_equal(gaps, [True, True, False])
    np.testing.assert_array_equal(np.isnan(codes).any(axis=0), gaps)
    known = codes[:, 2].astype(int)
    np.testing.assert_array_equal(np.array([5, 15, 25])[known], TABLE["whole"].astype(int))
