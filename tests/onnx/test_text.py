"""Columns of text: missing texts, which are '' in files, and values that are no text."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from onnx_export import OnnxPredictor, describe_onnx, to_onnx, verify_onnx
from rffboost_ext import RFFBoostRegressor

RNG = np.random.default_rng(0)
N = 120
ENCODERS: dict[str, Any] = {
    "ignore": OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    "error": OneHotEncoder(sparse_output=False),
    "drop": OneHotEncoder(drop="first", sparse_output=False),
    "ordinal": OrdinalEncoder(),
    "missing -2": OrdinalEncoder(encoded_missing_value=-2),
    "missing -2.5": OrdinalEncoder(encoded_missing_value=-2.5),
    "unknown -1": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "target": TargetEncoder(random_state=0),
}


def table(gap: Any, words: tuple[str, ...] = ("Bern", "Oslo")) -> pd.DataFrame:
    """A column of text with gaps, one without, and one of numbers."""
    cities = RNG.choice(np.array([*words, gap], dtype=object), N)
    streets = pd.Series(RNG.choice(["a", "b"], N), dtype=object)
    return pd.DataFrame({"city": pd.Series(cities, dtype=object), "street": streets, "x": RNG.normal(size=N)})


def fitted(encoder: Any, X: pd.DataFrame, columns: Any = ("city", "street")) -> Any:
    y = X.x + 2.0 * X.city.isna() + (X.street == "a")
    first = ColumnTransformer([("texts", encoder, list(columns))], remainder="passthrough")
    return make_pipeline(first, RFFBoostRegressor(learner="tree", n_estimators=5)).fit(X, y)


def predictions(file: Any, X: pd.DataFrame, token: str) -> np.ndarray:
    """By ONNX Runtime, with a text for the missing ones."""
    texts = {name: X[[name]].where(X[[name]].notna(), token).to_numpy(object) for name in ("city", "street")}
    feed = texts | {"x": X[["x"]].to_numpy(np.float32)}
    session = onnxruntime.InferenceSession(file.SerializeToString())
    return session.run(["variable"], feed)[0][:, 0]


@pytest.mark.parametrize(("name", "gap"), [*((name, np.nan) for name in ENCODERS), (next(iter(ENCODERS)), None)])
def test_an_empty_text_is_missing_to_encoders(name: str, gap: Any) -> None:
    X = table(gap)
    model = fitted(ENCODERS[name], X)
    file = to_onnx(model, X)
    assert predictions(file, X, "") == pytest.approx(model.predict(X), abs=1e-5)
    assert OnnxPredictor(file).predict(X) == pytest.approx(model.predict(X), abs=1e-5)
    verify_onnx(model, file, X, raise_on_mismatch=True)
    assert "'' in city" in describe_onnx(file).missing_text


def test_a_category_may_be_the_empty_text() -> None:
    X = table(None, ("", "Oslo"))
    model = fitted(ENCODERS["ignore"], X)
    file = to_onnx(model, X)
    assert predictions(file, X, "None") == pytest.approx(model.predict(X), abs=1e-5)
    verify_onnx(model, file, X, raise_on_mismatch=True)
    assert "'None' in city" in describe_onnx(file).missing_text


@pytest.mark.parametrize(
    ("encoder", "columns", "words"),
    [
        (ENCODERS["ignore"], ["street"], "'' in city, '' in street"),
        (ENCODERS["error"], ["street"], "not allowed in street"),
        (CountVectorizer(token_pattern=r"\b\w+\b"), "street", "not allowed in street"),
    ],
    ids=["ignore", "error", "words"],
)
def test_texts_that_were_complete_in_the_fit(encoder: Any, columns: Any, words: str) -> None:
    X = table(None)
    first = ColumnTransformer(
        [("city", ENCODERS["ignore"], ["city"]), ("street", encoder, columns)], remainder="passthrough"
    )
    model = make_pipeline(first, RFFBoostRegressor(learner="tree", n_estimators=3)).fit(X, X.x)
    file = to_onnx(model, X)
    description = describe_onnx(file)
    assert words in description.missing_text
    assert f"missing text  {description.missing_text}" in str(description)
    verify_onnx(model, file, X, raise_on_mismatch=True)


def test_native_categories_and_files_without_texts() -> None:
    X = table(None)
    typed = X.astype({"city": "category", "street": "category"})
    model = RFFBoostRegressor(learner="tree", n_estimators=3).fit(typed, X.x + X.city.isna())
    file = to_onnx(model)
    assert describe_onnx(file).missing_text.startswith("'' or any other text that is no category in city, ''")
    assert predictions(file, X, "") == pytest.approx(model.predict(typed), abs=1e-5)
    numbers = to_onnx(RFFBoostRegressor(learner="tree", n_estimators=3).fit(X[["x"]], X.x))
    assert describe_onnx(numbers).missing_text == ""
    assert "missing text" not in str(describe_onnx(numbers))


@pytest.mark.parametrize("options", [{}, {"max_categories": 2}, {"encoded_missing_value": -1.5}])
def test_several_columns_with_gaps_and_codes_of_their_own(options: dict[str, Any]) -> None:
    X = table(np.nan, ("Bern", "Oslo", "Rome", "Wien"))
    X.loc[::5, "street"] = np.nan
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7, **options)
    model = fitted(encoder, X)
    given = X.assign(city=X.city.replace("Rome", "Paris"))
    verify_onnx(model, to_onnx(model, X), given, raise_on_mismatch=True)


def test_two_kinds_of_missing_text_are_refused() -> None:
    X = table(None)
    X["city"] = pd.Series(["Bern", None, np.nan] * (N // 3), dtype=object)
    with pytest.raises(ValueError, match=r"one kind of missing text in a graph, got \[None, nan\]"):
        to_onnx(fitted(ENCODERS["ignore"], X), X)


PLAIN = ["u", "v", "1"]
ODD = ["\0missing", "\0other", "\0other_", "u"]
"""Categories that look like what marks missing and unseen values."""


def typed_table(categories: list[str], gaps: bool = False) -> pd.DataFrame:
    """A number, and text of these categories."""
    words = np.array([*categories, *RNG.choice(categories, 200)], dtype=object)
    if gaps:
        words[::9] = None
    return pd.DataFrame({"x": RNG.standard_normal(len(words)), "t": pd.Series(words, dtype="category")})


def pair(rows: pd.DataFrame, **params: Any) -> tuple[Any, Any]:
    """A model that tells the categories apart, and its file."""
    y = rows["x"] + 3.0 * rows["t"].cat.codes.to_numpy()
    model = RFFBoostRegressor(learner="tree", n_estimators=15, early_stopping=False, random_state=0, **params).fit(
        rows, y
    )
    return model, to_onnx(model)


def given(*words: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": np.zeros(len(words)), "t": pd.Series(words, dtype=object)})


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("categories", [PLAIN, ODD])
def test_values_that_are_no_text_are_categories_not_seen(categories: list[str], gaps: bool) -> None:
    model, file = pair(typed_table(categories, gaps))
    rows = given(*categories, "u", 1, 2.5, b"u", True, ("u",), "\0missing", "\0other", "\0missing_", "\0", "")
    np.testing.assert_allclose(OnnxPredictor(file).predict(rows), model.predict(rows), atol=1e-5)
    for runtime in ("onnxruntime", "reference"):
        verify_onnx(model, file, rows, runtime=runtime, raise_on_mismatch=True)
    assert np.ptp(model.predict(given(*categories))) > 1.0


@pytest.mark.parametrize("categories", [PLAIN, ODD])
def test_missing_values_beside_others(categories: list[str]) -> None:
    several = [given("u", gap, 1) for gap in (None, np.nan, pd.NA, pd.NaT, float("nan"))]
    for gaps in (True, False):
        model, file = pair(typed_table(categories, gaps=gaps))
        predictor = OnnxPredictor(file)
        for rows in several:
            np.testing.assert_allclose(predictor.predict(rows), model.predict(rows), atol=1e-5)
    model, file = pair(typed_table(categories), missing="error")
    words = "X contains NaN in column 't', which had no missing values in fit"
    for one, rows in product((model, OnnxPredictor(file)), several):
        with pytest.raises(ValueError, match=words):
            one.predict(rows)


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object])
def test_arrays_of_text_are_verified(kind: type) -> None:
    X = np.array([[str(i % 3), "xy"[i % 2]] for i in range(80)]).astype(kind)
    y = (X[:, 0] == X[0, 0]) + 2.0 * (X[:, 1] == X[0, 1])
    model = RFFBoostRegressor(n_estimators=10, early_stopping=False, random_state=0, categorical_features=[0, 1])
    if kind is np.bytes_:
        with pytest.raises(ValueError, match=r"cannot hold the categories .*a table of text instead"):
            to_onnx(model.fit(X, y))
        return
    verify_onnx(model.fit(X, y), to_onnx(model), X, raise_on_mismatch=True)
