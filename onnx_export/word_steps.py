"""Counts of words, their weights and norms, where skl2onnx computes something else than scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, Normalizer

from .graph import BOOL, Graph
from .skl2onnx_graphs import graph_at, hand_over
from .sparse_steps import parts

LETTER = r"[\p{L}\p{N}_]"
PATTERNS = {r"\b\w\w+\b": LETTER + "{2,}", r"\b\w+\b": LETTER + "+"}
"""Python's expressions for words as those of ONNX Runtime, to which a plain \\w is ASCII."""
NORMS = {"l1": "ReduceL1", "l2": "ReduceL2", "max": "ReduceMax"}
LOWEST_OPSET_OF_AXES = 18
"""The operator set from which on reductions take axes as an input."""


def convertible(steps: Pipeline, dtype: str) -> Pipeline:
    """A copy of fitted steps whose parts skl2onnx converts in a type of numbers.

    A KBinsDiscretizer outputs its indicators as an array. A TfidfVectorizer becomes counts and weights, since
    counts are in float32.
    """

    def changed(step: Any) -> Any:
        if isinstance(step, KBinsDiscretizer) and step.encode == "onehot":
            step.encode = "onehot-dense"
        if not isinstance(step, CountVectorizer):
            return step
        require_words(step)
        weights = [step._tfidf] if isinstance(step, TfidfVectorizer) else []
        known = {
            name: value for name, value in step.get_params().items() if name in CountVectorizer().get_params()
        }
        counter = CountVectorizer(**known)
        counter.vocabulary_ = step.vocabulary_
        return make_pipeline(counter, *in_type(dtype), *weights) if weights or dtype == "float64" else counter

    return with_parts(deepcopy(steps), changed)


def in_type(dtype: str) -> list[Any]:
    """A step that casts counts, if graphs of a type need one."""
    from skl2onnx.sklapi import CastTransformer

    return [CastTransformer(dtype=np.float64).fit(np.zeros((1, 1)))] if dtype == "float64" else []


def with_parts(step: Any, change: Callable[[Any], Any]) -> Any:
    """A fitted step of which the innermost parts are changed, then those around them; it is modified."""
    for name in ("steps", "transformer_list", "transformers_"):
        if hasattr(step, name):
            changed = [(key, with_parts(part, change), *more) for key, part, *more in getattr(step, name)]
            setattr(step, name, changed)
    return change(step)


def require_words(step: CountVectorizer) -> None:
    """Raise a ValueError for neighbours among words without stop words, which graphs do not leave out."""
    if step.analyzer == "word" and step.ngram_range[1] > 1 and step.stop_words is not None:
        raise ValueError(
            f"to_onnx: the step {type(step).__name__} must have stop_words=None where ngram_range is "
            f"{step.ngram_range}, got {step.stop_words!r:.40}: a graph does not leave stop words out"
        )


def count_options(steps: Pipeline) -> dict[int, dict[str, str]]:
    """The options of skl2onnx for each step that counts words or characters, by its id."""
    found = {}
    for step in parts(steps):
        if isinstance(step, CountVectorizer):
            pattern = step.token_pattern.removeprefix("(?u)") if step.analyzer == "word" else "(?s:.)"
            # Every system has the locale C, whose lower case is that of ASCII; few have the default, en_US.
            locale = "C" if all(map(str.isascii, step.vocabulary_)) else "C.UTF-8"
            found[id(step)] = {"tokenexp": PATTERNS.get(pattern, pattern), "locale": locale}
    return found


# The names of the parameters are prescribed by skl2onnx.
def convert_weights(scope: Any, operator: Any, container: Any) -> None:
    """Weights of counts: skl2onnx takes the logarithm of another number."""
    step: TfidfTransformer = operator.raw_operator
    graph, x = graph_at(scope, operator, container)
    if step.sublinear_tf:
        one, zero = graph.constant(1.0, "one"), graph.constant(0.0, "zero")
        logarithm = graph.node("Add", graph.node("Log", x), one)
        x = graph.node("Where", graph.node("Greater", x, zero, dtype=BOOL), logarithm, zero)
    if step.use_idf:
        x = graph.node("Mul", x, graph.constant(step.idf_, "idf"))
    hand_over(graph, [divided_by_norm(graph, x, step.norm)], operator, container)


def convert_norm(scope: Any, operator: Any, container: Any) -> None:
    """Rows divided by their norm: skl2onnx's rows of zeros become NaN in float64."""
    graph, x = graph_at(scope, operator, container)
    hand_over(graph, [divided_by_norm(graph, x, operator.raw_operator.norm)], operator, container)


def divided_by_norm(graph: Graph, x: str, norm: str | None) -> str:
    """Rows (n, p) divided by a norm, if there is one; rows of zeros stay."""
    if norm is None:
        return x
    given = graph.node("Abs", x) if norm == "max" else x
    if graph.opset < LOWEST_OPSET_OF_AXES:
        size = graph.node(NORMS[norm], given, axes=[1], keepdims=1)
    else:
        size = graph.node(NORMS[norm], given, graph.constant([1], "axis"), keepdims=1)
    is_zero = graph.node("Equal", size, graph.constant(0.0, "none"), dtype=BOOL)
    return graph.node("Div", x, graph.node("Where", is_zero, graph.constant(1.0, "unit"), size, dtype=graph.dtype))


def same_shape(operator: Any) -> None:
    """Declare the shape and the type of an output: those of the input, as real numbers."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    given = operator.inputs[0].type
    kind = DoubleTensorType if isinstance(given, DoubleTensorType) else FloatTensorType
    operator.outputs[0].type = kind(copy(given.shape))


CONVERTERS: dict[type, Callable[..., None]] = {TfidfTransformer: convert_weights, Normalizer: convert_norm}
"""Our converters for steps of scikit-learn."""
SHAPES = dict.fromkeys(CONVERTERS, same_shape)
