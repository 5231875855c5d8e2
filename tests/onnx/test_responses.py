"""Responses of any width: labels are those of the largest response, and columns with names are outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from scipy.special import expit, logsumexp, softmax

from onnx_export import Graph, OnnxPredictor, convert_link, register_skl2onnx, to_onnx, verify_onnx
from onnx_export.export import DTYPES
from rffboost_ext import Link, Loss, RFFBoostClassifier, RFFBoostRegressor, RFFBoostSurvival
from rffboost_ext.losses import LabelRegression, SquaredError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2)).astype(np.float32)
CUTS = np.array([-1.0, 0.0, 1.0])
Y = np.digitize(2.0 * X[:, 0] + RNG.logistic(size=200), CUTS)
PRIOR = np.log([0.85, 0.05, 0.05, 0.05])


@dataclass(frozen=True)
class ShiftedLink(Link):
    def inverse(self, raw):
        return softmax(raw + PRIOR, axis=1)


@convert_link.register
def _(link: ShiftedLink, graph: Graph, raw: str) -> str:
    # The name of the constant is that of an output.
    return graph.node("Softmax", graph.node("Add", raw, graph.constant(PRIOR, "score")), axis=1)


@dataclass(frozen=True)
class CumulativeLink(Link):
    def inverse(self, raw):
        return np.diff(expit(CUTS - raw), axis=1, prepend=0.0, append=1.0)


@convert_link.register
def _(link: CumulativeLink, graph: Graph, raw: str) -> str:
    below = graph.node("Sigmoid", graph.node("Sub", graph.constant([[-3e38, *CUTS, 3e38]], "few"), raw))
    high, low = (graph.constant(np.arange(4) + k, "columns") for k in (1, 0))
    return graph.node("Sub", graph.node("Gather", below, high, axis=1), graph.node("Gather", below, low, axis=1))


class Shifted(Loss):
    """Softmax of scores plus a prior: the largest score is not that of the most probable class."""

    task, link = "classification", ShiftedLink()

    def n_scores(self, y, n_classes=None):
        return 4

    def value(self, y, raw):
        return logsumexp(raw, axis=1) - np.take_along_axis(raw, y.astype(int), axis=1)[:, 0]

    def derivatives(self, y, raw):
        p = softmax(raw, axis=1)
        return p - (y == np.arange(4)), p * (1.0 - p) + 1e-9

    def baseline(self, y, weight):
        return np.zeros(4)


class Cumulative(Loss):
    """The cumulative logit model: one score, and probabilities of four ordered classes."""

    link = CumulativeLink(names=("none", "few", "several", "many"))

    def n_scores(self, y, n_classes=None):
        return 1

    def _sides(self, y, raw):
        ends, k = np.r_[-40.0, CUTS, 40.0], y.astype(int)
        return expit(ends[k + 1] - raw), expit(ends[k] - raw)

    def value(self, y, raw):
        above, below = self._sides(y, raw)
        return -np.log(np.maximum(above - below, 1e-12))[:, 0]

    def derivatives(self, y, raw):
        above, below = self._sides(y, raw)
        return 1.0 - above - below, above * (1.0 - above) + below * (1.0 - below)

    def baseline(self, y, weight):
        return np.zeros(1)


class Ordinal(Cumulative):
    task, link = "classification", CumulativeLink()


def classifier(loss: Any) -> Any:
    names = np.array(["d", "c", "b", "a"])
    return RFFBoostClassifier(loss, "tree", n_estimators=8, early_stopping=False, random_state=0).fit(X, names[Y])


@pytest.mark.parametrize("loss", [Shifted(), Ordinal()], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_label_is_the_class_of_the_largest_response(loss: Any, dtype: str) -> None:
    model = classifier(loss)
    graph = to_onnx(model, dtype=dtype)
    verify_onnx(model, graph, X, raise_on_mismatch=True)
    found = OnnxPredictor(graph)
    assert (found.predict(X) == model.predict(X)).all()
    assert found.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-5)


@pytest.mark.parametrize("loss", [Shifted(), Ordinal()], ids=repr)
def test_verify_finds_labels_of_scores_instead_of_responses(loss: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = classifier(loss)
    monkeypatch.setattr("onnx_export.links.ORDERED", (type(loss.link),))
    assert not verify_onnx(model, to_onnx(model), X)["label"].passed


@pytest.mark.parametrize("loss", [Shifted(), Ordinal()], ids=repr)
def test_labels_and_wide_responses_by_skl2onnx(loss: Any) -> None:
    register_skl2onnx()
    for model in (classifier(loss), RFFBoostRegressor(Cumulative(), "tree", n_estimators=5).fit(X, Y)):
        graph = skl2onnx.to_onnx(model, X, options={"zipmap": False} if hasattr(model, "classes_") else None)
        *labels, response = onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"X": X})
        assert all((found == model.predict(X)).all() for found in labels)
        assert response == pytest.approx(model.predict_proba(X) if labels else model.predict(X), abs=1e-5)
        assert graph.graph.output[-1].type.tensor_type.shape.dim[1].dim_value == 4
    if loss.n_scores(Y[:, None]) == 1:
        with pytest.raises(ValueError, match=r"Ordinal\(\) has 1 scores for 4 classes"):
            skl2onnx.to_onnx(classifier(loss), X, options={"raw_scores": True, "zipmap": False})


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_with_names_are_outputs_that_no_input_hides(dtype: str) -> None:
    table = pd.DataFrame({"few": pd.Categorical(np.where(X[:, 0] > 0.0, "yes", "no")), "x": X[:, 1]})
    model = RFFBoostRegressor(Cumulative(), "tree", n_estimators=8, early_stopping=False, random_state=0).fit(
        table, Y
    )
    graph = to_onnx(model, table, dtype=dtype)
    verify_onnx(model, graph, table, raise_on_mismatch=True)
    found = OnnxPredictor(graph)
    assert found.response_names == ["none", "few", "several", "many"]
    assert [entry.name for entry in graph.graph.input] == ["few_", "x"]
    for name, column in zip(found.response_names, model.predict(table).T, strict=True):
        assert found.output(name, table) == pytest.approx(column, abs=1e-5)
    with pytest.raises(ValueError, match=r"name must be one of the outputs \['variable', 'score', 'none'"):
        found.output("loc", table)


@pytest.mark.parametrize("names", [("few",), ("a", "a", "b", "c"), ("a", "b", "c", "score")])
def test_names_that_do_not_suit_the_response(names: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = RFFBoostRegressor(Cumulative(), "tree", n_estimators=2).fit(X, Y)
    monkeypatch.setattr(Cumulative, "link", CumulativeLink(names=names))
    with pytest.raises(ValueError, match=r"Cumulative\(\): link.names must have a different name"):
        to_onnx(model)


def test_the_link_of_label_means_holds_any_link() -> None:
    @dataclass(frozen=True)
    class HalfLink(Link):
        def inverse(self, raw):
            return 0.5 * raw

    model = RFFBoostClassifier(type("Halved", (SquaredError,), {"link": HalfLink()})(), "tree", n_estimators=3)
    model.fit(X, Y > 1)
    assert isinstance(model.loss_, LabelRegression)
    with pytest.raises(TypeError, match=r"link of type HalfLink has no ONNX form(.|\n)*link: HalfLink"):
        to_onnx(model)
    convert_link.register(HalfLink)(lambda link, graph, raw: graph.node("Mul", raw, graph.constant(0.5, "half")))
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


@pytest.mark.parametrize(("loss", "names"), [("cox", ["risk"]), ("aft_logistic", ["risk", "time"])])
def test_risks_and_times_are_outputs(loss: str, names: list[str]) -> None:
    time = np.exp(X[:, 0]) * np.random.default_rng(0).exponential(size=len(X)) + 0.1
    model = RFFBoostSurvival(loss, "tree", n_estimators=5, early_stopping=False, random_state=0).fit(X, time)
    predictor, risk = OnnxPredictor(to_onnx(model, X)), model.predict(X)
    assert predictor.response_names == names
    for name in ("variable", *names):
        wanted = np.exp(-risk) if name == "time" else risk
        np.testing.assert_allclose(predictor.output(name, X), wanted, rtol=1e-5, atol=1e-6)
