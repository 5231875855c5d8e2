"""Comparison of the nodes of each term with the term itself, on a few rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from importlib.util import find_spec
from typing import Any

import numpy as np

from rffboost_ext import Term
from rffboost_ext.terms import FeatureMap, Mapped
from rffboost_ext.utils.typing import Array

from .conversion import convert_ensemble
from .embedding import all_nodes
from .graph import ConversionError, Graph
from .model import assemble, value_info
from .preprocessing_steps import columns_of_fit
from .source import ExportSource
from .tolerance import EPS, rounding_error
from .verify import runner

ROWS = 16
"""Rows on which each term is compared."""
SLACK = 100.0
"""Bounds on rounding errors of users' terms are estimates: what is wrong differs by more than so many of them."""


def convert_checked(source: ExportSource, graph: Graph, x: str, X: Any = None) -> str:
    """Append the nodes of an ensemble, compared with each of its terms, and return the name of the raw scores.

    Parameters
    ----------
    source : ExportSource
    graph : Graph
    x : str
        Name of the features of the ensemble, of any type of real numbers.
    X : array-like of shape (n, d), optional
        Rows to compare on; by default random ones.

    Raises
    ------
    ConversionError
        If the nodes of a term compute something else; the message names it.
    """
    raw = convert_ensemble(source.ensemble, graph, graph.cast(x, graph.dtype))
    rows = None if X is None else first_rows(source, X)
    check_terms(graph, x, random_rows(source) if rows is None else rows)
    return raw


def first_rows(source: ExportSource, X: Any) -> Array | None:
    """The features of the first rows of X, (n, d); None if it has no rows that the steps and the encoding take.

    X may be there for the names and types of its columns only.
    """
    try:
        table = columns_of_fit(source, X)
        found = source.features(table.head(ROWS) if hasattr(table, "head") else table[:ROWS])
    # Transformers of scikit-learn raise errors of many kinds.
    except Exception:
        return None
    return found if found.ndim == 2 and len(found) else None


def random_rows(source: ExportSource) -> Array:
    """Rows of about the size of those of the fit, as far as the source knows it: (n, d)."""
    width = source.n_features if source.n_step_columns is None else source.n_step_columns
    rng, center, scale = np.random.default_rng(0), np.zeros(width), np.ones(width)
    for term in source.ensemble.terms:
        columns = term.feature_map if isinstance(term, Mapped) else FeatureMap()
        if columns.expansion is None and columns.center is not None and columns.scale is not None:
            center, scale = columns.center, columns.scale
    rows = center + scale * rng.standard_normal((ROWS, width))
    for column, categories in enumerate(() if source.encoding is None else source.encoding.categories):
        if categories is not None:
            rows[:, column] = rng.integers(0, max(1, len(categories)), ROWS)
    return rows


def check_terms(graph: Graph, x: str, rows: Array, slack: float = SLACK) -> None:
    """Raise a ConversionError that names the first term whose nodes compute something else on rows (n, d) of `x`.

    Outputs may differ by `slack` times a bound on rounding errors. Terms inside others are compared on the
    features that the graph computes for them. A term without outputs for the rows, such as for random numbers in
    place of codes, is not compared.
    """
    known: dict[str, Array] = {x: rows.astype(graph.types[x])}
    names = [name for _, *ends in graph.terms for name in ends]
    # If that fails, each term by itself, to name the one that does.
    with suppress(ValueError):
        known |= evaluate(graph, known, names)
    is_complete = True
    for term, features, outputs in graph.terms:
        try:
            known |= evaluate(graph, known, [features])
            wanted = outputs_of(term, known[features])
            if wanted is None:
                is_complete = False
                continue
            known |= evaluate(graph, known, [outputs])
        except ValueError as error:
            if is_complete:
                raise ConversionError(f"{error}, with the ONNX form of {type(term).__name__}") from error
            continue
        if outputs in known:
            compare(term, known[features], wanted, known[outputs], graph.dtype, slack)


def outputs_of(term: Term, features: Array) -> Array | None:
    """The outputs of a term, (n, C), for features (n, d); None if it has none for them."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(term(features.astype(np.float64)), dtype=np.float64)
    # A user's term may raise anything.
    except Exception:
        return None


def compare(term: Term, features: Array, wanted: Array, found: Array, dtype: Any, slack: float) -> None:
    """Raise a ConversionError unless outputs of a term's nodes for features (n, d) are those of the term."""
    name, X = type(term).__name__, features.astype(np.float64)
    if found.shape != wanted.shape:
        raise ConversionError(
            f"the ONNX form of {name} must have shape {wanted.shape}, (n, C), for {len(X)} rows, got {found.shape}"
        )
    with np.errstate(all="ignore"):
        error = np.abs(found - wanted)
        allowed = allowed_error(term, X, wanted, EPS[np.dtype(dtype).name], slack)
    wrong = ~((error <= allowed) | (found == wanted) | (np.isnan(found) & np.isnan(wanted)))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        given, should, got = (np.array2string(values[row], precision=6) for values in (X, wanted, found))
        raise ConversionError(
            f"the ONNX form of {name} computes something else than {name}: for row {row}, {given}, the term is "
            f"{should} and the graph has {got}, {error[row, column]:.2g} apart, where rounding of {dtype} "
            f"explains {allowed[row, column]:.2g}; {int(wrong.any(axis=1).sum())} of {len(X)} rows differ"
        )


def allowed_error(term: Term, X: Array, wanted: Array, eps: float, slack: float) -> Array:
    """The error of a term's outputs that rounding explains, (n, C): of the features, and within the term."""
    moved = 4.0 * eps * (np.abs(X) + np.nanmax(np.abs(X), axis=0, initial=0.0))
    sides = [np.abs(np.asarray(term(X + sign * moved)) - wanted) for sign in (-1.0, 1.0)]
    return slack * rounding_error(term, X, eps) + np.nan_to_num(sides[0]) + np.nan_to_num(sides[1])


def evaluate(graph: Graph, known: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
    """Values of an unfinished graph, by name, from some that are known.

    Raises
    ------
    ValueError
        If ONNX Runtime cannot run these nodes. Without it nothing is returned where onnx's evaluator cannot.
    """
    wanted = [name for name in dict.fromkeys(names) if name not in known]
    if not wanted:
        return {}
    part, needed = copy(graph), {*wanted}
    part.nodes = []
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.output) and not known.keys() & {*node.output}:
            part.nodes.insert(0, node)
            needed.update(name for inner in all_nodes([node]) for name in inner.input)
    part.constants = {name: tensor for name, tensor in graph.constants.items() if name in needed}
    # Of a constant, the number of rows at least.
    given = {name: values for name, values in known.items() if name in needed} or dict([*known.items()][:1])
    inputs = [value_info(name, graph.types[name], [None] * values.ndim) for name, values in given.items()]
    outputs = [value_info(name, graph.types[name], None) for name in wanted]
    try:
        _, run = runner(assemble(part, inputs, outputs), "auto")
        return run(given)
    except Exception:
        if find_spec("onnxruntime") is None:
            return {}
        raise
