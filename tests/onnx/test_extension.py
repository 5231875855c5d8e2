"""What a user adds: terms, losses, links; and what the errors say when something is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from onnx_export import (
    Graph,
    convert_link,
    convert_term,
    to_onnx,
    verify_onnx,
)
from onnx_export.export import DTYPES
from onnx_export.links import checked_link
from rffboost_ext import Learner, Link, Loss, RFFBoostClassifier, RFFBoostRegressor, Term
from rffboost_ext.losses import (
    BinaryLogitLink,
    Exponential,
    LogLink,
    LogLoss,
    MultinomialLogitLink,
    MultinomialLogLoss,
    Poisson,
    SquaredError,
)
from rffboost_ext.terms import Mapped

from .oracle import ensemble_of, posed, random_cosines, random_trees

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 3)) * [1.0, 2.0, 0.1] + [0.0, 1e3, 5.0]


@dataclass(frozen=True)
class Affine(Term):
    """A user's own term: ``x . slope + shift``."""

    slope: np.ndarray
    shift: np.ndarray

    def __call__(self, X):
        return X @ self.slope + self.shift

    def scaled(self, factor):
        return replace(self, slope=factor * self.slope, shift=factor * self.shift)

    @classmethod
    def stack(cls, terms):
        return cls(sum(t.slope for t in terms), sum(t.shift for t in terms))


class LeastSquares(Learner):
    """A user's own learner, which yields that term."""

    step = "newton"

    def fit(self, round):
        A = np.column_stack([round.design.X, np.ones(round.design.n_samples)])
        solution = np.linalg.lstsq(A, round.residual, rcond=None)[0]
        return Affine(solution[:-1], solution[-1])


@convert_term.register
def _(term: Affine, graph: Graph, x: str) -> str:
    product = graph.node("MatMul", x, graph.constant(term.slope, "slope"))
    return graph.node("Add", product, graph.constant(term.shift, "shift"))


class Constant(Term):
    """A term that nobody registered."""

    def __call__(self, X):
        return np.ones((len(X), 1))

    def scaled(self, factor):
        return self

    @classmethod
    def stack(cls, terms):
        return terms[0]


def test_an_unknown_term_says_how_to_register() -> None:
    with pytest.raises(TypeError, match=r"Constant have no ONNX form. Register one(.|\n)*convert_term.register"):
        to_onnx(posed(ensemble_of(Constant()), 3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_term_of_a_users_own(dtype: str) -> None:
    y = X[:, 0] + 0.3 * X[:, 1]
    model = RFFBoostRegressor(learner=LeastSquares(), n_estimators=4, learning_rate=0.5).fit(X, y)
    graph = to_onnx(model, dtype=dtype)
    assert any(isinstance(term, Mapped) for term in model.ensemble_.compact().terms)
    for rows in (X, np.where(np.arange(3) == 1, np.nan, X)):
        verify_onnx(model, graph, rows, raise_on_mismatch=True)


class Positive(SquaredError):
    """A user's own loss with a response of its own."""

    def inverse_link(self, raw):
        return np.exp(raw)


class Scaled(SquaredError):
    """The same by a link of the package."""

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


class Multinomial(Loss):
    """A user's own loss of three outputs."""

    task = "classification"
    multiclass = True

    def value(self, y, raw):
        return np.logaddexp.reduce(raw, axis=1) - np.take_along_axis(raw, y.astype(int), axis=1)[:, 0]

    def derivatives(self, y, raw):
        p = self.inverse_link(raw)
        return p - np.eye(raw.shape[1])[y[:, 0].astype(int)], p * (1 - p)

    def baseline(self, y, weight):
        return np.log(np.bincount(y[:, 0].astype(int), weights=weight) / weight.sum())

    def inverse_link(self, raw):
        e = np.exp(raw - raw.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)


def test_a_loss_whose_link_is_not_registered(monkeypatch: Any) -> None:
    model = posed(ensemble_of(random_cosines(0, 5, 3)), 3)
    model.loss_ = Positive()
    with pytest.raises(
        ValueError, match=r"IdentityLink\(\) is not the inverse_link of the loss Positive, which .*\. Register"
    ):
        to_onnx(model)
    model.loss_ = Multinomial()
    with pytest.raises(TypeError, match=r"Multinomial has no link, (.|\n)*\n    @convert_link.register"):
        to_onnx(model)
    monkeypatch.setattr(Multinomial, "link", Cubic(), raising=False)
    with pytest.raises(TypeError, match=r"link of type Cubic has no ONNX form(.|\n)*link: Cubic"):
        to_onnx(model)


def responding(base: Any, response: Any, *given: Any) -> Any:
    """A loss like `base`, with a response of its own."""
    return type("Own", (base,), {"inverse_link": lambda self, raw: response(raw)})(*given)


def exponentials(raw: np.ndarray) -> np.ndarray:
    """Softmax without the usual care."""
    e = np.exp(raw)
    return e / e.sum(axis=1, keepdims=True)


def columns(p: np.ndarray) -> np.ndarray:
    return np.hstack([1.0 - p, p])


OTHERWISE: dict[str, tuple[Any, ...]] = {
    "clipped at 100": (SquaredError, lambda raw: np.clip(raw, -100.0, 100.0)),
    "clipped at a billion": (SquaredError, lambda raw: np.minimum(raw, 1e9)),
    "not below -1000": (SquaredError, lambda raw: np.maximum(raw, -1e3)),
    "rounded near 0": (SquaredError, lambda raw: np.where(np.abs(raw) < 0.01, 0.0, raw)),
    "at most exp(5)": (Poisson, lambda raw: np.exp(np.minimum(raw, 5.0))),
    "at least exp(-5)": (Poisson, lambda raw: np.exp(np.maximum(raw, -5.0))),
    "never certain": (LogLoss, lambda raw: columns(1.0 / (1.0 + np.exp(-np.clip(raw, -9.0, 9.0))))),
    "softmax, never certain": (MultinomialLogLoss, lambda raw: exponentials(np.clip(raw, -9.0, 9.0)), 3),
    "another shape": (Poisson, lambda raw: np.exp(raw)[:, 0]),
}
ALIKE: dict[str, tuple[Any, ...]] = {
    "the mean": (SquaredError, lambda raw: raw.copy()),
    "exp, kept from overflowing": (Poisson, lambda raw: np.exp(np.minimum(raw, 700.0))),
    "log_loss by the other side": (LogLoss, lambda raw: columns(1.0 - 1.0 / (1.0 + np.exp(raw)))),
    "log_loss by tanh": (LogLoss, lambda raw: columns(0.5 + 0.5 * np.tanh(0.5 * raw))),
    "exponential that overflows": (Exponential, lambda raw: columns(np.exp(raw) / (np.exp(raw) + np.exp(-raw)))),
    "softmax that overflows": (MultinomialLogLoss, exponentials, 3),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_link_of_the_base_is_refused_where_the_response_differs_anywhere(name: str) -> None:
    loss = responding(*OTHERWISE[name])
    with pytest.raises(ValueError, match=r"is not the inverse_link of the loss Own, (which|whose) .*\. Register"):
        checked_link(loss, 3 if "softmax" in name else 1)


@pytest.mark.parametrize("name", ALIKE)
def test_a_link_of_the_base_serves_a_response_that_is_the_same(name: str) -> None:
    loss = responding(*ALIKE[name])
    assert checked_link(loss, 3 if "softmax" in name else 1) == loss.link


@pytest.mark.parametrize("loss", [Scaled(), Squared()], ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_loss_and_a_link_of_a_users_own(loss: Any, dtype: str) -> None:
    model = posed(ensemble_of(random_cosines(0, 5, 3), baseline=1.0), 3)
    model.loss_ = loss
    graph = to_onnx(model, dtype=dtype)
    assert [entry.name for entry in graph.graph.output] == ["variable", "score"]
    report = verify_onnx(model, graph, X, raise_on_mismatch=True)
    assert report["variable"].tolerance > 0.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_several_outputs(dtype: str) -> None:
    class Local(Multinomial):
        link = MultinomialLogitLink()

    terms = random_cosines(0, 20, 3, n_outputs=3), random_trees(0, 10, 3, n_outputs=3)
    model = posed(ensemble_of(*terms, baseline=[0.1, -0.2, 0.0]), 3, Local(), ["x", "y", "z"])
    graph = to_onnx(model, dtype=dtype)
    verify_onnx(model, graph, X, raise_on_mismatch=True)
    verify_onnx(model, graph, X[:5], runtime="reference", raise_on_mismatch=True)
    regressor = posed(ensemble_of(*terms, baseline=[0.1, -0.2, 0.0]), 3)
    verify_onnx(regressor, to_onnx(regressor, dtype=dtype), X, raise_on_mismatch=True)


def test_probabilities_near_zero_keep_their_digits_in_float32() -> None:
    far = ensemble_of(baseline=17.0)
    model = posed(far, 3, LogLoss())
    probabilities = run_probabilities(to_onnx(model))
    assert abs(probabilities[0, 0] / (1.0 / (1.0 + np.exp(17.0))) - 1.0) < 1e-5


def run_probabilities(model: Any) -> np.ndarray:
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(["probabilities"], {"X": np.zeros((1, 3), dtype=np.float32)})[0]


def test_a_steeper_link() -> None:
    class Steep(LogLoss):
        link = BinaryLogitLink(slope=3.0)

    y = (X[:, 0] > 0).astype(int)
    model = RFFBoostClassifier(Steep(), n_estimators=5, random_state=0).fit(X, y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)
