"""``check_lowering``, by which the conversions of the package's own terms are tested too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from onnx_export import Graph, convert_term
from onnx_export.export import LOWEST_OPSET, OPSET
from onnx_export.testing import check_lowering
from rffboost_ext import Cosines, RFFBoostRegressor, SymmetricTrees, Term, Trees
from rffboost_ext.terms import ClipAndLog, FeatureMap, LinearTrees, Mapped
from rffboost_ext.terms import Linear as SparseLinear

from ..own_parts import Linear
from .oracle import NEWEST_OPSET, random_cosines, random_symmetric_trees, random_trees
from .test_conversion_check import Line, right, table

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) * [1.0, 20.0, 0.1] + [0.0, 300.0, 5.0]
CENTER, SCALE = np.array([0.0, 300.0, 5.0]), np.array([1.0, 20.0, 0.1])
STANDARD = FeatureMap(center=CENTER, scale=SCALE)


def expanded() -> tuple[Term, np.ndarray]:
    """A term behind imputation and one-hot encoding, of a fit, and its features with missing values."""
    gaps = table().assign(x=lambda t: t.x.where(t.z > 4.95))
    model = RFFBoostRegressor(learner="rff_1", n_estimators=3, random_state=0).fit(gaps, gaps.z)
    (term,) = [term for term in model.ensemble_.compact().terms if isinstance(term, Mapped)]
    return term, model.encoder_.transform(gaps)[:30]


def linear(k: int) -> Term:
    """A linear function of the last k columns, centred and log-transformed."""
    ends = ClipAndLog(CENTER - SCALE, CENTER + 2.0 * SCALE, np.array([1.0, 0.0, -0.2]))
    columns = np.arange(3 - k, 3)
    return SparseLinear(columns, RNG.normal(size=(k, 2)) / SCALE[columns, None], np.ones(2), CENTER, ends)


TERMS: dict[type, Callable[[], list[tuple[Term, np.ndarray]]]] = {
    Cosines: lambda: [(random_cosines(0, 20, 3, 2, center=CENTER * 0.0), X / SCALE)],
    Trees: lambda: [(random_trees(0, 10, 3), X - CENTER), (random_trees(1, 10, 3, n_outputs=3), X - CENTER)],
    SymmetricTrees: lambda: [
        (random_symmetric_trees(5, 70, 3), X - CENTER),
        (random_symmetric_trees(6, 10, 3, n_outputs=3, linear=True), X - CENTER),
        *((random_symmetric_trees(7, 40, 3, linear=linear, crosses=True), X - CENTER) for linear in (False, True)),
    ],
    SparseLinear: lambda: [(linear(k), X) for k in range(3)],
    LinearTrees: lambda: [(LinearTrees(random_trees(4, 10, 3, n_outputs=4 * c), c), X - CENTER) for c in (1, 2)],
    Mapped: lambda: [
        *((STANDARD.around(inner), X) for inner in (random_cosines(1, 5, 3), random_trees(2, 5, 3))),
        expanded(),
    ],
}
OWN = [kind for kind in convert_term.registry if kind.__module__.startswith(("rffboost_ext.", "onnx_export."))]


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.__name__)
def test_conversions_of_the_package(kind: type) -> None:
    for term, rows in TERMS[kind]():
        check_lowering(term, rows, opsets=(LOWEST_OPSET, OPSET, NEWEST_OPSET))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, g, x: g.node("Reshape", right(t, g, x), g.constant([30, 1], "shape")), "cannot run"),
        (lambda t, g, x: g.node("Add", right(t, g, x), g.constant(1e-4, "offset")), "computes something else"),
        (lambda t, g, x: g.node("Neg", g.node("Neg", right(t, g, x)), name="again"), "Duplicate definition"),
    ],
    ids=["one size of batches", "beyond rounding", "a name that is not free"],
)
def test_what_an_export_may_not_find(function: Any, words: str) -> None:
    convert_term.register(Line)(function)
    with pytest.raises(AssertionError, match=f"Line.*{words}|{words}.*Line"):
        check_lowering(Line(np.ones((3, 1)), np.zeros(1)), X / 300.0)


def test_a_term_without_a_conversion_and_rows_of_a_wrong_shape() -> None:
    class Unknown(Line):
        pass

    convert_term.register(Line)(right)
    check_lowering(Unknown(np.ones((3, 1)), np.ones(1)), X)
    with pytest.raises(AssertionError, match="a term of type Linear has no ONNX form"):
        check_lowering(Linear(np.ones((3, 1))), X)
    with pytest.raises(ValueError, match=r"X must have shape \(n, d\) with at least one row, got \(0, 3\)"):
        check_lowering(random_cosines(0, 2, 3), X[:0])


def test_an_operator_of_single_precision_is_checked_with_float32_only() -> None:
    convert_term.register(Line)(lambda term, graph, x: single(term, graph, x))
    line = Line(np.ones((3, 1)), np.zeros(1))
    check_lowering(line, X, dtypes=["float32"])
    with pytest.raises(AssertionError, match=r"Line computes something else.*with dtype='float64'"):
        check_lowering(replace(line, shift=np.array([0.1])), X, dtypes=["float64"])


def single(term: Line, graph: Graph, x: str) -> str:
    return graph.cast(graph.cast(right(term, graph, x), np.float32), graph.dtype)
