"""Words of texts: counted as in Python, or the parameter that a graph cannot follow is refused by name."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion, make_pipeline

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from onnx_export.runtimes import open_session
from onnx_export.word_steps import CONVERTERS, shapes
from rffboost_ext import RFFBoostRegressor

SINGLE = r"(?u)\b\w+\b"
WORDS = [
    "red a cat, red",
    "Blue DOG's",
    "",
    "x y z",
    "the red cat and the Blue dog",
    "Élan École 日本語 ½",
    "a_b 3 ß",
]
STEPS: list[Any] = [
    CountVectorizer(),
    CountVectorizer(binary=True, ngram_range=(1, 2), max_features=4),
    CountVectorizer(vocabulary=["cat", "Blue", "red cat", "the", "x", "e-mail"], stop_words=["the"]),
    TfidfVectorizer(ngram_range=(1, 3), lowercase=False),
    TfidfVectorizer(stop_words=["the"], sublinear_tf=True, norm="l1"),
    TfidfVectorizer(token_pattern=r"\b\w+\b", use_idf=False, sublinear_tf=True, ngram_range=(2, 3)),
    make_pipeline(CountVectorizer(ngram_range=(2, 2), token_pattern=SINGLE), TfidfTransformer(norm=None)),
    FeatureUnion([("words", TfidfVectorizer()), ("letters", CountVectorizer(token_pattern=SINGLE))]),
]


def regressor() -> RFFBoostRegressor:
    return RFFBoostRegressor(learner="ridge", n_estimators=4, early_stopping=False, random_state=0)


def fitted(step: Any, texts: Any = WORDS) -> Any:
    return make_pipeline(step, regressor()).fit(texts, np.arange(len(texts)) % 6)


@pytest.mark.parametrize(("step", "dtype"), [*zip(STEPS, cycle(["float32", "float64"]))], ids=str)
def test_words_are_counted_as_in_python(step: Any, dtype: str) -> None:
    model, given = fitted(step), [*WORDS, "RED dog élan", "cole", "a", "the cat a red cat"]
    report = verify_onnx(model, to_onnx(model, dtype=dtype), given, raise_on_mismatch=True)
    assert report["steps"].error < (1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize(
    ("options", "last"),
    [({}, 0x600), ({"token_pattern": SINGLE}, 0x3000), ({"lowercase": False, "ngram_range": (1, 2)}, 0x600)],
)
def test_every_letter_is_that_of_python(options: dict[str, Any], last: int) -> None:
    # Between letters, behind one, and by itself; sigma has a test of its own.
    some = [chr(code) for code in range(last) if options.get("lowercase") is False or chr(code) not in "Σσς"]
    lines = [some[at : at + 32] for at in range(0, len(some), 32)]
    texts = ["".join(line) for line in lines] + [" ".join(f"a{c}b x{c} {c}" for c in line) for line in lines]
    texts += ["İSTANBUL İZMİR aİ b İİ", "🙂x \U0001fae9y", "\ue000a\uf0b7b", "葛\U000e0100x", "𝒳y 𐐀z"]
    counter = CountVectorizer(**options).fit(texts)
    np.testing.assert_array_equal(words_by_graph(counter, texts), counter.transform(texts).toarray())


def words_by_graph(counter: CountVectorizer, texts: list[str]) -> np.ndarray:
    """The counts of a vectorizer in the graph of skl2onnx with our converters."""
    ours = {"custom_conversion_functions": CONVERTERS, "custom_shape_calculators": shapes("float32")}
    entry = [("X", StringTensorType([None, 1]))]
    file = skl2onnx.convert_sklearn(counter, initial_types=entry, target_opset=13, **ours)
    return open_session(file.SerializeToString()).run(None, {"X": np.array(texts, dtype=object)[:, None]})[0]


def test_two_columns_of_texts() -> None:
    table = pd.DataFrame({"title": WORDS, "body": WORDS[::-1]})
    model = fitted(make_column_transformer((TfidfVectorizer(), "title"), (CountVectorizer(), "body")), table)
    verify_onnx(model, to_onnx(model, table), table, raise_on_mismatch=True)


def same(text: str) -> str:
    return text


REFUSED: dict[str, Any] = {
    "analyzer='word' in a graph, got same": CountVectorizer(analyzer=same),
    "analyzer='word' in a graph, got 'char_wb'": TfidfVectorizer(analyzer="char_wb"),
    "preprocessor=None in a graph, got same": CountVectorizer(preprocessor=same),
    "tokenizer=None in a graph, got split": CountVectorizer(tokenizer=str.split),
    "strip_accents=None": TfidfVectorizer(strip_accents="unicode"),
    "token_pattern=.* got '.ab.'": CountVectorizer(token_pattern="(ab)"),
    "stop_words=None where ngram_range is": CountVectorizer(ngram_range=(1, 2), stop_words=["a"]),
    "HashingVectorizer": HashingVectorizer(n_features=4),
}


@pytest.mark.parametrize("message", REFUSED)
def test_other_words_are_refused_by_the_name_of_the_parameter(message: str) -> None:
    step = REFUSED[message]
    texts = ["red ab cat", "blue dog ab"] * 4
    model = fitted(step, texts)
    with pytest.raises(ValueError, match=message):
        to_onnx(model)


def test_sigma_needs_texts_in_lower_case() -> None:
    with pytest.raises(
        ValueError, match="lowercase=False in a graph, got True: the lower case of 'Σ' in the word"
    ):
        to_onnx(fitted(CountVectorizer(), ["ΗΛΙΟΣ και", "φως"]))
    for step in (CountVectorizer(), CountVectorizer(lowercase=False)):
        texts = ["ΣΟΦΙΑ σοφια", "Ο ΚΟΣΜΕ"] if step.lowercase else ["ΗΛΙΟΣ ηλιος", "ηλιοσ"]
        model = fitted(step, texts)
        verify_onnx(model, to_onnx(model), texts, raise_on_mismatch=True)


def test_long_and_empty_texts() -> None:
    model = fitted(CountVectorizer())
    predictor = OnnxPredictor(to_onnx(model))
    for texts in ([""], ["", " "], ["red " * 5000, "cat", ""]):
        np.testing.assert_allclose(predictor.predict(texts), model.predict(texts), atol=1e-3)


def test_old_operator_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="opset must be at least 11 for a CountVectorizer, got 10"):
        to_onnx(fitted(CountVectorizer()), opset=10)
