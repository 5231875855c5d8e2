"""What a user adds: terms, losses, links, derived estimators; and what errors say if something is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from onnx_export import Graph, convert_link, to_onnx, verify_onnx
from onnx_export.export import DTYPES
from onnx_export.runtimes import runner
from rffboost_ext import (
    ConformalRegressor,
    Link,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    RFFBoostSurvival,
)
from rffboost_ext.losses import Exponential, FunctionLink, LogLink, LogLoss, Poisson, SquaredError

from ..own_parts import FromZero, Linear
from .oracle import ensemble_of, posed, random_cosines

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 3)) * [1.0, 2.0, 0.1] + [0.0, 1e3, 5.0]


def test_an_unknown_term_says_how_to_register() -> None:
    with pytest.raises(TypeError, match=r"Linear has no ONNX form. Register one(.|\n)*convert_term.register"):
        to_onnx(posed(ensemble_of(Linear(np.ones((3, 1)))), 3))


class Scaled(SquaredError):
    """A user's own loss with a link of the package."""

    link = LogLink()


@dataclass(frozen=True)
class Cubic(Link):
    """A user's own link without nodes."""

    def inverse(self, raw):
        return np.cbrt(raw)


@dataclass(frozen=True)
class SquareLink(Link):
    """A user's own link."""

    def inverse(self, raw):
        return raw**2


@convert_link.register
def _(link: SquareLink, graph: Graph, raw: str) -> str:
    return graph.node("Mul", raw, raw)


class Squared(SquaredError):
    """A user's own loss with a link of their own."""

    link = SquareLink()


def test_a_link_that_is_not_registered() -> None:
    model = posed(ensemble_of(random_cosines(0, 5, 3)), 3)
    for link in (Cubic(), FunctionLink(np.cbrt)):
        model.loss_ = type("Own", (SquaredError,), {"link": link})()
        name = type(link).__name__
        with pytest.raises(TypeError, match=rf"link of type {name} has no ONNX form(.|\n)*link: {name}"):
            to_onnx(model)


class Almost(Link):
    """A link whose nodes are the raw score."""

    def __init__(self, function: Any) -> None:
        object.__setattr__(self, "function", function)

    def inverse(self, raw):
        return self.function(raw)


@convert_link.register
def _(link: Almost, graph: Graph, raw: str) -> str:
    return raw


@pytest.mark.parametrize(
    "function",
    [
        lambda raw: np.clip(raw, -100.0, 100.0),
        lambda raw: np.minimum(raw, 1e9),
        lambda raw: np.maximum(raw, -1e3),
        lambda raw: np.where(np.abs(raw) < 0.01, 0.0, raw),
    ],
    ids=["clipped at 100", "clipped at a billion", "not below -1000", "rounded near 0"],
)
def test_nodes_are_refused_where_the_response_differs_anywhere(function: Any) -> None:
    model = posed(ensemble_of(random_cosines(0, 5, 3)), 3)
    for response in (np.copy, function):
        model.loss_ = type("Own", (SquaredError,), {"link": Almost(response)})()
        if response is np.copy:
            to_onnx(model)
            continue
        with pytest.raises(ValueError, match=r"the ONNX form of Almost (computes something else|must have shape)"):
            to_onnx(model)


@pytest.mark.parametrize("loss", [Scaled(), Squared()], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_loss_and_a_link_of_a_users_own(loss: Any, dtype: str) -> None:
    model = posed(ensemble_of(random_cosines(0, 5, 3), baseline=1.0), 3)
    model.loss_ = loss
    graph = to_onnx(model, dtype=dtype)
    assert [entry.name for entry in graph.graph.output] == ["variable", "score"]
    report = verify_onnx(model, graph, X, raise_on_mismatch=True)
    assert report["variable"].tolerance > 0.0


def test_probabilities_near_zero_keep_their_digits_in_float32() -> None:
    far = ensemble_of(baseline=17.0)
    model = posed(far, 3, LogLoss())
    # Sigmoid of ONNX Runtime itself has an absolute error of 1e-7.
    probabilities = runner(to_onnx(model), "reference")[1]({"X": np.zeros((1, 3), np.float32)})["probabilities"]
    assert abs(probabilities[0, 0] / (1.0 / (1.0 + np.exp(17.0))) - 1.0) < 1e-5


Y = np.abs(RNG.standard_normal(len(X))) + 0.1
PLAIN = {"learner": "rff_newton", "n_estimators": 5, "early_stopping": False, "random_state": 0}
BASES = {
    RFFBoostClassifier: (PLAIN, ("predict", "predict_proba", "decision_function")),
    RFFBoostRegressor: (PLAIN, ("predict",)),
    RFFBoostQuantileRegressor: (PLAIN, ("predict",)),
    ConformalRegressor: ({"estimator": RFFBoostRegressor(**PLAIN)}, ("predict", "predict_interval")),
    RFFBoostSurvival: (PLAIN, ("predict", "predict_survival_function")),
}


@pytest.mark.parametrize(
    ("base", "method"), [(base, name) for base, (_, names) in BASES.items() for name in names]
)
def test_an_overridden_prediction_is_refused(base: Any, method: str) -> None:
    def other(self: Any, X: Any) -> Any:
        return getattr(super(derived, self), method)(X)

    derived = type("Derived", (base,), {method: other})
    kept = type("Kept", (base,), {"describe": other})
    y = (Y > 0.5).astype(int) if base is RFFBoostClassifier else Y
    with pytest.raises(TypeError, match=f"Derived overrides {method} of {base.__name__}"):
        to_onnx(derived(**BASES[base][0]).fit(X, y))
    model = kept(**BASES[base][0]).fit(X, y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


@pytest.mark.parametrize("loss", [Exponential(), Poisson()])
def test_a_loss_around_another_has_its_link(loss: Any) -> None:
    shell = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    model = shell(FromZero(loss), **PLAIN).fit(X, (Y > 0.5).astype(int) if loss.task == "classification" else Y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)
