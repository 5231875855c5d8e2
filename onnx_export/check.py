"""Comparison of the nodes of each term and link with the term or link itself, on a few rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from importlib.util import find_spec
from typing import Any

import numpy as np

from rffboost_ext import Link, Term
from rffboost_ext.exporting import Array

from .comparison import EPS, distances
from .conversion import rounding_error
from .derived_links import MeanLink
from .graph import ConversionError, Graph
from .model import assemble, value_info
from .protos import all_nodes
from .runtimes import runner
from .source import ExportSource

LARGEST = float(np.finfo(np.float32).max)
LARGEST_EXPONENT = 80.0
"""Exponentials of larger numbers may be beyond the range of float32."""
ROWS = 16
"""Random rows on which each term is compared."""
SLACK = 100.0
"""Bounds on rounding errors of users' terms are estimates: what is wrong differs by more than so many of them."""


def check_conversion(source: ExportSource, graph: Graph, x: str, X: Any = None) -> None:
    """Raise a ConversionError that names the first term or link whose nodes compute something else.

    They are compared for the features `x` of the ensemble of some rows X of the user, or of random ones.
    """
    # Where x is a cast of the output of steps, nodes may read that output.
    casts = (node.input[0] for node in graph.nodes if node.op_type == "Cast" and x in node.output)
    x = next((name for name in casts if graph.types[name].kind == "f"), x)
    rows = None if X is None else features_of(source, X)
    rows = random_rows(source, graph, x) if rows is None else rows
    check_parts(graph, x, rows, [part for part in graph.parts if isinstance(part[0], Term)])
    for part in graph.parts:
        if isinstance(part[0], Link):
            # Means are products of numbers that lose digits: near 0 only they are as precise as the scores.
            largest = 3.0 if isinstance(getattr(part[0], "columns", part[0]), MeanLink) else LARGEST
            check_parts(graph, part[1], scores_up_to(largest, source.ensemble.n_outputs), [part])


def features_of(source: ExportSource, X: Any) -> Array | None:
    """The features of rows X, (n, d); None if the steps and the encoding take none of them.

    X may be there for the names and types of its columns only.
    """
    try:
        with np.errstate(all="ignore"):
            features = source.features(X).astype(np.float64)
    # Transformers of scikit-learn raise errors of many kinds.
    except Exception:
        return None
    return features if features.ndim == 2 and len(features) else None


def random_rows(source: ExportSource, graph: Graph, x: str) -> Array:
    """Rows of about the size of those of the fit, as far as the graph knows it: (n, d)."""
    width = source.n_features if source.n_step_columns is None else source.n_step_columns
    rng = np.random.default_rng(0)
    center, scale = graph.usual.get(graph.cast(x, graph.dtype), (0.0, 1.0))
    rows = center + scale * rng.standard_normal((ROWS, width))
    if source.encoding is not None:
        for column, categories in enumerate(source.encoding.categories):
            if categories is not None:
                rows[:, column] = rng.integers(0, max(1, len(categories)), ROWS)
    return rows


def scores_up_to(largest: float, n_outputs: int) -> Array:
    """Raw scores (n, C) of both signs, many of a usual size and some of every size.

    A response that is clipped, at 100 or a million, differs from its link beyond that only.
    """
    sizes = np.minimum(np.append(np.full(64, 4.0), np.geomspace(1e-3, 0.3 * LARGEST, 2000)), largest)
    return sizes[:, None] * np.random.default_rng(0).uniform(-1.0, 1.0, (len(sizes), n_outputs))


def check_parts(
    graph: Graph, x: str, X: Array, parts: Sequence[tuple[Term | Link, str, str]], slack: float = SLACK
) -> None:
    """Raise a ConversionError that names the first term or link whose nodes compute something else.

    Outputs for the values X of `x` may differ by `slack` times a bound on rounding errors. Parts inside
    others are compared on the values that the graph computes for them. A term without outputs for the rows, such
    as for random numbers in place of codes, is not compared.
    """
    values = {x: X.astype(graph.types[x])}
    # If that fails, each part by itself, to name the one that does.
    with suppress(ValueError):
        values |= evaluate(graph, values, [name for _, *ends in parts for name in ends])
    is_complete = True
    for part, start, end in parts:
        try:
            values |= evaluate(graph, values, [start])
            expected = outputs_of(part, values[start])
            if expected is None:
                is_complete = False
                continue
            values |= evaluate(graph, values, [end])
        except ValueError as error:
            if is_complete:
                raise ConversionError(f"{error}, with the ONNX form of {type(part).__name__}") from error
            continue
        if end in values:
            require_same_outputs(part, values[start], expected, values[end], graph.dtype, slack)


def function_of(part: Term | Link) -> Callable[[Array], Array]:
    """What a part computes in Python."""
    return part.inverse if isinstance(part, Link) else part


def outputs_of(part: Term | Link, values: Array) -> Array | None:
    """The outputs of a term for features (n, d), or of a link for scores (n, C); None if it has none for them."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function_of(part)(values.astype(np.float64)), dtype=np.float64)
    # A user's term may raise anything.
    except Exception:
        return None


def require_same_outputs(
    part: Term | Link, values: Array, expected: Array, actual: Array, dtype: np.dtype[Any], slack: float
) -> None:
    """Raise a ConversionError unless outputs of a part's nodes for values (n, d) are those of the part."""
    name, X = type(part).__name__, values.astype(np.float64)
    if actual.shape != expected.shape:
        raise ConversionError(
            f"the ONNX form of {name} must have shape {expected.shape}, (n, C), for {len(X)} rows, got "
            f"{actual.shape}"
        )
    error, eps = distances(actual, expected), EPS[str(dtype)]
    error[~(np.abs(expected) < LARGEST)] = 0.0
    if isinstance(part, Link):
        # Links of a graph may have no number where float32 has none.
        is_far = np.abs(X).max(axis=1, keepdims=True, initial=0.0) > LARGEST_EXPONENT
        error[~np.isfinite(actual) & is_far] = 0.0
    # Most are as near as the last digit; the bound is computed if any is not.
    if not (error > eps * np.abs(expected)).any():
        return
    with np.errstate(all="ignore"):
        allowed = allowed_error(part, X, expected, eps, slack)
    wrong = ~(error <= allowed)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        at, should, got = (np.array2string(array[row], precision=6) for array in (X, expected, actual))
        raise ConversionError(
            f"the ONNX form of {name} computes something else than {name}: for row {row}, {at}, Python has "
            f"{should} and the graph has {got}, {error[row, column]:.2g} apart, where rounding of {dtype} "
            f"explains {allowed[row, column]:.2g}; {int(wrong.any(axis=1).sum())} of {len(X)} rows differ"
        )


def allowed_error(part: Term | Link, X: Array, expected: Array, eps: float, slack: float) -> Array:
    """The error of outputs that rounding explains, (n, C): of the values X (n, d), and within the part.

    Scores of links are of any size, so that each row has an error of its own.
    """
    is_term, sizes, function = isinstance(part, Term), np.abs(X), function_of(part)
    own = rounding_error(part, X, eps) if isinstance(part, Term) else eps * (1.0 + np.abs(expected))
    moved = sizes + np.nanmax(sizes, axis=0 if is_term else 1, keepdims=True, initial=0.0)
    sides = [np.abs(np.asarray(function(X + sign * 4.0 * eps * moved)) - expected) for sign in (-1.0, 1.0)]
    return slack * own + np.nan_to_num(sides[0]) + np.nan_to_num(sides[1])


def evaluate(graph: Graph, values: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Values of an unfinished graph, by name, from some of its values.

    They are empty where onnxruntime is not installed and onnx's evaluator cannot run the nodes.
    """
    outputs = [name for name in dict.fromkeys(names) if name not in values]
    if not outputs:
        return {}
    part, needed = copy(graph), {*outputs}
    part.nodes = []
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.output) and values.keys().isdisjoint(node.output):
            part.nodes.insert(0, node)
            needed.update(*(inner.input for inner in all_nodes([node])))
    part.constants = {name: tensor for name, tensor in graph.constants.items() if name in needed}
    # Of a constant, the number of rows at least.
    feed = {name: array for name, array in values.items() if name in needed} or dict([*values.items()][:1])
    inputs = [value_info(name, graph.types[name], [None] * array.ndim) for name, array in feed.items()]
    ends = [value_info(name, graph.types[name], None) for name in outputs]
    try:
        return runner(assemble(part, inputs, ends), "auto")[1](feed)
    except Exception:
        if find_spec("onnxruntime") is None:
            return {}
        raise
