"""Checks of users' own conversions, as ``rffboost_ext.testing`` has them for losses, learners and terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from rffboost_ext import Term

from . import export  # noqa: F401  registers the kinds of terms
from .check import check_parts
from .conversion import convert_in_scope
from .graph import ConversionError, Graph
from .model import assemble, value_info


def check_lowering(
    term: Term, X: Any, *, dtypes: Sequence[str] = ("float32", "float64"), opsets: Sequence[int] = (13, 21)
) -> None:
    """Raise an AssertionError unless the nodes that ``convert_term`` makes of a term compute the term.

    The term is converted twice in one graph, so that names collide if they can. Its outputs and those of the terms
    inside it are compared for all rows of X and for one row, in each type and operator set. What may differ is
    :func:`onnx_export.rounding_error`, for which a bound can be registered, and the effect of rounding X.

    Parameters
    ----------
    term : Term
        The term.
    X : array-like of shape (n, d)
        Rows in the units that the term takes.
    dtypes : sequence of {"float32", "float64"}, default=("float32", "float64")
        Types of the graph. A conversion that has an operator of float32 only is checked with ``["float32"]``.
    opsets : sequence of int, default=(13, 21)
        Versions of the operator set, such as the default of :func:`onnx_export.to_onnx` and a newer one.

    Raises
    ------
    TypeError, ValueError
        If `term` is no term, or X has another shape.
    AssertionError
        If nothing is registered for the type of term, its nodes are no valid graph, or they compute something
        else; the message names the term, a row and both values.

    Examples
    --------
    >>> import numpy as np
    >>> from onnx_export.testing import check_lowering
    >>> from rffboost_ext import Cosines
    >>> rng = np.random.default_rng(0)
    >>> term = Cosines(rng.standard_normal((5, 3)), np.ones(5), np.ones((5, 1)))
    >>> check_lowering(term, rng.standard_normal((20, 3)))
    """
    if not isinstance(term, Term):
        raise TypeError(
            f"check_lowering: term must be a Term, got a {type(term).__name__}; to_onnx compares links"
        )
    rows = np.array(X, dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"check_lowering: X must have shape (n, d) with at least one row, got {rows.shape}")
    for dtype in dtypes:
        for opset in opsets:
            try:
                check_graph(term, rows, dtype, opset)
            except ConversionError as error:
                raise AssertionError(f"{error}, with dtype={dtype!r} and opset={opset}") from error


def check_graph(term: Term, rows: np.ndarray, dtype: str, opset: int) -> None:
    """Raise a ConversionError unless the nodes of a term compute the term, in one type and operator set."""
    graph = Graph(dtype, opset)
    x = graph.input("X", dtype)
    outputs = [convert_in_scope(term, graph, x, f"t{k}") for k in range(2)]
    for some in (rows, rows[:1]):
        check_parts(graph, x, some, graph.parts, slack=1.0)
    shape = ["N", np.shape(term(rows))[1]]
    ends = [value_info(graph.finish(out, f"out{k}", dtype), dtype, shape) for k, out in enumerate(outputs)]
    model = assemble(graph, [value_info("X", dtype, ["N", rows.shape[1]])], ends)
    name = type(term).__name__
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise ConversionError(f"the ONNX form of {name} is not valid: {str(error).strip()}") from error
