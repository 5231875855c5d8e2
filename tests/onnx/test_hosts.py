"""Models of XGBoost and LightGBM, compared with their own predictions; and what cannot be exported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext.exporting import XGBOOST
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.learners.trees.xgboost_model import parse_base_score
from rffboost_ext.losses import MultilabelLogLoss

from .oracle import DTYPES

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4)).astype(np.float32)
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
SIGNAL = (X[:, 0] + np.sin(X[:, 1])).astype(float)
TWO, THREE, SHARE = SIGNAL > 0.5, np.digitize(SIGNAL, [-0.5, 0.5]), 1.0 / (1.0 + np.exp(-SIGNAL))
PAIR = np.column_stack([TWO, X[:, 2] > 0.0]).astype(int)
TRIPLE = np.column_stack([SIGNAL, np.abs(SIGNAL), TWO]).astype(float)
FEW: dict[str, Any] = {"n_estimators": 6, "max_depth": 3, "n_jobs": 1}
LIGHT: dict[str, Any] = {"n_estimators": 6, "num_leaves": 7, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}


def early(**params: Any) -> Any:
    """A classifier that stops early, fitted to noise."""

    class Early(xgb.XGBClassifier):
        def fit(self, rows: Any, y: Any) -> Any:
            noise = np.random.default_rng(0).integers(0, 2, len(rows))
            return super().fit(rows[:150], noise[:150], eval_set=[(rows[150:], noise[150:])], verbose=False)

    return Early(n_estimators=60, early_stopping_rounds=2, n_jobs=1, **params)


ESTIMATORS: dict[str, tuple[Callable[[], Any], Any]] = {
    "squares": (lambda: xgb.XGBRegressor(**FEW), SIGNAL),
    "logistic": (lambda: xgb.XGBRegressor(objective="binary:logistic", **FEW), TWO),
    "logistic, two columns": (lambda: xgb.XGBRegressor(objective="binary:logistic", **FEW), PAIR),
    "logitraw": (lambda: xgb.XGBRegressor(objective="binary:logitraw", **FEW), TWO),
    "softprob": (lambda: xgb.XGBRegressor(objective="multi:softprob", num_class=3, **FEW), THREE),
    "vector leaves": (lambda: xgb.XGBRegressor(multi_strategy="multi_output_tree", **FEW), TRIPLE),
    "large mean": (lambda: xgb.XGBRegressor(**FEW | {"n_estimators": 60}), SIGNAL + 1e4),
    "large mean, own loss": (lambda: rxgb.XGBRegressor(**FEW | {"n_estimators": 60}), SIGNAL + 1e4),
    "labels, own loss": (lambda: rxgb.XGBClassifier(loss=MultilabelLogLoss(), **FEW), PAIR),
    "two classes": (lambda: xgb.XGBClassifier(**FEW), TWO),
    "base score": (lambda: xgb.XGBClassifier(base_score=0.2, **FEW), TWO),
    "reg:logistic": (lambda: xgb.XGBClassifier(objective="reg:logistic", **FEW), TWO),
    "hinge": (lambda: xgb.XGBClassifier(objective="binary:hinge", **FEW), TWO),
    "three classes": (lambda: xgb.XGBClassifier(**FEW), THREE),
    "forest": (lambda: xgb.XGBRFClassifier(**FEW), THREE),
    "vector leaves of classes": (lambda: xgb.XGBClassifier(multi_strategy="multi_output_tree", **FEW), THREE),
    "early stopping": (early, TWO),
    "lightgbm squares": (lambda: lgb.LGBMRegressor(**LIGHT), SIGNAL),
    "lightgbm binary": (lambda: lgb.LGBMRegressor(objective="binary", sigmoid=2.0, **LIGHT), TWO),
    "lightgbm multiclass": (lambda: lgb.LGBMRegressor(objective="multiclass", num_class=3, **LIGHT), THREE),
    "lightgbm poisson": (lambda: lgb.LGBMRegressor(objective="poisson", **LIGHT), np.exp(SIGNAL)),
    "lightgbm quantile": (lambda: lgb.LGBMRegressor(objective="quantile", **LIGHT), SIGNAL),
    "lightgbm lambda": (lambda: lgb.LGBMRegressor(objective="cross_entropy_lambda", **LIGHT), SHARE),
    "lightgbm sqrt": (lambda: lgb.LGBMRegressor(reg_sqrt=True, **LIGHT), SIGNAL),
    "lightgbm sqrt l1": (lambda: lgb.LGBMRegressor(objective="l1", reg_sqrt=True, **LIGHT), SIGNAL),
    "lightgbm two classes": (lambda: lgb.LGBMClassifier(**LIGHT), TWO),
    "lightgbm entropy": (lambda: lgb.LGBMClassifier(objective="cross_entropy", **LIGHT), TWO),
    "lightgbm three classes": (lambda: lgb.LGBMClassifier(**LIGHT), THREE),
    "lightgbm ova": (lambda: lgb.LGBMClassifier(objective="multiclassova", sigmoid=0.7, **LIGHT), THREE),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_exported_as_they_predict(name: str) -> None:
    make, y = ESTIMATORS[name]
    model = make().fit(GAPS, y)
    booster = model.get_booster() if hasattr(model, "get_booster") else model.booster_
    for dtype in ("float32", "float64"):
        graph = to_onnx(model, dtype=dtype)
        verify_onnx(model, graph, GAPS, raise_on_mismatch=True)
        predictor = OnnxPredictor(graph)
        np.testing.assert_allclose(predictor.predict(GAPS), model.predict(GAPS), rtol=1e-5, atol=1e-5)
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(predictor.predict_proba(GAPS), model.predict_proba(GAPS), atol=1e-5)
    if not name.endswith(("own loss", "two columns")):
        verify_onnx(booster, to_onnx(booster), GAPS, raise_on_mismatch=True)


def trained(objective: str) -> xgb.Booster:
    """A booster of few trees."""
    positive = {"reg:gamma", "reg:squaredlogerror", "reg:tweedie"}
    targets = {"binary": TWO, "multi": THREE, "count": np.round(np.exp(SIGNAL)), "rank": TWO}
    target = targets.get(objective.partition(":")[0], np.exp(SIGNAL) if objective in positive else SIGNAL)
    settings: dict[str, Any] = {"objective": objective, "max_depth": 3, "nthread": 1}
    if objective.startswith("multi"):
        settings["num_class"] = 3
    if objective == "reg:quantileerror":
        settings["quantile_alpha"] = [0.3, 0.7]
    data = xgb.DMatrix(X, SHARE if objective == "reg:logistic" else target)
    if objective.startswith("rank"):
        data.set_group([75] * 4)
    if objective == "survival:aft":
        for bound in ("label_lower_bound", "label_upper_bound"):
            data.set_float_info(bound, 1.0 + np.abs(target))
    return xgb.train(settings, data, 5)


@pytest.mark.parametrize("objective", sorted(XGBOOST))
def test_boosters_of_every_objective(objective: str) -> None:
    booster = trained(objective)
    for dtype in ("mixed", "float64"):
        model = to_onnx(booster, dtype=dtype)
        verify_onnx(booster, model, GAPS, raise_on_mismatch=True)
    predictor, wanted = OnnxPredictor(model), booster.predict(xgb.DMatrix(X))
    names = {"multi:softmax": "label", "binary:logitraw": "score"}
    is_classifier = hasattr(predictor, "classes_")
    found = predictor.output(names.get(objective, "probabilities" if is_classifier else "variable"), X)
    if objective in ("binary:logistic", "binary:hinge"):
        found = found[:, 1]
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-5, atol=1e-5)


def test_spellings_of_base_score() -> None:
    for text, wanted in (("5E-1", [0.5]), ("[5E-1]", [0.5]), ("[1E0,-2E0]", [1.0, -2.0]), ("0.5", [0.5])):
        assert parse_base_score(text).tolist() == wanted


def test_a_ranker_of_lightgbm() -> None:
    model = lgb.LGBMRanker(objective="rank_xendcg", **LIGHT).fit(X, THREE, group=[100, 200])
    for exported in (model, model.booster_):
        verify_onnx(exported, to_onnx(exported), X, raise_on_mismatch=True)


def test_thresholds_of_lightgbm_keep_float64() -> None:
    # Features that float32 cannot tell apart are on both sides of a split.
    x = np.repeat([1.0, 1.0 + 1e-12], 50)[:, None]
    model = lgb.LGBMRegressor(n_estimators=3, verbose=-1).fit(x, x[:, 0] > 1.0)
    graph = to_onnx(model, dtype="float64")
    verify_onnx(model, graph, x, raise_on_mismatch=True)
    assert np.ptp(OnnxPredictor(graph).predict(x)) > 0.1


def test_underscores_of_lightgbm_stand_for_blanks() -> None:
    table = pd.DataFrame(X, columns=["a b", "a_c", "d", "e"])
    model = lgb.LGBMClassifier(**LIGHT).fit(table, TWO)
    for one in (model, model.booster_):
        verify_onnx(one, to_onnx(one), table, raise_on_mismatch=True)
    np.testing.assert_array_equal(OnnxPredictor(to_onnx(model)).predict(table), model.predict(table))
    with pytest.raises(ValueError, match="in this order"):
        OnnxPredictor(to_onnx(model)).predict(table[["a_c", "a b", "d", "e"]])


def own_objective(y: Any, score: Any) -> Any:
    return score - y, np.ones_like(score)


REFUSED: list[tuple[Any, Any, str]] = [
    (xgb.XGBRegressor(objective=own_objective, **FEW), TWO, "objective must be one of the library's own"),
    (lgb.LGBMRegressor(objective=own_objective, **LIGHT), TWO, "objective must be one of the library's own"),
    (xgb.XGBRegressor(missing=-1.0, **FEW), TWO, "missing must be NaN"),
    (xgb.XGBRegressor(objective="binary:hinge", **FEW), TWO, "'binary:hinge' of a XGBRegressor"),
    (xgb.XGBRegressor(objective="multi:softmax", num_class=3, **FEW), THREE, "it is for a classifier"),
    (xgb.XGBClassifier(objective="reg:squarederror", **FEW), TWO, "it is for a regressor"),
    (
        xgb.XGBClassifier(objective="binary:logitraw", **FEW),
        TWO,
        "'binary:logitraw' of a XGBClassifier has no ONNX form here",
    ),
    (xgb.XGBClassifier(**FEW), PAIR, "'binary:logistic' of 2 labels per row has no ONNX form"),
    (lgb.LGBMClassifier(objective="poisson", **LIGHT), TWO, "'poisson' of a LGBMClassifier"),
    (lgb.LGBMClassifier(**LIGHT), np.zeros(300), "must have at least 2 classes"),
]


@pytest.mark.parametrize(("model", "y", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_has_no_graph_is_refused(model: Any, y: Any, words: str) -> None:
    model.fit(X, np.asarray(y).astype(float) if "num_class" not in model.get_params() else y)
    with pytest.raises(ValueError, match=words):
        to_onnx(model)


CODES = np.column_stack([GAPS[:, 0], RNG.integers(0, 40, 300), RNG.integers(0, 3, 300)])
ODD = np.vstack([CODES, [[0, -3, 1], [0, 500, 2], [0, np.nan, np.nan], [0, 1e12, 9], [0, 4.7, 1]]])
CODED = SIGNAL + np.isin(CODES[:, 1], [1, 4, 9, 33]) + 2 * (CODES[:, 2] == 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_categories_as_codes(dtype: str) -> None:
    light = lgb.LGBMRegressor(cat_smooth=1, **LIGHT).fit(CODES, CODED, categorical_feature=[1, 2])
    kinds: dict[str, Any] = {"feature_types": ["q", "c", "c"], "enable_categorical": True}
    data = xgb.DMatrix(CODES, CODED, **kinds)
    booster = xgb.train({"max_depth": 3, "nthread": 1, "eta": 0.5}, data, 6)
    rows = ODD.astype(np.float32)
    known = np.vstack([rows[:300], [[0, 99, 0], [0, -1, 0]]])
    for model, some, wanted in (
        (light, rows, light.predict(rows)[:300]),
        (booster, known, booster.predict(xgb.DMatrix(rows[:300], **kinds))),
    ):
        file = to_onnx(model, dtype=dtype)
        for runtime in ("onnxruntime", "reference") if model is booster else ("onnxruntime",):
            verify_onnx(model, file, some, runtime=runtime, raise_on_mismatch=True)
        np.testing.assert_allclose(OnnxPredictor(file).predict(some)[:300], wanted, atol=1e-5)


TABLES = {
    "numbers": pd.Categorical(RNG.choice([0, 11, 12], 300), categories=[12, 0, 11]),
    "numbers with gaps": pd.Categorical.from_codes(RNG.integers(-1, 2, 300), categories=[11, 0]),
    "text": pd.Categorical(RNG.choice(["z", "a", "m"], 300), categories=["z", "a", "m", "q"]),
}


@pytest.mark.parametrize(("kind", "dtype"), [*zip(TABLES, DTYPES, strict=True)])
@pytest.mark.parametrize("make", [xgb.XGBClassifier, rxgb.XGBClassifier, xgb.XGBRegressor])
def test_categories_of_tables(make: Any, kind: str, dtype: str) -> None:
    table = pd.DataFrame({"c": TABLES[kind], "x": X[:, 0]})
    model = make(enable_categorical=True, **FEW)
    model.fit(table, (table["c"] == TABLES[kind].categories[0]).astype(int).to_numpy())
    output = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    for exported in (model, model.get_booster()):
        if exported is not model and make is rxgb.XGBClassifier:
            continue
        graph, wanted = to_onnx(exported, dtype=dtype), getattr(model, output)(table)
        assert np.ptp(wanted) > 0.5
        np.testing.assert_allclose(getattr(OnnxPredictor(graph), output)(table), wanted, atol=1e-6)
        # As a table of the type, and as an array of the same values.
        values = table.astype({"c": object}).to_numpy()
        for rows in (table, table[::-1], values if kind == "text" else values.astype(float)):
            verify_onnx(exported, graph, rows, raise_on_mismatch=True)


def test_categories_of_tables_in_lightgbm() -> None:
    table = pd.DataFrame({"x": X[:, 0], "town": TABLES["text"], "size": TABLES["numbers"]})
    table.loc[::9, "town"] = None
    y = SIGNAL + 2.0 * (table["town"] == "a") + (table["size"] == 11)
    model = lgb.LGBMRegressor(cat_smooth=1, **LIGHT).fit(table, y)
    rows = table.assign(town=table["town"].astype(object).where(np.arange(300) % 5 > 0, "elsewhere"))
    wanted = model.predict(rows.assign(town=pd.Categorical(rows["town"])))
    for exported in (model, model.booster_):
        file = to_onnx(exported)
        verify_onnx(exported, file, rows, raise_on_mismatch=True)
        np.testing.assert_allclose(OnnxPredictor(file).predict(rows), wanted, atol=1e-5)
    again = rlgb.bind(model.booster_, "squared_error", np.zeros(1))
    np.testing.assert_allclose(again.predict(rows), wanted, atol=1e-9)
    ordered = table.assign(town=table["town"].cat.as_ordered())
    with pytest.raises(ValueError, match="got 2 columns of categories and 1 categorical features"):
        to_onnx(lgb.LGBMRegressor(**LIGHT).fit(ordered, SIGNAL))


def test_verification_asks_the_model_itself() -> None:
    table = pd.DataFrame({"c": TABLES["numbers"], "x": X[:, 0]})
    model = xgb.XGBClassifier(enable_categorical=True, **FEW).fit(table, table["c"] == 12)
    codes = np.column_stack([table["c"].cat.codes, table["x"]])
    wrong = xgb.XGBClassifier(enable_categorical=True, feature_types=["c", "q"], **FEW)
    by_code = to_onnx(wrong.fit(codes, table["c"] == 12))
    assert not verify_onnx(model, by_code, table).passed
