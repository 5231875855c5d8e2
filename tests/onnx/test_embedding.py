"""Nodes of several outputs, and graphs of other converters as parts of a graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import skl2onnx
from onnx import TensorProto, helper
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from onnx_export import Graph, convert_term, register_skl2onnx, to_onnx, verify_onnx
from onnx_export.graph import FLOAT32, FLOAT64, INT64, ML
from onnx_export.model import assemble, value_info
from rffboost_ext import Learner, RFFBoostRegressor, Term

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)).astype(np.float32)
Y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])


def run(graph: Graph, *outputs: str) -> list[np.ndarray]:
    """Some values of a graph whose input is X."""
    made = assemble(
        graph,
        [value_info("X", graph.types["X"], ["N", 3])],
        [value_info(name, graph.types[name], None) for name in outputs],
    )
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return session.run(None, {"X": X.astype(graph.types["X"])})


def begin(dtype: Any = FLOAT32, opset: int = 13) -> tuple[Graph, str]:
    graph = Graph(dtype, opset)
    return graph, graph.input("X", dtype)


def test_a_node_of_several_outputs_has_their_types() -> None:
    graph, x = begin()
    with graph.scope("t0"):
        values, index = graph.node("TopK", x, graph.constant([2], "k"), n_outputs=2, axis=1)
        low, high = graph.node("Split", values, n_outputs=2, axis=1)
    assert (graph.types[values], graph.types[index], graph.types[high]) == (FLOAT32, INT64, FLOAT32)
    assert values.startswith("t0.")
    order = np.argsort(-X, axis=1)[:, :2]
    found = run(graph, index, low, high)
    assert (found[0] == order).all()
    assert (np.hstack(found[1:]) == np.take_along_axis(X, order, axis=1)).all()


def test_types_are_those_of_the_operator() -> None:
    graph, x = begin()
    assert graph.types[graph.node("Greater", x, x)] == np.dtype(bool)
    assert graph.types[graph.node("ArgMax", x, axis=1)] == INT64
    assert graph.types[graph.node("Cast", x, to=TensorProto.DOUBLE)] == FLOAT64
    assert graph.types[graph.node("Anything", x, domain="com.example")] == FLOAT32
    with pytest.raises(onnx.checker.ValidationError, match="inconsistent type"):
        graph.node("Add", x, graph.cast(x, FLOAT64))


ESTIMATORS = {
    "ridge": Ridge(),
    "forest": RandomForestRegressor(4, random_state=0),
    "neighbors": KNeighborsRegressor(3),
    "pipeline": make_pipeline(SimpleImputer(), Ridge()),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize(("dtype", "opset"), [(FLOAT32, 18), (FLOAT64, 11)], ids=str)
def test_an_estimator_of_sklearn_fits_into_any_graph(name: str, dtype: Any, opset: int) -> None:
    model = clone(ESTIMATORS[name]).fit(X, Y)
    graph, x = begin(dtype, opset)
    twice = [graph.embed(skl2onnx.to_onnx(model, X, target_opset=graph.opsets), x) for _ in range(2)]
    assert all(graph.types[value] == dtype for value in twice)
    for found in run(graph, *twice):
        assert found == pytest.approx(model.predict(X)[:, None], abs=1e-5)


def test_an_output_is_chosen_by_name_and_inputs_are_counted() -> None:
    model = GradientBoostingClassifier(n_estimators=3).fit(X, Y > 0.5)
    graph, x = begin()
    proto = skl2onnx.to_onnx(model, X, options={"zipmap": False}, target_opset=graph.opsets)
    (found,) = run(graph, graph.embed(proto, x, output="probabilities"))
    assert found == pytest.approx(model.predict_proba(X), abs=1e-6)
    assert graph.types[graph.embed(proto, x, output="label")] == INT64
    for given, output, words in (
        ((x,), "", r"output must be one of those of the model, \['label', 'probabilities'\], got ''"),
        ((x,), "score", "got 'score'"),
        ((x, x), "label", r"the model has the inputs \['X'\], got \['X', 'X'\]"),
    ):
        with pytest.raises(ValueError, match=words):
            graph.embed(proto, *given, output=output)


def conditional(function_scale: float) -> onnx.ModelProto:
    """``f(x)`` or x, by a subgraph that reads values outside of it, and a function f of the model's own."""
    return onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 13, "own": 1]>
        g (float[N, 3] x) => (float[N, 3] y) <float weight = {{3.0}}, bool truth = {{1}}> {{
            y = If (truth) <
                then_branch = then () => (float[N, 3] one) {{ t = own.f(x)  one = Add(t, weight) }},
                else_branch = other () => (float[N, 3] two) {{ two = Identity(x) }}
            >
        }}
        <domain: "own", opset_import: ["": 13]>
        f (a) => (b) {{ c = Constant <value = float[1] {{{function_scale}}}> ()  b = Mul(a, c) }}
    """)


def test_names_of_subgraphs_and_functions_do_not_collide() -> None:
    graph, x = begin()
    graph.constant(1.0, "weight")
    with graph.scope("t1"):
        first = graph.embed(conditional(2.0), x)
    second = graph.embed(conditional(5.0), first)
    found = run(graph, first, second)
    assert found[0] == pytest.approx(2.0 * X + 3.0, rel=1e-6)
    assert found[1] == pytest.approx(5.0 * (2.0 * X + 3.0) + 3.0, rel=1e-6)


def simple(body: str, opset: int) -> onnx.ModelProto:
    """A model of x, (N, 3), whose output is y."""
    graph = f"g (float[N, 3] x) => (float[N, 3] y) {{ {body} }}"
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> {graph}')


def test_models_are_of_the_operator_sets_of_the_graph() -> None:
    graph, x = begin(opset=13)
    # skl2onnx declares the oldest version in which operators are the same.
    (found,) = run(graph, graph.embed(simple("y = Softmax <axis = 1> (x)", 11), x))
    assert found == pytest.approx(np.exp(X) / np.exp(X).sum(axis=1, keepdims=True), rel=1e-5)
    assert graph.opsets == {"": 13, ML: 3}
    with pytest.raises(ValueError, match=r"target_opset=graph.opsets"):
        graph.embed(simple("y = Gelu(x)", 20), x)


def test_a_model_may_pass_its_input_on() -> None:
    graph, x = begin()
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])
    assert graph.embed(helper.make_model(helper.make_graph([], "g", [entry], [entry])), x) == x


@dataclass(frozen=True, eq=False)
class Wrapped(Term):
    """A sum of regressors of scikit-learn."""

    models: tuple[Any, ...]
    weights: tuple[float, ...]

    def __call__(self, X):
        parts = [weight * model.predict(X) for model, weight in zip(self.models, self.weights, strict=True)]
        return np.sum(parts, axis=0)[:, None]

    def scaled(self, factor):
        return replace(self, weights=tuple(factor * weight for weight in self.weights))

    @classmethod
    def stack(cls, terms):
        return cls(sum((t.models for t in terms), ()), sum((t.weights for t in terms), ()))


@convert_term.register
def _(term: Wrapped, graph: Graph, x: str) -> str:
    rows = np.zeros((1, term.models[0].n_features_in_), graph.dtype)
    parts = [graph.embed(skl2onnx.to_onnx(model, rows, target_opset=graph.opsets), x) for model in term.models]
    return graph.node(
        "MatMul", graph.node("Concat", *parts, axis=1), graph.constant(np.array([term.weights]).T, "w")
    )


class WrapRegressor(Learner):
    def __init__(self, model=None):
        self.model = model

    def fit(self, round):
        model = clone(self.model).fit(round.design.X, round.residual[:, 0], sample_weight=round.weight)
        return Wrapped((model,), (1.0,))


@pytest.mark.parametrize(
    ("dtype", "gaps"), [("float32", False), ("float32", True), ("float64", True), ("mixed", False)]
)
def test_a_term_that_wraps_estimators_of_sklearn(dtype: str, gaps: bool) -> None:
    # Trees of scikit-learn add up in float32 in any graph.
    inner = RandomForestRegressor(3, max_depth=4, random_state=0) if dtype == "float32" else Ridge()
    rows = np.where(np.arange(240).reshape(80, 3) % 11 == 1, np.nan, X) if gaps else X
    model = RFFBoostRegressor(learner=WrapRegressor(inner), n_estimators=3, early_stopping=False).fit(rows, Y)
    for opset in (13, 18):
        verify_onnx(model, to_onnx(model, dtype=dtype, opset=opset), rows, raise_on_mismatch=True)
    if not gaps:
        register_skl2onnx()
        found = skl2onnx.to_onnx(make_pipeline(model).fit(rows, Y), rows)
        session = onnxruntime.InferenceSession(found.SerializeToString())
        assert session.run(None, {"X": X})[0][:, 0] == pytest.approx(model.predict(X), abs=1e-4)


def test_double_precision_is_refused_where_an_embedded_model_has_less() -> None:
    forest = WrapRegressor(RandomForestRegressor(3, random_state=0))
    model = RFFBoostRegressor(learner=forest, n_estimators=2, early_stopping=False).fit(X, Y)
    with pytest.raises(ValueError, match="the ONNX form of Wrapped computes something else"):
        to_onnx(model, dtype="float64")
