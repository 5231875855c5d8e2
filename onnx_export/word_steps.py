"""Counts of words, their weights and norms, where skl2onnx computes something else than scikit-learn."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.preprocessing import Normalizer

from .graph import BOOL, INT64, ML, ConversionError, Graph, require_opset
from .skl2onnx_graphs import graph_at, hand_over

SHORTEST = {r"\b\w\w+\b": 2, r"\b\w+\b": 1}
"""The letters of the shortest word of each allowed `token_pattern`."""
ALLOWED = {"input": "content", "analyzer": "word", "strip_accents": None, "preprocessor": None, "tokenizer": None}
"""The only value of parameters of vectorizers that has a graph."""
BREAK, OTHER, DOTTED, FIRST = 0, 1, 2, 3
"""Codes of characters: between words, letters of no known word, the letter İ, and the first known letter."""
NORMS = {"l1": "ReduceL1", "l2": "ReduceL2", "max": "ReduceMax"}
LOWEST_OPSET_OF_AXES = 18
"""The operator set from which on reductions take axes as an input."""


def require_exact(step: CountVectorizer, graph: Graph) -> None:
    """Raise a ConversionError that names a parameter of a vectorizer that a graph cannot follow."""
    name = type(step).__name__

    def refuse(parameter: str, allowed: str, reason: str = "") -> None:
        value = getattr(step, parameter)
        text = getattr(value, "__name__", None) or f"{value!r:.60}"
        raise ConversionError(f"to_onnx: {name} must have {parameter}={allowed} in a graph, got {text}{reason}")

    for parameter, allowed in ALLOWED.items():
        if getattr(step, parameter) != allowed:
            refuse(parameter, repr(allowed))
    if pattern_of(step) not in SHORTEST:
        refuse("token_pattern", " or ".join(repr(f"(?u){pattern}") for pattern in SHORTEST))
    if step.ngram_range[1] > 1 and step.stop_words is not None:
        refuse("stop_words", f"None where ngram_range is {step.ngram_range}")
    lost = next((word for words, _ in entries_of(step) for word in words if depends_on_sigma(word)), None)
    if step.lowercase and lost:
        refuse("lowercase", "False", f": the lower case of 'Σ' in the word {lost!r} depends on its neighbours")
    require_opset(graph, 11, f"a {name}")


def pattern_of(step: CountVectorizer) -> str:
    """The pattern of words without the flag that is Python's default."""
    return str(step.token_pattern).removeprefix("(?u)")


def depends_on_sigma(word: str) -> bool:
    """Whether a word in lower case has a sigma that is another letter where it ends a word in upper case."""
    return "ς" in word or ("σ" in word and "ς" in f"A{word}".replace("σ", "Σ").lower())


def entries_of(step: CountVectorizer) -> Iterator[tuple[list[str], int]]:
    """The words and the column of each entry of a vocabulary that a text can have.

    A vocabulary that is given as a parameter may have others, whose counts are 0.
    """
    shortest, stop_words = SHORTEST[pattern_of(step)], step.get_stop_words() or ()
    low, high = step.ngram_range
    for entry, column in step.vocabulary_.items():
        words = entry.split(" ")
        is_possible = all(len(w) >= shortest and w not in stop_words and all(map(is_letter, w)) for w in words)
        if is_possible and low <= len(words) <= high:
            yield words, column


def is_letter(character: str) -> bool:
    r"""Whether Python's \w matches a character."""
    return character.isalnum() or character == "_"


@cache
def lower_cases() -> dict[str, str]:
    """Each character between words, or with a lower case, in lower case.

    Characters without a meaning beyond the first plane of Unicode and its emoji are taken for letters.
    """
    lower_of = {}
    for character in map(chr, range(sys.maxunicode + 1)):
        lower, kind = character.lower(), unicodedata.category(character)
        is_low = character < "\U00010000" or "\U0001f000" <= character < "\U00020000"
        is_break = (is_low or kind not in ("Cn", "Co")) and not is_letter(character)
        if kind != "Cs" and (lower != character or is_break):
            lower_of[character] = lower
    return lower_of


def character_codes(step: CountVectorizer, letters: dict[str, int]) -> dict[str, int]:
    """The code of each character that is between words or has one of some codes of letters."""
    lower = lower_cases() if step.lowercase else {c: c for c in lower_cases() if not is_letter(c)}
    codes = {c: letters.get(end, OTHER) if is_letter(end) else BREAK for c, end in lower.items() if len(end) == 1}
    if step.lowercase:
        # The only letter of which lower case makes two characters; the second one is a mark, which ends a word.
        codes["İ"] = DOTTED
    own = {letter: code for letter, code in letters.items() if letter not in codes}
    return own | {character: code for character, code in codes.items() if code != OTHER}


def letter_sequence(step: CountVectorizer, graph: Graph, x: str, letters: dict[str, int]) -> str:
    """The codes of the letters of texts (n, 1), as (n, m): words in their order, each between two breaks."""
    codes = character_codes(step, letters)
    split: dict[str, Any] = {"separators": [""], "mark": 0, "mincharnum": 1, "pad_value": " "}
    characters = graph.node("Tokenizer", x, domain="com.microsoft", dtype=object, **split)
    characters = graph.node("Flatten", characters, axis=1)
    table: dict[str, Any] = {"cats_strings": [*codes], "cats_int64s": [*codes.values()], "default_int64": OTHER}
    code = graph.node("CategoryMapper", characters, domain=ML, dtype=INT64, **table)
    code = graph.node("Pad", code, graph.constant([0, 1, 0, 1], "margins"))
    zero = graph.constant(BREAK, "break")
    is_last = graph.node("Equal", code, zero)
    if step.lowercase:
        is_dotted = graph.node("Equal", code, graph.constant(DOTTED, "dotted"))
        is_last = graph.node("Or", is_last, is_dotted)
        code = graph.node("Where", is_dotted, graph.constant(letters.get("i", OTHER), "i"), code)
    in_word = graph.node("Not", graph.node("Equal", code, zero))
    starts = graph.node("And", in_word, shifted(graph, is_last, 1))
    if SHORTEST[pattern_of(step)] == 2:
        goes_on = graph.node("And", shifted(graph, in_word, -1), graph.node("Not", shifted(graph, starts, -1)))
        in_word = graph.node("And", in_word, graph.node("Or", goes_on, graph.node("Not", starts)))
        starts = graph.node("And", starts, goes_on)
    counted = graph.cast(in_word, INT64)
    steps = graph.node("Add", counted, graph.cast(starts, INT64))
    place = graph.node("Mul", counted, graph.node("CumSum", steps, graph.constant(1, "along")))
    longest = graph.node("Reshape", graph.node("ReduceMax", place, keepdims=0), graph.constant([1], "one"))
    rows = graph.node("Slice", graph.node("Shape", place), graph.constant([0], "from"), graph.constant([1], "to"))
    shape = graph.node("Concat", rows, graph.node("Add", longest, graph.constant([2], "ends")), axis=0)
    blank = graph.node(
        "ConstantOfShape", shape, value=helper.make_tensor("value", TensorProto.INT64, [1], [BREAK])
    )
    return graph.node("ScatterElements", blank, place, graph.node("Mul", code, counted), axis=1)


def shifted(graph: Graph, flags: str, by: int) -> str:
    """Truth values (n, m) that are moved by a column to the right, 1, or to the left, -1; the gap is false."""
    ends = [0, 1, 0, -1] if by == 1 else [0, -1, 0, 1]
    moved = graph.node("Pad", graph.cast(flags, INT64), graph.constant(ends, "shift"))
    return graph.cast(moved, BOOL)


def count_words(step: CountVectorizer, graph: Graph, x: str) -> str:
    """The counts of the entries of a vocabulary in texts (n, 1): those of the sequences of their letters."""
    entries = list(entries_of(step))
    letters = {c: FIRST + i for i, c in enumerate(sorted({c for words, _ in entries for w in words for c in w}))}
    sequences = {
        column: [BREAK, *(code for w in words for code in (*map(letters.get, w), BREAK))]
        for words, column in entries
    }
    # No text has the sequences of the others: their counts are 0.
    sequences = {column: sequences.get(column, [-1, column]) for column in step.vocabulary_.values()}
    columns = sorted(sequences, key=lambda column: len(sequences[column]))
    lengths = [len(sequences[column]) for column in columns]
    total = np.append(0, np.cumsum(lengths))
    pool: dict[str, Any] = {
        "pool_int64s": [code for column in columns for code in sequences[column]],
        "ngram_indexes": columns,
        "ngram_counts": total[np.searchsorted(lengths, range(1, lengths[-1] + 1))].tolist(),
        "min_gram_length": lengths[0],
        "max_gram_length": lengths[-1],
        "max_skip_count": 0,
        "mode": "TF",
    }
    counts = graph.node("TfIdfVectorizer", letter_sequence(step, graph, x, letters), **pool)
    counts = graph.cast(counts, graph.dtype)
    return graph.node("Min", counts, graph.constant(1.0, "once")) if step.binary else counts


# The names of the parameters are prescribed by skl2onnx.
def convert_step(scope: Any, operator: Any, container: Any) -> None:
    """Counts of words, their weights and rows divided by norms.

    skl2onnx has other words than Python, logarithms of other numbers, and NaN for rows of zeros in float64.
    """
    step = operator.raw_operator
    graph, x = graph_at(scope, operator, container)
    if isinstance(step, CountVectorizer):
        require_exact(step, graph)
        x = count_words(step, graph, x)
    if isinstance(step, TfidfTransformer | TfidfVectorizer):
        x = weighted(graph, x, step)
    if isinstance(step, Normalizer):
        x = divided_by_norm(graph, x, step.norm)
    hand_over(graph, [x], operator, container)


def weighted(graph: Graph, x: str, step: TfidfTransformer | TfidfVectorizer) -> str:
    """Counts (n, p) with the weights of a step."""
    if step.sublinear_tf:
        one, zero = graph.constant(1.0, "one"), graph.constant(0.0, "zero")
        logarithm = graph.node("Add", graph.node("Log", x), one)
        x = graph.node("Where", graph.node("Greater", x, zero), logarithm, zero)
    if step.use_idf:
        x = graph.node("Mul", x, graph.constant(step.idf_, "idf"))
    return divided_by_norm(graph, x, step.norm)


def divided_by_norm(graph: Graph, x: str, norm: str | None) -> str:
    """Rows (n, p) divided by a norm, if there is one; rows of zeros stay."""
    if norm is None:
        return x
    require_opset(graph, 11, "rows divided by their norm")
    values = graph.node("Abs", x) if norm == "max" else x
    if graph.opset < LOWEST_OPSET_OF_AXES:
        size = graph.node(NORMS[norm], values, axes=[1], keepdims=1)
    else:
        size = graph.node(NORMS[norm], values, graph.constant([1], "axis"), keepdims=1)
    is_zero = graph.node("Equal", size, graph.constant(0.0, "none"))
    return graph.node("Div", x, graph.node("Where", is_zero, graph.constant(1.0, "unit"), size))


OWN_STEPS = CountVectorizer, TfidfVectorizer, TfidfTransformer, Normalizer
CONVERTERS = dict.fromkeys(OWN_STEPS, convert_step)
"""Our converters for steps of scikit-learn."""


def shapes(dtype: str) -> dict[type, Callable[[Any], None]]:
    """The functions that declare the outputs of these steps: counts in a type of numbers, others in that of X."""

    def declare(operator: Any) -> None:
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

        step, declared = operator.raw_operator, operator.inputs[0].type
        is_double, shape = isinstance(declared, DoubleTensorType), copy(declared.shape)
        if isinstance(step, CountVectorizer):
            is_double, shape = dtype == "float64", [None, len(step.vocabulary_)]
        operator.outputs[0].type = (DoubleTensorType if is_double else FloatTensorType)(shape)

    return dict.fromkeys(OWN_STEPS, declare)
