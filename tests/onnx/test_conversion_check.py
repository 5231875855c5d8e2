"""Each conversion of a term is compared with the term, and an error names the term that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from onnx_export import (
    ConversionError,
    Graph,
    OnnxPredictor,
    convert_term,
    register_skl2onnx,
    to_onnx,
    verify_onnx,
)
from onnx_export.export import DTYPES
from rffboost_ext import Cosines, Learner, RFFBoostRegressor, Term, Trees, average

from .oracle import ensemble_of, posed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [1.0, 20.0, 0.1] + [0.0, 300.0, 5.0]
Y = X[:, 0] + 0.05 * X[:, 1]


@dataclass(frozen=True)
class Line(Term):
    """``X slope + shift``."""

    slope: np.ndarray
    shift: np.ndarray

    def __call__(self, X):
        return X @ self.slope + self.shift

    def scaled(self, factor):
        return replace(self, slope=factor * self.slope, shift=factor * self.shift)

    @classmethod
    def stack(cls, terms):
        return cls(sum(t.slope for t in terms), sum(t.shift for t in terms))


class Lines(Learner):
    multi_output = True

    def fit(self, round):
        A = np.column_stack([round.design.X, np.ones(len(round.design.X))])
        c = np.linalg.lstsq(A, round.residual, rcond=None)[0]
        return Line(c[:-1], c[-1:] + 0.5)


def right(term: Line, graph: Graph, x: str) -> str:
    product = graph.node("MatMul", x, graph.constant(term.slope, "slope"))
    return graph.node("Add", product, graph.constant(term.shift, "shift"))


def only(value: Callable[[Graph, str, str], Any]) -> Any:
    """A conversion that changes the outputs of the right one."""
    return lambda term, graph, x: value(graph, x, right(term, graph, x))


WRONG: dict[str, tuple[Any, str]] = {
    "shift forgotten": (
        lambda t, g, x: g.node("MatMul", x, g.constant(t.slope, "slope")),
        r"for row 0, \[.*\], Python has \[.*\] and the graph has \[.*\], .* apart.*; 16 of 16 rows differ",
    ),
    "some rows only": (
        only(lambda g, x, out: g.node("Relu", out)),
        r"and the graph has \[0\.\], .* apart.*; \d+ of 16 rows",
    ),
    "two columns": (
        only(lambda g, x, out: g.node("Concat", out, out, axis=1)),
        r"\(16, 1\).* got \(16, 2\)",
    ),
    "one row": (only(lambda g, x, out: g.node("ReduceMean", out, axes=[0])), r"shape \(16, 1\).* got \(1, 1\)"),
    "flat": (only(lambda g, x, out: g.node("ReduceSum", out, g.constant([1], "k"), keepdims=0)), r"got \(16,\)"),
    "None": (lambda t, g, x: None, "must return the name of a value, got None"),
    "whole numbers": (only(lambda g, x, out: g.node("Cast", out, to=7)), "of type float.., got int64; graph.cast"),
    "another input": (lambda t, g, x: g.node("Relu", "nowhere"), "KeyError: 'nowhere'"),
    "an array": (lambda t, g, x: g.node("MatMul", x, t.slope), "must be names of values, got a ndarray"),
    "no operator": (only(lambda g, x, out: g.node("Foo", out)), "ONNX Runtime .* cannot load"),
    "mixed types": (only(lambda g, x, out: g.node("Add", out, g.constant([1], "one"))), "inconsistent type"),
    "shapes": (only(lambda g, x, out: g.node("MatMul", out, out)), "ONNX Runtime cannot run"),
    "own error": (lambda t, g, x: t.missing, "AttributeError: 'Line' object has no attribute 'missing'"),
}


def fitted(**given: Any) -> RFFBoostRegressor:
    return RFFBoostRegressor(learner=Lines(), n_estimators=3, early_stopping=False, **given)


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "standardized": lambda: (fitted().fit(X, Y), None),
    "plain": lambda: (fitted(standardize=False).fit(X, Y), None),
    "imputed": lambda: (fitted().fit(np.where(np.arange(360).reshape(120, 3) % 7 == 1, np.nan, X), Y), None),
    "categories": lambda: (fitted().fit(table(), Y), None),
    "pipeline": lambda: (make_pipeline(MinMaxScaler(), fitted()).fit(X, Y), X),
    "average": lambda: (average([fitted().fit(X[:60], Y[:60]), fitted().fit(X[60:], Y[60:])]), X),
}


def table() -> pd.DataFrame:
    return pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 300.0, "a", "b")), "z": X[:, 2]})


@pytest.fixture(scope="module")
def standardized() -> RFFBoostRegressor:
    return MODELS["standardized"]()[0]


@pytest.mark.parametrize(("name", "dtype"), [*zip(WRONG, DTYPES * len(WRONG), strict=False)])
def test_a_wrong_conversion_is_refused_by_the_name_of_the_term(standardized: Any, name: str, dtype: str) -> None:
    function, words = WRONG[name]
    convert_term.register(Line)(function)
    with pytest.raises(ConversionError, match=words) as caught:
        to_onnx(standardized, dtype=dtype)
    assert "Line" in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", MODELS)
def test_a_term_inside_others_is_compared(name: str) -> None:
    model, rows = MODELS[name]()
    convert_term.register(Line)(WRONG["shift forgotten"][0])
    with pytest.raises(ConversionError, match="ONNX form of Line computes something else"):
        to_onnx(model, rows)
    convert_term.register(Line)(right)
    for dtype in ("float32", "float64"):
        graph = to_onnx(model, rows, dtype=dtype)
        verify_onnx(model, graph, table() if name == "categories" else X, raise_on_mismatch=True)


def test_skl2onnx_compares_too() -> None:
    register_skl2onnx()
    convert_term.register(Line)(WRONG["shift forgotten"][0])
    with pytest.raises(ConversionError, match="ONNX form of Line computes something else"):
        skl2onnx.to_onnx(MODELS["plain"]()[0], X.astype(np.float32))


def test_terms_of_the_package_are_compared() -> None:
    for kind, learner in ((Trees, "tree"), (Cosines, "rff_1")):
        model = RFFBoostRegressor(learner=learner, n_estimators=3).fit(X, Y)
        known = convert_term.dispatch(kind)
        convert_term.register(kind)(lambda term, graph, x, known=known: graph.node("Neg", known(term, graph, x)))
        try:
            with pytest.raises(ConversionError, match=f"ONNX form of {kind.__name__} computes something else"):
                to_onnx(model)
        finally:
            convert_term.register(kind)(known)


@dataclass(frozen=True)
class Codes(Line):
    """A number for each of a few codes: random numbers are no codes."""

    def __call__(self, X):
        return self.slope[X[:, 0].astype(int)]


@convert_term.register
def _(term: Codes, graph: Graph, x: str) -> str:
    first = graph.node("Gather", x, graph.constant([0], "first"), axis=1)
    code = graph.node("Squeeze", graph.cast(first, np.int64), graph.constant([1], "axis"))
    return graph.node("Gather", graph.constant(term.slope, "values"), code, dtype=graph.dtype)


class Logarithm(Line):
    """A function of the logarithms of numbers of at least `least`, and of no others."""

    least = -np.inf

    def __call__(self, X):
        if (self.least > X).any():
            raise RuntimeError("too small")
        return np.log(X) @ self.slope + self.shift


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_without_outputs_are_not_compared(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = posed(ensemble_of(Logarithm(np.ones((3, 1)), np.zeros(1))), 3)
    convert_term.register(Logarithm)(lambda t, g, x: right(t, g, g.node("Log", x)))
    to_onnx(model, dtype=dtype)
    convert_term.register(Logarithm)(lambda t, g, x: g.node("Neg", right(t, g, g.node("Log", x))))
    with pytest.raises(ConversionError, match="ONNX form of Logarithm computes something else"):
        to_onnx(model, dtype=dtype)
    monkeypatch.setattr(Logarithm, "least", 1e3)
    to_onnx(model, dtype=dtype)
    with pytest.raises(ConversionError, match="ONNX form of Logarithm computes something else"):
        to_onnx(model, np.full((5, 3), 2e3), dtype=dtype)


def test_a_term_of_some_rows_only_is_compared_on_rows_of_the_user() -> None:
    class FitCodes(Learner):
        def fit(self, round):
            return Codes(np.arange(4.0)[:, None], np.zeros(1))

    codes = np.arange(40.0)[:, None] % 4 * [1.0, 1.0]
    model = RFFBoostRegressor(learner=FitCodes(), n_estimators=1, standardize=False, early_stopping=False)
    model.fit(codes, codes[:, 0])
    for given in (None, codes):
        assert OnnxPredictor(to_onnx(model, given)).predict(codes) == pytest.approx(model.predict(codes), abs=1e-5)
