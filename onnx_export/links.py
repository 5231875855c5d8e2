"""Links: from raw scores to probabilities or means, as nodes. ``lower_link`` maps losses to links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator

from rffboost_ext import Loss
from rffboost_ext.interop import links as known
from rffboost_ext.losses import (
    AbsoluteError,
    Gamma,
    Huber,
    LabelRegression,
    LogLoss,
    MultinomialLogLoss,
    Poisson,
    Quantile,
    SquaredError,
    Tweedie,
)
from rffboost_ext.losses import Exponential as ExponentialLoss
from rffboost_ext.losses.binary import sigmoid, two_columns
from rffboost_ext.losses.wrapper import LossWrapper
from rffboost_ext.utils.typing import Array

from .graph import FLOAT64, Graph
from .model import assemble, value_info

HOW_TO_LINK = """Register one:

    from onnx_export import Identity, lower_link  # or Exp, Logistic, Sigmoid, Softmax, a Link of your own

    @lower_link.register
    def _(loss: {name}) -> Link:
        return Identity()"""


class Link(ABC):
    """The function from raw scores to the response, as nodes. Subclasses are frozen dataclasses."""

    @abstractmethod
    def response(self, graph: Graph, raw: str) -> str:
        """Append nodes that turn `raw` (n, C) into class probabilities (n, K) or means (n, C)."""


@dataclass(frozen=True)
class Identity(Link):
    """``raw``: the mean itself."""

    def response(self, graph: Graph, raw: str) -> str:
        return raw


@dataclass(frozen=True)
class Exp(Link):
    """``exp(raw)``: the mean of a positive quantity."""

    def response(self, graph: Graph, raw: str) -> str:
        return graph.node("Exp", raw)


@dataclass(frozen=True)
class Logistic(Link):
    """``1 / (1 + exp(-slope raw))``: a mean between 0 and 1.

    Parameters
    ----------
    slope : float, default=1.0
        Log-odds per unit of raw score.
    """

    slope: float = 1.0

    def response(self, graph: Graph, raw: str) -> str:
        scaled = raw if self.slope == 1.0 else graph.node("Mul", raw, graph.constant(self.slope, "slope"))
        return graph.node("Sigmoid", scaled)


@dataclass(frozen=True)
class Sigmoid(Link):
    """``1 / (1 + exp(-slope raw))`` for the second of two classes, and the complement for the first.

    Parameters
    ----------
    slope : float, default=1.0
        Log-odds per unit of raw score.
    """

    slope: float = 1.0

    def response(self, graph: Graph, raw: str) -> str:
        # Each class from its own score: in float32, 1 - p loses the digits of a small probability.
        return graph.node("Sigmoid", sides(graph, raw, self.slope))


@dataclass(frozen=True)
class Softmax(Link):
    """``exp(raw_c) / sum_k exp(raw_k)``, one raw score per class."""

    def response(self, graph: Graph, raw: str) -> str:
        return graph.node("Softmax", raw, axis=1)


@dataclass(frozen=True)
class HalfWay(Link):
    """``(1 + mean) / 2``, clipped to [0, 1], for the second of two classes, where targets are -1 and +1.

    Parameters
    ----------
    mean : Link
        From raw scores to means.
    """

    mean: Link

    def response(self, graph: Graph, raw: str) -> str:
        halves = graph.node("Mul", self.mean.response(graph, raw), graph.constant([[-0.5, 0.5]], "halves"))
        shifted = graph.node("Add", halves, graph.constant([[0.5, 0.5]], "half"))
        # 1 - relu(1 - relu(p)): older operator sets have no Clip of float64.
        one = graph.constant(1.0, "one")
        beyond = graph.node("Sub", one, graph.node("Relu", shifted))
        return graph.node("Sub", one, graph.node("Relu", beyond))


def sides(graph: Graph, raw: str, slope: float = 1.0) -> str:
    """``[-slope raw, slope raw]``, (n, 2), from raw scores (n, 1): one column for each of two classes."""

    def build() -> str:
        return graph.node("Mul", raw, graph.constant([[-slope, slope]], "sides"))

    return graph.once(("sides", raw, slope), build)


@singledispatch
def lower_link(loss: Loss) -> Link:
    """The link of a loss: ``loss.inverse_link`` as nodes.

    The extension point for custom losses: ``@lower_link.register`` on a function whose argument is annotated with
    the type of loss. That the link agrees with the loss is checked at every export.

    Parameters
    ----------
    loss : Loss

    Returns
    -------
    Link

    Raises
    ------
    TypeError
        If nothing is registered for the type of `loss`.
    """
    name = type(loss).__name__
    raise TypeError(f"the loss {name} has no ONNX link. {HOW_TO_LINK.format(name=name)}")


@lower_link.register
def _(loss: LogLoss) -> Link:
    return Sigmoid()


@lower_link.register
def _(loss: ExponentialLoss) -> Link:
    return Sigmoid(2.0)


@lower_link.register
def _(loss: MultinomialLogLoss) -> Link:
    return Softmax()


@lower_link.register
def _(loss: SquaredError | AbsoluteError | Quantile | Huber) -> Link:
    return Identity()


@lower_link.register
def _(loss: Poisson | Gamma | Tweedie) -> Link:
    return Exp()


@lower_link.register
def _(loss: LossWrapper) -> Link:
    return lower_link(loss.loss)


@lower_link.register
def _(loss: LabelRegression) -> Link:
    return HalfWay(lower_link(loss.loss))


def checked_link(loss: Loss, n_outputs: int) -> Link:
    """The link of `loss`, after comparing it with ``loss.inverse_link``.

    A subclass inherits its base's link, which is right only if it keeps the base's response.

    Raises
    ------
    ValueError
        If the registered link computes something else.
    """
    link, raw = lower_link(loss), scores_of_any_size(n_outputs)
    # Both may overflow at the largest scores.
    with np.errstate(all="ignore"):
        found, wanted = evaluate(link, raw), np.asarray(loss.inverse_link(raw))
    if found.shape != wanted.shape or not agreeing(found, wanted).all():
        name, where = type(loss).__name__, difference(raw, found, wanted)
        raise ValueError(
            f"the ONNX link {link} is not the inverse_link of the loss {name}{where}. "
            f"{HOW_TO_LINK.format(name=name)}"
        )
    return link


def scores_of_any_size(n_outputs: int) -> Array:
    """Raw scores (n, C) of both signs, many of a usual size and some of every size that float32 holds.

    A response that is clipped, at 100 or a million, differs from its link beyond that only.
    """
    rng = np.random.default_rng(0)
    sizes = np.append(np.full(64, 4.0), np.geomspace(1e-3, 1e38, 2000))
    return sizes[:, None] * rng.uniform(-1.0, 1.0, (len(sizes), n_outputs))


def agreeing(found: Array, wanted: Array) -> Array:
    """Where two responses are equal, as far as float32 goes, or one of them overflows."""
    most = float(np.finfo(np.float32).max)
    near = np.isclose(np.clip(found, -most, most), np.clip(wanted, -most, most), rtol=1e-10, atol=1e-12)
    return np.asarray(near | np.isinf(found) | ~np.isfinite(wanted))


def difference(raw: Array, found: Array, wanted: Array) -> str:
    """In words, the first scores at which responses differ."""
    if found.shape != wanted.shape:
        return f", whose response has shape {wanted.shape} where that of the link has {found.shape}"
    row = int(np.flatnonzero(~agreeing(found, wanted).all(axis=1))[0])
    numbers = [np.array2string(values[row], precision=4) for values in (raw, wanted, found)]
    return ", which for raw scores {} is {} and not {}".format(*numbers)


def evaluate(link: Link, raw: Array) -> Array:
    """The response for raw scores (n, C), computed in float64 by the nodes of `link`."""
    graph = Graph(FLOAT64, opset=13)
    out = link.response(graph, graph.input("raw", FLOAT64))
    graph.finish(out, "response", FLOAT64)
    inputs = [value_info("raw", FLOAT64, ["N", raw.shape[1]])]
    outputs: list[Any] = [value_info("response", FLOAT64, ["N", None])]
    results: Any = ReferenceEvaluator(assemble(graph, inputs, outputs)).run(None, {"raw": raw})
    return np.asarray(results[0])


def same_as_raw(link: Link) -> bool:
    """Whether the response is the raw score itself, so that a graph has no output for each."""
    graph = Graph(FLOAT64, opset=13)
    raw = graph.input("raw", FLOAT64)
    return link.response(graph, raw) == raw


RESPONSES: dict[Any, Link] = {
    two_columns: Sigmoid(),
    sigmoid: Logistic(),
    known.softmax: Softmax(),
    np.exp: Exp(),
    np.asarray: Identity(),
    known.order_alone: Identity(),
}
"""The link of each function that computes the response of other libraries' objectives."""


def responses(objectives: dict[str, known.Link]) -> dict[str, Link]:
    """The link of each objective of a table, as nodes."""
    return {name: RESPONSES[link.response] for name, link in objectives.items()}


BY_LABEL = ("multi:softmax",)
"""Objectives by which a regressor of XGBoost predicts labels."""


def as_predicted(link: Link, classifies: bool, objective: str, owner: str) -> Link:
    """The link by which an estimator of another library predicts, whose class goes before its objective.

    Parameters
    ----------
    link : Link
        That of the objective.
    classifies : bool
        Whether the estimator is a classifier.
    objective, owner : str
        For the message.

    Raises
    ------
    ValueError
        If there is none: a classifier of means, which compares them with a half, or a regressor of labels.
    """
    if classifies and isinstance(link, Logistic):
        return Sigmoid(link.slope)
    if not classifies and isinstance(link, Sigmoid):
        return Identity() if objective == "binary:logitraw" else Logistic(link.slope)
    if (classifies and not isinstance(link, Sigmoid | Softmax)) or (not classifies and objective in BY_LABEL):
        raise ValueError(
            f"objective {objective!r} of a {owner} has no ONNX form here: it is for a "
            f"{'regressor' if classifies else 'classifier'}; fit one of those, or export the Booster"
        )
    return link
