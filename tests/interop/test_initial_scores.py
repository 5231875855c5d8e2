"""Going on from a model that exists: ours, XGBoost's or LightGBM's."""

from __future__ import annotations

import warnings

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from onnx_export import to_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, CLASSES, SIGNAL, X


def logistic(**params):
    return xgb.XGBClassifier(n_estimators=6, max_depth=2, n_jobs=1, **params).fit(X, BINARY)


def lightgbm_model():
    return lightgbm.LGBMClassifier(n_estimators=6, num_leaves=5, verbose=-1).fit(X, BINARY)


MODELS = {
    "wrapper": logistic,
    "booster": lambda: logistic().get_booster(),
    "ensemble": lambda: rxgb.to_ensemble(logistic()),
    "ours": lambda: RFFBoostClassifier(learner="tree", n_estimators=6, random_state=0).fit(X, BINARY),
    "our loss in XGBoost": lambda: rxgb.XGBClassifier(n_estimators=6, max_depth=2, n_jobs=1).fit(X, BINARY),
    "lightgbm": lightgbm_model,
    "lightgbm booster": lambda: lightgbm_model().booster_,
}


def margin(model):
    if hasattr(model, "raw"):
        return model.raw(X)[:, 0]
    p = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else None
    if p is None:
        p = model.predict(xgb.DMatrix(X) if isinstance(model, xgb.Booster) else X)
    return np.log(p / (1.0 - p))


@pytest.mark.parametrize("kind", MODELS)
def test_fits_go_on(kind):
    given = MODELS[kind]()
    labels = BINARY if kind in ("ours", "lightgbm") else np.array(["no", "yes"])[BINARY]
    model = RFFBoostClassifier(learner="rff_1", n_estimators=10, random_state=0).fit(X, labels, init_model=given)
    assert model.n_estimators_ == 16
    assert set(model.predict(X)) == set(labels)
    before, after = model.ensemble_[:6].raw(X)[:, 0], model.ensemble_.raw(X)[:, 0]
    np.testing.assert_allclose(before, margin(given), atol=1e-4)
    y = BINARY
    assert (
        np.logaddexp(0.0, after).mean() - (y * after).mean()
        < np.logaddexp(0.0, before).mean() - (y * before).mean()
    )


def test_warm_start_goes_on_from_it():
    given = logistic()
    params = {"learner": "rff_1", "random_state": 0}
    model = RFFBoostClassifier(n_estimators=3, warm_start=True, **params).fit(X, BINARY, init_model=given)
    model.set_params(n_estimators=8).fit(X, BINARY)
    whole = RFFBoostClassifier(n_estimators=8, **params).fit(X, BINARY, init_model=given)
    assert model.n_estimators_ == whole.n_estimators_ == 14
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ValueError, match="init_model must be None"):
        model.fit(X, BINARY, init_model=given)


@pytest.mark.parametrize("max_cat_to_onehot", [1, 100])
def test_categories_of_a_booster_may_come_in_any_order(max_cat_to_onehot):
    rng = np.random.default_rng(0)
    codes, whole = rng.integers(0, 20, 400), rng.integers(0, 5, 400)
    names = [f"place {k:02}" for k in rng.permutation(20)]
    table = pd.DataFrame({"x": rng.standard_normal(400), "text": np.array(names)[codes], "whole": whole})
    table["text"] = pd.Categorical(table["text"], names)
    table["whole"] = pd.Categorical(table["whole"], [3, 0, 4, 1, 2])
    table.loc[::7, "text"] = None
    y = (np.sin(5.0 * codes) + np.cos(3.0 * whole) + table["x"] > 0.0).astype(int)
    matrix = xgb.DMatrix(table, y, enable_categorical=True)
    params = {"objective": "binary:logistic", "max_cat_to_onehot": max_cat_to_onehot, "nthread": 1}
    booster = xgb.train(params, matrix, 10)
    brief = {"learner": "tree", "n_estimators": 1, "learning_rate": 1e-9}
    model = RFFBoostClassifier(**brief).fit(table, y, init_model=booster)
    np.testing.assert_allclose(
        model.decision_function(table), booster.predict(matrix, output_margin=True), atol=1e-5
    )
    other = table.assign(text=table["text"].cat.rename_categories({names[0]: "lake"}))
    with pytest.raises(ValueError, match=r"categories of X: in column 1 it lacks \['lake'\]"):
        RFFBoostClassifier(**brief).fit(other, y, init_model=booster)


# In the first a letter is torn apart, in the second whole letters move to other categories.
@pytest.mark.parametrize("names", [["é", "ü", "plain"], ["éa", "b", "c"]], ids=str)
@pytest.mark.parametrize(
    "read",
    [
        lambda model, table: RFFBoostRegressor(n_estimators=2).fit(table, table["x"], init_model=model),
        lambda model, table: rxgb.bind(model.get_booster(), "squared_error"),
        lambda model, table: to_onnx(model),
    ],
    ids=["init_model", "bind", "to_onnx"],
)
def test_letters_that_xgboost_has_lost_are_told(names, read):
    table = pd.DataFrame({"k": pd.Categorical(names * 20, names), "x": np.arange(60.0)})
    model = xgb.XGBRegressor(n_estimators=3, enable_categorical=True, n_jobs=1).fit(table, table["x"])
    if tuple(map(int, xgb.__version__.split(".")[:2])) >= (3, 4):
        read(model, table)
        return
    with pytest.raises(ValueError, match="column 0 of the model must have categories of ASCII letters"):
        read(model, table)


def test_cosines_that_know_no_gaps_are_refused_where_gaps_come():
    params = {"learner": "rff_1", "n_estimators": 2, "random_state": 0}
    plain, ready = (RFFBoostRegressor(missing=missing, **params).fit(X, SIGNAL) for missing in ("error", "auto"))
    model, gaps = RFFBoostRegressor(**params), np.full((1, X.shape[1]), np.nan)
    with pytest.raises(ValueError, match="init_model has cosines without a rule for missing values, which col"):
        model.fit(np.vstack([X, gaps]), np.append(SIGNAL, 0.0), init_model=plain)
    with pytest.raises(ValueError, match="NaN in column 0, which had no missing values in fit"):
        model.fit(X, SIGNAL, init_model=plain).predict(gaps)
    given = xgb.XGBRegressor(n_estimators=2, n_jobs=1).fit(X, SIGNAL)
    for init in (ready, given):
        assert np.isfinite(model.fit(X, SIGNAL, init_model=init).predict(gaps)).all()


def ranker():
    """A model whose scores have an order and no meaning."""
    return xgb.XGBRanker(n_estimators=3).fit(X, BINARY, group=[len(X)])


def small(kind, rows=X, y=BINARY):
    """A function that fits a model of a kind."""
    return lambda: kind(n_estimators=2).fit(rows, y)


UNSUITABLE = [
    (RFFBoostClassifier("exponential"), BINARY, logistic, "init_model must have the link of"),
    (RFFBoostRegressor(), SIGNAL, logistic, "init_model must have the link of"),
    (RFFBoostRegressor(), SIGNAL, ranker, "init_model must have the link of"),
    (RFFBoostClassifier(), BINARY, lambda: "model.json", "init_model must be"),
    (RFFBoostClassifier(), BINARY, RFFBoostClassifier, "not fitted"),
    (RFFBoostClassifier(), BINARY, small(xgb.XGBClassifier, X[:, :3]), "4 features of X, got 3"),
    (RFFBoostClassifier(), BINARY, small(xgb.XGBClassifier, y=CLASSES), "1 outputs"),
    (RFFBoostClassifier(), BINARY + 5, small(RFFBoostClassifier), "classes of y"),
    (
        RFFBoostRegressor(),
        SIGNAL,
        small(RFFBoostClassifier),
        "must be a regressor, as this one is, got",
    ),
]


@pytest.mark.parametrize(("shell", "y", "given", "words"), UNSUITABLE)
def test_models_that_do_not_suit_are_named(shell, y, given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        shell.fit(X, y, init_model=given())
    assert not hasattr(shell, "ensemble_")


@pytest.mark.parametrize("host", [RFFBoostClassifier, xgb.XGBClassifier])
def test_columns_in_another_order_are_refused(host):
    table = pd.DataFrame(X[:, :3], columns=["a", "b c", "d"])
    model = host(n_estimators=3).fit(table, BINARY)
    shell = RFFBoostClassifier(n_estimators=1, learner="tree")
    with pytest.raises(ValueError, match="init_model must have the columns of X"):
        shell.fit(table[["d", "b c", "a"]], BINARY, init_model=model)
    shell.fit(table, BINARY, init_model=model)


def test_a_bound_booster_knows_its_columns_and_takes_its_gaps():
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).mask(X[:, :3] > 1.0)
    data = xgb.DMatrix(table, BINARY)
    params = {"max_depth": 2} | rxgb.intercept("log_loss", data)
    booster = xgb.train(params, data, 5, obj=rxgb.objective("log_loss"))
    bound = rxgb.bind(booster, "log_loss")
    raw = np.ravel(rxgb.to_ensemble(booster).raw(table.to_numpy()))
    np.testing.assert_allclose(bound.decision_function(table), raw)
    with pytest.raises(ValueError, match="feature names"):
        bound.predict(table[["c", "b", "a"]])
    with pytest.raises(AttributeError, match="needs the rows of a fit, which a model that was grown"):
        _ = bound.feature_importances_


def test_early_stopping_on_rows_that_the_model_has_seen_is_told():
    booster = xgb.XGBRegressor(n_estimators=60, max_depth=6).fit(X, SIGNAL)
    model = RFFBoostRegressor(random_state=0)
    with pytest.warns(UserWarning, match=r"found [01] rounds beyond the 60 .* init_model .* eval_set of other"):
        model.fit(X, SIGNAL, init_model=booster)
    assert model.n_estimators_ <= 61
    half = len(X) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = xgb.XGBRegressor(n_estimators=60, max_depth=6).fit(X[:half], SIGNAL[:half])
        model.fit(X[half:], SIGNAL[half:], init_model=other)
        assert model.n_estimators_ > 61
        model.fit(X, SIGNAL, init_model=booster, eval_set=[(X + 0.01, SIGNAL)])
        model.set_params(early_stopping=False, n_estimators=1).fit(X, SIGNAL, init_model=booster)
        model.set_params(early_stopping=True).fit(X, SIGNAL, init_model=booster)
