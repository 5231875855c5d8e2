"""Terms as nodes: ``convert_term`` has one implementation per type of term, including custom ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce, singledispatch

import numpy as np

from rffboost_ext import Ensemble, Link, Term
from rffboost_ext.exporting import Array

from .graph import ConversionError, Graph


def no_form(kind: str, part: Term | Link, x: str, result: str) -> ConversionError:
    """The error for a term or link without an ONNX form, which says how to register one."""
    name = type(part).__name__
    return ConversionError(
        f"a {kind} of type {name} has no ONNX form. Register one:\n\n"
        f"    from onnx_export import Graph, convert_{kind}\n\n"
        f"    @convert_{kind}.register\n"
        f"    def _({kind}: {name}, graph: Graph, {x}: str) -> str:\n"
        f"        ...  # add nodes with graph.node(...) and constants with graph.constant(...)\n"
        f"        return name_of_{result}"
    )


@singledispatch
def convert_term(term: Term, graph: Graph, x: str) -> str:
    """Append nodes that compute a term, and return the name of their output.

    The extension point for custom terms: use ``@convert_term.register`` on a function whose first argument is
    annotated with the type of term.

    Parameters
    ----------
    term : Term
        What to compute; it acts on the user's features.
    graph : Graph
        Graph to append to. Within its current scope names are free; real numbers are of type ``graph.dtype``.
    x : str
        Name of the features, (n, d), of type ``graph.dtype``.

    Returns
    -------
    str
        Name of the term's outputs, (n, C), of type ``graph.dtype``.

    Raises
    ------
    TypeError
        If nothing is registered for the type of `term`.

    Examples
    --------
    >>> import numpy as np
    >>> from onnx_export import Graph, convert_term
    >>> from rffboost_ext.terms import Linear
    >>> graph = Graph(np.float32, opset=18)
    >>> x = graph.input("x", np.float32)
    >>> output = convert_term(Linear(np.array([0]), np.ones((1, 1)), np.ones(1)), graph, x)
    >>> output == graph.nodes[-1].output[0]
    True
    """
    raise no_form("term", term, "x", "the_output  # (n, C)")


@singledispatch
def rounding_error(term: Term, X: Array, eps: float) -> float:
    """A bound on the rounding error of a term's outputs on X, computed with relative precision `eps`.

    A custom term is assumed to lose five bits unless a bound is registered for its type.

    Parameters
    ----------
    term : Term
    X : ndarray of shape (n, d)
    eps : float
        Machine epsilon.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from onnx_export import rounding_error
    >>> from rffboost_ext import Cosines
    >>> term = Cosines(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)))
    >>> bool(0.0 < rounding_error(term, np.ones((3, 1)), np.finfo(np.float32).eps) < 1e-5)
    True
    """
    sizes = np.abs(term(X))
    return 32.0 * eps * (1.0 + float(sizes[np.isfinite(sizes)].max(initial=0.0)))


def where_missing(graph: Graph, x: str, value: str) -> str:
    """x with `value` in the place of missing values."""
    return graph.node("Where", graph.node("IsNaN", x), value, x)


def convert_in_scope(term: Term, graph: Graph, x: str, name: str) -> str:
    """Convert `term` in the scope `name`."""
    with graph.scope(name):
        return graph.output_of(convert_term, term, x)


def convert_ensemble(ensemble: Ensemble, graph: Graph, x: str) -> str:
    """Raw scores, (n, C), of a compact ensemble: one group of nodes for each family of terms."""
    if not ensemble.terms:
        return rows_of(graph, x, ensemble.baseline)
    total = sum_of(graph, (convert_in_scope(term, graph, x, f"t{i}") for i, term in enumerate(ensemble.terms)))
    return graph.node("Add", total, graph.constant(ensemble.baseline, "baseline"))


def sum_of(graph: Graph, values: Iterable[str]) -> str:
    """The sum of values, each of which may be made when its turn comes."""
    return reduce(lambda total, value: graph.node("Add", total, value), values)


def rows_of(graph: Graph, x: str, value: Array) -> str:
    """The row `value` (C,) repeated for each row of `x`: (n, C), whatever the entries of `x`."""
    first = graph.node("Gather", x, graph.constant([0], "first"), axis=1)
    # No number is less than itself, NaN and infinity included, so this is a column of zeros.
    zero = graph.cast(graph.node("Less", first, first), graph.dtype)
    spread = graph.node("MatMul", zero, graph.constant(np.zeros((1, len(value))), "zero"))
    return graph.node("Add", spread, graph.constant(value, "constant"))
